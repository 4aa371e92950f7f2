//! Puts the texts of a crate's codegen units together. rustc makes a unit of one or several Rust modules, and compiles units side by side.
//!
//! An item that stands in several units is the same in all of them, such as a table without a name; or each unit has a copy for itself, whose
//! code LLVM may have fitted to the callers there. Such a copy gets a name of its own.

use std::collections::HashMap;

use super::split::{Kind, items};
use super::{declarations, rename, without_comments};

/// One module of all `units`. `None` if a unit uses a variable or a function that another one defines, or has line tables, whose numbers
/// of files hold in that unit alone.
pub(crate) fn merged(units: &[String]) -> Option<String> {
    if let [unit] = units {
        return Some(unit.clone());
    }
    let mut module = String::new();
    // The texts of what the module has, by names.
    let mut defined: HashMap<String, &str> = HashMap::new();
    for (number, unit) in units.iter().enumerate() {
        if declarations::lacks_definitions(unit) {
            return None;
        }
        let code = without_comments(unit);
        let items = items(&code)?;
        let mut own_names = HashMap::new();
        let mut added = Vec::new();
        for item in &items {
            let text = &unit[item.range.clone()];
            match item.kind {
                Kind::SourceFile(_) => return None,
                Kind::Head if number > 0 => continue,
                Kind::Head => {}
                Kind::Variable | Kind::Function | Kind::Entry => {
                    if item.names.iter().all(|&name| defined.get(name).is_some_and(|&there| there == text)) {
                        continue;
                    }
                    for &name in item.names.iter().filter(|&&name| defined.contains_key(name)) {
                        own_names.insert(name, format!("{name}_unit{number}"));
                    }
                }
            }
            added.push((item, text));
        }
        for &(_, text) in &added {
            module += &rename(text, &own_names);
            module.push('\n');
        }
        for (item, text) in added {
            for &name in &item.names {
                defined.entry(name.to_owned()).or_insert(text);
            }
        }
    }
    Some(module)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = ".version 8.0\n.target sm_80\n.address_size 64\n";

    /// One module of units with these items.
    fn module(units: &[&str]) -> Option<String> {
        merged(&units.iter().map(|items| format!("//\n{HEAD}\n{items}")).collect::<Vec<_>>())
    }

    #[test]
    fn one_unit_is_the_module() {
        let unit = "// text\n.extern .global .b8 table[4];\n.visible .entry f() { ret; }\n".to_owned();
        assert_eq!(merged(std::slice::from_ref(&unit)), Some(unit));
    }

    #[test]
    fn all_entries_follow_one_head() {
        let merged = module(&["\t// .globl f\n.visible .entry f()\n{\n\tret;\n}\n", ".entry g() { ret; }"]);
        assert_eq!(
            merged.unwrap(),
            format!("{HEAD}.visible .entry f()\n{{\n\tret;\n}}\n.entry g() {{ ret; }}\n")
        );
    }

    #[test]
    fn the_same_item_stands_there_once() {
        let shared =
            ".extern .shared .align 16 .b8 dynamic[];\n.global .b8 table[1] = {1};\n.func h() { ret; }\n";
        let units = ["f", "g"].map(|name| format!("{shared}.entry {name}() {{ call h; }}"));
        let merged = module(&units.each_ref().map(String::as_str)).unwrap();
        assert_eq!(merged, format!("{HEAD}{shared}.entry f() {{ call h; }}\n.entry g() {{ call h; }}\n"));
    }

    #[test]
    fn copies_that_differ_have_their_own_names_and_callers() {
        let merged = module(&[
            ".func h(.param .b32 h_param_0) { ret; }\n.entry f() { call h, (x); }",
            ".func h(.param .b32 h_param_0) { trap; }\n.entry g() { call h, (x); }",
            ".func h(.param .b32 h_param_0) { ret; }\n.entry i() { call h, (x); }",
        ]);
        let expected = ".func h(.param .b32 h_param_0) { ret; }\n.entry f() { call h, (x); }\n\
                        .func h_unit1(.param .b32 h_unit1_param_0) { trap; }\n.entry g() { call h_unit1, (x); }\n\
                        .entry i() { call h, (x); }\n";
        assert_eq!(merged.unwrap(), format!("{HEAD}{expected}"));
    }

    #[test]
    fn units_that_need_each_other_stay_apart() {
        let entry = ".entry f() { ret; }\n";
        assert_eq!(module(&[entry, ".extern .global .b8 table[4];\n"]), None);
        assert_eq!(module(&[entry, ".file 1 \"kernels.rs\"\n"]), None);
    }
}
