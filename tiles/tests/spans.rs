//! What tensors a span takes, and what it says about the others.

use cuda_tiles::prelude::*;
use cuda_tiles::shape::Rank;
use cuda_tiles::span::extents::OffsetInteger;
use cuda_tiles::span::{Access, Alignment, Exclusive, ExtentError, Extents, Mapping, ReadOnly, SpanError};

/// Memory that starts at a multiple of 256 bytes.
#[repr(align(256))]
struct Memory([f32; 256]);

/// Makes a span of tensors in memory at byte `start`.
fn try_span<E: Extents, A: Access, M: Mapping, G: Alignment>(
    start: usize,
    lengths: &[u64],
    strides: &[i64],
) -> Result<TensorSpan<f32, E, A, M, G>, SpanError> {
    static MEMORY: Memory = Memory([0.0; 256]);
    let first = MEMORY.0.as_ptr().cast_mut().cast::<u8>().wrapping_add(start).cast();
    // SAFETY: the tests look at lengths and strides of spans, and never at an element.
    unsafe { TensorSpan::try_from_parts(first, lengths, strides) }
}

/// The error of a read-only span, with the text that users see.
fn error<E: Extents, M: Mapping>(lengths: &[u64], strides: &[i64]) -> (SpanError, String) {
    match try_span::<E, ReadOnly, M, Natural>(0, lengths, strides) {
        Ok(_) => panic!("lengths {lengths:?} with strides {strides:?} are accepted"),
        Err(error) => (error, error.to_string()),
    }
}

/// The strides of an accepted span.
fn strides<E: Extents<Rank = Rank<2>>, M: Mapping>(lengths: [u64; 2], strides: [i64; 2]) -> [u64; 2] {
    match try_span::<E, ReadOnly, M, Natural>(0, &lengths, &strides) {
        Ok(span) => {
            assert_eq!([span.extent(0), span.extent(1)].map(OffsetInteger::to_u64), lengths);
            [span.stride(0), span.stride(1)].map(OffsetInteger::to_u64)
        }
        Err(error) => panic!("lengths {lengths:?} with strides {strides:?}: {error}"),
    }
}

type Free = (u32, u32);

#[test]
fn extents() {
    let (found, text) = error::<(u32, D<64>), Right>(&[3, 32], &[32, 1]);
    assert_eq!(found, SpanError::Extent { axis: 1, length: 32, source: ExtentError::NotEqual(64) });
    assert_eq!(text, "axis 1 has length 32, but the kernel is compiled for exactly 64");
    let (found, text) = error::<(Mult<u32, 8>, u32), Right>(&[12, 2], &[2, 1]);
    assert_eq!(found, SpanError::Extent { axis: 0, length: 12, source: ExtentError::NotMultiple(8) });
    assert_eq!(text, "axis 0 has length 12, but the kernel is compiled for multiples of 8");
    let (found, text) = error::<(u32,), Right>(&[1 << 32], &[1]);
    assert_eq!(found, SpanError::Extent { axis: 0, length: 1 << 32, source: ExtentError::TooLong });
    assert_eq!(
        text,
        "axis 0 has length 4294967296, but the kernel counts it in 32 bits; declare the extent as u64"
    );
    assert_eq!(strides::<(Mult<u32, 8>, D<64>), Right>([16, 64], [64, 1]), [64, 1]);
    assert_eq!(strides::<(Mult<u32, 8>, D<64>), Right>([0, 64], [64, 1]), [64, 1]);
    assert_eq!(strides::<(u64, u32), Right>([1 << 40, 2], [2, 1]), [2, 1]);
}

#[test]
fn mappings() {
    let (found, text) = error::<Free, Right>(&[3, 4], &[1, 3]);
    assert_eq!(
        found,
        SpanError::Mapping { wanted: "row-major without gaps", strides: [1, 3, 0, 0], rank: 2 }
    );
    assert_eq!(
        text,
        "its strides are [1, 3], but the kernel wants a tensor that is row-major without gaps; copy the tensor, or declare \
         the argument as `PitchedLeft`"
    );
    for (strides, fitting) in [([5, 1], "Pitched"), ([1, 9], "PitchedLeft"), ([9, 2], "Strided")] {
        let text = error::<Free, Right>(&[3, 4], &strides).1;
        assert!(text.ends_with(&format!("declare the argument as `{fitting}`")), "{text}");
    }
    assert!(error::<Free, Right>(&[3, 4], &[5, 1]).1.contains("row-major without gaps"));
    assert!(error::<Free, Left>(&[3, 4], &[4, 1]).1.contains("column-major without gaps"));
    assert!(error::<Free, Pitched>(&[3, 4], &[8, 2]).1.contains("contiguous along its last axis"));
    assert_eq!(strides::<Free, Right>([3, 4], [4, 1]), [4, 1]);
    assert_eq!(strides::<Free, Left>([3, 4], [1, 3]), [1, 3]);
    assert_eq!(strides::<Free, Pitched>([3, 4], [9, 1]), [9, 1]);
    assert_eq!(strides::<Free, Strided>([3, 4], [2, 6]), [2, 6]);
}

/// Along an axis of one element, and in an empty tensor, any stride will do.
#[test]
fn strides_that_nobody_takes() {
    assert_eq!(strides::<Free, Right>([1, 4], [77, 1]), [4, 1]);
    assert_eq!(strides::<Free, Right>([3, 1], [1, 77]), [1, 1]);
    assert_eq!(strides::<Free, Pitched>([3, 1], [5, 77]), [5, 1]);
    assert_eq!(strides::<Free, Left>([0, 4], [9, 9]), [1, 0]);
    assert_eq!(strides::<Free, Right>([1, 4], [-4, 1]), [4, 1]);
}

#[test]
fn negative_strides() {
    let (found, text) = error::<Free, Strided>(&[3, 4], &[-4, 1]);
    assert_eq!(found, SpanError::NegativeStride { axis: 0, stride: -4 });
    assert_eq!(
        text,
        "axis 0 has the negative stride -4; spans run forward only: copy the tensor, or flip the tile after the load"
    );
}

#[test]
fn overlapping_elements() {
    let (found, text) = error::<Free, Strided>(&[3, 4], &[0, 1]);
    assert_eq!(found, SpanError::Overlap { axis: 0, stride: 0 });
    assert_eq!(
        text,
        "elements overlap along axis 0 (stride 0); a span's elements must lie apart: broadcast after the load instead"
    );
    assert_eq!(error::<Free, Pitched>(&[3, 4], &[3, 1]).0, SpanError::Overlap { axis: 0, stride: 3 });
    assert_eq!(error::<Free, Strided>(&[4, 3], &[1, 3]).0, SpanError::Overlap { axis: 1, stride: 3 });
    assert_eq!(error::<Free, Strided>(&[2, 2], &[1, 1]).0, SpanError::Overlap { axis: 1, stride: 1 });
    let (found, _) = error::<(u32, u32, u32), Strided>(&[2, 3, 4], &[11, 4, 1]);
    assert_eq!(found, SpanError::Overlap { axis: 0, stride: 11 });
}

#[test]
fn sizes_beyond_the_offsets() {
    let (found, text) = error::<Free, Right>(&[1 << 16, (1 << 16) + 1], &[(1 << 16) + 1, 1]);
    let last = (1u128 << 32) + (1 << 16) - 1;
    assert_eq!(found, SpanError::TooLarge { elements: last, most: u32::MAX.into() });
    assert_eq!(
        text,
        "its last element is 4295032831 elements away, but the kernel counts up to 4294967295; declare an extent as u64"
    );
    assert_eq!(strides::<Free, Right>([1 << 16, 1 << 16], [1 << 16, 1]), [1 << 16, 1]);
    assert_eq!(strides::<(u32, u64), Right>([1 << 17, 1 << 16], [1 << 16, 1]), [1 << 16, 1]);
    let (found, _) = error::<(u64, u64), Strided>(&[4, 2], &[i64::MAX, 1]);
    assert_eq!(found, SpanError::TooLarge { elements: 3 * i64::MAX as u128 + 1, most: u64::MAX });
}

#[test]
fn alignment() {
    let at = |start| try_span::<(u32,), Exclusive, Right, Aligned<16>>(start, &[4], &[1]);
    assert!(at(0).is_ok() && at(48).is_ok());
    let Err(found) = at(4) else { panic!("4 is not a multiple of 16") };
    let SpanError::Alignment { address, wanted: 16 } = found else { panic!("{found:?}") };
    assert_eq!(
        found.to_string(),
        format!(
            "its first element is at address {address:#x}, which is not a multiple of 16 bytes; drop `Aligned<_>` from the \
             argument's type or start the tensor at such an address"
        )
    );
    let natural = |start| try_span::<(u32,), ReadOnly, Right, Natural>(start, &[4], &[1]);
    assert!(natural(4).is_ok());
    assert!(matches!(natural(2), Err(SpanError::Alignment { wanted: 4, .. })));
}

#[test]
fn ranks() {
    let (found, text) = error::<Free, Right>(&[2, 3, 4], &[12, 4, 1]);
    assert_eq!(found, SpanError::Rank { found: 3, wanted: 2 });
    assert_eq!(text, "it has 3 axes, but the kernel wants 2");
    assert_eq!(error::<Free, Right>(&[2, 3], &[1]).0, SpanError::Rank { found: 1, wanted: 2 });
    assert_eq!(error::<(), Right>(&[1], &[1]).0, SpanError::Rank { found: 1, wanted: 0 });
}

#[test]
fn axes_beyond_the_rank() {
    let span = try_span::<Free, ReadOnly, Right, Natural>(0, &[3, 4], &[4, 1]).expect("it fits");
    let error = std::panic::catch_unwind(|| span.extent(2)).expect_err("there is no axis 2");
    let text = error.downcast_ref::<String>().expect("a formatted text");
    assert!(text.starts_with("axis 2 of a span of rank 2") && text.contains("spans.rs"), "{text}");
}
