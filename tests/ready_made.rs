//! The ready-made kernels against plain Rust in `f64`, on every device: random data, poisoned outputs, sizes that no tile
//! divides, tensors that start anywhere.

#[path = "ready_made/rows.rs"]
mod rows;

use std::cell::RefCell;

use cuda_tiles::launch::Description;
use cuda_tiles::prelude::*;
use cuda_tiles_host::{Device, Error, Grid, Launch, Result, Tensor};
use cuda_tiles_kernels::attention::{kernels as attention, ping_pong};
use cuda_tiles_kernels::lessons::{alignment, products, streams};
use cuda_tiles_kernels::{gather, image, normalisation, reductions, scan, softmax, transpose, vector};
use cuda_tiles_suite::kernels::KERNELS;
use cuda_tiles_suite::testing::{Random, devices, repeats};

/// Numbers between -2 and 2. They differ from run to run; each test has a sequence of its own, whatever runs beside it.
fn random(count: usize) -> Vec<f32> {
    thread_local! {
        static RANDOM: RefCell<Random> = RefCell::default();
    }
    RANDOM.with_borrow_mut(|random| {
        (0..count).map(|_| random.below(1 << 24) as f32 / (1 << 22) as f32 - 2.0).collect()
    })
}

fn to_f16(values: &[f32]) -> Vec<f16> {
    values.iter().map(|&value| f16::from_f32(value)).collect()
}

/// Twice the smallest number of `f16`, to whose multiples small results are rounded.
const LEAST: f64 = 1.0 / (1 << 23) as f64;

/// Fails unless all of `found` lie within `tolerance`, relative to the largest of `expected`, or within [`LEAST`].
#[track_caller]
fn assert_close(device: &Device, found: impl Iterator<Item = f64>, expected: &[f64], tolerance: f64) {
    let largest = expected.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    let mut count = 0;
    for (k, (found, expected)) in found.zip(expected).enumerate() {
        let error = (found - expected).abs();
        assert!(
            error <= (tolerance * largest).max(LEAST),
            "{device}: element {k} is {found} instead of {expected}"
        );
        count += 1;
    }
    assert_eq!(count, expected.len());
}

fn softmax_of(row: &[f32]) -> impl Iterator<Item = f64> + '_ {
    let largest = row.iter().fold(f64::NEG_INFINITY, |largest, &x| largest.max(x.into()));
    let sum: f64 = row.iter().map(|&x| (f64::from(x) - largest).exp()).sum();
    row.iter().map(move |&x| (f64::from(x) - largest).exp() / sum)
}

#[test]
fn sums_and_copies_of_vectors() {
    for device in devices() {
        for count in [1, 4095, 4097, 100_003] {
            let (x, y) = (random(count), random(count));
            let expected: Vec<f64> = x.iter().zip(&y).map(|(x, y)| f64::from(x + y)).collect();
            let (x, y) = (
                Tensor::from_vec(device, [count], x).unwrap(),
                Tensor::from_vec(device, [count], y).unwrap(),
            );
            let mut z = Tensor::poisoned(device, [count]).unwrap();
            let blocks = count.div_ceil(4096) as u32;
            vector::add::<f32, 4096>().launch(device, blocks, (&x, &y, &mut z)).unwrap();
            assert_close(device, z.to_vec().unwrap().into_iter().map(f64::from), &expected, 0.0);
            vector::copy::<f32, 4096>().launch(device, blocks, (&x, &mut z)).unwrap();
            assert_eq!(z.to_vec().unwrap(), x.to_vec().unwrap());
        }
    }
}

#[test]
fn softmax_of_whole_rows() {
    for device in devices() {
        let values = random(5 * 4096);
        let x = Tensor::from_slice(device, [5, 4096], &values).unwrap();
        let mut y = Tensor::poisoned(device, [5, 4096]).unwrap();
        softmax::softmax::<4096>().launch(device, 5, (&x, &mut y)).unwrap();
        let expected: Vec<f64> = values.chunks(4096).flat_map(softmax_of).collect();
        // A sum of 4096 numbers, one after the other on the CPU.
        assert_close(device, y.to_vec().unwrap().into_iter().map(f64::from), &expected, 1e-5);
    }
}

#[test]
fn softmax_of_rows_of_any_length() {
    for device in devices() {
        for columns in [1, 7, 1000, 8191, 8192] {
            let halves = to_f16(&random(3 * columns));
            let values: Vec<f32> = halves.iter().map(|value| value.to_f32()).collect();
            let expected: Vec<f64> = values.chunks(columns).flat_map(softmax_of).collect();
            let x = Tensor::from_slice(device, [3, columns], &values).unwrap();
            let mut y = Tensor::poisoned(device, [3, columns]).unwrap();
            softmax::softmax_any::<8192>().launch(device, 3, (&x, &mut y)).unwrap();
            assert_close(device, y.to_vec().unwrap().into_iter().map(f64::from), &expected, 1e-5);
            let x = Tensor::from_slice(device, [3, columns], &halves).unwrap();
            let mut y = Tensor::poisoned(device, [3, columns]).unwrap();
            softmax::softmax_any_half::<f16, 8192>().launch(device, 3, (&x, &mut y)).unwrap();
            assert_close(device, y.to_vec().unwrap().into_iter().map(f64::from), &expected, 1e-3);
        }
    }
}

#[test]
fn sums_of_rows() {
    for device in devices() {
        for columns in [1, 8191, 8192, 20_001] {
            let values = random(4 * columns);
            let expected: Vec<f64> =
                values.chunks(columns).map(|row| row.iter().map(|&x| f64::from(x)).sum()).collect();
            let x = Tensor::from_slice(device, [4, columns], &values).unwrap();
            let mut sums = Tensor::poisoned(device, [4]).unwrap();
            reductions::row_sum::<8192>().launch(device, 4, (&x, &mut sums)).unwrap();
            assert_close(device, sums.to_vec().unwrap().into_iter().map(f64::from), &expected, 1e-4);
        }
    }
}

#[test]
fn layer_norm_of_rows() {
    const COLUMNS: usize = 8192;
    for device in devices() {
        let (x, weight, bias) =
            (to_f16(&random(3 * COLUMNS)), to_f16(&random(COLUMNS)), to_f16(&random(COLUMNS)));
        let mut expected = Vec::new();
        let (mut means, mut deviations) = (Vec::new(), Vec::new());
        for row in x.chunks(COLUMNS) {
            let mean = row.iter().map(|x| x.to_f64()).sum::<f64>() / COLUMNS as f64;
            let variance = row.iter().map(|x| (x.to_f64() - mean).powi(2)).sum::<f64>() / COLUMNS as f64;
            let scale = 1.0 / (variance + 1e-5).sqrt();
            expected.extend(
                row.iter()
                    .zip(weight.iter().zip(&bias))
                    .map(|(x, (weight, bias))| (x.to_f64() - mean) * scale * weight.to_f64() + bias.to_f64()),
            );
            means.push(mean);
            deviations.push(scale);
        }
        let x = Tensor::from_slice(device, [3, COLUMNS], &x).unwrap();
        let weight = Tensor::from_slice(device, [COLUMNS], &weight).unwrap();
        let bias = Tensor::from_slice(device, [COLUMNS], &bias).unwrap();
        let mut y = Tensor::poisoned(device, [3, COLUMNS]).unwrap();
        let mut mean = Tensor::poisoned(device, [3]).unwrap();
        let mut deviation = Tensor::poisoned(device, [3]).unwrap();
        normalisation::layer_norm::<f16, COLUMNS>()
            .launch(device, 3, (&x, &weight, &bias, 1e-5, &mut y, &mut mean, &mut deviation))
            .unwrap();
        assert_close(device, y.to_vec().unwrap().into_iter().map(f64::from), &expected, 1e-3);
        assert_close(device, mean.to_vec().unwrap().into_iter().map(f64::from), &means, 1e-4);
        assert_close(device, deviation.to_vec().unwrap().into_iter().map(f64::from), &deviations, 1e-5);
    }
}

#[test]
fn transposes_of_matrices() {
    for device in devices() {
        for [rows, columns] in [[1, 1], [64, 64], [65, 63], [100, 333], [256, 128]] {
            let values = random(rows * columns);
            let x = Tensor::from_slice(device, [rows, columns], &values).unwrap();
            let mut y = Tensor::poisoned(device, [columns, rows]).unwrap();
            let grid = (rows.div_ceil(64) as u32, columns.div_ceil(64) as u32);
            transpose::transpose::<f32, 64, 64>().launch(device, grid, (&x, &mut y)).unwrap();
            assert_eq!(y.to_vec().unwrap(), x.view().transpose().to_vec().unwrap());
        }
    }
}

#[test]
fn rows_of_a_table() {
    for device in devices() {
        let table = to_f16(&random(50 * 1024));
        let rows: Vec<i32> = (0..77).map(|k| (k * 31 + 7) % 50).collect();
        let expected: Vec<f16> =
            rows.iter().flat_map(|&row| table[row as usize * 1024..][..1024].to_vec()).collect();
        let table = Tensor::from_slice(device, [50, 1024], &table).unwrap();
        let rows = Tensor::from_slice(device, [77], &rows).unwrap();
        let mut y = Tensor::poisoned(device, [77, 1024]).unwrap();
        gather::gather_rows::<f16, 1, 1024>().launch(device, 77, (&table, &rows, &mut y)).unwrap();
        assert_eq!(y.to_vec().unwrap(), expected);
    }
}

#[test]
fn cumulative_sums_of_rows() {
    for device in devices() {
        let values = random(3 * 8192);
        let sums = |row: &[f32]| -> Vec<f64> {
            row.iter()
                .scan(0.0, |sum, &x| {
                    *sum += f64::from(x);
                    Some(*sum)
                })
                .collect()
        };
        let expected: Vec<f64> = values.chunks(8192).flat_map(sums).collect();
        let x = Tensor::from_slice(device, [3, 8192], &values).unwrap();
        let mut y = Tensor::poisoned(device, [3, 8192]).unwrap();
        scan::cumulative_sum::<f32, 8192>().launch(device, 3, (&x, &mut y)).unwrap();
        assert_close(device, y.to_vec().unwrap().into_iter().map(f64::from), &expected, 1e-5);
    }
}

/// Heights and widths that tiles divide, and that they do not; one pixel, one row, one column.
const PICTURES: [[usize; 2]; 6] = [[1, 1], [1, 67], [35, 1], [16, 64], [17, 65], [50, 131]];
/// Planes of each picture.
const PLANES: usize = 2;

/// Planes of bytes with a border of `down` rows and `right` columns on each side.
struct Picture {
    values: Vec<u8>,
    shape: [usize; 3],
    border: [usize; 2],
}

impl Picture {
    /// Random bytes, or with `flat` all the same.
    fn new([height, width]: [usize; 2], border: [usize; 2], flat: Option<u8>) -> Self {
        let shape = [PLANES, height + 2 * border[0], width + 2 * border[1]];
        // Random numbers lie between -2 and 2.
        let byte = |number| flat.unwrap_or(((number + 2.0) * 64.0) as u8);
        Self { values: random(shape.iter().product()).into_iter().map(byte).collect(), shape, border }
    }

    /// The element at these distances from an element within the border.
    fn at(&self, plane: usize, [i, j]: [usize; 2], [down, right]: [isize; 2]) -> f64 {
        let along = |index: usize, axis: usize, distance: isize| {
            (index + self.border[axis]).checked_add_signed(distance).unwrap()
        };
        let row = plane * self.shape[1] + along(i, 0, down);
        self.values[row * self.shape[2] + along(j, 1, right)].into()
    }

    /// What `filter` makes of each element within the border.
    fn filtered<T>(&self, filter: impl Fn(usize, [usize; 2]) -> T) -> Vec<T> {
        let [_, height, width] = self.inner();
        let places =
            (0..PLANES * height * width).map(|k| (k / (height * width), k / width % height, k % width));
        places.map(|(plane, i, j)| filter(plane, [i, j])).collect()
    }

    /// The shape without the border.
    fn inner(&self) -> [usize; 3] {
        [PLANES, self.shape[1] - 2 * self.border[0], self.shape[2] - 2 * self.border[1]]
    }

    fn to_tensor(&self, device: &Device) -> Tensor<u8, 3> {
        Tensor::from_slice(device, self.shape, &self.values).unwrap()
    }
}

fn picture_grid([planes, height, width]: [usize; 3]) -> Grid {
    Grid::cover([planes, height, width], [1, image::TILE[0], image::TILE[1]])
}

#[test]
fn blurs_of_pictures() {
    const REACH: usize = image::BLUR_REACH;
    // Row 8 of Pascal's triangle.
    let mut weights = vec![1.0];
    for _ in 0..2 * REACH {
        let sums = weights.windows(2).map(|pair: &[f64]| pair[0] + pair[1]).collect::<Vec<_>>();
        weights = [vec![1.0], sums, vec![1.0]].concat();
    }
    for device in devices() {
        for (size, flat) in PICTURES.into_iter().flat_map(|size| [(size, None), (size, Some(255))]) {
            let picture = Picture::new(size, [REACH; 2], flat);
            let [planes, height, width] = picture.inner();
            let x = picture.to_tensor(device);
            let tall = [planes, height + 2 * REACH, width];
            let mut between = Tensor::poisoned(device, tall).unwrap();
            image::blur_rows.launch(device, picture_grid(tall), (&x, &mut between)).unwrap();
            let mut y = Tensor::poisoned(device, picture.inner()).unwrap();
            image::blur_columns.launch(device, picture_grid(picture.inner()), (&between, &mut y)).unwrap();
            // All products and sums are exact in f32: 8 bits, and 8 of the weights twice.
            let expected = picture.filtered(|plane, at| {
                let places = (0..81).map(|k| (k / 9, k % 9));
                let sum: f64 = places
                    .map(|(i, j)| {
                        let distance = [i as isize - REACH as isize, j as isize - REACH as isize];
                        picture.at(plane, at, distance) * weights[i] * weights[j]
                    })
                    .sum();
                (sum / 65_536.0 + 0.5) as u8
            });
            assert_eq!(y.to_vec().unwrap(), expected, "{device}, {size:?}");
        }
    }
}

#[test]
fn edges_of_pictures() {
    for device in devices() {
        for (size, flat) in PICTURES.into_iter().flat_map(|size| [(size, None), (size, Some(17))]) {
            let picture = Picture::new(size, [image::SOBEL_REACH; 2], flat);
            let x = picture.to_tensor(device);
            let mut y = Tensor::poisoned(device, picture.inner()).unwrap();
            image::sobel.launch(device, picture_grid(picture.inner()), (&x, &mut y)).unwrap();
            let expected = picture.filtered(|plane, at| {
                let gradient = |towards: fn(isize, isize) -> [isize; 2]| {
                    let side = |sign| {
                        [(-1, 1.0), (0, 2.0), (1, 1.0)]
                            .map(|(k, weight)| weight * picture.at(plane, at, towards(sign, k)))
                    };
                    side(1).iter().sum::<f64>() - side(-1).iter().sum::<f64>()
                };
                let (down, across) = (gradient(|sign, k| [sign, k]), gradient(|sign, k| [k, sign]));
                down.hypot(across).round().min(255.0) as u8
            });
            assert_eq!(y.to_vec().unwrap(), expected, "{device}, {size:?}");
        }
    }
}

#[test]
fn medians_of_pictures() {
    for device in devices() {
        for (size, flat) in PICTURES.into_iter().flat_map(|size| [(size, None), (size, Some(0))]) {
            let picture = Picture::new(size, [image::MEDIAN_REACH; 2], flat);
            let x = picture.to_tensor(device);
            let mut y = Tensor::poisoned(device, picture.inner()).unwrap();
            image::median.launch(device, picture_grid(picture.inner()), (&x, &mut y)).unwrap();
            let expected = picture.filtered(|plane, at| {
                let mut around: Vec<u8> =
                    (0..25).map(|k| picture.at(plane, at, [k / 5 - 2, k % 5 - 2]) as u8).collect();
                around.sort_unstable();
                around[12]
            });
            assert_eq!(y.to_vec().unwrap(), expected, "{device}, {size:?}");
        }
    }
}

/// M, K and N of products: smaller and larger than tiles, with edges that no tile meets, and rows of any number of bytes.
const PRODUCTS: [[usize; 3]; 6] =
    [[1, 1, 1], [128, 64, 256], [130, 72, 264], [70, 201, 136], [300, 201, 517], [257, 1031, 133]];

/// The operands of a product and a bias.
struct Product {
    size: [usize; 3],
    a: Vec<f16>,
    b: Vec<f16>,
    bias: Vec<f16>,
}

impl Product {
    fn random(size: [usize; 3]) -> Self {
        let [m, k, n] = size;
        let [a, b, bias] = [m * k, k * n, n].map(|count| to_f16(&random(count)));
        Self { size, a, b, bias }
    }

    /// The product in `f64`, and what `epilogue` makes of each sum and the bias of its column.
    fn reference(&self, epilogue: impl Fn(f64, f64) -> f64) -> Vec<f64> {
        let [m, k, n] = self.size;
        let mut sums = vec![0.0; m * n];
        for (at, a) in self.a.iter().enumerate() {
            let (row, b) = (&mut sums[at / k * n..][..n], &self.b[at % k * n..][..n]);
            row.iter_mut().zip(b).for_each(|(sum, b)| *sum += a.to_f64() * b.to_f64());
        }
        sums.iter().enumerate().map(|(at, &sum)| epilogue(sum, self.bias[at % n].to_f64())).collect()
    }

    /// The operands, with rows that TMA can load, and the bias.
    fn to_tensors(&self, device: &Device) -> (Tensor<f16, 2>, Tensor<f16, 2>, Tensor<f16, 1>) {
        let [m, k, n] = self.size;
        let bias = Tensor::from_slice(device, [n], &self.bias).unwrap();
        (padded(device, [m, k], &self.a), padded(device, [k, n], &self.b), bias)
    }
}

/// A matrix of rows that begin at multiples of 16 bytes.
fn padded<T: Element>(device: &Device, shape: [usize; 2], values: &[T]) -> Tensor<T, 2> {
    let mut tensor = Tensor::padded(device, shape).unwrap();
    tensor.copy_from_slice(values).unwrap();
    tensor
}

/// Whether a launch has run. It is refused where the device does not support the kernel.
#[track_caller]
fn has_run(device: &Device, kernel: &Description, launched: Result<()>) -> bool {
    match launched {
        Ok(()) => assert!(device.supports(kernel).unwrap(), "{device}"),
        Err(Error::Target { .. }) => assert!(!device.supports(kernel).unwrap(), "{device}"),
        Err(other) => panic!("{other}"),
    }
    device.supports(kernel).unwrap()
}

/// Checks what `launch` writes to the results of all [`PRODUCTS`], poisoned ones with packed rows and with padded ones. It gives
/// `false` where the kernel cannot run.
fn check_products(
    epilogue: impl Fn(f64, f64) -> f64,
    launch: impl Fn(&Device, &Product, &mut Tensor<f16, 2>) -> bool,
) {
    for device in devices() {
        for size @ [m, _, n] in PRODUCTS {
            let product = Product::random(size);
            let expected = product.reference(&epilogue);
            let packed = Tensor::poisoned(device, [m, n]).unwrap();
            for mut c in [packed, padded(device, [m, n], &vec![f16::NAN; m * n])] {
                if launch(device, &product, &mut c) {
                    let found = c.to_vec().unwrap().into_iter().map(f16::to_f64);
                    assert_close(device, found, &expected, 2e-3);
                }
            }
        }
    }
}

#[test]
fn products_of_tiles_that_are_loaded() {
    check_products(
        |sum, _| sum,
        |device, product, c| {
            // Its spans are without gaps.
            let [m, k, n] = product.size;
            let a = Tensor::from_slice(device, [m, k], &product.a).unwrap();
            let b = Tensor::from_slice(device, [k, n], &product.b).unwrap();
            let runs = c.strides() == [n, 1];
            if runs {
                let grid = Grid::cover(c.shape(), [128, 128]);
                products::gemm_loads.launch(device, grid, (&a, &b, c)).unwrap();
            }
            runs
        },
    );
}

#[test]
fn products_of_tiles_that_are_copied_ahead() {
    check_products(
        |sum, _| sum,
        |device, product, c| {
            let [m, k, n] = product.size;
            let a = Tensor::from_slice(device, [m, k], &product.a).unwrap();
            let b = Tensor::from_slice(device, [k, n], &product.b).unwrap();
            let runs = c.strides() == [n, 1] && n.is_multiple_of(8);
            if runs {
                let grid = Grid::cover(c.shape(), [128, 128]);
                products::gemm_ahead::<128>().launch(device, grid, (&a, &b, &mut *c)).unwrap();
                let (kernel, grid) = (products::gemm_ahead::<256>(), Grid::cover(c.shape(), [128, 256]));
                has_run(device, kernel.description(), kernel.launch(device, grid, (&a, &b, c)));
            }
            runs
        },
    );
    check_products(
        |sum, _| sum,
        |device, product, c| {
            let (a, b, _) = product.to_tensors(device);
            let runs = c.strides() == [product.size[2], 1] && product.size[2].is_multiple_of(8);
            if runs {
                let grid = Grid::cover(c.shape(), [128, 128]);
                products::gemm_ahead_tma::<128>().launch(device, grid, (&a, &b, &mut *c)).unwrap();
                let (kernel, grid) = (products::gemm_ahead_tma::<256>(), Grid::cover(c.shape(), [128, 256]));
                has_run(device, kernel.description(), kernel.launch(device, grid, (&a, &b, c)));
            }
            runs
        },
    );
}

#[test]
fn products_of_tiles_that_stream() {
    // Any number of blocks shares the tiles.
    for blocks in [1, 3, 100] {
        check_products(
            |sum, _| sum,
            |device, product, c| {
                let (a, b, _) = product.to_tensors(device);
                products::gemm_streamed::<128>().launch(device, blocks, (&a, &b, c)).unwrap();
                true
            },
        );
        check_products(
            |sum, _| sum,
            |device, product, c| {
                let (a, b, _) = product.to_tensors(device);
                let kernel = products::gemm_streamed::<256>();
                has_run(device, kernel.description(), kernel.launch(device, blocks, (&a, &b, c)))
            },
        );
    }
}

/// By the hyperbolic tangent.
fn gelu(x: f64) -> f64 {
    x * (1.0 + (std::f64::consts::FRAC_2_PI.sqrt() * (x + 0.044715 * x.powi(3))).tanh()) / 2.0
}

#[test]
fn products_with_a_bias_and_an_activation() {
    check_products(
        |sum, bias| gelu(sum + bias),
        |device, product, c| {
            let (a, b, bias) = product.to_tensors(device);
            products::gemm_streamed_gelu::<128>().launch(device, 2, (&a, &b, &bias, c)).unwrap();
            true
        },
    );
    check_products(
        |sum, bias| gelu(sum + bias),
        |device, product, c| {
            let (a, b, bias) = product.to_tensors(device);
            let kernel = products::gemm_streamed_gelu::<256>();
            has_run(device, kernel.description(), kernel.launch(device, 2, (&a, &b, &bias, c)))
        },
    );
}

#[test]
fn softmax_of_rows_that_stream() {
    for device in devices() {
        for [rows, columns] in [[1, 1], [8, 256], [3, 255], [21, 1000], [70, 5003]] {
            // Without their maximum the exponentials of some rows would all be infinite, and those of others zero.
            let offset = |row| [0.0, 300.0, -300.0][row % 3];
            let values: Vec<f32> = random(rows * columns)
                .into_iter()
                .enumerate()
                .map(|(at, value)| value + offset(at / columns))
                .collect();
            let expected: Vec<f64> = values.chunks(columns).flat_map(softmax_of).collect();
            let x = padded(device, [rows, columns], &values);
            for blocks in [1, 2, 100] {
                let mut y = Tensor::poisoned(device, [rows, columns]).unwrap();
                streams::softmax_streamed.launch(device, blocks, (&x, &mut y)).unwrap();
                assert_close(device, y.to_vec().unwrap().into_iter().map(f64::from), &expected, 1e-5);
            }
        }
    }
}

#[test]
fn softmax_of_rows_that_are_copied_ahead() {
    for device in devices() {
        for [rows, columns] in [[1, 1], [8, 256], [3, 255], [21, 1000], [70, 5003]] {
            let values = random(rows * columns);
            let expected: Vec<f64> = values.chunks(columns).flat_map(softmax_of).collect();
            let x = Tensor::from_slice(device, [rows, columns], &values).unwrap();
            let mut y = Tensor::poisoned(device, [rows, columns]).unwrap();
            streams::softmax_ahead.launch(device, Grid::cover([rows], [8]), (&x, &mut y)).unwrap();
            assert_close(device, y.to_vec().unwrap().into_iter().map(f64::from), &expected, 1e-5);
        }
    }
}

/// What is stated of rows changes no result.
#[test]
fn kernels_with_and_without_stated_alignment_agree() {
    for device in devices() {
        for [rows, columns] in [[1, 1], [5, 1000], [9, 1027], [3, 8192]] {
            let values = random(rows * columns);
            let x = Tensor::from_slice(device, [rows, columns], &values).unwrap();
            let halves = Tensor::from_slice(device, [rows, columns], &to_f16(&values)).unwrap();
            let mut y = Tensor::poisoned(device, [rows, columns]).unwrap();
            let mut z = Tensor::poisoned(device, [rows, columns]).unwrap();
            let grid = Grid::cover([rows, columns], [4, 1024]);
            alignment::scale_any.launch(device, grid, (&x, &mut y)).unwrap();
            alignment::softmax_any.launch(device, rows as u32, (&halves, &mut z)).unwrap();
            let scaled: Vec<f64> = values.iter().map(|x| f64::from(2.0 * x + 1.0)).collect();
            assert_close(device, y.to_vec().unwrap().into_iter().map(f64::from), &scaled, 1e-6);
            if columns.is_multiple_of(8) {
                let (any, any_half) = (y.to_vec().unwrap(), z.to_vec().unwrap());
                alignment::scale_stated.launch(device, grid, (&x, &mut y)).unwrap();
                alignment::softmax_stated.launch(device, rows as u32, (&halves, &mut z)).unwrap();
                assert_eq!(y.to_vec().unwrap(), any, "{device}");
                assert_eq!(z.to_vec().unwrap(), any_half, "{device}");
            }
        }
    }
}

/// None is lost, and none runs twice.
#[test]
fn a_million_launches_add_up() {
    const LENGTH: usize = 3 * 4096 + 77;
    for device in devices() {
        let times = repeats(device, 1_000_000);
        let ones = Tensor::<f32, 1>::full(device, [LENGTH], 1.0).unwrap();
        let [mut counts, mut next] = [(); 2].map(|()| Tensor::<f32, 1>::zeros(device, [LENGTH]).unwrap());
        for _ in 0..times {
            let grid = Grid::cover([LENGTH], [4096]);
            vector::add::<f32, 4096>().launch(device, grid, (&ones, &counts, &mut next)).unwrap();
            std::mem::swap(&mut counts, &mut next);
        }
        // Below 2^24 all whole numbers are an f32's.
        assert_eq!(counts.to_vec().unwrap(), vec![times as f32; LENGTH], "{device}");
    }
}

/// Both compilers come to the same fingerprints: of spans, of tensor map operands, and of shared memory, whose size depends on the target.
#[test]
fn the_code_for_gpus_has_the_kernels_that_programs_launch() {
    let mut launched = vec![
        vector::add::<f32, 4096>().description(),
        softmax::softmax::<1024>().description(),
        streams::softmax_streamed.description(),
        products::gemm_streamed::<128>().description(),
    ];
    // Attention takes minutes to compile. The build script leaves it out where no GPU runs it.
    if option_env!("CUDA_TILES_TEST_WITHOUT_GPU").is_none() {
        launched.extend([
            attention::attention::<f16, 128, 128, true>().description(),
            ping_pong::attention_ping_pong::<f16, false>().description(),
            ping_pong::attention_in_pairs::<f16, true>().description(),
            attention::attention_by_warps::<bf16, 16, 128, true>().description(),
        ]);
    }
    for image in KERNELS.images() {
        for kernel in &launched {
            let entry = image.entries().iter().find(|entry| entry.path == kernel.path);
            let entry = entry.unwrap_or_else(|| panic!("{} has no `{}`", image.arch(), kernel.path));
            assert_eq!((entry.fingerprint, entry.declaration), (kernel.fingerprint, kernel.declaration));
        }
    }
}

/// What the builder packs, the program finds: a module for each kernel, with the version and the target that all have.
#[test]
fn each_kernel_has_a_module_of_its_own() {
    for image in KERNELS.images() {
        for entry in image.entries() {
            let module = image.ptx(entry).unwrap();
            assert!(module.contains(&format!(".entry {}(", entry.symbol)), "{}", entry.path);
            assert_eq!(module.matches(".entry ").count(), 1, "{}", entry.path);
            assert!(
                module.starts_with(".version ") && module.contains(&format!(".target {}\n", image.arch()))
            );
        }
    }
}

/// Code for GPUs that an instance is not for has its entry, and nothing of its body.
#[test]
fn an_instance_for_other_gpus_has_no_code() {
    let kernels =
        [products::gemm_streamed::<256>().description(), products::gemm_streamed_gelu::<256>().description()];
    for image in KERNELS.images() {
        for kernel in kernels {
            let entry = image.entries().iter().find(|entry| entry.path == kernel.path).unwrap();
            let module = image.ptx(entry).unwrap();
            let (_, code) = module.split_once(&format!(".entry {}(", entry.symbol)).unwrap();
            assert_eq!(code.contains("mma"), image.supports(kernel), "{}: {code}", image.arch());
        }
    }
}
