//! Random chains of views against a naive model: the list of positions that each index stands for.

use cuda_tiles_host::{Device, Result, Tensor, TensorView, TensorViewMut};
use proptest::prelude::*;

use crate::cases;

/// A number: usually small, sometimes near one of the limits.
fn number() -> impl Strategy<Value = usize> {
    let large = (0_u32..64, 0_usize..4).prop_map(|(exponent, less)| (1_usize << exponent).wrapping_sub(less));
    prop_oneof![8 => 0_usize..7, 1 => large, 1 => any::<usize>()]
}

/// One step from a view of rank 3 to another.
#[derive(Debug, Clone)]
enum Step {
    Slice(usize, usize, usize),
    Permute([usize; 3]),
    Strided(usize, [usize; 3], [usize; 3]),
}

fn step() -> impl Strategy<Value = Step> {
    let axes = prop_oneof![
        3 => Just([0_usize, 1, 2]).prop_shuffle(),
        1 => prop::array::uniform3(number()),
    ];
    let triple = || prop::array::uniform3(number());
    prop_oneof![
        (0_usize..4, number(), number()).prop_map(|(axis, start, end)| Step::Slice(axis, start, end)),
        axes.prop_map(Step::Permute),
        (number(), triple(), triple())
            .prop_map(|(offset, shape, strides)| Step::Strided(offset, shape, strides)),
    ]
}

/// What a view is, in numbers that cannot overflow.
#[derive(Debug, Clone, PartialEq)]
struct Model {
    offset: u128,
    shape: [u128; 3],
    strides: [u128; 3],
}

impl Model {
    fn len(&self) -> u128 {
        self.shape.iter().product()
    }

    /// Positions of the elements in row-major order of their indices.
    fn positions(&self) -> Vec<u128> {
        let [a, b, c] = self.shape;
        let [x, y, z] = self.strides;
        let mut positions = Vec::new();
        if self.len() == 0 {
            // Of no elements there may be very many rows.
            return positions;
        }
        for i in 0..a {
            for j in 0..b {
                for k in 0..c {
                    positions.push(self.offset + i * x + j * y + k * z);
                }
            }
        }
        positions
    }

    /// Elements from the first to the last.
    fn reach(&self) -> u128 {
        match self.len() {
            0 => 0,
            _ => 1 + (0..3).map(|axis| (self.shape[axis] - 1) * self.strides[axis]).sum::<u128>(),
        }
    }

    /// The view after a step; `None` where it must be refused.
    fn after(&self, step: &Step) -> Option<Self> {
        const MOST: u128 = isize::MAX as u128;
        match *step {
            Step::Slice(axis, start, end) => {
                if axis >= 3 || start > end || end as u128 > self.shape[axis] {
                    return None;
                }
                let mut result = self.clone();
                result.shape[axis] = (end - start) as u128;
                if result.len() > 0 {
                    result.offset += start as u128 * self.strides[axis];
                }
                Some(result)
            }
            Step::Permute(axes) => {
                let mut sorted = axes;
                sorted.sort_unstable();
                (sorted == [0, 1, 2]).then(|| Self {
                    offset: self.offset,
                    shape: axes.map(|axis| self.shape[axis]),
                    strides: axes.map(|axis| self.strides[axis]),
                })
            }
            Step::Strided(offset, shape, strides) => {
                let (shape, strides) = (shape.map(|n| n as u128), strides.map(|n| n as u128));
                let positive = shape.map(|extent| extent.max(1));
                let count = positive[0].checked_mul(positive[1])?.checked_mul(positive[2])?;
                let distance = (0..3).try_fold(0_u128, |sum, axis| {
                    sum.checked_add((positive[axis] - 1).checked_mul(strides[axis])?)
                })?;
                if count > MOST || distance > MOST {
                    return None;
                }
                let result = Self { offset: self.offset + offset as u128, shape, strides };
                (offset as u128 + result.reach() <= self.reach()).then_some(result)
            }
        }
    }
}

/// Applies a step to a view of any kind.
macro_rules! apply {
    ($view:expr, $step:expr) => {
        match *$step {
            Step::Slice(axis, start, end) => $view.slice(axis, start..end),
            Step::Permute(axes) => $view.permute(axes),
            Step::Strided(offset, shape, strides) => $view.strided(offset, shape, strides),
        }
    };
}

fn model(shape: [usize; 3]) -> Model {
    let [a, b, c] = shape.map(|extent| extent as u128);
    Model { offset: 0, shape: [a, b, c], strides: [b.max(1) * c.max(1), c.max(1), 1] }
}

/// A tensor whose elements are their positions.
fn numbers(shape: [usize; 3]) -> Tensor<u8, 3> {
    let values: Vec<u8> = (0..shape.iter().product::<usize>()).map(|i| i as u8).collect();
    Tensor::from_vec(&Device::cpu(), shape, values).unwrap()
}

/// Whether the view is what the model says. Views of many elements are compared by their numbers alone.
fn agree(view: TensorView<'_, u8, 3>, model: &Model) -> Result<(), TestCaseError> {
    prop_assert_eq!(view.shape().map(|n| n as u128), model.shape);
    prop_assert_eq!(view.strides().map(|n| n as u128), model.strides);
    prop_assert_eq!(view.len() as u128, model.len());
    prop_assert_eq!(view.is_empty(), model.len() == 0);
    if model.len() < 10_000 {
        let expected: Vec<u8> = model.positions().into_iter().map(|position| position as u8).collect();
        prop_assert_eq!(view.to_vec().unwrap(), expected.clone());
        let signed: Vec<i8> = expected.iter().map(|&element| element as i8).collect();
        prop_assert_eq!(view.bitcast::<i8>().to_vec().unwrap(), signed);
    }
    Ok(())
}

fn shape() -> impl Strategy<Value = [usize; 3]> {
    prop::array::uniform3(0_usize..6)
}

proptest! {
    #![proptest_config(cases(2000))]

    #[test]
    fn views_to_read_are_what_the_model_says(shape in shape(), steps in prop::collection::vec(step(), 0..6)) {
        let tensor = numbers(shape);
        let (mut view, mut expected) = (tensor.view(), model(shape));
        agree(view, &expected)?;
        for step in &steps {
            match (apply!(view, step), expected.after(step)) {
                (Ok(next), Some(next_expected)) => (view, expected) = (next, next_expected),
                (Err(error), None) => {
                    let message = error.to_string();
                    let shape = format!("a tensor of shape {:?}: ", expected.shape);
                    prop_assert!(message.contains(&shape), "{}", message);
                }
                (found, wanted) => prop_assert!(false, "{:?}: {:?}, but {:?} was expected", step, found, wanted),
            }
            agree(view, &expected)?;
        }
    }

    #[test]
    fn views_to_write_reach_each_element_once(shape in shape(), steps in prop::collection::vec(step(), 0..6)) {
        let mut tensor = numbers(shape);
        let mut expected = model(shape);
        let mut view: TensorViewMut<'_, u8, 3> = tensor.view_mut();
        for step in &steps {
            // A step that fails takes the view with it.
            if apply!(view.reborrow(), step).is_err() {
                let injective = expected.after(step).is_some_and(|next| {
                    let mut positions = if next.len() < 10_000 { next.positions() } else { vec![0; 2] };
                    let count = positions.len();
                    positions.sort_unstable();
                    positions.dedup();
                    positions.len() == count
                });
                // The check of strides is a sufficient one: what it refuses may be injective, if no stride steps over what the
                // smaller ones reach.
                prop_assert!(!injective || matches!(step, Step::Strided(..)), "{:?} of {:?}", step, expected);
                continue;
            }
            view = apply!(view, step).unwrap();
            expected = expected.after(step).expect("the model takes what the view takes");
        }
        agree(view.as_view(), &expected)?;
        // Elements of a tensor are few, so that a view with more indices would repeat one.
        let positions = expected.positions();
        let mut once = positions.clone();
        once.sort_unstable();
        once.dedup();
        prop_assert_eq!(once.len(), positions.len(), "two indices share an element");
        let values: Vec<u8> = (0..positions.len()).map(|i| i as u8 | 0x80).collect();
        view.copy_from_slice(&values).unwrap();
        prop_assert_eq!(view.as_view().to_vec().unwrap(), values.clone());
        let mut memory: Vec<u8> = (0..shape.iter().product::<usize>()).map(|i| i as u8).collect();
        for (&position, &value) in positions.iter().zip(&values) {
            memory[position as usize] = value;
        }
        prop_assert_eq!(tensor.to_vec().unwrap(), memory.clone());
        let mut view: TensorViewMut<'_, u8, 3> = tensor.view_mut();
        for step in &steps {
            if apply!(view.reborrow(), step).is_ok() {
                view = apply!(view, step).unwrap();
            }
        }
        view.fill(1).unwrap();
        positions.iter().for_each(|&position| memory[position as usize] = 1);
        prop_assert_eq!(tensor.to_vec().unwrap(), memory);
    }

    #[test]
    fn tensors_take_the_shapes_that_hold_their_elements(
        from in prop::array::uniform2(0_usize..7),
        to in prop::array::uniform3(number()),
        padded in any::<bool>(),
    ) {
        let device = Device::cpu();
        let count = from[0] * from[1];
        let values: Vec<u16> = (0..count as u16).collect();
        let mut tensor = match padded {
            true => Tensor::padded(&device, from).unwrap(),
            false => Tensor::poisoned(&device, from).unwrap(),
        };
        tensor.copy_from_slice(&values).unwrap();
        prop_assert_eq!(tensor.to_vec().unwrap(), values.clone());
        let packed = count == 0 || from[0] < 2 || tensor.strides() == [from[1], 1];
        let elements = to.iter().try_fold(1_usize, |count, &extent| count.checked_mul(extent.max(1)));
        let countable = elements.is_some_and(|elements| elements <= isize::MAX as usize / 2);
        let fits = countable && packed && to.iter().product::<usize>() == count;
        match tensor.reshape(to) {
            Ok(reshaped) => {
                prop_assert!(fits);
                prop_assert_eq!((reshaped.shape(), reshaped.to_vec().unwrap()), (to, values));
            }
            Err(error) => prop_assert!(!fits, "{}", error),
        }
    }

    #[test]
    fn tensors_of_any_shape_are_made_or_refused(shape in prop::array::uniform3(number())) {
        let device = Device::cpu();
        let count = shape.iter().try_fold(1_u128, |count, &extent| count.checked_mul(extent as u128));
        // What a machine may have room for is not tried.
        if count.is_none_or(|count| !(1 << 16..=1 << 50).contains(&count)) {
            for made in [
                Tensor::<u32, 3>::zeros(&device, shape),
                Tensor::<u32, 3>::full(&device, shape, 0),
                Tensor::<u32, 3>::padded(&device, shape),
            ] {
                match made {
                    Ok(tensor) => prop_assert_eq!(tensor.to_vec().unwrap(), vec![0; tensor.len()]),
                    Err(error) => prop_assert!(
                        count.is_none_or(|count| count == 0 || count > 1 << 50),
                        "{}", error
                    ),
                }
            }
        }
    }
}
