//! A kernel as data: arguments, and steps that name tiles.

use crate::data::Fill;
use crate::element::Element;
use crate::number::Rounding;
use serde::{Deserialize, Serialize};

/// The number of a tile.
pub type Variable = usize;

/// The type of a tile.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TileType {
    /// The type of its elements.
    pub element: Element,
    /// Its dimensions, powers of two.
    pub shape: Vec<usize>,
}

impl TileType {
    /// The number of elements.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether there are no elements, which is never so.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A kernel and how it is launched.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Program {
    /// The seed that it was made of.
    pub seed: u64,
    /// Threads of a block.
    pub threads: usize,
    /// Neighbouring elements of a thread.
    pub vector: usize,
    /// Tiles along each axis of the grid, each of which a block has.
    pub grid: Vec<usize>,
    /// If there are fewer blocks than tiles along the first axis, how many: then `Cx::tiles` deals the tiles out.
    pub blocks: Option<usize>,
    /// The tensors.
    pub arguments: Vec<Argument>,
    /// The numbers that are passed.
    pub parameters: Vec<Constant>,
    /// What the kernel does.
    pub body: Vec<Statement>,
}

/// A number, by its bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Constant {
    /// Its type.
    pub element: Element,
    /// Its bits.
    pub bits: u64,
}

/// A tensor.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Argument {
    /// What the kernel may do with it.
    pub access: Access,
    /// The type of its elements.
    pub element: Element,
    /// Its lengths.
    pub extents: Vec<Extent>,
    /// How it lies in memory.
    pub mapping: Mapping,
    /// Elements of memory before the first one.
    pub offset: usize,
    /// What it holds before the launch.
    pub fill: Fill,
    /// Of a writable or atomic one, the shape of the tiles of its only partition.
    pub tile: Vec<usize>,
}

/// What a kernel may do with a tensor.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Access {
    /// A `Span`.
    Read,
    /// A `SpanMut`.
    Write,
    /// A `SpanAtomic`.
    Atomic,
}

/// The length of an axis, and its type.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Extent {
    /// The length.
    pub length: usize,
    /// Its type.
    pub kind: ExtentKind,
}

/// The type of a length.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum ExtentKind {
    /// `u32`.
    Dynamic,
    /// `u64`.
    Wide,
    /// `D<N>`.
    Static,
    /// `Mult<u32, K>`.
    Multiple(usize),
}

/// How a tensor lies in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the variants are named as the library's mappings are")]
pub enum Mapping {
    Right,
    Left,
    PaddedRight(usize),
    PaddedLeft(usize),
    Pitched,
    PitchedLeft,
    Strided,
}

impl Argument {
    /// The lengths of its axes.
    pub fn shape(&self) -> Vec<usize> {
        self.extents.iter().map(|extent| extent.length).collect()
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.extents.iter().map(|extent| extent.length).product()
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Elements of memory between neighbours along each axis.
    pub fn strides(&self) -> Vec<usize> {
        let shape = self.shape();
        let axes: Vec<usize> = match self.mapping {
            Mapping::Left | Mapping::PaddedLeft(_) | Mapping::PitchedLeft => (0..shape.len()).collect(),
            _ => (0..shape.len()).rev().collect(),
        };
        let mut strides = vec![1; shape.len()];
        let mut stride = if self.mapping == Mapping::Strided { 2 } else { 1 };
        for (position, &axis) in axes.iter().enumerate() {
            strides[axis] = stride;
            let step = match (self.mapping, position) {
                (Mapping::PaddedRight(multiple) | Mapping::PaddedLeft(multiple), 0) => {
                    shape[axis].next_multiple_of(multiple)
                }
                (Mapping::Pitched | Mapping::PitchedLeft, 0) => shape[axis] + 3,
                (Mapping::Strided, _) => shape[axis] + 1,
                _ => shape[axis],
            };
            stride *= step.max(1);
        }
        strides
    }

    /// Where in memory the element with this row-major number lies.
    pub fn place(&self, number: usize) -> usize {
        let (shape, strides) = (self.shape(), self.strides());
        let mut rest = number;
        let mut place = self.offset;
        for axis in (0..shape.len()).rev() {
            place += rest % shape[axis] * strides[axis];
            rest /= shape[axis];
        }
        place
    }

    /// Elements of memory, those around the tensor included.
    pub fn memory(&self) -> usize {
        let last = self
            .shape()
            .iter()
            .zip(self.strides())
            .map(|(length, stride)| (length - 1) * stride)
            .sum::<usize>();
        self.offset + last + 1 + 3
    }
}

/// What a kernel does, one after the other.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Statement {
    /// An operation.
    Step(Step),
    /// A loop.
    Repeat(Repeat),
}

/// An operation on tiles.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Step {
    /// The tiles that it makes.
    pub results: Vec<Variable>,
    /// What it does.
    pub operation: Operation,
    /// Of what.
    pub operands: Vec<Operand>,
}

/// What an operation takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Operand {
    /// A tile.
    Tile(Variable),
    /// A number in the source.
    Constant(Constant),
    /// A number that is passed.
    Parameter(usize),
}

/// A loop that runs a number of times and carries tiles.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Repeat {
    /// The number of the loop.
    pub counter: usize,
    /// How often it runs.
    pub trips: usize,
    /// The tiles that change.
    pub carried: Vec<Carried>,
    /// What it does each time.
    pub body: Vec<Statement>,
}

/// A tile that changes in a loop.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Carried {
    /// The tile: within the loop, and after it.
    pub variable: Variable,
    /// What it is before the loop.
    pub initial: Variable,
    /// What it becomes at the end of each trip.
    pub next: Variable,
}

/// One number of a tile's index.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Index {
    /// The block's own along an axis of the grid.
    Block(usize),
    /// A number.
    Constant(i64),
    /// The number of a loop's trip, plus a number.
    Counter(usize, i64),
    /// The block's own times a factor, plus a number: proof of nothing.
    Computed(usize, i64, i64),
}

/// Where the tiles of a view lie.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum View {
    /// Side by side.
    Partition,
    /// At steps.
    Strided(Vec<usize>),
    /// At any element.
    Window,
}

/// What stands for elements outside of a tensor.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the variants are named as the library's paddings are")]
pub enum Padding {
    Zero,
    NegativeZero,
    PositiveInfinity,
    NegativeInfinity,
    Nan,
}

/// What is done. An axis that is `None` is `ALL`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the variants are named as the library's operations are")]
pub enum Operation {
    Full { shape: Vec<usize> },
    Iota { element: Element, shape: Vec<usize> },
    Coordinate { axis: Option<usize>, shape: Vec<usize> },
    Eye { element: Element, length: usize },
    Arange { element: Element, shape: Vec<usize>, start: u64, step: u64 },
    Philox { draw: Draw, shape: Vec<usize>, seed: u64, stream: u64, offset: u64 },
    Unary(Unary),
    Function(Function),
    Binary(Binary),
    Rounded(Binary, Rounding),
    Fma(Option<Rounding>),
    SqrtRounded(Rounding),
    Clamp,
    Select,
    Powi(i32),
    Cast(Element),
    CastRounded(Element, Rounding),
    Bitcast(Element),
    CastThrough(ShortFloat),
    DivRem { floored: bool },
    PromoteMixed,
    Reduce { by: Reduction, axis: Option<usize> },
    ReduceOver { by: Reduction, axes: Vec<usize> },
    Scan { by: Scan, axis: Option<usize>, exclusive: bool, backward: bool },
    Sort { axis: Option<usize>, descending: bool },
    Argsort { axis: Option<usize>, descending: bool },
    TopK { axis: usize, count: usize },
    Reshape { shape: Vec<usize> },
    Broadcast { shape: Vec<usize> },
    ExpandDims { axis: usize },
    Squeeze { axis: usize },
    Permute { axes: Vec<usize> },
    Transpose { first: usize, second: usize },
    Flip { axis: Option<usize> },
    Roll { axis: Option<usize>, shift: i32 },
    Split { axis: usize },
    Slice { axis: usize, start: usize, length: usize, dynamic: bool },
    Extract { shape: Vec<usize>, index: Vec<usize> },
    Insert { index: Vec<usize> },
    Cat { axis: usize },
    Stack { axis: usize },
    Repeat { axis: usize, times: usize },
    TileAlong { axis: usize, times: usize },
    Take { axis: usize },
    TakeAlongAxis { axis: usize },
    Diagonal,
    OneHot { element: Element, axis: usize, classes: usize },
    Histogram { bins: usize },
    Repack { element: Element, axis: usize },
    Mma,
    Load { argument: usize, view: View, shape: Vec<usize>, padding: Option<Padding>, index: Vec<Index> },
    Gather { argument: usize },
    GatherRows { argument: usize, axis: usize, shape: Vec<usize>, padding: Padding, index: Vec<Index> },
    Store { argument: usize, masked: bool, index: Vec<Index> },
    Update { argument: usize, update: Update, index: Vec<Index> },
    UpdateElements { argument: usize, update: Update },
}

/// What is drawn at random.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Draw {
    /// Bits of an integer.
    Bits(Element),
    /// Numbers from 0 to below 1.
    Uniform(Element),
    /// Numbers from above 0 to 1.
    UniformAboveZero(Element),
    /// Integers of a range, given by their bits.
    Range(Element, u64, u64),
    /// True with a probability, in 256ths.
    Bernoulli(u8),
}

/// A float that is stored and has no arithmetic.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the variants are named as the types are")]
pub enum ShortFloat {
    F8e4m3,
    F8e5m2,
    Tf32,
}

impl ShortFloat {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::F8e4m3, Self::F8e5m2, Self::Tf32];

    /// Its name in Rust.
    pub fn name(self) -> &'static str {
        match self {
            Self::F8e4m3 => "f8e4m3",
            Self::F8e5m2 => "f8e5m2",
            Self::Tf32 => "tf32",
        }
    }
}

macro_rules! named {
    ($(#[$documentation:meta])* $type:ident: $($variant:ident $name:literal),* $(,)?) => {
        $(#[$documentation])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
        #[allow(missing_docs, reason = "the variants are named as the library's operations are")]
        pub enum $type {
            $($variant),*
        }

        impl $type {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// Its name in the library.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name),*
                }
            }
        }
    };
}

named! {
    /// Of two operands, element by element.
    Binary:
    Add "+", Sub "-", Mul "*", Div "/", Rem "%", And "&", Or "|", Xor "^", ShiftLeft "<<", ShiftRight ">>",
    Minimum "minimum", Maximum "maximum", MinimumNan "minimum_with", MaximumNan "maximum_with",
    FloorDiv "floor_div", CeilDiv "ceil_div", Modulo "modulo",
    MulHi "mul_hi", SaturatingAdd "saturating_add", SaturatingSub "saturating_sub", SaturatingMul "saturating_mul",
    AbsDiff "abs_diff", RotateLeft "rotate_left", RotateRight "rotate_right",
    Equal "eq", NotEqual "ne", Less "lt", LessEqual "le", Greater "gt", GreaterEqual "ge",
    LogicalAnd "logical_and", LogicalOr "logical_or", LogicalXor "logical_xor",
    CopySign "copysign", Atan2 "atan2", Hypot "hypot", Pow "pow",
}

impl Binary {
    /// Whether it is written between its operands.
    pub fn is_operator(self) -> bool {
        self.name().len() <= 2 && !self.name().starts_with(|first: char| first.is_ascii_alphabetic())
    }
}

named! {
    /// Of one operand, element by element, exactly.
    Unary:
    Neg "-", Not "!", Abs "abs", Sign "sign", CountOnes "count_ones", LeadingZeros "leading_zeros",
    TrailingZeros "trailing_zeros", ReverseBits "reverse_bits", IsNan "is_nan", IsInfinite "is_infinite",
    LogicalNot "logical_not", Sqrt "sqrt", Reciprocal "reciprocal", Floor "floor", Ceil "ceil", Trunc "trunc",
    RoundEven "round_even", Flatten "flatten", Blocked "blocked",
}

named! {
    /// Functions with an error that is stated.
    Function:
    Exp "exp", Exp2 "exp2", Exp10 "exp10", Expm1 "expm1", Log "log", Log2 "log2", Log10 "log10", Log1p "log1p",
    Sin "sin", Cos "cos", Tan "tan", Asin "asin", Acos "acos", Atan "atan", Sinh "sinh", Cosh "cosh", Tanh "tanh",
    Asinh "asinh", Acosh "acosh", Atanh "atanh", Rsqrt "rsqrt", Cbrt "cbrt", Erf "erf", Erfc "erfc",
    Sigmoid "sigmoid", Silu "silu", Softplus "softplus", Gelu "gelu", GeluTanh "gelu_tanh",
}

named! {
    /// What becomes of the elements along an axis.
    Reduction:
    Sum "sum", Prod "prod", Max "max", Min "min", MaxNan "max_with", MinNan "min_with", BitAnd "bit_and", BitOr "bit_or",
    BitXor "bit_xor", Any "any", All "all", Count "count", Mean "mean", Argmax "argmax", Argmin "argmin",
}

named! {
    /// What becomes of the elements up to each one.
    Scan: Sum "cumsum", Prod "cumprod", Max "cummax", Min "cummin",
}

named! {
    /// What becomes of an element in memory.
    Update: Add "atomic_add", Sub "atomic_sub", Max "atomic_max", Min "atomic_min", And "atomic_and", Or "atomic_or", Xor "atomic_xor",
}
