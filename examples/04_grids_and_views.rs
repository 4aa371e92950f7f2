//! Lesson 4: a grid with two axes, and a tensor written in another order.
//!
//!     cargo run --example 04_grids_and_views
//!
//! A kernel that states `grid = 2` tells its blocks apart by two numbers. A block may store only tiles whose index
//! contains them all, so that no two blocks write one element. The kernel, in `kernels/src/lessons/tiles.rs`:
//!
//!     let z = z.partition(cx, shape![32, 64]);
//!     let (i, j) = (cx.bid::<0>(), cx.bid::<1>());
//!     ...
//!     z.store_masked(column * row, (i, j));
//!
//! Its `z` is declared `Strided`, hence it takes any view: here a transposed one.

use cuda_tiles_host::{Device, Grid, Launch, Result, Tensor};
use cuda_tiles_kernels::lessons::tiles;
use cuda_tiles_suite::kernels::KERNELS;

const ROWS: usize = 77;
const COLUMNS: usize = 130;

fn main() -> Result<()> {
    let device = Device::auto()?;
    device.load(&KERNELS)?;

    let numbers = |count: usize| -> Vec<f32> { (0..count).map(|i| i as f32).collect() };
    let x = Tensor::from_vec(&device, [ROWS], numbers(ROWS))?;
    let y = Tensor::from_vec(&device, [COLUMNS], numbers(COLUMNS))?;
    let mut table = Tensor::zeros(&device, [ROWS, COLUMNS])?;
    tiles::outer_product.launch(&device, Grid::cover([ROWS, COLUMNS], [32, 64]), (&x, &y, &mut table))?;

    // The same numbers, stored column by column.
    let mut turned = Tensor::zeros(&device, [COLUMNS, ROWS])?;
    tiles::outer_product.launch(
        &device,
        Grid::cover([ROWS, COLUMNS], [32, 64]),
        (&x, &y, turned.view_mut().transpose()),
    )?;

    let table = table.to_vec()?;
    assert!((0..ROWS * COLUMNS).all(|i| table[i] == (i / COLUMNS * (i % COLUMNS)) as f32));
    assert_eq!(turned.view().transpose().to_vec()?, table);
    println!("a table of {ROWS} x {COLUMNS} products, twice, on {device}");
    Ok(())
}
