//! Code that NVIDIA's assembler takes for another one, put into words that it understands.
//!
//! Drivers assemble PTX with the `ptxas` of their own release, so that what one release gets wrong must not be in the PTX at all. Each
//! repair was read off the machine code: `ptxas` of CUDA 12.4, 13.0 and 13.5, for `sm_80` and `sm_90a`.

use std::borrow::Cow;

/// The text with its code repaired. It is as the compiler writes it, an instruction to a line.
pub(crate) fn repaired(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    // Bodies end with a brace in the first column.
    for body in text.split_inclusive("\n}") {
        let converts = body.lines().any(|line| {
            matches!(operation(line), Some(operation) if operation.starts_with("cvt.r") && operation.ends_with(".u32"))
        });
        for line in body.split_inclusive('\n') {
            let (code, end) = line.split_at(line.trim_end().len());
            let repaired =
                scaled_high_word(code).or_else(|| converts.then(|| sign_extended_field(code)).flatten());
            result.push_str(&repaired.map_or(Cow::Borrowed(code), Cow::Owned));
            result.push_str(end);
        }
    }
    result
}

/// `bfe.s32` of a byte or of a half of a word, where the result may become a float as an unsigned number: all releases
/// convert the field as a signed one (`I2F.S8` for `I2F.U32`), so that -1 becomes -1 in place of 4294967295. They have another name for
/// the same value, `prmt` with replicated signs, that they do not look through.
fn sign_extended_field(line: &str) -> Option<String> {
    let [to, from, first, length] = operands(line, "bfe.s32")?;
    let bytes = match (number(first)?, number(length)?) {
        (0, 8) => "0x8880",
        (8, 8) => "0x9991",
        (16, 8) => "0xaaa2",
        (24, 8) => "0xbbb3",
        (0, 16) => "0x9910",
        (16, 16) => "0xbb32",
        _ => return None,
    };
    Some(format!("{}prmt.b32 {to}, {from}, 0, {bytes};", indentation(line)))
}

/// `mad.lo.s64` by a multiple of 2^32: the `ptxas` of CUDA 13.0 takes the high words of two different addends in one function for the
/// same. All of the product is in the high word, where it is one of 32 bits.
fn scaled_high_word(line: &str) -> Option<String> {
    let [to, from, factor, addend] = operands(line, "mad.lo.s64")?;
    let [factor, addend] = [number(factor)? as u64, number(addend)? as u64];
    if factor as u32 != 0 {
        return None;
    }
    Some(format!(
        "{}{{ .reg .b32 high; cvt.u32.u64 high, {from}; mad.lo.s32 high, high, {}, {}; mov.b64 {to}, {{{}, high}}; }}",
        indentation(line),
        (factor >> 32) as i32,
        (addend >> 32) as i32,
        addend as u32,
    ))
}

/// The operation of an instruction that stands alone on its line, without a guard.
fn operation(line: &str) -> Option<&str> {
    line.trim_start().split_once(char::is_whitespace).map(|(operation, _)| operation)
}

/// The four operands of a line that is this operation.
fn operands<'a>(line: &'a str, meant: &str) -> Option<[&'a str; 4]> {
    let operands = line.trim_start().strip_prefix(meant)?.strip_suffix(';')?;
    let operands: Vec<_> = operands.split(',').map(str::trim).collect();
    operands.try_into().ok().filter(|_| operation(line) == Some(meant))
}

/// A constant, as the compiler writes it.
fn number(operand: &str) -> Option<i64> {
    operand.parse().ok()
}

fn indentation(line: &str) -> &str {
    &line[..line.len() - line.trim_start().len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(code: &str) -> String {
        format!(".visible .entry k()\n{{\n\t.reg .b32 \t%r<9>;\n{code}\tret;\n\n}}\n")
    }

    /// Found by `cargo xtask fuzz` in the kernel of seed 2250: i8 to u32 to f64.
    #[test]
    fn fields_that_become_floats_as_unsigned_numbers_have_another_name() {
        let convert = "\tcvt.rn.f64.u32 \t%rd1, %r1;\n";
        for (field, repair) in [
            ("0, 8", "0x8880"),
            ("8, 8", "0x9991"),
            ("16, 8", "0xaaa2"),
            ("24, 8", "0xbbb3"),
            ("0, 16", "0x9910"),
            ("16, 16", "0xbb32"),
        ] {
            let before = body(&format!("\tbfe.s32 \t%r1, %r2, {field};\n{convert}"));
            let after = body(&format!("\tprmt.b32 %r1, %r2, 0, {repair};\n{convert}"));
            assert_eq!(repaired(&before), after);
            // Sign and magnitude of -3, wherever the field lies.
            let (first, length) = field.split_once(", ").unwrap();
            let (first, length): (u32, u32) = (first.parse().unwrap(), length.parse().unwrap());
            let word = ((-3_i32 as u32) << (32 - length) >> (32 - length)) << first;
            assert_eq!(prmt(word, u32::from_str_radix(&repair[2..], 16).unwrap()), -3_i32 as u32, "{field}");
        }
    }

    /// `prmt.b32` of a word and zero (PTX ISA, "prmt").
    fn prmt(word: u32, selection: u32) -> u32 {
        let bytes = u64::from(word).to_le_bytes();
        u32::from_le_bytes([0, 1, 2, 3].map(|k| {
            let chosen = selection >> (4 * k);
            let byte = bytes[(chosen & 7) as usize];
            if chosen & 8 == 0 { byte } else { ((byte as i8) >> 7) as u8 }
        }))
    }

    #[test]
    fn other_fields_and_other_bodies_stay_as_they_are() {
        let convert = "\tcvt.rn.f32.u32 \t%r3, %r1;\n";
        let field = body("\tbfe.s32 \t%r1, %r2, 8, 8;\n\tcvt.rn.f32.s32 \t%r3, %r1;\n");
        for text in [
            format!("{field}{}", body(convert)),
            body(&format!("\tbfe.s32 \t%r1, %r2, 3, 8;\n{convert}")),
            body(&format!("\tbfe.s32 \t%r1, %r2, %r4, 8;\n{convert}")),
            body(&format!("\tbfe.u32 \t%r1, %r2, 8, 8;\n{convert}")),
        ] {
            assert_eq!(repaired(&text), text);
        }
    }

    /// Found by `cargo xtask fuzz` in the kernel of seed 213: bytes of an `arange` in a word of 64 bits.
    #[test]
    fn products_in_high_words_are_of_32_bits() {
        assert_eq!(
            repaired(&body("\tmad.lo.s64 \t%rd1, %rd2, 216172782113783808, 2089670227099910145;\n")),
            body(
                "\t{ .reg .b32 high; cvt.u32.u64 high, %rd2; mad.lo.s32 high, high, 50331648, 486539264; mov.b64 %rd1, {1, high}; }\n"
            )
        );
        for other in ["%rd2, 196608, 917504", "%rd2, %rd3, 4294967296", "%rd2, 4294967296, %rd3"] {
            let text = body(&format!("\tmad.lo.s64 \t%rd1, {other};\n"));
            assert_eq!(repaired(&text), text);
        }
    }

    #[test]
    fn repaired_text_needs_no_repair() {
        let once = repaired(&body(
            "\tmad.lo.s64 \t%rd1, %rd2, 4294967296, -4294967296;\n\tbfe.s32 \t%r1, %r2, 0, 8;\n\tcvt.rn.f32.u32 \t%r3, %r1;\n",
        ));
        assert!(once.contains("mad.lo.s32 high, high, 1, -1; mov.b64 %rd1, {0, high};"), "{once}");
        assert_eq!(repaired(&once), once);
    }
}
