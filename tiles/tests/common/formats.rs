//! The formats of eight bits and fewer by their definitions, in exact arithmetic.

/// A format as its definition has it.
#[derive(Clone, Copy)]
pub(crate) struct Definition {
    mantissa: u32,
    bias: i32,
    /// Whether the bit above exponent and mantissa is a sign.
    signed: bool,
    /// Bits of exponent and mantissa.
    sign_bit: u32,
    /// The least code without a sign that is no number.
    special: u32,
    has_infinity: bool,
}

/// FP8 E4M3.
pub(crate) const E4M3: Definition =
    Definition { mantissa: 3, bias: 7, signed: true, sign_bit: 7, special: 0x7f, has_infinity: false };
/// FP8 E5M2.
pub(crate) const E5M2: Definition =
    Definition { mantissa: 2, bias: 15, signed: true, sign_bit: 7, special: 0x7c, has_infinity: true };
/// FP8 UE5M3.
pub(crate) const UE5M3: Definition =
    Definition { mantissa: 3, bias: 15, signed: false, sign_bit: 8, special: 0xff, has_infinity: false };
/// FP4 E2M1.
pub(crate) const E2M1: Definition =
    Definition { mantissa: 1, bias: 1, signed: true, sign_bit: 3, special: 8, has_infinity: false };

impl Definition {
    /// Whether there are NaNs.
    pub(crate) fn has_nan(self) -> bool {
        self.special + u32::from(self.has_infinity) < 1 << self.sign_bit
    }

    /// The value of a code.
    pub(crate) fn value(self, code: u32) -> f64 {
        let (negative, code) =
            (self.signed && code >> self.sign_bit & 1 == 1, code & ((1 << self.sign_bit) - 1));
        let magnitude = if code == self.special && self.has_infinity {
            f64::INFINITY
        } else if code >= self.special {
            f64::NAN
        } else {
            let fraction = f64::from(code & ((1 << self.mantissa) - 1)) / f64::from(1 << self.mantissa);
            match (code >> self.mantissa) as i32 {
                0 => fraction * 2f64.powi(1 - self.bias),
                exponent => (1.0 + fraction) * 2f64.powi(exponent - self.bias),
            }
        };
        if negative { -magnitude } else { magnitude }
    }

    /// The code of the number nearest to `x`, ties to the even code, saturated: by comparison with all numbers.
    pub(crate) fn nearest(self, x: f64) -> u32 {
        let magnitude = x.abs();
        let greatest = self.special - 1;
        let code = (0..=greatest)
            .min_by(|&a, &b| {
                let distance = |code| (self.value(code) - magnitude).abs();
                distance(a).total_cmp(&distance(b)).then((a & 1).cmp(&(b & 1)))
            })
            .expect("a format has numbers");
        let code = if magnitude >= self.value(greatest) { greatest } else { code };
        code | if self.signed && x.is_sign_negative() { 1 << self.sign_bit } else { 0 }
    }

    /// Numbers that try every decision: all values, the middles between neighbours, and what lies just beside.
    pub(crate) fn trials(self) -> Vec<f32> {
        let values: Vec<f64> = (0..self.special).map(|code| self.value(code)).collect();
        let greatest = values[values.len() - 1];
        let middles = values.windows(2).map(|pair| (pair[0] + pair[1]) / 2.0);
        let beyond =
            [greatest * 1.01, greatest * 2.0, 1e30, f64::from(f32::MAX), f64::INFINITY, 1e-40, 1e-45];
        values
            .iter()
            .copied()
            .chain(middles)
            .chain(beyond)
            .flat_map(|x| {
                let x = x as f32;
                [x, x.next_up(), x.next_down(), -x, -x.next_up(), -x.next_down()]
            })
            .filter(|x| !x.is_nan())
            .collect()
    }
}
