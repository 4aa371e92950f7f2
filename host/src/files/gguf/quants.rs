//! Blocks to numbers, as the reference functions `dequantize_row_*` of `ggml-quants.c` have it.
//!
//! Fields stand in a block in the order of the structs in `ggml-common.h`; scales are `f16`. In blocks of 32 elements a byte has element
//! i in its low half and element i + 16 in its high half.

use cuda_tiles::element::{bf16, f16};

use super::types::GgmlType;

/// Gives the numbers of one block, in order.
pub(super) type Dequantize = fn(block: &[u8], give: &mut dyn FnMut(f32));

/// The function for a type; `None` for types without one.
pub(super) fn dequantizer(element_type: GgmlType) -> Option<Dequantize> {
    Some(match element_type {
        GgmlType::F32 => |block, give| give(f32::from_le_bytes([block[0], block[1], block[2], block[3]])),
        GgmlType::F16 => |block, give| give(half_at(block, 0)),
        GgmlType::BF16 => |block, give| give(bf16::from_le_bytes([block[0], block[1]]).to_f32()),
        GgmlType::Q4_0 => q4_0,
        GgmlType::Q4_1 => q4_1,
        GgmlType::Q5_0 => q5_0,
        GgmlType::Q5_1 => q5_1,
        GgmlType::Q8_0 => q8_0,
        GgmlType::Q4_K => q4_k,
        GgmlType::Q5_K => q5_k,
        GgmlType::Q6_K => q6_k,
        _ => return None,
    })
}

/// The `f16` at this byte.
fn half_at(block: &[u8], at: usize) -> f32 {
    f16::from_le_bytes([block[at], block[at + 1]]).to_f32()
}

/// The numbers of 4 bits in 16 bytes: all low halves, then all high ones.
fn nibbles(bytes: &[u8]) -> impl Iterator<Item = u8> + '_ {
    bytes.iter().map(|byte| byte & 15).chain(bytes.iter().map(|byte| byte >> 4))
}

/// The numbers of 5 bits, whose highest bits stand together in front of the others.
fn five_bits<'block>(high: &[u8], low: &'block [u8]) -> impl Iterator<Item = u8> + 'block {
    let high = u32::from_le_bytes([high[0], high[1], high[2], high[3]]);
    nibbles(low).enumerate().map(move |(i, low)| low | (((high >> i) & 1) << 4) as u8)
}

fn q4_0(block: &[u8], give: &mut dyn FnMut(f32)) {
    let scale = half_at(block, 0);
    nibbles(&block[2..]).for_each(|q| give(scale * (f32::from(q) - 8.0)));
}

fn q4_1(block: &[u8], give: &mut dyn FnMut(f32)) {
    let (scale, least) = (half_at(block, 0), half_at(block, 2));
    nibbles(&block[4..]).for_each(|q| give(scale * f32::from(q) + least));
}

fn q5_0(block: &[u8], give: &mut dyn FnMut(f32)) {
    let scale = half_at(block, 0);
    five_bits(&block[2..6], &block[6..]).for_each(|q| give(scale * (f32::from(q) - 16.0)));
}

fn q5_1(block: &[u8], give: &mut dyn FnMut(f32)) {
    let (scale, least) = (half_at(block, 0), half_at(block, 2));
    five_bits(&block[4..8], &block[8..]).for_each(|q| give(scale * f32::from(q) + least));
}

fn q8_0(block: &[u8], give: &mut dyn FnMut(f32)) {
    let scale = half_at(block, 0);
    block[2..].iter().for_each(|&q| give(scale * f32::from(q as i8)));
}

/// Scale and minimum, of 6 bits each, of one of the eight parts of a block of Q4_K or Q5_K: `get_scale_min_k4`.
fn part_scale(scales: &[u8], part: usize) -> (f32, f32) {
    let (scale, least) = match part {
        0..4 => (scales[part] & 63, scales[part + 4] & 63),
        _ => (
            (scales[part + 4] & 15) | ((scales[part - 4] >> 6) << 4),
            (scales[part + 4] >> 4) | ((scales[part] >> 6) << 4),
        ),
    };
    (f32::from(scale), f32::from(least))
}

fn q4_k(block: &[u8], give: &mut dyn FnMut(f32)) {
    let (scale, least) = (half_at(block, 0), half_at(block, 2));
    let (scales, low) = (&block[4..16], &block[16..]);
    for part in 0..8 {
        let (part_scale, part_least) = part_scale(scales, part);
        let (scale, least) = (scale * part_scale, least * part_least);
        // 32 bytes have one part in their low halves, the next one in their high halves.
        let shift = 4 * (part % 2);
        for byte in &low[part / 2 * 32..][..32] {
            give(scale * f32::from((byte >> shift) & 15) - least);
        }
    }
}

fn q5_k(block: &[u8], give: &mut dyn FnMut(f32)) {
    let (scale, least) = (half_at(block, 0), half_at(block, 2));
    let (scales, high, low) = (&block[4..16], &block[16..48], &block[48..]);
    for part in 0..8 {
        let (part_scale, part_least) = part_scale(scales, part);
        let (scale, least) = (scale * part_scale, least * part_least);
        let shift = 4 * (part % 2);
        for (byte, high) in low[part / 2 * 32..][..32].iter().zip(high) {
            let q = ((byte >> shift) & 15) | (((high >> part) & 1) << 4);
            give(scale * f32::from(q) - least);
        }
    }
}

fn q6_k(block: &[u8], give: &mut dyn FnMut(f32)) {
    let (low, high, scales, scale) = (&block[..128], &block[128..192], &block[192..208], half_at(block, 208));
    for i in 0..256 {
        // Each half of the block has 128 elements, four parts of 32.
        let (half, part, lane) = (i / 128, i / 32 % 4, i % 32);
        let low = (low[64 * half + 32 * (part % 2) + lane] >> (4 * (part / 2))) & 15;
        let high = (high[32 * half + lane] >> (2 * part)) & 3;
        let q = (low | (high << 4)) as i8 - 32;
        give(scale * f32::from(scales[i / 16] as i8) * f32::from(q));
    }
}
