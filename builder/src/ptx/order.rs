//! The order in which a kernel does things: writable tensors are cut before its block learns anything of its own.
//!
//! Until then all blocks run the same code on the same values, so that they cut a tensor alike, whichever branches they take; and
//! tiles that blocks own by different indices are different elements. Library calls by which a block learns something that
//! others do not know, and those that cut a writable tensor, leave a mark in the PTX, a comment. A kernel is in order if no path
//! leads from a mark of the first kind to one of the second.
//!
//! What the producer of a pipeline learns does not count: the iterator over its loads cannot tell the kernel anything.

use std::fmt;

use super::code::{Code, Function};
use super::{callee, without_tables};

/// What each mark begins with.
const MARK: &str = "//@cuda-tiles ";

/// The marks, and what they become for the time of the check: PTX knows no comments with a meaning.
const MARKS: [(&str, &str); 8] = [
    ("//@cuda-tiles reveals index", "cuda_tiles.reveals index;"),
    ("//@cuda-tiles reveals memory", "cuda_tiles.reveals memory;"),
    ("//@cuda-tiles reveals message", "cuda_tiles.reveals message;"),
    ("//@cuda-tiles reveals shared", "cuda_tiles.reveals shared;"),
    ("//@cuda-tiles reveals thread", THREAD),
    ("//@cuda-tiles cuts", "cuda_tiles.cuts;"),
    ("//@cuda-tiles feeds", "cuda_tiles.feeds;"),
    ("//@cuda-tiles fed", "cuda_tiles.fed;"),
];

/// What a mark of thread-level code becomes.
const THREAD: &str = "cuda_tiles.thread;";

/// What a block may have learnt, as bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Learnt(u8);

impl Learnt {
    const INDEX: Self = Self(1);
    const MEMORY: Self = Self(2);
    const STAGE: Self = Self(4);
    const SHARED: Self = Self(8);

    fn of(name: &str) -> Self {
        match name {
            "index" => Self::INDEX,
            "message" => Self::STAGE,
            "shared" => Self::SHARED,
            _ => Self::MEMORY,
        }
    }

    fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// As the end of a sentence that begins with "after it has".
impl fmt::Display for Learnt {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = [
            (
                Self::INDEX,
                "read its block's index (`bid`, `tiles`, `indices`, `tile_indices`, or its scheduled tiles)",
            ),
            (Self::MEMORY, "read atomically what other blocks may have written"),
            (Self::STAGE, "received tiles from its pipeline"),
            (Self::SHARED, "read shared memory"),
        ];
        let learnt = names.iter().filter(|(one, _)| self.0 & one.0 != 0).map(|(_, name)| *name);
        to.write_str(&learnt.collect::<Vec<_>>().join(", or "))
    }
}

/// Where a kernel may be: in the producer of a pipeline or not, and what it has learnt there; `None` where it cannot be.
type State = [Option<Learnt>; 2];

/// What a function does, for a caller outside of a producer and for one inside.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Summary {
    ends: State,
    /// Whether it cuts a writable tensor.
    cuts: bool,
    /// What it may have learnt, by itself, before it does.
    late: Learnt,
}

/// The code without comments, but for the marks, which are statements.
pub(crate) fn with_marks_as_statements(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        match line.contains('@') && line.contains(MARK) {
            true => {
                code += &MARKS
                    .iter()
                    .fold(line.to_owned(), |line, (mark, statement)| line.replace(mark, statement))
            }
            false => code += line,
        }
    }
    without_tables(&code)
}

/// The first of the `kernels` that is not in order, and what it has learnt too early; of a module with these `functions`.
pub(crate) fn late_cut<'k>(
    functions: &[Function<'_>],
    kernels: impl Iterator<Item = &'k str>,
) -> Option<(&'k str, Learnt)> {
    let summaries = summaries(functions);
    let mut kernels = kernels.filter_map(|name| {
        let at = functions.iter().position(|function| function.name == name)?;
        Some((name, summaries[at][0].late))
    });
    kernels.find(|(_, late)| *late != Learnt::default())
}

/// The first of the `kernels` that asks which thread it runs on, or may call a function that does.
pub(crate) fn thread_level<'k>(
    functions: &[Function<'_>],
    mut kernels: impl Iterator<Item = &'k str>,
) -> Option<&'k str> {
    let asks = |at: &usize| {
        functions[*at]
            .code
            .statements
            .iter()
            .any(|statement| THREAD.strip_suffix(';') == Some(statement.operation))
    };
    // Most modules have no such function.
    let asking: Vec<usize> = (0..functions.len()).filter(asks).collect();
    let find = |name: &str| functions.iter().position(|function| function.name == name);
    kernels.find(|kernel| {
        let mut reached: Vec<usize> = find(kernel).into_iter().collect();
        let mut next = 0;
        while let Some(&at) = reached.get(next).filter(|_| !asking.is_empty()) {
            next += 1;
            for callee in functions[at].code.callees() {
                // A function that is called by its address may be any.
                let called = find(callee).map_or(0..functions.len(), |at| at..at + 1);
                reached.extend(called.filter(|at| !reached.contains(at)).collect::<Vec<_>>());
            }
        }
        reached.iter().any(|at| asking.contains(at))
    })
}

/// What the functions do, each with what those do that it calls.
fn summaries(functions: &[Function<'_>]) -> Vec<[Summary; 2]> {
    let mut summaries = vec![[Summary::default(); 2]; functions.len()];
    let has_calls: Vec<bool> =
        functions.iter().map(|function| function.code.callees().next().is_some()).collect();
    let mut is_first = true;
    loop {
        let mut is_changed = false;
        for (number, function) in functions.iter().enumerate() {
            if !is_first && !has_calls[number] {
                continue;
            }
            for in_producer in [false, true] {
                let new = summary(&function.code, in_producer, functions, &summaries);
                is_changed |= has_calls[number] && new != summaries[number][usize::from(in_producer)];
                summaries[number][usize::from(in_producer)] = new;
            }
        }
        // They only grow, and have few bits.
        if !is_changed {
            return summaries;
        }
        is_first = false;
    }
}

fn summary(
    code: &Code<'_>,
    in_producer: bool,
    functions: &[Function<'_>],
    summaries: &[[Summary; 2]],
) -> Summary {
    let mut summary = Summary::default();
    let mut before: Vec<State> = vec![[None; 2]; code.statements.len()];
    let mut to_visit = Vec::new();
    if let Some(first) = before.first_mut() {
        first[usize::from(in_producer)] = Some(Learnt::default());
        to_visit.push(0);
    }
    while let Some(number) = to_visit.pop() {
        let statement = &code.statements[number];
        let after = match statement.operation {
            "cuda_tiles.reveals" => {
                let [outside, inside] = before[number];
                [outside.map(|learnt| learnt.and(Learnt::of(statement.operands))), inside]
            }
            "cuda_tiles.feeds" => [None, merged(before[number])],
            "cuda_tiles.fed" => [merged(before[number]), None],
            "cuda_tiles.cuts" => {
                summary.cuts = true;
                let [outside, inside] = before[number];
                // A producer has nothing to cut.
                let inside = inside.map(|learnt| learnt.and(Learnt::INDEX));
                summary.late = summary.late.and(merged([outside, inside]).unwrap_or_default());
                before[number]
            }
            _ if statement.kind() == "call" => {
                called(before[number], callee(statement.operands), functions, summaries, &mut summary)
            }
            _ => before[number],
        };
        code.for_successors(number, |next| {
            let joined = joined(before[next], after);
            if joined != before[next] {
                before[next] = joined;
                to_visit.push(next);
            }
        });
        if code.is_return(number) {
            summary.ends = joined(summary.ends, after);
        }
    }
    summary
}

/// The state behind a call, the deeds of which become the caller's.
fn called(
    before: State,
    name: &str,
    functions: &[Function<'_>],
    summaries: &[[Summary; 2]],
    summary: &mut Summary,
) -> State {
    let is_indirect = name.starts_with('%');
    let mut after = [None; 2];
    let mut is_known = false;
    for (function, callee) in functions.iter().zip(summaries) {
        if !is_indirect && function.name != name {
            continue;
        }
        is_known = true;
        for (learnt, callee) in before.into_iter().zip(callee) {
            let Some(learnt) = learnt else { continue };
            summary.cuts |= callee.cuts;
            summary.late = summary.late.and(callee.late);
            if callee.cuts {
                summary.late = summary.late.and(learnt);
            }
            after = joined(after, callee.ends.map(|end| end.map(|own| own.and(learnt))));
        }
    }
    // A function of another module, which does nothing of this.
    if is_known { after } else { before }
}

/// What may be known if control is here or there.
fn merged([one, other]: State) -> Option<Learnt> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.and(other)),
        (one, other) => one.or(other),
    }
}

fn joined(one: State, other: State) -> State {
    [merged([one[0], other[0]]), merged([one[1], other[1]])]
}

/// The text without its marks, and the comments in which the compiler wraps them.
pub(crate) fn without_marks(text: &str) -> String {
    let is_mark = |line: &str| MARKS.iter().any(|(mark, _)| line.trim() == *mark);
    let mut result = String::with_capacity(text.len());
    let mut lines = text.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        if !line.contains('/') {
            result.push_str(line);
        } else if line.trim() == "// begin inline asm" && lines.peek().is_some_and(|next| is_mark(next)) {
            lines.next();
            lines.next_if(|next| next.trim() == "// end inline asm");
        } else if !(line.contains(MARK) && is_mark(line)) {
            result.push_str(line);
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::super::code::functions;
    use super::*;

    const INDEX: &str = "// begin inline asm\n//@cuda-tiles reveals index\n// end inline asm\n";
    const MEMORY: &str = "// begin inline asm\n//@cuda-tiles reveals memory\n// end inline asm\n";
    const THREAD_MARK: &str = "// begin inline asm\n//@cuda-tiles reveals thread\n// end inline asm\n";

    const CUTS: &str = "// begin inline asm\n//@cuda-tiles cuts\n// end inline asm\n";
    const FEEDS: &str = "// begin inline asm\n//@cuda-tiles feeds\n// end inline asm\n";
    const FED: &str = "// begin inline asm\n//@cuda-tiles fed\n// end inline asm\n";

    fn first_late<'k>(text: &str, kernels: impl Iterator<Item = &'k str>) -> Option<(&'k str, Learnt)> {
        late_cut(&functions(&with_marks_as_statements(text)).0, kernels)
    }

    /// What the kernel `k` with this body has learnt before it cuts a tensor.
    fn late_beside(body: &str, functions: &str) -> Option<Learnt> {
        let text =
            format!(".version 8.0\n.target sm_80\n{functions}\n.visible .entry k()\n{{\n{body}\nret;\n}}\n");
        first_late(&text, ["k"].into_iter()).map(|(_, learnt)| learnt)
    }

    fn late(body: &str) -> Option<Learnt> {
        late_beside(body, "")
    }

    #[test]
    fn a_cut_stands_in_front_of_what_reveals() {
        assert_eq!(late(&format!("{CUTS}{CUTS}{INDEX}{MEMORY}")), None);
        assert_eq!(late(&format!("{INDEX}{CUTS}")), Some(Learnt::INDEX));
        assert_eq!(late(&format!("{CUTS}{MEMORY}{CUTS}{INDEX}")), Some(Learnt::MEMORY));
        assert_eq!(late(&format!("{INDEX}{MEMORY}{CUTS}")), Some(Learnt(3)));
        assert_eq!(late(INDEX), None);
    }

    #[test]
    fn every_path_counts() {
        let diamond = |first: &str, left: &str, right: &str, last: &str| {
            format!("{first}@%p1 bra right;\n{left}bra.uni end;\nright:\n{right}end:\n{last}")
        };
        assert_eq!(late(&diamond("", CUTS, CUTS, INDEX)), None);
        assert_eq!(late(&diamond("", INDEX, "", CUTS)), Some(Learnt::INDEX));
        assert_eq!(late(&diamond("", INDEX, CUTS, "")), None, "no path has both");
        assert_eq!(late(&diamond(MEMORY, CUTS, CUTS, "")), Some(Learnt::MEMORY));
        // Behind an end there is nothing.
        assert_eq!(late(&format!("@%p1 bra cut;\n{INDEX}exit;\ncut:\n{CUTS}")), None);
        assert_eq!(late(&format!("@%p1 bra cut;\n{INDEX}@%p2 exit;\ncut:\n{CUTS}")), Some(Learnt::INDEX));
    }

    #[test]
    fn a_loop_comes_back() {
        let body = |inside: &str| format!("again:\n{inside}@%p1 bra again;\n");
        assert_eq!(late(&body(&format!("{CUTS}{INDEX}"))), Some(Learnt::INDEX));
        assert_eq!(late(&format!("{CUTS}{}", body(INDEX))), None);
        let table = format!(
            "list: .branchtargets\n one,\n two;\nbrx.idx %r1, list;\none:\n{INDEX}bra.uni end;\ntwo:\n{CUTS}end:\n"
        );
        assert_eq!(late(&table), None);
        assert_eq!(late(&format!("{table}{CUTS}")), Some(Learnt::INDEX));
    }

    #[test]
    fn calls_do_what_their_functions_do() {
        let functions = format!(
            ".func reveals()\n{{\n@%p1 bra end;\n{INDEX}end: ret;\n}}\n.func cuts(.param .b64 p)\n{{\n{CUTS}ret;\n}}\n\
             .func (.param .b32 r) deep()\n{{\ncall.uni reveals, ();\nret;\n}}\n\
             .func again()\n{{\n@%p1 bra end;\ncall again;\n{MEMORY}end:\nret;\n}}\n.func nothing()\n{{\nret;\n}}\n\
             .func ends()\n.noreturn\n{{\n{INDEX}trap;\n}}\n.extern .func other();\n"
        );
        let late = |body: &str| late_beside(body, &functions);
        assert_eq!(late("call cuts, (p);\ncall reveals;"), None);
        assert_eq!(late("call reveals;\ncall.uni cuts, (p);"), Some(Learnt::INDEX));
        assert_eq!(late(&format!("call.uni (r), deep, ();\n{CUTS}")), Some(Learnt::INDEX));
        assert_eq!(late(&format!("call again;\n{CUTS}")), Some(Learnt::MEMORY));
        assert_eq!(late(&format!("call nothing;\ncall other;\n{CUTS}")), None);
        assert_eq!(late(&format!("{INDEX}call other;\n{CUTS}")), Some(Learnt::INDEX));
        assert_eq!(late(&format!("@%p1 bra cut;\ncall ends;\ncut:\n{CUTS}")), None, "it does not come back");
        // Whoever is called through a register may be any of them.
        assert_eq!(late(&format!("call %rd1, (), prototype;\n{CUTS}")), Some(Learnt(3)));
    }

    #[test]
    fn what_a_producer_learns_it_keeps() {
        assert_eq!(late(&format!("{FEEDS}{INDEX}{FED}{CUTS}")), None);
        assert_eq!(late(&format!("{FEEDS}{INDEX}{FED}{MEMORY}{CUTS}")), Some(Learnt::MEMORY));
        assert_eq!(late(&format!("{INDEX}{FEEDS}{FED}{CUTS}")), Some(Learnt::INDEX));
        assert_eq!(late(&format!("{FEEDS}{INDEX}{CUTS}{FED}")), Some(Learnt::INDEX));
        let functions = format!(".func loads()\n{{\n{INDEX}ret;\n}}\n");
        assert_eq!(late_beside(&format!("{FEEDS}call loads;\n{FED}{CUTS}"), &functions), None);
        assert_eq!(late_beside(&format!("{FEEDS}{FED}call loads;\n{CUTS}"), &functions), Some(Learnt::INDEX));
    }

    #[test]
    fn other_kernels_are_not_asked_for() {
        let text = format!(".version 8.0\n.target sm_80\n.entry k()\n{{\n{INDEX}{CUTS}ret;\n}}\n");
        assert_eq!(first_late(&text, std::iter::empty()), None);
        assert_eq!(first_late(&text, ["k"].into_iter()), Some(("k", Learnt::INDEX)));
    }

    #[test]
    fn thread_level_code_is_found_in_what_a_kernel_calls() {
        let module = |a: &str, f: &str| {
            format!(
                ".version 8.0\n.target sm_80\n.func f()\n{{\n{f}ret;\n}}\n.func g()\n{{\nret;\n}}\n\
                 .entry a()\n{{\n{a}ret;\n}}\n.entry b()\n{{\n{THREAD_MARK}ret;\n}}\n"
            )
        };
        let found = |text: &str, names: &[&'static str]| {
            let code = with_marks_as_statements(text);
            thread_level(&functions(&code).0, names.iter().copied())
        };
        let both = ["a", "b"];
        assert_eq!(found(&module("", ""), &both), Some("b"));
        assert_eq!(found(&module("", THREAD_MARK), &["a"]), None);
        assert_eq!(found(&module("call.uni g, ();\n", THREAD_MARK), &["a"]), None);
        assert_eq!(found(&module("call.uni f, ();\n", THREAD_MARK), &both), Some("a"));
        assert_eq!(found(&module("call (r), %rd1, ();\n", THREAD_MARK), &both), Some("a"));
        assert_eq!(found(&module(THREAD_MARK, ""), &["a"]), Some("a"));
    }

    #[test]
    fn marks_are_taken_out() {
        let rest = "//@cuda-tiles entry k\n\t// begin inline asm\n\tc\n";
        let marks = [INDEX, CUTS, THREAD_MARK].map(|mark| mark.replace("//", "\t//")).concat();
        assert_eq!(
            without_marks(&format!("a\n{marks}b\n//@cuda-tiles fed\n{rest}")),
            format!("a\nb\n{rest}")
        );
    }

    #[test]
    fn what_was_learnt_is_said() {
        assert_eq!(
            Learnt(6).to_string(),
            "read atomically what other blocks may have written, or received tiles from its pipeline"
        );
    }
}
