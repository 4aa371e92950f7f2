//! Variables of a module: those that code needs which was written by hand, and those that are missing.
//!
//! A function that is compiled where it is called cannot bring a `global_asm!` along. Behind an instruction that names a variable,
//! a comment has its declaration:
//!
//! ```text
//! mov.u32 %r1, cuda_tiles_scratch_small; //@cuda-tiles declares .shared .align 16 .b8 cuda_tiles_scratch_small[1024]
//! ```

use std::collections::BTreeSet;

/// What stands before a declaration.
const MARK: &str = "//@cuda-tiles declares ";

/// The text with all variables declared whose declarations its comments have, without these comments.
pub(crate) fn with_declarations(text: &str) -> String {
    let mut declarations = BTreeSet::new();
    let mut code = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        match line.split_once(MARK) {
            Some((instruction, declaration)) => {
                declarations.insert(declaration.trim_end());
                code.push_str(instruction.trim_end());
                code.push('\n');
            }
            None => code.push_str(line),
        }
    }
    let head = code.find(".address_size").and_then(|at| Some(at + code[at..].find('\n')? + 1));
    let (head, rest) = code.split_at(head.unwrap_or(0));
    let declarations = declarations.iter().map(|declaration| format!("{declaration};\n"));
    [head, &declarations.collect::<String>(), rest].concat()
}

/// Whether the module names functions or variables that it does not define. Shared memory that is only declared is what a launch asks for.
pub(crate) fn lacks_definitions(text: &str) -> bool {
    text.lines().any(|line| {
        let declared = line.trim_start().strip_prefix(".extern").map(str::trim_start);
        declared.is_some_and(|declared| !declared.starts_with(".shared"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "//\n.version 8.0\n.target sm_80\n.address_size 64\n";

    #[test]
    fn what_code_needs_is_declared_once() {
        let text = format!(
            "{HEAD}\n.visible .entry f()\n{{\n\
             \tmov.u32 %r1, b; //@cuda-tiles declares .shared .b8 b[4]\n\
             \tmov.u32 %r2, a; //@cuda-tiles declares .extern .shared .b8 a[]\n\
             \tmov.u32 %r3, b; //@cuda-tiles declares .shared .b8 b[4]\n}}\n"
        );
        let declared = with_declarations(&text);
        let body = "\n.visible .entry f()\n{\n\tmov.u32 %r1, b;\n\tmov.u32 %r2, a;\n\tmov.u32 %r3, b;\n}\n";
        assert_eq!(declared, format!("{HEAD}.extern .shared .b8 a[];\n.shared .b8 b[4];\n{body}"));
        assert_eq!(with_declarations(&declared), declared);
    }

    #[test]
    fn functions_and_variables_without_definition_are_noticed() {
        assert!(!lacks_definitions(&format!(
            "{HEAD}.extern .shared .align 1024 .b8 a[];\n.global .u32 b;\n"
        )));
        assert!(lacks_definitions(&format!("{HEAD}.extern .global .align 4 .b8 table[256];\n")));
        assert!(lacks_definitions(&format!("{HEAD}.extern .func  (.param .b64 r) f\n(\n)\n;\n")));
    }
}
