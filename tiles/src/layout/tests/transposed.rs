//! The layout of transposes in place, against that of the tiles that are transposed.

use super::{assert_bijection, blocks, element, registers, shapes};
use crate::layout::map::LinearMap;
use crate::layout::matrix_part::MatrixPart;

#[test]
fn threads_hold_the_transposes_of_their_elements() {
    for shape in shapes() {
        let (m, n) = match shape.rank {
            0 => (0, 0),
            1 => (0, shape.log[0]),
            rank => (shape.log[rank - 2], shape.log[rank - 1]),
        };
        for (vector, threads) in blocks() {
            let map = MatrixPart::TransposedBlocked.map(&shape, vector, threads, false);
            assert_bijection(&map, shape.bits(), threads);
            if threads == 0 {
                continue;
            }
            let before = LinearMap::blocked(shape.bits(), vector, threads);
            assert_eq!(registers(&map), registers(&before));
            for thread in 0..1 << threads {
                for register in 0..registers(&map) {
                    let (here, there) = (element(&map, thread, register), element(&before, thread, register));
                    let (row, column) = (here >> n & ((1 << m) - 1), here & ((1 << n) - 1));
                    assert_eq!(there, here >> (m + n) << (m + n) | column << m | row, "{shape:?}");
                }
            }
        }
    }
}
