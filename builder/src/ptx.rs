//! Reads PTX text: the version, the target, and the entries with their signatures and instructions.
//!
//! This is a scanner for what a compiler writes, not a PTX parser. It knows comments, strings, brackets and
//! statements, which is what it takes to find an entry's parts and to ask which instructions a kernel contains.
//!
//! ```
//! use cuda_tiles_builder::ptx::Module;
//!
//! let text = "
//!     .version 8.0
//!     .target sm_90a
//!     .visible .entry scale(.param .u64 x, .param .f32 factor)
//!     .maxntid 256, 1, 1
//!     {
//!         ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1]; // one 16-byte load
//!         @%p1 bra done;
//!         st.global.f32 [%rd1], %f1;
//!         done: ret;
//!     }";
//! let module = Module::parse(text)?;
//! assert_eq!((module.version(), module.target()), ((8, 0), "sm_90a"));
//! let scale = module.entry("scale").unwrap();
//! assert_eq!(scale.count("ld.global.v4"), 1);
//! assert!(!scale.uses_local_memory() && scale.calls().is_empty());
//! # Ok::<(), cuda_tiles_builder::ptx::ParseError>(())
//! ```

pub(crate) mod code;
pub(crate) mod declarations;
pub(crate) mod order;
pub(crate) mod repair;
pub(crate) mod split;
pub(crate) mod statics;
pub(crate) mod units;

use std::collections::HashMap;
use std::ops::Range;

use crate::debug_info::is_location;

/// PTX text that cannot be taken apart, which means that it is cut off or not PTX.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// The text has no `.version` or no `.target` directive.
    #[error("the text is not PTX: it has no valid `{directive}` directive")]
    Header {
        /// The directive that is missing.
        directive: &'static str,
    },
    /// A bracket of an entry is never closed.
    #[error("the PTX of entry `{entry}` ends before its closing `{bracket}`; the file is cut off")]
    Unclosed {
        /// The entry's name.
        entry: String,
        /// The bracket that is missing.
        bracket: char,
    },
}

/// A PTX module, borrowed from its text.
#[derive(Clone, Debug)]
pub struct Module<'a> {
    text: &'a str,
    version: (u32, u32),
    target: &'a str,
    entries: Vec<Entry<'a>>,
}

/// A kernel entry of a [`Module`].
#[derive(Clone, Debug)]
pub struct Entry<'a> {
    name: &'a str,
    text: &'a str,
    parameters: Range<usize>,
    directives: Range<usize>,
    body: Range<usize>,
}

/// One instruction of an [`Entry`], without its label, guard predicate and semicolon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// The operation with all its modifiers, such as `ld.global.v4.b32`.
    pub operation: String,
    /// What follows the operation, such as `{%r1, %r2, %r3, %r4}, [%rd1]`.
    pub operands: String,
}

impl Instruction {
    /// Whether it does `operation`, alone or with further modifiers: `ld.global.v4.b32` is an `ld.global`, and no `ld.globals`.
    pub fn is(&self, operation: &str) -> bool {
        let rest = self.operation.strip_prefix(operation);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    }
}

impl<'a> Module<'a> {
    /// Finds the parts of a module's text.
    ///
    /// # Errors
    ///
    /// If the text is not PTX, or ends inside an entry.
    pub fn parse(text: &'a str) -> Result<Self, ParseError> {
        let code = without_comments(text);
        let version = directive(text, &code, ".version").and_then(|value| {
            let (major, minor) = value.split_once('.')?;
            Some((major.parse().ok()?, minor.parse().ok()?))
        });
        let version = version.ok_or(ParseError::Header { directive: ".version" })?;
        let target = directive(text, &code, ".target").ok_or(ParseError::Header { directive: ".target" })?;

        let mut entries = Vec::new();
        let mut from = 0;
        while let Some(start) = find_word(&code, ".entry", from) {
            let entry = Entry::parse(text, &code, start + ".entry".len())?;
            from = entry.body.end;
            entries.push(entry);
        }
        Ok(Self { text, version, target, entries })
    }

    /// The whole text.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// The version of the PTX language, as (major, minor).
    pub fn version(&self) -> (u32, u32) {
        self.version
    }

    /// The architecture that the module is for, such as `sm_90a`.
    pub fn target(&self) -> &'a str {
        self.target
    }

    /// The kernel entries, in the order of the text.
    pub fn entries(&self) -> &[Entry<'a>] {
        &self.entries
    }

    /// The kernel entry of that name.
    pub fn entry(&self, name: &str) -> Option<&Entry<'a>> {
        self.entries.iter().find(|entry| entry.name == name)
    }
}

impl<'a> Entry<'a> {
    /// Reads the entry whose name begins at or after `start`.
    fn parse(text: &'a str, code: &str, start: usize) -> Result<Self, ParseError> {
        let name_start = start + leading_space(&code[start..]);
        let name_length = code[name_start..]
            .find(|c: char| c.is_whitespace() || "({;".contains(c))
            .unwrap_or(code.len() - name_start);
        let name_end = name_start + name_length;
        let name = &text[name_start..name_end];
        let unclosed = |bracket| ParseError::Unclosed { entry: name.to_owned(), bracket };

        let after_name = name_end + leading_space(&code[name_end..]);
        let (parameters, directives_start) = if code[after_name..].starts_with('(') {
            let end = closing(code, after_name, '(', ')').ok_or_else(|| unclosed(')'))?;
            (after_name + 1..end, end + 1)
        } else {
            (name_end..name_end, name_end)
        };
        let directives_end =
            directives_start + code[directives_start..].find(['{', ';']).ok_or_else(|| unclosed('{'))?;
        let body = if code[directives_end..].starts_with('{') {
            let end = closing(code, directives_end, '{', '}').ok_or_else(|| unclosed('}'))?;
            directives_end + 1..end
        } else {
            directives_end..directives_end
        };
        Ok(Self { name, text, parameters, directives: directives_start..directives_end, body })
    }

    /// The kernel's name.
    pub fn name(&self) -> &'a str {
        self.name
    }

    /// The parameter list, without its parentheses.
    pub fn parameters(&self) -> &'a str {
        &self.text[self.parameters.clone()]
    }

    /// What stands between the parameter list and the body: `.maxntid 256, 1, 1` and the like.
    pub fn directives(&self) -> &'a str {
        &self.text[self.directives.clone()]
    }

    /// The statements, without the braces around them.
    pub fn body(&self) -> &'a str {
        &self.text[self.body.clone()]
    }

    /// Where the directives lie in the module's text, in bytes. It begins right after the parameter list.
    pub fn directives_range(&self) -> Range<usize> {
        self.directives.clone()
    }

    /// Whether the directives contain the one named, such as `.maxntid`.
    pub fn has_directive(&self, name: &str) -> bool {
        find_word(&without_comments(self.directives()), name, 0).is_some()
    }

    /// The instructions in the order of the text. Declarations, labels and comments are left out.
    pub fn instructions(&self) -> Vec<Instruction> {
        statements(&without_comments(self.body())).into_iter().filter_map(instruction).collect()
    }

    /// The number of instructions whose operation is `operation`, alone or with further modifiers: `ld.global`
    /// counts `ld.global.v4.b32`, and does not count `ld.globals`.
    pub fn count(&self, operation: &str) -> usize {
        self.instructions().into_iter().filter(|instruction| instruction.is(operation)).count()
    }

    /// Whether the kernel declares or accesses local memory, the slow memory that arrays go to which the
    /// compiler could not keep in registers.
    pub fn uses_local_memory(&self) -> bool {
        // Most kernels have no such word, which is quickly found out.
        if !self.body().contains(".local") {
            return false;
        }
        let code = without_comments(self.body());
        code.split(|c: char| !(c.is_alphanumeric() || c == '.' || c == '_'))
            .any(|word| word.split('.').skip(1).any(|part| part == "local"))
    }

    /// The functions that the kernel calls, in the order of the calls. An indirect call yields the register.
    pub fn calls(&self) -> Vec<String> {
        if !self.body().contains("call") {
            return Vec::new();
        }
        let calls = self.instructions().into_iter().filter(|instruction| instruction.is("call"));
        calls.map(|call| callee(&call.operands).to_owned()).collect()
    }
}

/// The function that a `call` names: its first operand that is not a list in parentheses.
fn callee(operands: &str) -> &str {
    let operands = operands.trim_start();
    let operands = if operands.starts_with('(') {
        let end = closing(operands, 0, '(', ')').map_or(operands.len(), |end| end + 1);
        operands[end..].trim_start_matches([',', ' ', '\t', '\n', '\r'])
    } else {
        operands
    };
    operands.split(',').next().unwrap_or_default().trim()
}

/// Splits a body at semicolons and at the braces of blocks. The braces of vector operands belong to their
/// instruction: they are those after which no statement can begin.
fn statements(code: &str) -> Vec<&str> {
    let mut statements = Vec::new();
    let mut start = 0;
    for (index, c) in code.char_indices() {
        let is_block = (c == '{' || c == '}') && label_free(&code[start..index]).is_empty();
        if c == ';' || is_block {
            statements.push(&code[start..index]);
            start = index + 1;
        }
    }
    statements
}

/// A statement without the labels before it.
fn label_free(mut statement: &str) -> &str {
    loop {
        statement = statement.trim();
        match statement.split_once(':') {
            Some((label, rest)) if is_identifier(label) => statement = rest,
            _ => return statement,
        }
    }
}

fn is_identifier(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || "_$%".contains(c))
}

/// Reads a statement as an instruction, if it is one.
fn instruction(statement: &str) -> Option<Instruction> {
    let mut statement = label_free(statement);
    if statement.starts_with('@') {
        statement = statement.split_once(char::is_whitespace)?.1.trim_start();
    }
    if !statement.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return None;
    }
    let (operation, operands) = statement.split_once(char::is_whitespace).unwrap_or((statement, ""));
    Some(Instruction { operation: operation.to_owned(), operands: operands.trim().to_owned() })
}

/// The value of a module directive: the word after its name.
fn directive<'a>(text: &'a str, code: &str, name: &str) -> Option<&'a str> {
    let after = find_word(code, name, 0)? + name.len();
    let start = after + leading_space(&code[after..]);
    let length = code[start..].find(|c: char| c.is_whitespace() || c == ',').unwrap_or(code.len() - start);
    (length > 0).then(|| &text[start..start + length])
}

fn leading_space(text: &str) -> usize {
    text.len() - text.trim_start().len()
}

/// Where `word` stands as a whole word at or after `from`.
fn find_word(code: &str, word: &str, from: usize) -> Option<usize> {
    let continues = |c: char| c.is_alphanumeric() || "_$.".contains(c);
    code[from..].match_indices(word).map(|(index, _)| from + index).find(|&index| {
        !code[..index].ends_with(continues) && !code[index + word.len()..].starts_with(continues)
    })
}

/// The position of the bracket that closes the one at `open`.
fn closing(code: &str, open: usize, opens: char, closes: char) -> Option<usize> {
    let (mut depth, mut from) = (0, open);
    loop {
        let close = from + code[from..].find(closes)?;
        depth += code[from..close].matches(opens).count();
        depth -= 1;
        if depth == 0 {
            return Some(close);
        }
        from = close + closes.len_utf8();
    }
}

/// The text with other names for some entries, and for their parameters, which begin with the entry's name.
///
/// Where all names have an underscore, as Rust's symbols do, only words with one are looked at: the standard library's search for a
/// character is optimised where a build script is not, and few words of PTX have one.
pub(crate) fn rename(text: &str, names: &HashMap<&str, String>) -> String {
    if names.is_empty() {
        return text.to_owned();
    }
    let have_underscores = names.keys().all(|name| name.contains('_'));
    let mut renamed = String::with_capacity(text.len());
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$');
    let mut copied = 0;
    let mut from = 0;
    let next = |text: &str| match have_underscores {
        true => text.find('_'),
        false => text.bytes().position(|byte| is_part(&byte)),
    };
    while let Some(found) = next(&text[from..]).map(|length| from + length) {
        let start =
            found - text.as_bytes()[copied..found].iter().rev().take_while(|byte| is_part(byte)).count();
        from = found + text.as_bytes()[found..].iter().take_while(|byte| is_part(byte)).count();
        let word = &text[start..from];
        let parameter = word.rsplit_once("_param_").map(|(name, _)| name);
        let renaming =
            [Some(word), parameter].into_iter().flatten().find_map(|name| Some((name, names.get(name)?)));
        if let Some((name, new)) = renaming {
            renamed.extend([&text[copied..start], new]);
            copied = start + name.len();
        }
    }
    renamed + &text[copied..]
}

/// The text with every comment, every string's content and every place in the source turned into spaces, so that positions stay
/// the same, brackets inside them do not count, and an instruction does not seem to belong to the place before it.
fn without_comments(text: &str) -> String {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        Code,
        Line,
        Block,
        String,
    }
    let mut code = Vec::with_capacity(text.len());
    let mut state = State::Code;
    for line in text.split_inclusive('\n') {
        let start = code.len();
        // Most lines are code alone. The standard library's search for a character is optimised where a build script is not.
        if state == State::Code && !line.contains('/') && !line.contains('"') {
            code.extend(line.as_bytes());
        } else {
            let bytes = line.as_bytes();
            let mut index = 0;
            while index < bytes.len() {
                let (length, next) = match (state, &bytes[index..]) {
                    (State::Code, [b'/', b'/', ..]) => (2, State::Line),
                    (State::Code, [b'/', b'*', ..]) => (2, State::Block),
                    (State::Code, [b'"', ..]) => (1, State::String),
                    (State::Line, [b'\n', ..]) | (State::String, [b'"', ..]) => (1, State::Code),
                    (State::Block, [b'*', b'/', ..]) => (2, State::Code),
                    (State::String, [b'\\', _, ..]) => (2, State::String),
                    _ => (1, state),
                };
                let is_code = state == State::Code && next == State::Code;
                for &byte in &bytes[index..index + length] {
                    code.push(if is_code || byte == b'\n' { byte } else { b' ' });
                }
                state = next;
                index += length;
            }
        }
        if is_location(code[start..].trim_ascii_start()) {
            let end = code.len() - usize::from(line.ends_with('\n'));
            code[start..end].fill(b' ');
        }
    }
    String::from_utf8(code).expect("characters are kept whole, or replaced by a space for each byte")
}

/// The code alone: without comments, and without the tables for debuggers, which name variables and do not use them.
pub(crate) fn without_tables(text: &str) -> String {
    let mut code = without_comments(text);
    let mut from = 0;
    while let Some(start) = find_word(&code, ".section", from) {
        let end = code[start..].find('{').and_then(|open| closing(&code, start + open, '{', '}'));
        let end = end.map_or(code.len(), |end| end + 1);
        code.replace_range(start..end, &" ".repeat(end - start));
        from = end;
    }
    code
}

/// As many random cases as take a second, unless `PROPTEST_CASES` says another number.
#[cfg(test)]
pub(crate) fn cases(usual: u32) -> proptest::test_runner::Config {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(usual);
    proptest::test_runner::Config { cases, failure_persistence: None, ..Default::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TWO: &str = r#"
//
// Generated by LLVM NVPTX Back-End
//
.version 8.0
.target sm_90a, debug
.address_size 64

//@cuda-tiles entry first maxntid=256
.file 1 "a } name { with \" brackets.rs"
.shared .align 16 .b8 scratch[4096];
.func (.param .b32 result) helper(.param .b32 x) { ret; }

	// .globl	first
.visible .entry first(
	.param .u64 .ptr .align 4 first_param_0, // the ) input
	.param .align 8 .b8 first_param_1[128] /* ( */
)
{
	.reg .b32 %r<4>;
	.pragma "nounroll }";
	ld.global.v4.b32 	{%r1, %r2, %r3, %r4}, [%rd1];
	{ // callseq 0
	.param .b32 retval0;
	call.uni (retval0), helper, (param0);
	}
$L__BB0_1:
	@%p1 bra 	$L__BB0_1;
	// st.local.b32 [%rd1], %r1;
	mov.u32 %r1, %tid.x; ret;
}
.visible .entry second()
.maxntid 64, 1, 1
{
	.local .align 4 .b8 	__local_depot1[16];
	st.local.b32 [%rd1], %r1;
	call helper;
	ret;
}
"#;

    #[test]
    fn the_header_is_read() {
        let module = Module::parse(TWO).unwrap();
        assert_eq!(module.version(), (8, 0));
        assert_eq!(module.target(), "sm_90a");
        assert_eq!(module.text(), TWO);
    }

    #[test]
    fn entries_are_separated_in_spite_of_brackets_in_comments_and_strings() {
        let module = Module::parse(TWO).unwrap();
        let names: Vec<_> = module.entries().iter().map(Entry::name).collect();
        assert_eq!(names, ["first", "second"]);
        let [first, second] = module.entries() else { panic!("two entries") };
        assert!(first.parameters().contains("first_param_1[128]"));
        assert!(first.body().trim_end().ends_with("ret;"));
        assert_eq!(first.directives().trim(), "");
        assert_eq!((second.parameters(), second.directives().trim()), ("", ".maxntid 64, 1, 1"));
        assert!(second.has_directive(".maxntid") && !second.has_directive(".maxnreg"));
        assert!(!first.has_directive(".maxntid"));
    }

    #[test]
    fn ranges_point_into_the_text() {
        let module = Module::parse(TWO).unwrap();
        for entry in module.entries() {
            assert_eq!(&TWO[entry.directives_range()], entry.directives());
            assert_eq!(TWO.as_bytes()[entry.directives_range().start - 1], b')');
        }
    }

    #[test]
    fn instructions_have_no_labels_guards_or_declarations() {
        let module = Module::parse(TWO).unwrap();
        let operations = |name: &str| -> Vec<String> {
            module.entry(name).unwrap().instructions().into_iter().map(|i| i.operation).collect()
        };
        assert_eq!(operations("first"), ["ld.global.v4.b32", "call.uni", "bra", "mov.u32", "ret"]);
        assert_eq!(operations("second"), ["st.local.b32", "call", "ret"]);
        let load = &module.entry("first").unwrap().instructions()[0];
        assert_eq!(load.operands, "{%r1, %r2, %r3, %r4}, [%rd1]");
    }

    #[test]
    fn counting_respects_the_modifiers() {
        let first = &Module::parse(TWO).unwrap().entries()[0].clone();
        assert_eq!(first.count("ld"), 1);
        assert_eq!(first.count("ld.global.v4"), 1);
        assert_eq!(first.count("ld.global.v"), 0);
        assert_eq!(first.count("st"), 0);
    }

    #[test]
    fn local_memory_and_calls_are_found_in_code_only() {
        let module = Module::parse(TWO).unwrap();
        let [first, second] = module.entries() else { panic!("two entries") };
        assert!(!first.uses_local_memory());
        assert!(second.uses_local_memory());
        assert_eq!(first.calls(), ["helper"]);
        assert_eq!(second.calls(), ["helper"]);
    }

    #[test]
    fn inline_assembly_in_its_own_braces_is_read() {
        let text = ".version 8.0\n.target sm_80\n.entry k() {\n{ .reg .pred p; L1: mbarrier.try_wait.b64 p, [%r1];\n\
                    @p bra.uni L2; L2: }\n\tmma.sync.aligned {%f1, %f2}, {%r1}, {%r2}, {%f1, %f2};\n}";
        let module = Module::parse(text).unwrap();
        let operations: Vec<_> =
            module.entries()[0].instructions().into_iter().map(|i| i.operation).collect();
        assert_eq!(operations, ["mbarrier.try_wait.b64", "bra.uni", "mma.sync.aligned"]);
    }

    #[test]
    fn entries_are_renamed_with_their_parameters() {
        let names = HashMap::from([("first", "a$b".to_owned())]);
        let text = rename(TWO, &names);
        assert!(
            text.contains(".globl\ta$b\n.visible .entry a$b(\n\t.param .u64 .ptr .align 4 a$b_param_0,"),
            "{text}"
        );
        assert_eq!(
            rename("first, first_param_12; $first firsts", &names),
            "a$b, a$b_param_12; $first firsts"
        );
        assert_eq!(rename(TWO, &HashMap::new()), TWO);
        let of_rust = HashMap::from([("_ZN3add17h0E", "add".to_owned())]);
        assert_eq!(
            rename("x _ZN3add17h0E(_ZN3add17h0E_param_0), _ZN3add17h0E_, a_ZN3add17h0E;_", &of_rust),
            "x add(add_param_0), _ZN3add17h0E_, a_ZN3add17h0E;_"
        );
    }

    #[test]
    fn text_that_is_not_ptx_or_is_cut_off_is_refused() {
        assert_eq!(Module::parse("int main() {}").unwrap_err(), ParseError::Header { directive: ".version" });
        let cut = &TWO[..TWO.find("$L__BB0_1").unwrap()];
        assert_eq!(
            Module::parse(cut).unwrap_err(),
            ParseError::Unclosed { entry: "first".into(), bracket: '}' }
        );
    }

    /// PTX as rustc wrote it, with the head that is not kept with it.
    const WRITTEN: &str = concat!(
        ".version 8.3\n.target sm_90a\n.address_size 64\n",
        include_str!("../../xtask/golden/ptx/copy_f32_4096.sm_90a.ptx")
    );

    /// Reads all that there is to read, and compares what must agree.
    fn read_all(text: &str) {
        let Ok(module) = Module::parse(text) else { return };
        let mut end = 0;
        for entry in module.entries() {
            assert!(end <= entry.directives_range().start, "entries follow each other");
            end = entry.directives_range().end;
            assert_eq!(&text[entry.directives_range()], entry.directives());
            assert_eq!(module.entry(entry.name()).map(Entry::name), Some(entry.name()));
            let instructions = entry.instructions();
            assert!(instructions.len() <= entry.body().len());
            assert!(entry.calls().len() <= instructions.len());
            assert!(entry.count("ld") <= instructions.len());
            let _ = (entry.uses_local_memory(), entry.has_directive(".maxntid"));
        }
    }

    #[test]
    fn text_may_be_cut_off_at_any_byte() {
        for text in [TWO, WRITTEN] {
            let whole = Module::parse(text).unwrap();
            for end in 0..text.len() {
                read_all(&text[..end]);
                if let Ok(module) = Module::parse(&text[..end]) {
                    // What is read of a part is what is read of the whole.
                    for (part, entry) in module.entries().iter().zip(whole.entries()) {
                        assert_eq!((part.name(), part.parameters()), (entry.name(), entry.parameters()));
                    }
                }
            }
        }
    }

    proptest! {
        #![proptest_config(cases(300))]

        #[test]
        fn text_with_any_changes_is_read_or_refused(
            real in any::<bool>(),
            changes in prop::collection::vec(
                (any::<prop::sample::Index>(), 0_usize..9, "([ -~\n\t{}();:@\"/*.,\\\\]|é|.entry|.version|.target){0,3}"),
                0..6,
            ),
        ) {
            let mut characters: Vec<String> =
                if real { WRITTEN } else { TWO }.chars().map(String::from).collect();
            for (place, removed, inserted) in &changes {
                if !characters.is_empty() {
                    let begin = place.index(characters.len());
                    let end = (begin + removed).min(characters.len());
                    characters.splice(begin..end, [inserted.clone()]);
                }
            }
            read_all(&characters.concat());
        }

        #[test]
        fn any_text_is_read_or_refused(text in any::<String>(), words in "([{}();:@\"/*.,\\\\ \n]|é|.entry|k){0,40}") {
            read_all(&text);
            read_all(&format!(".version 8.0\n.target sm_80\n{words}"));
        }
    }
}
