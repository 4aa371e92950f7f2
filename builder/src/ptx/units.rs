//! Puts the texts of a crate's codegen units together. rustc makes a unit of one or several Rust modules, and compiles units side by side.
//!
//! An item that stands in several units is the same in all of them, such as a table without a name; or each unit has a copy for itself, whose
//! code LLVM may have fitted to the callers there. Such a copy gets a name of its own.

use std::collections::HashMap;

use crate::parallel;

use super::split::{Item, Kind, items};
use super::{declarations, rename, without_comments};

/// One module of all `units`. `None` if a unit uses a variable or a function that another one defines, or has line tables, whose numbers
/// of files hold in that unit alone.
pub(crate) fn merged(units: &[String]) -> Option<String> {
    if let [unit] = units {
        return Some(unit.clone());
    }
    let mut module = String::new();
    // By names, the texts that stand in the module.
    let mut defined: HashMap<String, String> = HashMap::new();
    let codes =
        parallel::map(units, |unit| (!declarations::lacks_definitions(unit)).then(|| without_comments(unit)));
    for (number, (unit, code)) in units.iter().zip(&codes).enumerate() {
        let items = items(code.as_deref()?)?;
        if items.iter().any(|item| matches!(item.kind, Kind::SourceFile(_))) {
            return None;
        }
        let text = |item: &Item<'_>, own_names: &_| rename(&unit[item.range.clone()], own_names);
        let mut own_names = HashMap::new();
        // A function whose callee is the unit's own is the unit's own, too, though it looks the same.
        loop {
            let before = own_names.len();
            for item in &items {
                let copies = item.names.iter().filter_map(|&name| Some((name, defined.get(name)?)));
                for (name, there) in copies {
                    if !own_names.contains_key(name) && text(item, &own_names) != *there {
                        own_names.insert(name, format!("{name}_unit{number}"));
                    }
                }
            }
            if own_names.len() == before {
                break;
            }
        }
        for item in &items {
            let is_there = |name: &&str| defined.contains_key(*name) && !own_names.contains_key(*name);
            let is_repeated = match item.kind {
                Kind::Head => number > 0,
                _ => item.names.iter().all(is_there),
            };
            if is_repeated {
                continue;
            }
            let text = text(item, &own_names);
            module.extend([&*text, "\n"]);
            for &name in &item.names {
                defined.entry(name.to_owned()).or_insert_with(|| text.clone());
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
    fn a_copy_whose_callee_differs_is_another_one() {
        let merged = module(&[
            ".func g() { ret; }\n.func h() { call g; }\n.entry a() { call h; }",
            ".func g() { trap; }\n.func h() { call g; }\n.func k() { call g; }\n.entry b() { call h; call k; }",
            ".func g() { ret; }\n.func k() { call g; }\n.entry c() { call k; }",
        ]);
        let expected = ".func g() { ret; }\n.func h() { call g; }\n.entry a() { call h; }\n\
                        .func g_unit1() { trap; }\n.func h_unit1() { call g_unit1; }\n.func k() { call g_unit1; }\n\
                        .entry b() { call h_unit1; call k; }\n\
                        .func k_unit2() { call g; }\n.entry c() { call k_unit2; }\n";
        assert_eq!(merged.unwrap(), format!("{HEAD}{expected}"));
    }

    #[test]
    fn units_that_need_each_other_stay_apart() {
        let entry = ".entry f() { ret; }\n";
        assert_eq!(module(&[entry, ".extern .global .b8 table[4];\n"]), None);
        assert_eq!(module(&[entry, ".file 1 \"kernels.rs\"\n"]), None);
    }
}
