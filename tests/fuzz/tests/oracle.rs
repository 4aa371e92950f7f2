//! The generator, the interpreter and the shrinker by themselves: what they make of each other.

use std::collections::BTreeSet;

use cuda_tiles_fuzz::check::check;
use cuda_tiles_fuzz::element::Element;
use cuda_tiles_fuzz::generate::generate;
use cuda_tiles_fuzz::interpret::run;
use cuda_tiles_fuzz::number::{self, Rounding};
use cuda_tiles_fuzz::print;
use cuda_tiles_fuzz::program::{Binary, Operation, Program, Statement, Step};
use cuda_tiles_fuzz::random::Random;
use cuda_tiles_fuzz::scalar::Scalar;
use cuda_tiles_fuzz::shrink::shrink;

fn steps(statements: &[Statement]) -> Vec<&Step> {
    statements
        .iter()
        .flat_map(|statement| match statement {
            Statement::Step(step) => vec![step],
            Statement::Repeat(repeat) => steps(&repeat.body),
        })
        .collect()
}

/// The word that an operation begins with.
fn family(operation: &Operation) -> String {
    format!("{operation:?}").chars().take_while(char::is_ascii_alphanumeric).collect()
}

#[test]
fn programs_compile_and_every_operation_occurs() {
    let mut seen = BTreeSet::new();
    for seed in 0..1500 {
        let program = generate(seed);
        assert_eq!(program, generate(seed), "a seed makes one program");
        check(&program).unwrap_or_else(|problem| panic!("seed {seed}: {problem}"));
        assert!(program.arguments.len() + program.parameters.len() <= 12, "seed {seed}");
        seen.extend(steps(&program.body).iter().map(|step| family(&step.operation)));
        let text = print::kernel(&program, "kernel");
        let partitions = text.rfind(".partition(cx, shape![").is_some() || !text.contains("SpanMut");
        assert!(partitions, "seed {seed}: {text}");
    }
    // A name for each variant of `Operation`.
    assert_eq!(seen.len(), 56, "{seen:?}");
}

#[test]
fn writable_tensors_are_partitioned_before_the_block_is_known() {
    for seed in 0..300 {
        let text = print::kernel(&generate(seed), "kernel");
        let known = ["cx.bid::<0>()", "cx.tiles::<0>("]
            .iter()
            .filter_map(|asked| text.find(asked))
            .min()
            .expect("every kernel asks for its block");
        for (number, argument) in generate(seed).arguments.iter().enumerate() {
            if argument.access == cuda_tiles_fuzz::program::Access::Write {
                let made = text
                    .find(&format!("let a{number} = a{number}.partition(cx"))
                    .expect("a writable tensor has a partition");
                assert!(made < known, "seed {seed}: {text}");
            }
        }
    }
}

/// The program with every sum a difference: a library that subtracts where it should add.
fn planted(program: &Program) -> Program {
    fn plant(statements: &mut [Statement]) {
        for statement in statements {
            match statement {
                Statement::Step(step) if step.operation == Operation::Binary(Binary::Add) => {
                    step.operation = Operation::Binary(Binary::Sub);
                }
                Statement::Step(_) => {}
                Statement::Repeat(repeat) => plant(&mut repeat.body),
            }
        }
    }
    let mut wrong = program.clone();
    plant(&mut wrong.body);
    wrong
}

fn is_different(program: &Program) -> bool {
    let wrong = run(&planted(program));
    run(program).iter().zip(&program.arguments).zip(&wrong).any(|((expected, argument), found)| {
        expected.iter().zip(found).any(|(&expected, &found)| match found {
            Scalar::Known(bits) => !expected.admits(argument.element, bits),
            _ => false,
        })
    })
}

#[test]
fn a_wrong_operation_is_found_and_shrunk() {
    let mut shrunk = 0;
    for program in (0..200).map(generate).filter(is_different).take(5) {
        let smallest = shrink(program, 16, |candidates| candidates.iter().position(is_different));
        let left = steps(&smallest.body);
        assert!(left.iter().any(|step| step.operation == Operation::Binary(Binary::Add)), "{smallest:?}");
        // What is added, the sum, what makes a truth of it at the most, and the store.
        assert!(left.len() <= 8, "{}", print::kernel(&smallest, "smallest"));
        shrunk += 1;
    }
    assert_eq!(shrunk, 5, "five of the programs show the difference");
}

#[test]
fn most_results_are_known() {
    let (mut unknown, mut all) = (0, 0);
    for seed in 0..200 {
        for scalar in run(&generate(seed)).into_iter().flatten() {
            unknown += usize::from(scalar == Scalar::Unknown);
            all += 1;
        }
    }
    assert!(unknown * 20 < all, "{unknown} of {all} elements may be anything");
}

#[test]
fn floats_round_as_the_hosts_do() {
    let mut random = Random::new(1);
    for _ in 0..20_000 {
        let wide = f64::from_bits(random.bits());
        let narrow = wide as f32;
        assert!(
            narrow.is_nan()
                || number::encode(Element::F32, wide, Rounding::NearestEven) == u64::from(narrow.to_bits())
        );
        let integer = random.bits() >> random.below(64);
        assert_eq!(
            number::from_integer(Element::F32, i128::from(integer), Rounding::NearestEven),
            u64::from((integer as f32).to_bits())
        );
        let [a, b, c] = [(); 3].map(|()| f32::from_bits(random.bits() as u32));
        let fused = number::fused_odd(f64::from(a), f64::from(b), f64::from(c));
        let expected = a.mul_add(b, c);
        assert!(
            expected.is_nan()
                || number::encode(Element::F32, fused, Rounding::NearestEven)
                    == u64::from(expected.to_bits()),
            "{a:e} * {b:e} + {c:e}"
        );
    }
    // Of 16 bits: one third, the least number, half of it, and what is too large.
    let f16 = |value: f64| number::encode(Element::F16, value, Rounding::NearestEven);
    assert_eq!(
        [f16(1.0 / 3.0), f16(5.960_464_477_539_063e-8), f16(2.98e-8), f16(65520.0)],
        [0x3555, 1, 0, 0x7c00]
    );
    let bf16 = |value: f64| number::encode(Element::Bf16, value, Rounding::NearestEven);
    assert_eq!([bf16(1.0 / 3.0), bf16(-1e-45)], [0x3eab, 0x8000]);
}
