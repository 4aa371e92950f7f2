//! The plans that were measured to be the fastest for some products.

use std::any::type_name;
use std::collections::HashMap;
use std::string::String;
use std::sync::OnceLock;
use std::vec::Vec;

use cuda_tiles_host::Device;

use super::plan::{Decomposition, Loads, Major, Plan, Problem};

/// The plans that were measured to be the fastest. `kernels/tuning/` has a file of them for each GPU.
///
/// `cargo xtask tune` measures the plans of [`Gemm::plans`](super::Gemm::plans) and writes the files.
pub(super) struct Tuned;

/// A product in the tuning files: its name, and its batches, rows, columns and depth.
type Key = (String, [usize; 4]);

/// The tuning files: the name of the GPU, the path and the text.
const FILES: [(&str, &str, &str); 1] =
    [("NVIDIA H200", "kernels/tuning/nvidia-h200.csv", include_str!("../../../tuning/nvidia-h200.csv"))];

impl Tuned {
    /// The product's name in the tuning files: element types, storage and options.
    pub(super) fn name<T, U, O>(problem: &Problem) -> String {
        let short = |name: &'static str| name.rsplit("::").next().unwrap_or(name);
        let letter = |major| if major == Major::Row { 'n' } else { 't' };
        std::format!(
            "{} {} {} {}{}{}{}",
            short(type_name::<T>()),
            short(type_name::<U>()),
            short(type_name::<O>()),
            letter(problem.a),
            letter(problem.b),
            match (problem.fast, problem.beta) {
                (false, false) => "",
                (true, false) => " fast",
                (false, true) => " beta",
                (true, true) => " fast beta",
            },
            if problem.packed_bytes == [0, 0] { "" } else { " packed" }
        )
    }

    /// The fastest plan for a product on a device, if it was measured.
    pub(super) fn plan<T, U, O>(problem: &Problem, device: &Device) -> Option<Plan> {
        static PLANS: OnceLock<HashMap<&'static str, HashMap<Key, Plan>>> = OnceLock::new();
        // The files are part of the program, and a test reads them. A file that cannot be read gives no plans.
        let plans = PLANS.get_or_init(|| {
            FILES.into_iter().map(|(gpu, file, text)| (gpu, read(file, text).unwrap_or_default())).collect()
        });
        let of_device = plans.get(device.name()).filter(|plans| !plans.is_empty())?;
        let Problem { batches, rows, columns, depth, .. } = *problem;
        of_device.get(&(Self::name::<T, U, O>(problem), [batches, rows, columns, depth])).copied()
    }
}

/// Reads the plans of a tuning file.
///
/// The first line is `product,batches,rows,columns,depth,loads,tile rows,tile columns,cut,microseconds`. Each other line has the values of
/// these columns. `loads` is the text of [`Loads`], and `cut` is the decomposition. The measured microseconds are for people.
///
/// # Errors
///
/// File, line and problem, if a line does not have these values or names a product again.
fn read(file: &str, text: &str) -> Result<HashMap<Key, Plan>, String> {
    let mut plans = HashMap::new();
    for (number, line) in text.lines().enumerate().skip(1) {
        let refuse = |problem| Err(std::format!("{file}:{}: {problem}: `{line}`", number + 1));
        let fields: Vec<&str> = line.split(',').collect();
        let [product, batches, rows, columns, depth, loads, height, width, decomposition, microseconds] =
            fields[..]
        else {
            return refuse("not ten fields");
        };
        let sizes = [batches, rows, columns, depth, height, width];
        let sizes: Option<Vec<usize>> =
            sizes.into_iter().map(|size| size.parse().ok().filter(|&size| size > 0)).collect();
        let Some([batches, rows, columns, depth, height, width]) = sizes.as_deref() else {
            return refuse("not six positive numbers of sizes");
        };
        let Some(loads) = Loads::parse(loads) else {
            return refuse("none of `tma`, `threads`, `vector` and a cluster, as `2x1`");
        };
        let Some(decomposition) = Decomposition::parse(decomposition) else {
            return refuse("neither a number of parts nor `wave`");
        };
        if !microseconds.parse::<f64>().is_ok_and(|time| time.is_finite() && time > 0.0) {
            return refuse("not a time in microseconds");
        }
        let plan = Plan { loads, rows: *height, columns: *width, decomposition };
        let key = (String::from(product), [*batches, *rows, *columns, *depth]);
        if plans.insert(key, plan).is_some() {
            return refuse("a second plan of this product");
        }
    }
    Ok(plans)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::string::ToString;

    const HEAD: &str = "product,batches,rows,columns,depth,loads,tile rows,tile columns,cut,microseconds\n";

    #[test]
    fn lines_of_plans_are_read() {
        let lines =
            "f16,1,2,3,4,tma,128,256,0,5.5\nf16,1,2,3,5,threads,16,64,12,1\nf16,1,2,3,6,tma,128,256,wave,1\n";
        let plans = read("gpu.csv", &std::format!("{HEAD}{lines}")).unwrap();
        let decomposition =
            |depth| plans.get(&(String::from("f16"), [1, 2, 3, depth])).map(|plan| plan.decomposition);
        assert_eq!(
            [4, 5, 6, 7].map(decomposition),
            [
                Some(Decomposition::DataParallel),
                Some(Decomposition::SplitK(12)),
                Some(Decomposition::StreamK),
                None
            ]
        );
        for decomposition in [Decomposition::DataParallel, Decomposition::SplitK(3), Decomposition::StreamK] {
            assert_eq!(Decomposition::parse(&decomposition.to_string()), Some(decomposition));
        }
        for (_, file, text) in FILES {
            assert!(read(file, text).unwrap().len() > 30, "{file}");
            assert!(text.starts_with(HEAD), "{file}");
        }
    }

    #[test]
    fn lines_that_are_no_plans_are_refused_with_file_and_line() {
        for (line, problem) in [
            ("f16,1,2,3,7,tma,128,256,00,1", "neither a number of parts nor `wave`"),
            ("f16,1,2,3,7,tma,128,256,many,1", "neither a number of parts nor `wave`"),
            ("f16,1,2,3,7,tma,128,256,0,soon", "not a time in microseconds"),
            ("f16,1,2,3,7,tma,128,256,0,inf", "not a time in microseconds"),
            ("f16,1,2,3,7,copies,128,256,0,1", "none of `tma`, `threads`, `vector` and a cluster, as `2x1`"),
            ("f16,1,2,3,-7,tma,128,256,0,1", "not six positive numbers of sizes"),
            ("f16,1,2,3,0,tma,128,256,0,1", "not six positive numbers of sizes"),
            ("f16,1,2,3,128,256,0,1", "not ten fields"),
            ("f16,1,2,3,99999999999999999999,tma,128,256,0,1", "not six positive numbers of sizes"),
            ("f16", "not ten fields"),
            ("", "not ten fields"),
            ("f16,1,2,3,4,tma,16,64,0,1", "a second plan of this product"),
        ] {
            let text = std::format!("{HEAD}f16,1,2,3,4,tma,128,256,0,5.5\n{line}\n");
            assert_eq!(read("gpu.csv", &text).unwrap_err(), std::format!("gpu.csv:3: {problem}: `{line}`"));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(200),
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn any_lines_are_read_or_refused(
            place in any::<prop::sample::Index>(),
            removed in 0_usize..9,
            inserted in "([0-9,.a-z\n -]|é){0,6}",
            any in any::<String>(),
        ) {
            let (_, file, text) = FILES[0];
            let whole = read(file, text).unwrap();
            let begin = place.index(text.len());
            let end = (begin + removed).min(text.len());
            let changed = [&text[..begin], &inserted, &text[end..]].concat();
            for text in [&changed, &any] {
                match read(file, text) {
                    Ok(plans) => prop_assert!(plans.len() <= text.lines().count() && plans.len() <= whole.len() + 3),
                    Err(message) => prop_assert!(message.starts_with("kernels/tuning/nvidia-h200.csv:"), "{}", message),
                }
            }
        }
    }
}
