//! Writes a program as the source of a kernel, and as the code that launches it.

use crate::check::{check, elements_of};
use crate::element::Element;
use crate::number;
use crate::program::{
    Access, Argument, Binary, Constant, Draw, ExtentKind, Index, Mapping, Operand, Operation, Padding,
    Program, Reduction, Repeat, Statement, Step, Unary, Variable, View,
};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The head of a crate of kernels.
pub const KERNELS_HEAD: &str = "//! Random kernels.\n\n#![no_std]\n#![allow(warnings)]\n\nuse cuda_tiles::prelude::*;\nuse scope::Device;\n";

/// The kernel as a function called `name`.
///
/// # Panics
/// If the program is not one that compiles.
pub fn kernel(program: &Program, name: &str) -> String {
    let elements = elements_of(program).expect("the program is one that compiles");
    let mut printer = Printer { program, elements, text: String::new(), depth: 1 };
    printer.kernel(name);
    printer.text
}

/// The function that launches the kernel called `name` on a device: `launch_` and its name.
pub fn launcher(program: &Program, name: &str) -> String {
    let mut text = format!("fn launch_{name}(device: &Device, memory: &mut Memory) -> Result<()> {{\n");
    for (number, argument) in program.arguments.iter().enumerate() {
        let mutable = if argument.access == Access::Read { "" } else { "mut " };
        let _ = writeln!(
            text,
            "    let {mutable}a{number} = memory.tensor::<{}>(device, {number})?;",
            argument.element.name()
        );
    }
    let grid: Vec<String> = (0..3)
        .map(|axis| {
            let tiles = *program.grid.get(axis).unwrap_or(&1);
            if axis == 0 { program.blocks.unwrap_or(tiles) } else { tiles }.to_string()
        })
        .collect();
    let mut arguments = Vec::new();
    for (number, argument) in program.arguments.iter().enumerate() {
        let view = if argument.access == Access::Read { "view" } else { "view_mut" };
        arguments.push(format!(
            "a{number}.{view}().strided({}, {:?}, {:?})?",
            argument.offset,
            argument.shape(),
            argument.strides()
        ));
    }
    arguments.extend(program.parameters.iter().map(|&constant| literal(constant)));
    let _ = writeln!(
        text,
        "    kernels::{name}.launch(device, ({}), ({},))?;",
        grid.join(", "),
        arguments.join(", ")
    );
    for (number, argument) in program.arguments.iter().enumerate() {
        if argument.access != Access::Read {
            let _ = writeln!(text, "    memory.keep({number}, &a{number})?;");
        }
    }
    text.push_str("    Ok(())\n}\n");
    text
}

/// A number as Rust writes it.
pub fn literal(constant: Constant) -> String {
    let (element, bits) = (constant.element, constant.bits);
    let name = element.name();
    if element == Element::Bool {
        return (bits != 0).to_string();
    }
    if !element.is_float() {
        let value = element.integer(bits);
        return match value {
            _ if element.is_signed() && value == element.range().0 => format!("{name}::MIN"),
            _ if value < 0 => format!("({value}{name})"),
            _ => format!("{value}{name}"),
        };
    }
    let value = number::decode(element, bits);
    let short = matches!(element, Element::F16 | Element::Bf16);
    match () {
        () if value.is_nan() => format!("{name}::NAN"),
        () if value.is_infinite() => format!("{name}::{}INFINITY", if value < 0.0 { "NEG_" } else { "" }),
        () if short => format!("const {{ {name}::from_f32_const({value:?}_f32) }}"),
        () if element == Element::F32 => format!("({:?}_f32)", value as f32),
        () => format!("({value:?}_f64)"),
    }
}

fn shape(shape: &[usize]) -> String {
    let lengths: Vec<String> = shape.iter().map(ToString::to_string).collect();
    format!("shape![{}]", lengths.join(", "))
}

fn axis(axis: Option<usize>) -> String {
    axis.map_or_else(|| "ALL".to_owned(), |axis| axis.to_string())
}

fn axes(axes: &[usize]) -> String {
    let axes: Vec<String> = axes.iter().map(ToString::to_string).collect();
    format!("axes![{}]", axes.join(", "))
}

fn padding(padding: Padding) -> &'static str {
    match padding {
        Padding::Zero => "Zero",
        Padding::NegativeZero => "NegativeZero",
        Padding::PositiveInfinity => "PositiveInfinity",
        Padding::NegativeInfinity => "NegativeInfinity",
        Padding::Nan => "Nan",
    }
}

/// The type of an argument.
pub fn argument_type(argument: &Argument) -> String {
    let span = match argument.access {
        Access::Read => "Span",
        Access::Write => "SpanMut",
        Access::Atomic => "SpanAtomic",
    };
    let extents: Vec<String> = argument
        .extents
        .iter()
        .map(|extent| match extent.kind {
            ExtentKind::Dynamic => "u32".to_owned(),
            ExtentKind::Wide => "u64".to_owned(),
            ExtentKind::Static => format!("D<{}>", extent.length),
            ExtentKind::Multiple(multiple) => format!("Mult<u32, {multiple}>"),
        })
        .collect();
    let mapping = match argument.mapping {
        Mapping::Right => String::new(),
        Mapping::Left => ", Left".to_owned(),
        Mapping::PaddedRight(multiple) => format!(", PaddedRight<{multiple}>"),
        Mapping::PaddedLeft(multiple) => format!(", PaddedLeft<{multiple}>"),
        Mapping::Pitched => ", Pitched".to_owned(),
        Mapping::PitchedLeft => ", PitchedLeft".to_owned(),
        Mapping::Strided => ", Strided".to_owned(),
    };
    format!("{span}<{}, ({},){mapping}>", argument.element.name(), extents.join(", "))
}

struct Printer<'a> {
    program: &'a Program,
    /// The element types of all tiles.
    elements: BTreeMap<Variable, Element>,
    text: String,
    depth: usize,
}

impl Printer<'_> {
    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "{:indent$}{line}", "", indent = 4 * self.depth);
    }

    fn kernel(&mut self, name: &str) {
        let program = self.program;
        let _ = writeln!(self.text, "/// Of seed {}.", program.seed);
        let grid = program.grid.len();
        let _ = writeln!(
            self.text,
            "#[kernel(threads = {}, vector = {}, grid = {grid})]",
            program.threads, program.vector
        );
        let _ = writeln!(self.text, "pub fn {name}(");
        self.line("cx: Cx,");
        for (number, argument) in program.arguments.iter().enumerate() {
            self.line(&format!("a{number}: {},", argument_type(argument)));
        }
        for (number, constant) in program.parameters.iter().enumerate() {
            self.line(&format!("p{number}: {},", constant.element.name()));
        }
        self.text.push_str(") {\n");
        // Writable spans are partitioned before any block index is known, in every block alike.
        for (number, argument) in program.arguments.iter().enumerate() {
            if argument.access == Access::Write
                || argument.access == Access::Atomic && used_as_view(program, number)
            {
                self.line(&format!("let a{number} = a{number}.partition(cx, {});", shape(&argument.tile)));
            }
        }
        for axis in 0..grid {
            if axis == 0 && program.blocks.is_some() {
                self.line(&format!("for b0 in cx.tiles::<0>({}) {{", program.grid[0]));
                self.depth += 1;
            } else {
                self.line(&format!("let b{axis} = cx.bid::<{axis}>();"));
            }
        }
        self.statements(&program.body);
        if program.blocks.is_some() {
            self.depth -= 1;
            self.line("}");
        }
        self.text.push_str("}\n");
    }

    fn statements(&mut self, statements: &[Statement]) {
        for statement in statements {
            match statement {
                Statement::Step(step) => self.step(step),
                Statement::Repeat(repeat) => self.repeat(repeat),
            }
        }
    }

    fn repeat(&mut self, repeat: &Repeat) {
        for carried in &repeat.carried {
            self.line(&format!("let mut t{} = t{}.blocked();", carried.variable, carried.initial));
        }
        self.line(&format!("for c{} in 0..{}u32 {{", repeat.counter, repeat.trips));
        self.depth += 1;
        self.statements(&repeat.body);
        // All at once: one may become what another one was.
        let (left, right): (Vec<String>, Vec<String>) = repeat
            .carried
            .iter()
            .map(|carried| (format!("t{}", carried.variable), format!("t{}.blocked()", carried.next)))
            .unzip();
        if !left.is_empty() {
            self.line(&format!("({},) = ({},);", left.join(", "), right.join(", ")));
        }
        self.depth -= 1;
        self.line("}");
    }

    fn operand(&self, operand: &Operand) -> String {
        match *operand {
            Operand::Tile(variable) => format!("t{variable}"),
            Operand::Constant(constant) => literal(constant),
            Operand::Parameter(number) => format!("p{number}"),
        }
    }

    fn index(&self, index: &[Index]) -> String {
        let numbers: Vec<String> = index
            .iter()
            .map(|number| match *number {
                Index::Block(axis) => format!("b{axis}"),
                Index::Constant(value) if value < 0 => format!("{value}i32"),
                Index::Constant(value) => format!("{value}u32"),
                Index::Counter(counter, 0) => format!("c{counter}"),
                Index::Counter(counter, offset) => format!("c{counter} as i32 + ({offset})"),
                Index::Computed(axis, factor, offset) => format!("*b{axis} as i32 * ({factor}) + ({offset})"),
            })
            .collect();
        format!("({},)", numbers.join(", "))
    }

    fn step(&mut self, step: &Step) {
        let text = self.operation(step);
        let line = match step.results.as_slice() {
            [] => format!("{text};"),
            [one] => format!("let t{one} = {text};"),
            several => {
                let names: Vec<String> = several.iter().map(|variable| format!("t{variable}")).collect();
                format!("let ({}) = {text};", names.join(", "))
            }
        };
        self.line(&line);
    }

    #[allow(clippy::too_many_lines, reason = "one line or a few for each operation")]
    fn operation(&self, step: &Step) -> String {
        let operands: Vec<String> = step.operands.iter().map(|operand| self.operand(operand)).collect();
        let a = operands.first().map_or("", String::as_str);
        let b = operands.get(1).map_or("", String::as_str);
        let c = operands.get(2).map_or("", String::as_str);
        match &step.operation {
            Operation::Full { shape: lengths } => format!("cx.full({}, {a})", shape(lengths)),
            Operation::Iota { element, shape: lengths } => {
                format!("cx.iota::<{}>({})", element.name(), shape(lengths))
            }
            Operation::Coordinate { axis: of, shape: lengths } => {
                format!("cx.coordinate::<{}>({})", axis(*of), shape(lengths))
            }
            Operation::Eye { element, length } => {
                format!("cx.eye::<{}>({})", element.name(), shape(&[*length, *length]))
            }
            Operation::Arange { element, shape: lengths, start, step } => {
                let number = |bits: u64| literal(Constant { element: *element, bits });
                format!("cx.arange({}, {}, {})", shape(lengths), number(*start), number(*step))
            }
            Operation::Philox { draw, shape: lengths, seed, stream, offset } => {
                let lengths = shape(lengths);
                let drawn = match *draw {
                    Draw::Bits(element) => format!("bits::<{}>({lengths}, {offset})", element.name()),
                    Draw::Uniform(element) => {
                        format!("uniform::<{}>({lengths}, {offset})", element.name())
                    }
                    Draw::UniformAboveZero(element) => {
                        format!("uniform_above_zero::<{}>({lengths}, {offset})", element.name())
                    }
                    Draw::Range(element, first, last) => {
                        let number = |bits: u64| literal(Constant { element, bits });
                        format!("uniform_range({lengths}, {offset}, {}..={})", number(first), number(last))
                    }
                    Draw::Bernoulli(share) => {
                        format!("bernoulli({lengths}, {offset}, {:?}_f32)", f32::from(share) / 256.0)
                    }
                };
                format!("Philox::new(cx, {seed}, {stream}).{drawn}")
            }
            Operation::Unary(unary) => match unary {
                Unary::Neg | Unary::Not => format!("{}{a}", unary.name()),
                _ => format!("{a}.{}()", unary.name()),
            },
            Operation::Function(function) => format!("{a}.{}()", function.name()),
            Operation::Binary(binary) if binary.is_operator() => format!("{a} {} {b}", binary.name()),
            Operation::Binary(Binary::MinimumNan | Binary::MaximumNan) => {
                let Operation::Binary(binary) = step.operation else { unreachable!("it is one") };
                format!("{a}.{}({b}, PropagateNan)", binary.name())
            }
            Operation::Binary(binary) => format!("{a}.{}({b})", binary.name()),
            Operation::Rounded(binary, rounding) => {
                let name = match binary {
                    Binary::Add => "add_with",
                    Binary::Sub => "sub_with",
                    _ => "mul_with",
                };
                format!("{a}.{name}({b}, {})", rounding.name())
            }
            Operation::Fma(None) => format!("{a}.fma({b}, {c})"),
            Operation::Fma(Some(rounding)) => format!("{a}.fma_with({b}, {c}, {})", rounding.name()),
            Operation::SqrtRounded(rounding) => format!("{a}.sqrt_with({})", rounding.name()),
            Operation::Clamp => format!("{a}.clamp({b}, {c})"),
            Operation::Select => format!("{a}.select({b}, {c})"),
            Operation::Powi(exponent) => format!("{a}.powi({exponent})"),
            Operation::Cast(element) => format!("{a}.cast::<{}>()", element.name()),
            Operation::CastRounded(element, rounding) => {
                format!("{a}.cast_with::<{}>({})", element.name(), rounding.name())
            }
            Operation::Bitcast(element) => format!("{a}.bitcast::<{}>()", element.name()),
            Operation::CastThrough(short) => {
                let own = match step.operands[0] {
                    Operand::Tile(variable) => self.elements[&variable].name(),
                    _ => "f32",
                };
                format!("{a}.cast::<{}>().cast::<{own}>()", short.name())
            }
            Operation::DivRem { floored } => {
                format!("{a}.{}({b})", if *floored { "divmod" } else { "div_rem" })
            }
            Operation::PromoteMixed => format!("{a}.promote_mixed({b})"),
            Operation::Reduce { by, axis: of } => match by {
                Reduction::MaxNan | Reduction::MinNan => {
                    format!("{a}.{}::<{}>(PropagateNan)", by.name(), axis(*of))
                }
                _ => format!("{a}.{}::<{}>()", by.name(), axis(*of)),
            },
            Operation::ReduceOver { by, axes: over } => format!("{a}.{}_over({})", by.name(), axes(over)),
            Operation::Scan { by, axis: of, exclusive, backward } => {
                let (name, of) = (by.name(), axis(*of));
                match (exclusive, backward) {
                    (false, false) => format!("{a}.{name}::<{of}>()"),
                    (true, false) => format!("{a}.{name}_with::<{of}>(Exclusive)"),
                    (false, true) => format!("{a}.{name}_with::<{of}>(Backward)"),
                    (true, true) => format!("{a}.{name}_with::<{of}>((Exclusive, Backward))"),
                }
            }
            Operation::Sort { axis: of, descending } => {
                if *descending {
                    format!("{a}.sort_with::<{}>(Descending)", axis(*of))
                } else {
                    format!("{a}.sort::<{}>()", axis(*of))
                }
            }
            Operation::Argsort { axis: of, descending } => {
                if *descending {
                    format!("{a}.argsort_with::<{}>(Descending)", axis(*of))
                } else {
                    format!("{a}.argsort::<{}>()", axis(*of))
                }
            }
            Operation::TopK { axis, count } => format!("{a}.top_k::<{axis}, {count}>()"),
            Operation::Reshape { shape: lengths } => format!("{a}.reshape({})", shape(lengths)),
            Operation::Broadcast { shape: lengths } => format!("{a}.broadcast({})", shape(lengths)),
            Operation::ExpandDims { axis } => format!("{a}.expand_dims::<{axis}>()"),
            Operation::Squeeze { axis } => format!("{a}.squeeze::<{axis}>()"),
            Operation::Permute { axes: order } => format!("{a}.permute({})", axes(order)),
            Operation::Transpose { first, second } => format!("{a}.transpose::<{first}, {second}>()"),
            Operation::Flip { axis: of } => format!("{a}.flip::<{}>()", axis(*of)),
            Operation::Roll { axis: of, shift } => format!("{a}.roll::<{}>({shift})", axis(*of)),
            Operation::Split { axis } => format!("{a}.split::<{axis}>()"),
            Operation::Slice { axis, start, length, dynamic } => {
                if *dynamic {
                    format!("{a}.slice_at::<{axis}, {length}>({start})")
                } else {
                    format!("{a}.slice::<{axis}, {start}, {length}>()")
                }
            }
            Operation::Extract { shape: lengths, index } => {
                format!("{a}.extract({}, {index:?})", shape(lengths))
            }
            Operation::Insert { index } => format!("{a}.insert({b}, {index:?})"),
            Operation::Cat { axis } => format!("{a}.cat::<{axis}>({b})"),
            Operation::Stack { axis } => format!("{a}.stack::<{axis}>({b})"),
            Operation::Repeat { axis, times } => format!("{a}.repeat::<{axis}, {times}>()"),
            Operation::TileAlong { axis, times } => format!("{a}.tile::<{axis}, {times}>()"),
            Operation::Take { axis } => format!("{a}.take_masked::<{axis}>({b}, {c})"),
            Operation::TakeAlongAxis { axis } => format!("{a}.take_along_axis_masked::<{axis}>({b}, {c})"),
            Operation::Diagonal => format!("{a}.diagonal()"),
            Operation::OneHot { element, axis, classes } => {
                format!("{a}.one_hot::<{}, {axis}, {classes}>()", element.name())
            }
            Operation::Histogram { bins } => format!("{a}.histogram({})", shape(&[*bins])),
            Operation::Repack { element, axis } => format!("{a}.repack::<{}, {axis}>()", element.name()),
            Operation::Mma => format!("mma({a}, {b}, {c})"),
            Operation::Load { argument, view, shape: lengths, padding: with, index } => {
                let index = self.index(index);
                let owned = self.program.arguments[*argument].access == Access::Write;
                let view = match view {
                    _ if owned => format!("a{argument}"),
                    View::Partition => format!("a{argument}.partition(cx, {})", shape(lengths)),
                    View::Strided(steps) => {
                        let steps: Vec<String> = steps.iter().map(ToString::to_string).collect();
                        format!("a{argument}.strided(cx, {}, steps![{}])", shape(lengths), steps.join(", "))
                    }
                    View::Window => format!("a{argument}.window(cx, {})", shape(lengths)),
                };
                match with {
                    Some(with) => format!("{view}.load_masked({}, {index})", padding(*with)),
                    None => format!("{view}.load({index})"),
                }
            }
            Operation::Gather { argument } => {
                let rank = self.program.arguments[*argument].extents.len();
                let indices = operands[..rank].join(", ");
                let indices = if rank == 1 { indices } else { format!("({indices})") };
                format!("a{argument}.gather_masked({}, {indices}, {})", operands[rank], operands[rank + 1])
            }
            Operation::GatherRows { argument, axis, shape: lengths, padding: with, index } => {
                let numbers: Vec<String> = (0..lengths.len())
                    .map(|other| {
                        if other == *axis {
                            a.to_owned()
                        } else {
                            self.index(&index[other..=other]).trim_matches(['(', ')', ',']).to_owned()
                        }
                    })
                    .collect();
                let view = format!("a{argument}.gather_scatter_view(cx, {})", shape(lengths));
                format!("{view}.load_masked({}, ({}))", padding(*with), numbers.join(", "))
            }
            Operation::Store { argument, masked, index } => {
                let name = if *masked { "store_masked" } else { "store" };
                format!("a{argument}.{name}({a}, {})", self.index(index))
            }
            Operation::Update { argument, update, index } => {
                format!("a{argument}.{}_masked({a}, {}, Relaxed, Device)", update.name(), self.index(index))
            }
            Operation::UpdateElements { argument, update } => {
                format!("let _ = a{argument}.{}({a}, {b}, Relaxed, Device)", update.name())
            }
        }
    }
}

/// Whether an atomic tensor is updated by tiles of a view; else it is by elements of the span itself.
fn used_as_view(program: &Program, argument: usize) -> bool {
    fn any(statements: &[Statement], argument: usize) -> bool {
        statements.iter().any(|statement| match statement {
            Statement::Repeat(repeat) => any(&repeat.body, argument),
            Statement::Step(step) => {
                matches!(&step.operation, Operation::Update { argument: of, .. } if *of == argument)
            }
        })
    }
    any(&program.body, argument)
}

impl Program {
    /// The program in a list of one, as [`as_data`] writes it.
    ///
    /// # Errors
    /// If it is not one, or would not compile.
    pub fn from_data(text: &str) -> Result<Self, String> {
        let programs: Vec<Self> = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let [program] = programs
            .try_into()
            .map_err(|programs: Vec<Self>| format!("{} programs in place of one", programs.len()))?;
        check(&program)?;
        Ok(program)
    }
}

/// The programs as data, for those who run them.
///
/// # Panics
/// Never: a program has nothing that cannot be written.
pub fn as_data(programs: &[Program]) -> String {
    serde_json::to_string(programs).expect("a program can be written")
}
