//! Statics that a kernel writes: a safe one must have none, since what one thread leaves in a static another one could branch on.
//!
//! Device code may read statics, such as tables. The address of each is followed through registers, calls and memory; where it may
//! arrive at an instruction that writes, the kernel is refused. Constants without a name hold nothing that safe code could write: rustc
//! refuses interior mutability there.

use std::collections::{HashMap, HashSet};

use super::code::{Function, Statement};

/// The module's own variable, through which kernels speak to the host.
const MESSAGES: &str = "cuda_tiles_messages";

/// What a register may hold of the static that is being followed, as bits.
type Held = u8;
/// Its address.
const ADDRESS: Held = 1;
/// The address of a static in which its address stands.
const CARRIER: Held = 2;

/// A variable of the module that may be a user's static.
struct Static<'a> {
    name: &'a str,
    /// Names in its initial value: statics whose address it holds.
    mentions: Vec<&'a str>,
}

/// The first of the `kernels` that may write a static, and the static's name as Rust's source has it; of a module with these
/// `functions`, and this text `between` them.
pub(crate) fn written_static<'k>(
    functions: &[Function<'_>],
    between: &[&str],
    kernels: impl Iterator<Item = &'k str>,
) -> Option<(&'k str, String)> {
    let (calls, writers) = followed(functions, between);
    if writers.is_empty() {
        return None;
    }
    let numbers = numbers(functions);
    for kernel in kernels {
        let Some(&entry) = numbers.get(kernel) else { continue };
        let reached = reachable(entry, &calls);
        let is_written =
            |writers: &Vec<bool>| writers.iter().zip(&reached).any(|(writes, reached)| *writes && *reached);
        if let Some((name, _)) = writers.iter().find(|(_, writers)| is_written(writers)) {
            return Some((kernel, rust_name(name)));
        }
    }
    None
}

/// The statics, by their names in PTX, that some function may write: what one kernel may leave something in for another one.
pub(crate) fn written_statics<'t>(functions: &[Function<'_>], between: &[&'t str]) -> HashSet<&'t str> {
    let (_, writers) = followed(functions, between);
    writers.into_iter().filter(|(_, writers)| writers.contains(&true)).map(|(name, _)| name).collect()
}

/// The functions that each function may call, and which functions may write each static.
fn followed<'t>(
    functions: &[Function<'_>],
    between: &[&'t str],
) -> (Vec<Vec<usize>>, Vec<(&'t str, Vec<bool>)>) {
    let statics: Vec<_> = between.iter().flat_map(|text| text.split(';')).filter_map(read).collect();
    if statics.is_empty() {
        return Default::default();
    }
    let numbers = numbers(functions);
    let calls: Vec<Vec<usize>> = functions.iter().map(|function| called(function, &numbers)).collect();
    let writers = statics.iter().map(|one| (one.name, writers(one, &statics, functions, &calls))).collect();
    (calls, writers)
}

fn numbers<'a>(functions: &[Function<'a>]) -> HashMap<&'a str, usize> {
    functions.iter().enumerate().map(|(at, function)| (function.name, at)).collect()
}

/// Whether a statement between functions declares a static that [`written_statics`] may find.
pub(super) fn is_static(statement: &str) -> bool {
    read(statement.trim_end().trim_end_matches(';')).is_some()
}

/// Reads a statement between functions as the declaration of a variable in global memory, unless it is rustc's or the library's own.
fn read(statement: &str) -> Option<Static<'_>> {
    let statement = statement.trim();
    if !statement.split_whitespace().any(|word| word == ".global") {
        return None;
    }
    let (declared, value) = statement.split_once('=').unwrap_or((statement, ""));
    let declared = declared.split('[').next()?.trim_end();
    let name = declared.rsplit(char::is_whitespace).next()?;
    let is_hash = |rest: &str| {
        rest.len() >= 16 && rest.bytes().all(|byte| byte.is_ascii_hexdigit() || b"_$".contains(&byte))
    };
    let is_constant = ["anon_$_", "alloc_"].iter().any(|start| {
        // Behind the hash comes a number.
        name.strip_prefix(start).is_some_and(is_hash)
    });
    if name == MESSAGES || is_constant || name.starts_with("switch_$_table_$_") {
        return None;
    }
    Some(Static { name, mentions: words(value).collect() })
}

/// The names and registers in a text.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || "_$%.".contains(c))).filter(|word| !word.is_empty())
}

/// The functions of the module that a function may call.
fn called(function: &Function<'_>, numbers: &HashMap<&str, usize>) -> Vec<usize> {
    let mut called = Vec::new();
    for name in function.code.callees() {
        match name {
            name if name.starts_with('%') => called.extend(0..numbers.len()),
            name => called.extend(numbers.get(name)),
        }
    }
    called
}

/// Which functions can be reached from one.
fn reachable(from: usize, calls: &[Vec<usize>]) -> Vec<bool> {
    let mut reached = vec![false; calls.len()];
    let mut to_visit = vec![from];
    while let Some(number) = to_visit.pop() {
        if !std::mem::replace(&mut reached[number], true) {
            to_visit.extend(&calls[number]);
        }
    }
    reached
}

/// What is known about the whole module when one static is followed.
struct Followed<'s> {
    /// What the names stand for.
    names: HashMap<&'s str, Held>,
    /// What each function may get as arguments, and what it may return.
    arguments: Vec<Held>,
    results: Vec<Held>,
    /// What may lie in memory.
    memory: Held,
    writes: Vec<bool>,
}

/// Which functions may write a static.
fn writers(
    one: &Static<'_>,
    statics: &[Static<'_>],
    functions: &[Function<'_>],
    calls: &[Vec<usize>],
) -> Vec<bool> {
    let mut followed = Followed {
        names: HashMap::from([(one.name, ADDRESS)]),
        arguments: vec![0; functions.len()],
        results: vec![0; functions.len()],
        memory: 0,
        writes: vec![false; functions.len()],
    };
    // A static that holds the address of a carrier is one too.
    for _ in statics {
        for other in statics {
            if other.mentions.iter().any(|name| followed.names.contains_key(name)) {
                *followed.names.entry(other.name).or_default() |= CARRIER;
            }
        }
    }
    loop {
        let mut is_changed = false;
        for (number, function) in functions.iter().enumerate() {
            is_changed |= followed.visit(number, function, &calls[number]);
        }
        if !is_changed {
            return followed.writes;
        }
    }
}

impl Followed<'_> {
    /// Follows the static through a function. Whether anything was found that others should know.
    fn visit(&mut self, number: usize, function: &Function<'_>, calls: &[usize]) -> bool {
        let before = (self.memory, self.writes[number], self.passed(number, calls));
        let statements = &function.code.statements;
        let results = calls.iter().fold(0, |held, &callee| held | self.results[callee]);
        let is_concerned =
            |statement: &Statement<'_>| words(statement.operands).any(|word| self.names.contains_key(word));
        if self.arguments[number] | results | self.memory == 0 && !statements.iter().any(is_concerned) {
            return false;
        }
        let mut registers: HashMap<&str, Held> = HashMap::new();
        loop {
            let mut is_changed = false;
            for statement in statements {
                let (to, held) = self.step(number, statement, results, &registers, calls);
                if held == 0 {
                    continue;
                }
                for register in words(to) {
                    let known = registers.entry(register).or_default();
                    is_changed |= *known | held != *known;
                    *known |= held;
                }
            }
            if !is_changed {
                break;
            }
        }
        before != (self.memory, self.writes[number], self.passed(number, calls))
    }

    /// What a function passes on, to those that it calls and to its callers.
    fn passed(&self, number: usize, calls: &[usize]) -> u32 {
        let arguments = calls.iter().fold(0, |sum, &callee| sum + u32::from(self.arguments[callee]));
        arguments << 2 | u32::from(self.results[number])
    }

    /// What an instruction does: where its results go, and what they may hold.
    fn step<'a>(
        &mut self,
        number: usize,
        statement: &Statement<'a>,
        results: Held,
        registers: &HashMap<&str, Held>,
        calls: &[usize],
    ) -> (&'a str, Held) {
        let held = |text: &str| {
            let of =
                |word| registers.get(word).copied().unwrap_or(0) | self.names.get(word).copied().unwrap_or(0);
            words(text).fold(0, |held, word| held | of(word))
        };
        let (first, others) = split(statement.operands);
        let is_of_call = statement.operation.split('.').any(|part| part == "param");
        match statement.kind() {
            "ld" | "ldu" if is_of_call => (first, self.arguments[number] | results),
            "ld" | "ldu" => {
                let loaded = if held(others) & CARRIER != 0 { ADDRESS | CARRIER } else { 0 };
                (first, loaded | self.memory)
            }
            "st" if is_of_call => {
                let value = held(others);
                self.results[number] |= value;
                calls.iter().for_each(|&callee| self.arguments[callee] |= value);
                ("", 0)
            }
            "" | "call" | "bra" | "brx" | "ret" | "exit" | "trap" | "setp" | "prefetch" | "prefetchu"
            | "isspacep" => ("", 0),
            operation if statement.operands.contains('[') => {
                let (address, value) = memory(statement.operands);
                let is_written = held(address) & ADDRESS != 0;
                let value = held(value);
                self.writes[number] |= is_written;
                self.memory |= value;
                // An atomic operation gives what was there.
                (if operation == "st" { "" } else { first }, self.memory)
            }
            operation if operation.starts_with('.') => ("", 0),
            _ => (first, held(others)),
        }
    }
}

/// The first operand, which may be a list in braces, and the others.
fn split(operands: &str) -> (&str, &str) {
    let end = match operands.strip_prefix('{') {
        Some(rest) => rest.find('}').map(|end| end + 2),
        None => operands.find(','),
    };
    operands.split_at(end.unwrap_or(operands.len()).min(operands.len()))
}

/// What of the operands is an address in memory, in brackets, and what stands behind the first of these.
fn memory(operands: &str) -> (&str, &str) {
    let (start, end) = (operands.find('[').unwrap_or(0), operands.rfind(']').unwrap_or(operands.len()));
    let value = operands.find(']').map_or("", |first| &operands[first + 1..]);
    (&operands[start..end.max(start)], value)
}

/// A static's path, as far as its symbol tells it (rustc's book, "v0 Symbol Format").
fn rust_name(symbol: &str) -> String {
    let mut path = Vec::new();
    let mut rest = match (symbol.strip_prefix("_R"), symbol.strip_prefix("_ZN")) {
        (Some(rest), _) | (_, Some(rest)) => rest,
        _ => return symbol.to_owned(),
    };
    while let Some(first) = rest.chars().next() {
        if first.is_ascii_digit() {
            let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            let Ok(length) = rest[..digits].parse::<usize>() else { break };
            // What begins with a digit or an underscore is set apart by one.
            let name = rest[digits..]
                .strip_prefix('_')
                .filter(|name| name.len() >= length)
                .unwrap_or(&rest[digits..]);
            let Some(identifier) = name.get(..length) else { break };
            path.push(identifier);
            rest = &name[length..];
        } else if first == 's' {
            let Some((_, behind)) = rest.split_once('_') else { break };
            rest = behind;
        } else if first == 'N' {
            rest = rest.get(2..).unwrap_or_default();
        } else if first == 'C' {
            rest = &rest[1..];
        } else {
            break;
        }
    }
    // The old format ends with a hash.
    let is_hash = |name: &&str| symbol.starts_with("_ZN") && name.len() == 17 && name.starts_with('h');
    path.pop_if(|name| is_hash(&&**name));
    if path.is_empty() { symbol.to_owned() } else { path.join("::") }
}

#[cfg(test)]
mod tests {
    use super::super::{code, without_comments};
    use super::*;

    const STATICS: &str = ".visible .global .align 8 .u64 cuda_tiles_messages[2];\n\
        .global .align 4 .b8 anon_$_7c060f0131218391c6eacd18dd2e6265_$_1[8] = {3, 0, 0, 0, 1};\n\
        .global .align 4 .b8 _RNvCskgxHnxKXnaM_3exp1C[4] = {7};\n\
        .global .align 4 .b8 _RNvNtCskgxHnxKXnaM_3exp6tables5TABLE[256] = {0, 192, 63};\n\
        .global .align 8 .u64 _RNvCskgxHnxKXnaM_3exp2CS[2] = {generic(_RNvCskgxHnxKXnaM_3exp1C), generic(_RNvNtCskgxHnxKXnaM_3exp6tables5TABLE)};\n\
        .global .align 8 .u64 _RNvCskgxHnxKXnaM_3exp3CSS[1] = {generic(_RNvCskgxHnxKXnaM_3exp2CS)};\n";
    const C: &str = "_RNvCskgxHnxKXnaM_3exp1C";
    const TABLE: &str = "_RNvNtCskgxHnxKXnaM_3exp6tables5TABLE";

    fn written_beside(body: &str, functions: &str) -> Option<String> {
        let text = format!(
            ".version 8.0\n.target sm_80\n{STATICS}{functions}\n.visible .entry k(.param .u64 p)\n{{\n{body}\nret;\n}}\n"
        );
        let text = without_comments(&text);
        let (functions, between) = code::functions(&text);
        written_static(&functions, &between, ["k"].into_iter()).map(|(_, name)| name)
    }

    fn written(body: &str) -> Option<String> {
        written_beside(body, "")
    }

    #[test]
    fn tables_are_read() {
        let address =
            format!("mov.b64 %rd1, {TABLE};\ncvta.global.u64 %rd2, %rd1;\nadd.s64 %rd3, %rd2, %rd9;\n");
        assert_eq!(
            written(&format!("{address}ld.global.b32 %r1, [%rd3];\nst.global.b32 [%rd7], %r1;")),
            None
        );
        assert_eq!(written(&format!("{address}ld.v2.b32 {{%r1, %r2}}, [%rd3+4];")), None);
        assert_eq!(written(&format!("ld.relaxed.sys.global.b32 %r1, [{C}];")), None);
        assert_eq!(
            written("mov.b64 %rd1, anon_$_7c060f0131218391c6eacd18dd2e6265_$_1;\nst.b64 [%rd2], %rd1;"),
            None
        );
        assert_eq!(written("mov.u64 %rd1, cuda_tiles_messages;\natom.global.exch.b32 %r1, [%rd1], 1;"), None);
    }

    #[test]
    fn what_writes_is_found() {
        let c = Some("exp::C".to_owned());
        assert_eq!(written(&format!("atom.global.add.u32 %r6, [{C}], 1;")), c);
        assert_eq!(written(&format!("st.relaxed.sys.global.b32 [{C}+4], %r1;")), c);
        assert_eq!(written(&format!("{{ red.global.add.u32 [{C}], %r1; }}")), c);
        let table = Some("exp::tables::TABLE".to_owned());
        // In the order of a loop, against that of the text.
        let body = format!(
            "again:\n@%p1 st.b32 [%rd4], 1;\nadd.s64 %rd4, %rd3, 4;\nselp.b64 %rd3, %rd2, %rd9, %p1;\nmov.b64 %rd2, {TABLE};\nbra again;"
        );
        assert_eq!(written(&body), table);
    }

    #[test]
    fn addresses_are_followed_through_memory() {
        let c = Some("exp::C".to_owned());
        let pointer = "ld.global.b64 %rd1, [_RNvCskgxHnxKXnaM_3exp2CS+8];\n";
        assert_eq!(written(&format!("{pointer}ld.b32 %r1, [%rd1];")), None);
        assert_eq!(written(&format!("{pointer}st.release.sys.b32 [%rd1], 1;")), c);
        let deep = "ld.global.b64 %rd1, [_RNvCskgxHnxKXnaM_3exp3CSS];\nld.b64 %rd2, [%rd1];\n";
        assert_eq!(written(&format!("{deep}atom.add.u32 %r1, [%rd2], 1;")), c);
        let stack = format!("mov.b64 %rd1, {C};\nst.local.b64 [%rd5], %rd1;\nld.local.b64 %rd2, [%rd5];\n");
        assert_eq!(written(&stack), None);
        assert_eq!(written(&format!("{stack}st.b32 [%rd2], 1;")), c);
    }

    #[test]
    fn addresses_are_followed_through_calls() {
        let functions = ".func (.param .b32 r) reads(.param .b64 reads_0)\n{\nld.param.b64 %rd1, [reads_0];\nld.b32 %r1, [%rd1];\nst.param.b32 [r], %r1;\nret;\n}\n\
             .func writes(.param .b64 writes_0)\n{\nld.param.b64 %rd1, [writes_0];\nst.b32 [%rd1], 1;\nret;\n}\n\
             .func (.param .b64 r) gives()\n{\nmov.b64 %rd1, _RNvCskgxHnxKXnaM_3exp1C;\nst.param.b64 [r], %rd1;\nret;\n}\n\
             .func alone()\n{\nst.global.b32 [_RNvCskgxHnxKXnaM_3exp1C], 1;\nret;\n}\n";
        let written = |body: &str| written_beside(body, functions);
        let call = |name: &str| {
            format!(
                "mov.b64 %rd1, {C};\n{{ .param .b64 a;\nst.param.b64 [a], %rd1;\ncall.uni (r), {name}, (a); }}"
            )
        };
        let c = Some("exp::C".to_owned());
        assert_eq!(written(&call("reads")), None);
        assert_eq!(written(&call("writes")), c);
        assert_eq!(written(&call("%rd9")), c);
        assert_eq!(written("call (r), gives, ();\nld.param.b64 %rd1, [r];\nst.b32 [%rd1], 1;"), c);
        assert_eq!(written("call (r), gives, ();\nld.param.b64 %rd1, [r];\nld.b32 %r1, [%rd1];"), None);
        assert_eq!(written("call alone, ();"), c);
        assert_eq!(written("ret;"), None, "nobody calls `alone`");
    }

    #[test]
    fn names_are_those_of_the_source() {
        assert_eq!(rust_name("_RNvNvNtCs1234_7kernels3sub4tick7COUNTER"), "kernels::sub::tick::COUNTER");
        assert_eq!(rust_name("_RNvCs3_3exp2__9"), "exp::_9");
        assert_eq!(rust_name("_ZN7kernels5TABLE17h0123456789abcdefE"), "kernels::TABLE");
        assert_eq!(rust_name("my_counter"), "my_counter");
    }
}
