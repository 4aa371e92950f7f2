//! An operation of a user's own: candle's tests of custom operations, and what operands may be like.

use std::marker::PhantomData;

use candle_core::test_utils::to_vec1_round;
use candle_core::{DType, Device, Result, Tensor, Var};
use cuda_tiles::element::{Float, bf16, f16};
use cuda_tiles_candle::{Apply, Call, Element, Error, Finished, Input, Operation};
use cuda_tiles_candle_kernels::elu::{TILE, elu, elu_gradient};
use cuda_tiles_host::{Grid, Launch, Stream, TensorView, TensorViewMut};

use crate::{assert_close, devices, normal};

#[derive(Clone, Copy)]
struct Elu {
    alpha: f64,
}

struct EluGradient(Elu);

/// Types that the kernels have instances for.
trait HasElu: Element + Float {
    fn forward(
        stream: &Stream,
        x: TensorView<'_, Self, 1>,
        alpha: f64,
        y: TensorViewMut<'_, Self, 1>,
    ) -> cuda_tiles_host::Result<()>;
    fn gradient(
        stream: &Stream,
        x: [TensorView<'_, Self, 1>; 2],
        alpha: f64,
        dx: TensorViewMut<'_, Self, 1>,
    ) -> cuda_tiles_host::Result<()>;
}

macro_rules! has_elu {
    ($($type:ident by $wide:ident)*) => { $(
        impl HasElu for $type {
            fn forward(stream: &Stream, x: TensorView<'_, Self, 1>, alpha: f64, y: TensorViewMut<'_, Self, 1>) -> cuda_tiles_host::Result<()> {
                elu::<$type, $wide>().launch_on(stream, Grid::cover(x.shape(), [TILE]), (x, alpha as $wide, y))
            }

            fn gradient(
                stream: &Stream,
                [x, dy]: [TensorView<'_, Self, 1>; 2],
                alpha: f64,
                dx: TensorViewMut<'_, Self, 1>,
            ) -> cuda_tiles_host::Result<()> {
                elu_gradient::<$type, $wide>().launch_on(stream, Grid::cover(x.shape(), [TILE]), (x, dy, alpha as $wide, dx))
            }
        }
    )* };
}
has_elu!(f32 by f32 f16 by f32 bf16 by f32 f64 by f64);

/// Calls a generic function by the type of an operand.
macro_rules! by_type {
    ($operand:expr, $function:ident($($argument:expr),*)) => {
        match $operand.dtype() {
            DType::F32 => $function::<f32>($($argument),*),
            DType::F16 => $function::<f16>($($argument),*),
            DType::BF16 => $function::<bf16>($($argument),*),
            DType::F64 => $function::<f64>($($argument),*),
            found => Err(Error::NoKernel { operation: "elu", found, known: &[DType::F32, DType::F16, DType::BF16, DType::F64] }),
        }
    };
}

impl Operation<1> for Elu {
    fn name(&self) -> &'static str {
        "elu"
    }

    fn forward(&self, call: &Call<'_>, [x]: [Input<'_>; 1]) -> cuda_tiles_candle::Result<Finished> {
        fn forward<T: HasElu>(
            call: &Call<'_>,
            x: Input<'_>,
            alpha: f64,
        ) -> cuda_tiles_candle::Result<Finished> {
            call.load(&cuda_tiles_candle::kernels::own::KERNELS)?;
            let (x, mut y) = (x.hold::<T>()?, call.output::<T>(x.dims())?);
            T::forward(call.stream(), x.flattened()?, alpha, y.elements())?;
            Ok(y.finish())
        }
        by_type!(x, forward(call, x, self.alpha))
    }

    fn backward(&self, [x]: [&Tensor; 1], _: &Tensor, dy: &Tensor) -> Result<[Option<Tensor>; 1]> {
        Ok([Some(EluGradient(*self).apply([x, &dy.contiguous()?])?)])
    }
}

impl Operation<2> for EluGradient {
    fn name(&self) -> &'static str {
        "elu gradient"
    }

    fn forward(&self, call: &Call<'_>, [x, dy]: [Input<'_>; 2]) -> cuda_tiles_candle::Result<Finished> {
        fn forward<T: HasElu>(
            call: &Call<'_>,
            x: [Input<'_>; 2],
            alpha: f64,
        ) -> cuda_tiles_candle::Result<Finished> {
            call.load(&cuda_tiles_candle::kernels::own::KERNELS)?;
            let mut dx = call.output::<T>(x[0].dims())?;
            let [x, dy] = [x[0].hold::<T>()?, x[1].hold::<T>()?];
            T::gradient(call.stream(), [x.flattened()?, dy.flattened()?], alpha, dx.elements())?;
            Ok(dx.finish())
        }
        by_type!(x, forward(call, [x, dy], self.0.alpha))
    }
}

/// candle's `custom_op1_no_backward`.
#[test]
fn candles_custom_operation() -> Result<()> {
    for device in devices() {
        let t = Tensor::arange(0_u32, 12_u32, &device)?.to_dtype(DType::F32)?;
        let t = (t - 5.0)?;
        let elu_t = t.apply_op1_no_bwd(&cuda_tiles_candle::Custom(Elu { alpha: 1.0 }))?;
        assert_eq!(
            to_vec1_round(&elu_t, 4)?,
            [-0.9933, -0.9817, -0.9502, -0.8647, -0.6321, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
        );
    }
    Ok(())
}

/// candle's `custom_op1_with_backward`.
#[test]
fn candles_custom_operation_with_a_gradient() -> Result<()> {
    for device in devices() {
        let t = Var::new(&[-2_f32, 0.0, 2.0], &device)?;
        let elu_t = Elu { alpha: 2.0 }.apply([&t])?;
        assert_eq!(to_vec1_round(&elu_t, 4)?, [-1.7293, 0.0, 2.0]);
        let grads = elu_t.backward()?;
        assert_eq!(to_vec1_round(grads.get(&t).unwrap(), 4)?, [0.2707, 1.0, 1.0]);
    }
    Ok(())
}

#[test]
fn every_type_and_any_offset() -> Result<()> {
    for device in devices() {
        for (dtype, tolerance) in
            [(DType::F64, 1e-12), (DType::F32, 1e-6), (DType::F16, 1e-3), (DType::BF16, 1e-2)]
        {
            let whole = normal(&device, &[3, 1000, 7], dtype)?;
            // Parts that begin at any element.
            for (first, len) in [(0, 1000), (1, 999), (997, 3)] {
                let x = whole.get(1)?.narrow(0, first, len)?;
                let wide = x.to_dtype(DType::F64)?;
                let found = Elu { alpha: 0.5 }.apply([&x])?;
                let expected = (wide.maximum(0.0)? + (wide.minimum(0.0)?.exp()? - 1.0)?.affine(0.5, 0.0)?)?;
                assert_close(&format!("{device:?} {dtype:?} {first}.."), &found, &expected, tolerance);
            }
        }
    }
    Ok(())
}

/// candle's own operations launch nothing for an empty tensor only on the CPU, so that nothing is compared.
#[test]
fn empty_tensors_have_empty_results() -> Result<()> {
    for device in devices() {
        let whole = Tensor::zeros((2, 6), DType::F32, &device)?;
        for empty in [whole.narrow(1, 5, 0)?, whole.narrow(0, 2, 0)?] {
            assert_eq!(Elu { alpha: 1.0 }.apply([&empty])?.dims(), empty.dims());
            assert_eq!(cuda_tiles_candle::softmax_last_dim(&empty)?.dims(), empty.dims());
            let weight = whole.get(0)?.narrow(0, 0, empty.dim(1)?)?;
            assert_eq!(cuda_tiles_candle::rms_norm(&empty, &weight, 1e-5)?.dims(), empty.dims());
        }
    }
    Ok(())
}

#[test]
fn operands_that_kernels_do_not_take_are_told_why() -> Result<()> {
    for device in devices() {
        let x = Tensor::zeros((4, 6), DType::F32, &device)?;
        let told = |x: &Tensor| Elu { alpha: 1.0 }.apply([x]).unwrap_err().to_string();
        let transposed = told(&x.t()?);
        assert!(transposed.contains("shape [6, 4] and strides [1, 6]"), "{transposed}");
        let columns = told(&x.narrow(1, 0, 3)?);
        assert!(columns.contains("call `contiguous()` first"), "{columns}");
        let integers = told(&x.to_dtype(DType::U32)?);
        assert!(integers.contains("no kernel for elements of U32"), "{integers}");
    }
    Ok(())
}

/// Of rank 2, with any strides, and of types that kernels do not compute with.
struct Transposed<T>(PhantomData<T>);

impl<T: Element> Operation<1> for Transposed<T> {
    fn name(&self) -> &'static str {
        "transposed"
    }

    fn forward(&self, call: &Call<'_>, [x]: [Input<'_>; 1]) -> cuda_tiles_candle::Result<Finished> {
        let x = x.hold::<T>()?;
        let view = x.view::<2>()?;
        let [rows, columns] = view.shape();
        let mut out = call.output::<T>((columns, rows))?;
        out.flattened::<2>()?.copy_from_slice(&view.transpose().to_vec()?)?;
        Ok(out.finish())
    }
}

#[test]
fn views_have_the_strides_of_the_tensor() -> Result<()> {
    let integers = || Transposed::<i64>(PhantomData);
    for device in devices() {
        let x = Tensor::arange(0_i64, 60, &device)?.reshape((6, 10))?;
        let part = x.narrow(0, 1, 3)?.narrow(1, 2, 5)?;
        for x in [&part, &part.t()?, &x.narrow(0, 2, 1)?.broadcast_as((4, 10))?] {
            let found = integers().apply([x])?.to_vec2::<i64>()?;
            assert_eq!(found, x.t()?.contiguous()?.to_vec2::<i64>()?);
        }
        let told = integers().apply([&x.reshape((3, 2, 10))?]).unwrap_err().to_string();
        assert!(told.contains("3 axes (shape [3, 2, 10]), but the kernel takes 2"), "{told}");
        let told = integers().apply([&x.to_dtype(DType::F32)?]).unwrap_err().to_string();
        assert!(told.contains("elements of F32, but the kernel takes I64"), "{told}");
    }
    Ok(())
}

#[test]
fn an_operation_without_a_gradient_says_so() -> Result<()> {
    for device in devices() {
        let x = Var::zeros((2, 3), DType::F32, &device)?;
        let told = Transposed::<f32>(PhantomData).apply([&x])?.sum_all()?.backward().unwrap_err().to_string();
        assert!(told.contains("backward is not supported") && told.contains("transposed"), "{told}");
    }
    Ok(())
}

#[test]
fn work_before_and_after_is_in_order() -> Result<()> {
    // On a GPU nothing waits here before the end.
    for device in devices() {
        let mut x = Tensor::full(1.0_f32, 1 << 16, &device)?;
        for _ in 0..50 {
            x = (Elu { alpha: 1.0 }.apply([&(x + 1.0)?])? - 0.5)?;
        }
        assert_eq!(x.to_vec1::<f32>()?, vec![26.0; 1 << 16], "{device:?}");
    }
    Ok(())
}

#[test]
fn a_gpu_of_candle_is_the_same_gpu() {
    if let Some(Device::Cuda(_)) = devices().get(1) {
        let x = Tensor::zeros(3, DType::F32, &devices()[1]).unwrap();
        let y = Elu { alpha: 1.0 }.apply([&x]).unwrap();
        assert!(y.device().is_cuda());
    }
}

#[test]
fn several_results_come_from_tensors_of_one_device() -> Result<()> {
    let twice = |x: &Tensor, y: &Tensor| {
        cuda_tiles_candle::compute([x, y], |call, [x, y]| {
            let mut results = [call.output::<f32>(x.dims())?, call.output::<f32>(y.dims())?];
            call.load(&cuda_tiles_candle::kernels::own::KERNELS)?;
            for (x, result) in [x, y].iter().zip(&mut results) {
                f32::forward(call.stream(), x.hold::<f32>()?.flattened()?, 1.0, result.elements())?;
            }
            Ok(results.map(|result| result.finish()))
        })
    };
    for device in devices() {
        let (x, y) = (Tensor::new(&[1_f32, 2.0, -0.0], &device)?, Tensor::new(&[[3_f32]], &device)?);
        let [x, y] = twice(&x, &y)?;
        assert_eq!((x.to_vec1::<f32>()?, y.to_vec2::<f32>()?), (vec![1.0, 2.0, 0.0], vec![vec![3.0]]));
        if device.is_cuda() {
            let told = twice(&x, &x.to_device(&Device::Cpu)?).unwrap_err().to_string();
            assert!(told.contains("compute: the tensors are on different devices"), "{told}");
        }
    }
    Ok(())
}
