//! Which bits carry a coordinate, against the layout itself.

use super::{axes, blocks, element, registers, shapes};
use crate::layout::map::LinearMap;
use crate::layout::scan::{Carrier, ScanPlan};

#[test]
fn coordinates_along_an_axis_are_those_of_the_layout() {
    for (vector, threads) in blocks() {
        for shape in shapes() {
            let map = LinearMap::blocked(shape.bits(), vector, threads);
            for (low, count) in axes(&shape) {
                let plan = ScanPlan::new(shape.bits(), vector, threads, low, count);
                for thread in 0..1usize << threads {
                    for register in 0..registers(&map) {
                        assert_eq!(
                            plan.of_thread(thread) | plan.of_register(register),
                            element(&map, thread, register) >> low & ((1 << count) - 1),
                            "{shape:?}, {count} bits from {low}, block ({vector}, {threads})"
                        );
                    }
                }
                for bit in 0..count {
                    let carried = match plan.carrier(bit) {
                        Carrier::Register(place) => plan.of_register(1 << place),
                        Carrier::Lane(place) => plan.of_thread(1 << place),
                        Carrier::Warp(place) => plan.of_thread(32 << place),
                    };
                    assert_eq!(carried, 1 << bit, "{shape:?}, {count} bits from {low}");
                }
            }
        }
    }
}
