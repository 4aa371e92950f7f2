//! The functions of a module as statements, with the labels and scopes that say where control goes.

use std::collections::HashMap;

use crate::parallel;

use super::{callee, closing, find_word, is_identifier, leading_space};

/// A function or entry that has a body.
pub(crate) struct Function<'a> {
    pub(crate) name: &'a str,
    pub(crate) code: Code<'a>,
}

/// The statements of a body.
pub(crate) struct Code<'a> {
    pub(crate) statements: Vec<Statement<'a>>,
    /// Where each label stands, and in which scope.
    labels: HashMap<&'a str, Vec<(usize, usize)>>,
    /// The scope around each scope; the body's own is the first.
    scopes: Vec<usize>,
}

/// A statement, without its labels. A place where only labels stand is one of no operation.
pub(crate) struct Statement<'a> {
    is_guarded: bool,
    pub(crate) operation: &'a str,
    pub(crate) operands: &'a str,
    scope: usize,
}

impl<'a> Statement<'a> {
    /// What an instruction does: its operation without modifiers.
    pub(crate) fn kind(&self) -> &'a str {
        self.operation.split('.').next().unwrap_or_default()
    }
}

/// The functions of a module without comments, and what stands between them.
pub(crate) fn functions(code: &str) -> (Vec<Function<'_>>, Vec<&str>) {
    let (mut found, mut between) = (Vec::new(), Vec::new());
    let mut from = 0;
    let words = [".entry", ".func"];
    let mut places = words.map(|word| find_word(code, word, from));
    loop {
        for (place, word) in places.iter_mut().zip(words) {
            if place.is_some_and(|place| place < from) {
                *place = find_word(code, word, from);
            }
        }
        let next = places.into_iter().zip(words).filter_map(|(place, word)| Some((place?, word)));
        let Some((start, word)) = next.min() else { break };
        between.push(&code[from..start]);
        let mut name = start + word.len();
        name += leading_space(&code[name..]);
        if code[name..].starts_with('(') {
            // What a function returns.
            name = closing(code, name, '(', ')').map_or(code.len(), |end| end + 1);
            name += leading_space(&code[name..]);
        }
        let after = name + code[name..].find(|c: char| c.is_whitespace() || "({;".contains(c)).unwrap_or(0);
        let Some(open) = code[after..].find(['{', ';']).map(|length| after + length) else {
            // The text is cut off, and what stands before this function is in `between` already.
            from = code.len();
            break;
        };
        if code[open..].starts_with('{') {
            let end = closing(code, open, '{', '}').unwrap_or(code.len());
            found.push((&code[name..after], &code[open + 1..end]));
            from = (end + 1).min(code.len());
        } else {
            from = open + 1;
        }
    }
    between.push(&code[from..]);
    let functions = parallel::map(&found, |&(name, body)| Function { name, code: Code::new(body) });
    (functions, between)
}

impl<'a> Code<'a> {
    fn new(body: &'a str) -> Self {
        let mut code = Self { statements: Vec::new(), labels: HashMap::new(), scopes: vec![0] };
        let (mut start, mut scope) = (0, 0);
        for (index, byte) in body.bytes().enumerate() {
            match byte {
                b';' => code.push(&body[start..index], scope),
                // The braces of a vector belong to their instruction.
                b'{' | b'}' if !has_labels_only(&body[start..index]) => continue,
                b'{' => {
                    code.push(&body[start..index], scope);
                    code.scopes.push(scope);
                    scope = code.scopes.len() - 1;
                }
                b'}' => {
                    code.push(&body[start..index], scope);
                    scope = code.scopes[scope];
                }
                _ => continue,
            }
            start = index + 1;
        }
        code.push(&body[start..], 0);
        code
    }

    /// Adds what stands in front of a semicolon or a brace.
    fn push(&mut self, mut text: &'a str, scope: usize) {
        let number = self.statements.len();
        loop {
            text = text.trim();
            match text.split_once(':') {
                Some((label, rest)) if is_identifier(label) => {
                    self.labels.entry(label).or_default().push((scope, number));
                    text = rest;
                }
                _ => break,
            }
        }
        let guard = text.strip_prefix('@').and_then(|text| text.split_once(char::is_whitespace));
        let statement = guard.map_or(text, |(_, statement)| statement.trim_start());
        let (operation, operands) = statement.split_once(char::is_whitespace).unwrap_or((statement, ""));
        let operands = operands.trim();
        self.statements.push(Statement { is_guarded: guard.is_some(), operation, operands, scope });
    }

    /// The functions that the body calls, by name; a register for one that it has the address of.
    pub(crate) fn callees(&self) -> impl Iterator<Item = &'a str> {
        self.statements
            .iter()
            .filter(|statement| statement.kind() == "call")
            .map(|call| callee(call.operands))
    }

    /// Calls `visit` for each statement that may come after this one.
    pub(crate) fn for_successors(&self, number: usize, mut visit: impl FnMut(usize)) {
        let Statement { operands, scope, .. } = self.statements[number];
        match self.statements[number].kind() {
            "bra" => self.visit_labels([operands], scope, &mut visit),
            "brx" => {
                let list = operands.rsplit(',').next().unwrap_or_default().trim();
                let targets = self.find(list, scope).map(|at| &self.statements[at]);
                match targets.filter(|targets| targets.operation == ".branchtargets") {
                    Some(targets) => self.visit_labels(targets.operands.split(','), scope, &mut visit),
                    None => self.visit_labels([""], scope, &mut visit),
                }
            }
            _ => {}
        }
        if self.goes_on(number) && number + 1 < self.statements.len() {
            visit(number + 1);
        }
    }

    /// Whether the statement behind this one may come next.
    fn goes_on(&self, number: usize) -> bool {
        let statement = &self.statements[number];
        statement.is_guarded || !matches!(statement.kind(), "ret" | "exit" | "trap" | "bra" | "brx")
    }

    /// Whether the function may return here.
    pub(crate) fn is_return(&self, number: usize) -> bool {
        let is_end = number + 1 == self.statements.len() && self.goes_on(number);
        is_end || self.statements[number].kind() == "ret"
    }

    /// Calls `visit` for the places of these labels; for all that there are if one of them is not to be found.
    fn visit_labels<'n>(
        &self,
        labels: impl IntoIterator<Item = &'n str>,
        scope: usize,
        visit: &mut impl FnMut(usize),
    ) {
        for label in labels {
            match self.find(label.trim(), scope) {
                Some(place) => visit(place),
                None => self.labels.values().flatten().for_each(|&(_, place)| visit(place)),
            }
        }
    }

    /// Where a label stands that is named in this scope: the innermost one of that name.
    fn find(&self, label: &str, mut scope: usize) -> Option<usize> {
        let places = self.labels.get(label)?;
        loop {
            if let Some(&(_, place)) = places.iter().find(|(of, _)| *of == scope) {
                return Some(place);
            }
            if scope == 0 {
                return None;
            }
            scope = self.scopes[scope];
        }
    }
}

/// Whether a brace behind this text begins or ends a block.
fn has_labels_only(text: &str) -> bool {
    super::label_free(text).is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The operations that may come after each other, by their numbers.
    fn edges(body: &str) -> Vec<(usize, usize)> {
        let code = Code::new(body);
        let mut edges = Vec::new();
        for number in 0..code.statements.len() {
            code.for_successors(number, |next| edges.push((number, next)));
        }
        edges
    }

    #[test]
    fn functions_are_found_with_what_stands_between_them() {
        let code = ".version 8.0 .global .b8 table[4]; .extern .func (.param .b32 r) print(.param .b64 p);\n\
                    .func  (.param .b32 result) helper(.param .b32 x)\n.noreturn { ret; }\n.global .b8 more[1];\n\
                    .visible .entry first(.param .u64 p) .maxntid 32, 1, 1 { trap; }";
        let (functions, between) = functions(code);
        assert_eq!(functions.iter().map(|function| function.name).collect::<Vec<_>>(), ["helper", "first"]);
        assert_eq!(functions[0].code.statements[0].operation, "ret");
        assert!(between.concat().contains("table") && between.concat().contains("more"));
    }

    #[test]
    fn branches_go_to_their_labels() {
        assert_eq!(edges("mov.u32 %r1, 0; ret;")[..], [(0, 1)]);
        assert_eq!(edges("again: @%p1 bra done; bra.uni again; done: ret;")[..], [(0, 2), (0, 1), (1, 0)]);
        assert_eq!(edges("@%p1 exit; @%p2 trap; trap;")[..], [(0, 1), (1, 2)]);
        let table = "list: .branchtargets one, two; brx.idx %r1, list; one: ret; two: ret;";
        assert_eq!(edges(table)[..], [(0, 1), (1, 2), (1, 3)]);
        // A target that is not to be found may be any.
        assert_eq!(edges("brx.idx %r1, list; one: ret; two: ret;")[1..].len() + 1, 2);
    }

    #[test]
    fn labels_of_a_block_are_its_own() {
        let body = "again: { .reg .pred p; again: sub.u32 a, a, 1; @p bra again; } @%p1 bra again; ret;";
        let code = Code::new(body);
        let operations: Vec<_> = code.statements.iter().map(|statement| statement.operation).collect();
        assert_eq!(operations, ["", ".reg", "sub.u32", "bra", "", "bra", "ret", ""]);
        let edges = edges(body);
        assert!(edges.contains(&(3, 2)) && edges.contains(&(5, 0)));
        assert!(!edges.contains(&(3, 0)) && !edges.contains(&(5, 2)));
    }

    #[test]
    fn vectors_are_operands() {
        let code = Code::new("{ ld.v2.b32 {%r1, %r2}, [%rd1]; } st.v2.b32 [%rd1], {%r1, %r2};");
        assert_eq!(code.statements[1].operands, "{%r1, %r2}, [%rd1]");
        assert_eq!(code.statements[3].operands, "[%rd1], {%r1, %r2}");
    }
}
