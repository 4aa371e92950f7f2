//! Makes a program smaller that shows a difference, one edit at a time: delta debugging on steps, loops, shapes and tensors.

use crate::check::{Types, check};
use crate::data::{Fill, constant};
use crate::generate::operands_of;
use crate::program::{
    Access, Constant, ExtentKind, Index, Mapping, Operand, Operation, Program, Repeat, Statement, Step,
    Variable,
};

/// Programs that are smaller by one edit each and that compile, those that are smaller by most first.
pub fn candidates(program: &Program) -> Vec<Program> {
    let Ok(types) = check(program) else { return Vec::new() };
    let mut edits = Vec::new();
    one_store(program, &mut edits);
    loops(program, &mut edits);
    steps(program, &types, &mut edits);
    launch(program, &mut edits);
    shapes(program, &mut edits);
    tensors(program, &mut edits);
    numbers(program, &mut edits);
    let size = size_of(program);
    let mut smaller: Vec<Program> = Vec::new();
    for edit in edits {
        let edit = tidy(edit);
        if size_of(&edit) < size
            && has_results(&edit.body)
            && check(&edit).is_ok()
            && !smaller.contains(&edit)
        {
            smaller.push(edit);
        }
    }
    smaller.sort_by_key(size_of);
    smaller
}

/// The smallest program that `fails`, which is given many candidates at once and returns the number of one that does.
pub fn shrink(
    program: Program,
    at_once: usize,
    mut fails: impl FnMut(&[Program]) -> Option<usize>,
) -> Program {
    let mut smallest = tidy(program);
    'smaller: loop {
        for some in candidates(&smallest).chunks(at_once) {
            if let Some(number) = fails(some) {
                smallest = some[number].clone();
                continue 'smaller;
            }
        }
        return smallest;
    }
}

/// How large a program is to read: steps first, then what surrounds them.
fn size_of(program: &Program) -> usize {
    let mut size = 0;
    visit(&program.body, &mut |statement| {
        size += match statement {
            Statement::Repeat(repeat) => 3000 + 100 * repeat.trips + 300 * repeat.carried.len(),
            Statement::Step(step) => 1000 + of_operation(step),
        };
    });
    for argument in &program.arguments {
        size += 500
            + 40 * usize::from(argument.mapping != Mapping::Right)
            + 40 * usize::from(argument.offset != 0);
        size += match argument.fill {
            Fill::Poison | Fill::Ones => 0,
            Fill::Counting => 5,
            Fill::Small(_) | Fill::Indices(..) => 10,
            Fill::Digits(_) => 15,
            Fill::Wide(_) => 20,
            Fill::Special(_) => 25,
        };
        for extent in &argument.extents {
            size += 20 * usize::from(!matches!(extent.kind, ExtentKind::Dynamic))
                + extent.length.min(200) / 4
                + 10;
        }
    }
    let blocks: usize = program.grid.iter().product();
    size + 100 * program.parameters.len()
        + 20 * (blocks - 1)
        + 50 * program.grid.len()
        + 60 * usize::from(program.blocks.is_some())
        + program.threads / 32
        + program.vector
}

fn of_operation(step: &Step) -> usize {
    let shape = match &step.operation {
        Operation::Full { shape }
        | Operation::Load { shape, .. }
        | Operation::Reshape { shape }
        | Operation::Broadcast { shape } => {
            20 + shape.iter().map(|length| length.ilog2() as usize).sum::<usize>()
        }
        Operation::Store { masked, .. } => 30 * usize::from(*masked),
        _ => 100,
    };
    let numbers = step
        .operands
        .iter()
        .map(|operand| match operand {
            Operand::Tile(_) => 40,
            Operand::Parameter(_) => 50,
            Operand::Constant(number) if number.bits <= 1 => 5,
            Operand::Constant(_) => 10,
        })
        .sum::<usize>();
    let padded = usize::from(matches!(step.operation, Operation::Load { padding: Some(_), .. }));
    shape + numbers + 30 * padded
}

fn visit(statements: &[Statement], see: &mut dyn FnMut(&Statement)) {
    for statement in statements {
        see(statement);
        if let Statement::Repeat(repeat) = statement {
            visit(&repeat.body, see);
        }
    }
}

fn change(statements: &mut [Statement], edit: &mut dyn FnMut(&mut Step)) {
    for statement in statements {
        match statement {
            Statement::Step(step) => edit(step),
            Statement::Repeat(repeat) => change(&mut repeat.body, edit),
        }
    }
}

fn has_results(body: &[Statement]) -> bool {
    let mut found = false;
    visit(body, &mut |statement| {
        found |= matches!(statement, Statement::Step(step) if step.results.is_empty());
    });
    found
}

/// Removes what no result needs: steps, carried tiles, tensors, numbers.
fn tidy(mut program: Program) -> Program {
    loop {
        let before = program.clone();
        let mut used = Vec::new();
        operands_of(&program.body, &mut used);
        remove_unused(&mut program.body, &used);
        remove_tensors(&mut program);
        if program == before {
            return program;
        }
    }
}

fn remove_unused(statements: &mut Vec<Statement>, used: &[Variable]) {
    statements.retain_mut(|statement| match statement {
        Statement::Step(step) => {
            step.results.is_empty() || step.results.iter().any(|result| used.contains(result))
        }
        Statement::Repeat(repeat) => {
            repeat.carried.retain(|carried| {
                used.contains(&carried.variable) && carried.next != carried.variable || needed(carried, used)
            });
            remove_unused(&mut repeat.body, used);
            !repeat.body.is_empty() || !repeat.carried.is_empty()
        }
    });
}

/// Whether something besides the loop itself takes a carried tile.
fn needed(carried: &crate::program::Carried, used: &[Variable]) -> bool {
    let by_itself = usize::from(carried.next == carried.variable);
    used.iter().filter(|&&variable| variable == carried.variable).count() > by_itself
}

fn argument_of(operation: &mut Operation) -> Option<&mut usize> {
    match operation {
        Operation::Load { argument, .. }
        | Operation::Gather { argument }
        | Operation::GatherRows { argument, .. }
        | Operation::Store { argument, .. }
        | Operation::Update { argument, .. }
        | Operation::UpdateElements { argument, .. } => Some(argument),
        _ => None,
    }
}

fn remove_tensors(program: &mut Program) {
    let (mut tensors, mut numbers) = (Vec::new(), Vec::new());
    change(&mut program.body, &mut |step| {
        tensors.extend(argument_of(&mut step.operation).copied());
        numbers.extend(step.operands.iter().filter_map(|operand| match operand {
            Operand::Parameter(number) => Some(*number),
            _ => None,
        }));
    });
    let place = |used: &[usize], number: usize| (0..number).filter(|other| used.contains(other)).count();
    change(&mut program.body, &mut |step| {
        if let Some(argument) = argument_of(&mut step.operation) {
            *argument = place(&tensors, *argument);
        }
        for operand in &mut step.operands {
            if let Operand::Parameter(number) = operand {
                *number = place(&numbers, *number);
            }
        }
    });
    let keep = |used: &[usize], number: &mut usize| {
        *number += 1;
        used.contains(&(*number - 1))
    };
    let mut number = 0;
    program.arguments.retain(|_| keep(&tensors, &mut number));
    let mut number = 0;
    program.parameters.retain(|_| keep(&numbers, &mut number));
}

/// The program with one store alone, of each.
fn one_store(program: &Program, edits: &mut Vec<Program>) {
    let mut stores = 0;
    visit(&program.body, &mut |statement| {
        stores += usize::from(matches!(statement, Statement::Step(step) if step.results.is_empty()));
    });
    let mut keep = |wanted: &dyn Fn(usize) -> bool| {
        let mut edit = program.clone();
        let mut number = 0;
        retain_stores(&mut edit.body, &mut number, wanted);
        edits.push(edit);
    };
    for store in 0..stores {
        keep(&|number| number == store);
        keep(&|number| number != store);
    }
}

fn retain_stores(statements: &mut Vec<Statement>, number: &mut usize, wanted: &dyn Fn(usize) -> bool) {
    statements.retain_mut(|statement| match statement {
        Statement::Step(step) if step.results.is_empty() => {
            *number += 1;
            wanted(*number - 1)
        }
        Statement::Step(_) => true,
        Statement::Repeat(repeat) => {
            retain_stores(&mut repeat.body, number, wanted);
            true
        }
    });
}

/// Each loop left out, opened, or with one trip.
fn loops(program: &Program, edits: &mut Vec<Program>) {
    for (position, statement) in program.body.iter().enumerate() {
        let Statement::Repeat(repeat) = statement else { continue };
        let mut without = program.clone();
        without.body.remove(position);
        for carried in &repeat.carried {
            rename(&mut without.body, carried.variable, at_first(repeat, carried.variable));
        }
        edits.push(without);
        edits.push(opened(program, position, repeat));
        let mut once = program.clone();
        if let Statement::Repeat(repeat) = &mut once.body[position] {
            repeat.trips = 1;
        }
        edits.push(once);
    }
}

/// The program with the body of a loop in its place, once.
fn opened(program: &Program, position: usize, repeat: &Repeat) -> Program {
    let mut edit = program.clone();
    let mut body = repeat.body.clone();
    change(&mut body, &mut |step| {
        let index = match &mut step.operation {
            Operation::Load { index, .. }
            | Operation::GatherRows { index, .. }
            | Operation::Store { index, .. }
            | Operation::Update { index, .. } => index,
            _ => return,
        };
        for number in index {
            if let Index::Counter(counter, offset) = *number
                && counter == repeat.counter
            {
                *number = Index::Constant(offset);
            }
        }
    });
    let mut behind = edit.body.split_off(position + 1);
    edit.body.pop();
    for carried in &repeat.carried {
        rename(&mut body, carried.variable, at_first(repeat, carried.variable));
        rename(&mut behind, carried.variable, at_first(repeat, carried.next));
    }
    edit.body.extend(body);
    edit.body.extend(behind);
    edit
}

/// The tile from before a loop that one carried by it is in the first trip; any other tile itself.
fn at_first(repeat: &Repeat, variable: Variable) -> Variable {
    // What one is before the loop may be what another one is.
    let initial =
        repeat.carried.iter().find(|carried| carried.variable == variable).map(|carried| carried.initial);
    initial.map_or(variable, |initial| at_first(repeat, initial))
}

/// Names another tile wherever a statement takes this one.
fn rename(statements: &mut [Statement], from: Variable, to: Variable) {
    for statement in statements {
        match statement {
            Statement::Step(step) => {
                for operand in &mut step.operands {
                    if *operand == Operand::Tile(from) {
                        *operand = Operand::Tile(to);
                    }
                }
            }
            Statement::Repeat(repeat) => {
                for carried in &mut repeat.carried {
                    for name in [&mut carried.initial, &mut carried.next] {
                        if *name == from {
                            *name = to;
                        }
                    }
                }
                rename(&mut repeat.body, from, to);
            }
        }
    }
}

/// The type of a tile that may stand in a loop, which the types behind the loop leave out.
fn type_in(program: &Program, types: &Types, variable: Variable) -> Option<crate::program::TileType> {
    types.get(variable).cloned().flatten().or_else(|| {
        // Within a loop: as if the kernel ended there.
        let position = program.body.iter().position(|statement| match statement {
            Statement::Repeat(repeat) => defines(&repeat.body, variable),
            Statement::Step(_) => false,
        })?;
        let Statement::Repeat(repeat) = &program.body[position] else { return None };
        let opened = opened(program, position, repeat);
        check(&opened).ok()?.get(variable).cloned().flatten()
    })
}

fn defines(statements: &[Statement], variable: Variable) -> bool {
    let mut found = false;
    visit(statements, &mut |statement| {
        found |= matches!(statement, Statement::Step(step) if step.results.contains(&variable));
    });
    found
}

/// Each result of a step replaced by an operand of its type, and by a tile of ones.
fn steps(program: &Program, types: &Types, edits: &mut Vec<Program>) {
    let mut all = Vec::new();
    visit(&program.body, &mut |statement| {
        if let Statement::Step(step) = statement {
            all.push(step.clone());
        }
    });
    for step in &all {
        for &result in &step.results {
            let Some(own) = type_in(program, types, result) else { continue };
            for operand in &step.operands {
                if let Operand::Tile(variable) = *operand
                    && type_in(program, types, variable).as_ref() == Some(&own)
                {
                    let mut edit = program.clone();
                    rename(&mut edit.body, result, variable);
                    edits.push(edit);
                }
            }
            // Another tile of the type that was made before.
            let earlier = all.iter().take_while(|other| *other != step).flat_map(|other| &other.results);
            if let Some(&variable) =
                earlier.into_iter().find(|&&other| type_in(program, types, other).as_ref() == Some(&own))
            {
                let mut edit = program.clone();
                rename(&mut edit.body, result, variable);
                edits.push(edit);
            }
            if !matches!(step.operation, Operation::Full { .. }) && step.results.len() == 1 {
                let ones = Constant { element: own.element, bits: constant(own.element, 1.0) };
                let mut edit = program.clone();
                change(&mut edit.body, &mut |other| {
                    if other.results == step.results {
                        other.operation = Operation::Full { shape: own.shape.clone() };
                        other.operands = vec![Operand::Constant(ones)];
                    }
                });
                edits.push(edit);
            }
        }
    }
}

/// Fewer blocks and threads.
fn launch(program: &Program, edits: &mut Vec<Program>) {
    let mut edit = |make: &dyn Fn(&mut Program)| {
        let mut other = program.clone();
        make(&mut other);
        edits.push(other);
    };
    edit(&|program| program.grid.iter_mut().for_each(|length| *length = 1));
    edit(&|program| program.blocks = None);
    edit(&|program| program.threads = 32);
    edit(&|program| program.vector = 1);
    edit(&|program| {
        program.threads = 32;
        program.vector = 1;
    });
    for axis in 0..program.grid.len() {
        edit(&|program| program.grid[axis] = 1);
    }
}

/// Every dimension of a length halved, wherever it stands.
fn shapes(program: &Program, edits: &mut Vec<Program>) {
    for log in 1..13 {
        let length = 1usize << log;
        let halve = |shape: &mut Vec<usize>| {
            for other in shape {
                if *other == length {
                    *other /= 2;
                }
            }
        };
        let mut edit = program.clone();
        edit.arguments.iter_mut().for_each(|argument| halve(&mut argument.tile));
        change(&mut edit.body, &mut |step| match &mut step.operation {
            Operation::Full { shape }
            | Operation::Iota { shape, .. }
            | Operation::Coordinate { shape, .. }
            | Operation::Arange { shape, .. }
            | Operation::Philox { shape, .. }
            | Operation::Reshape { shape }
            | Operation::Broadcast { shape }
            | Operation::Extract { shape, .. }
            | Operation::Load { shape, .. }
            | Operation::GatherRows { shape, .. } => halve(shape),
            Operation::Eye { length: other, .. } | Operation::Histogram { bins: other }
                if *other == length =>
            {
                *other /= 2
            }
            Operation::Slice { length: other, .. } | Operation::TopK { count: other, .. }
                if *other == length =>
            {
                *other /= 2
            }
            _ => {}
        });
        edits.push(edit);
    }
}

/// Tensors that lie plainly, hold plain numbers, and are short.
fn tensors(program: &Program, edits: &mut Vec<Program>) {
    for number in 0..program.arguments.len() {
        let mut edit = |make: &dyn Fn(&mut crate::program::Argument)| {
            let mut other = program.clone();
            make(&mut other.arguments[number]);
            edits.push(other);
        };
        edit(&|argument| {
            argument.mapping = Mapping::Right;
            argument.offset = 0;
            argument.extents.iter_mut().for_each(|extent| extent.kind = ExtentKind::Dynamic);
        });
        edit(&|argument| argument.mapping = Mapping::Right);
        edit(&|argument| argument.offset = 0);
        edit(&|argument| argument.extents.iter_mut().for_each(|extent| extent.kind = ExtentKind::Dynamic));
        if program.arguments[number].access != Access::Write {
            for fill in [Fill::Ones, Fill::Counting, Fill::Small(1)] {
                edit(&|argument| argument.fill = fill);
            }
        } else {
            edit(&|argument| argument.fill = Fill::Poison);
        }
        for axis in 0..program.arguments[number].extents.len() {
            let length = program.arguments[number].extents[axis].length;
            for shorter in [1, length / 2, length - 1] {
                edit(&|argument| {
                    argument.extents[axis].length = shorter.max(1);
                    argument.extents[axis].kind = ExtentKind::Dynamic;
                });
            }
        }
    }
}

/// Plain numbers in place of others, loads without indices that move.
fn numbers(program: &Program, edits: &mut Vec<Program>) {
    let mut operands = 0;
    visit(&program.body, &mut |statement| {
        if let Statement::Step(step) = statement {
            operands += step.operands.len();
        }
    });
    for wanted in 0..operands {
        for one in [false, true] {
            let mut edit = program.clone();
            let mut number = 0;
            let parameters = program.parameters.clone();
            change(&mut edit.body, &mut |step| {
                for operand in &mut step.operands {
                    number += 1;
                    if number - 1 != wanted {
                        continue;
                    }
                    let value = match *operand {
                        Operand::Constant(constant) => constant,
                        Operand::Parameter(parameter) => parameters[parameter],
                        Operand::Tile(_) => continue,
                    };
                    let plain = Constant { element: value.element, bits: constant(value.element, 1.0) };
                    *operand = Operand::Constant(if one { plain } else { value });
                }
            });
            edits.push(edit);
        }
    }
    let mut edit = program.clone();
    change(&mut edit.body, &mut |step| {
        if let Operation::Load { index, .. } | Operation::GatherRows { index, .. } = &mut step.operation {
            for number in index {
                if matches!(number, Index::Computed(..) | Index::Constant(_)) {
                    *number = Index::Constant(0);
                }
            }
        }
    });
    edits.push(edit);
}
