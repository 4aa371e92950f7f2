//! The program of a batch: a parent that watches, and children that run kernels and say how it went, a line for each.
//!
//! A kernel that traps takes the GPU's context with it, and one that hangs never ends. So kernels run in a child, which the
//! parent starts anew behind a kernel that it did not survive.

use std::io::{BufRead, BufReader};
use std::process::{Command, ExitCode, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use cuda_tiles_fuzz::interpret;
use cuda_tiles_fuzz::program::Program;
use cuda_tiles_fuzz::scalar::{Scalar, describe};
use cuda_tiles_host::{Artifact, Device};

use crate::{Launcher, Memory};

/// How long a child may be silent; the driver compiles all kernels of a batch first.
const SILENCE: Duration = Duration::from_secs(300);

/// How many elements a difference names.
const SHOWN: usize = 24;

/// Runs a batch: `programs` is its kernels as data, in the order of `launchers`. With the argument `cpu`, `gpu` or `all` it says
/// where; each difference is a line that begins with `difference`, and the last line is a summary.
///
/// # Panics
/// If `programs` is not what the fuzzer wrote.
pub fn main(artifact: &'static Artifact, programs: &str, launchers: &[Launcher]) -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let place = arguments.first().map_or("all", String::as_str).to_owned();
    let programs: Vec<Program> =
        serde_json::from_str(programs).expect("the programs are those of the fuzzer");
    assert_eq!(programs.len(), launchers.len(), "a launcher for each program");
    if let [_, _, from] = arguments.as_slice() {
        let from = from.parse().expect("the number of a kernel");
        return child(artifact, &programs, launchers, &place, from);
    }
    let start = Instant::now();
    let (mut from, mut failed, mut unknown, mut elements) = (0, 0, 0, 0);
    while from < programs.len() {
        let lines = watch(&place, from);
        let mut reached = from;
        for line in lines {
            let words: Vec<&str> = line.split(' ').collect();
            match words.as_slice() {
                ["at", number] => reached = number.parse().expect("the number of a kernel"),
                ["ok", _, of, all] => {
                    unknown += of.parse::<usize>().expect("a count");
                    elements += all.parse::<usize>().expect("a count");
                }
                ["end"] => reached = programs.len(),
                ["difference", ..] | ["failure", ..] => {
                    println!("{line}");
                    failed += 1;
                }
                _ => println!("{line}"),
            }
        }
        if reached < programs.len() {
            println!(
                "failure kernel {reached} (seed {}): the program did not survive it",
                programs[reached].seed
            );
            failed += 1;
        }
        from = reached + 1;
    }
    println!(
        "summary: {} kernels, {failed} differences, {elements} elements, {unknown} of which may be anything, {:.1} s",
        programs.len(),
        start.elapsed().as_secs_f64()
    );
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Starts a child and returns its lines.
fn watch(place: &str, from: usize) -> Vec<String> {
    let program = std::env::current_exe().expect("the program has a path");
    let mut command = Command::new(program);
    command.args([place, "from", &from.to_string()]).stdout(Stdio::piped());
    let mut child = command.spawn().expect("the program can start itself");
    let output = child.stdout.take().expect("its output is a pipe");
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    let mut lines = Vec::new();
    loop {
        match receiver.recv_timeout(SILENCE) {
            Ok(line) => lines.push(line),
            Err(RecvTimeoutError::Timeout) => {
                lines.push(format!("a kernel did not end within {} s", SILENCE.as_secs()));
                // It may have ended by itself meanwhile.
                let _ = child.kill();
                break;
            }
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    // How it ended is known by its last line.
    let _ = child.wait();
    lines
}

fn child(
    artifact: &'static Artifact,
    programs: &[Program],
    launchers: &[Launcher],
    place: &str,
    from: usize,
) -> ExitCode {
    let mut devices = Vec::new();
    if place != "gpu" {
        devices.push(Device::cpu());
    }
    if place != "cpu" {
        let gpu = Device::gpu(0).and_then(|gpu| gpu.load(artifact).map(|_| gpu));
        match gpu {
            Ok(gpu) => devices.push(gpu),
            Err(error) => println!("failure of the GPU: {error}"),
        }
    }
    for (number, program) in programs.iter().enumerate().skip(from) {
        println!("at {number}");
        let expected = interpret::run(program);
        let mut found = Vec::new();
        for device in &devices {
            let mut memory = Memory::before(program);
            match launchers[number](device, &mut memory) {
                Ok(()) => found.push((device, memory)),
                Err(error) => println!(
                    "failure kernel {number} (seed {}) on {device}: {}",
                    program.seed,
                    one_line(&error.to_string())
                ),
            }
        }
        if let Some(difference) = difference(program, &expected, &found) {
            println!("difference kernel {number} (seed {}) {difference}", program.seed);
        }
        let all = expected.iter().map(Vec::len).sum::<usize>();
        let unknown = expected.iter().flatten().filter(|&&scalar| scalar == Scalar::Unknown).count();
        println!("ok {number} {unknown} {all}");
    }
    println!("end");
    ExitCode::SUCCESS
}

fn one_line(text: &str) -> String {
    text.replace('\n', "; ")
}

/// The first element that is not what it may be, or that two devices should have alike and do not.
fn difference(program: &Program, expected: &[Vec<Scalar>], found: &[(&Device, Memory)]) -> Option<String> {
    for (number, (argument, expected)) in program.arguments.iter().zip(expected).enumerate() {
        let element = argument.element;
        for (place, &scalar) in expected.iter().enumerate() {
            for (device, memory) in found {
                let bits = memory.bits(number)[place];
                if !scalar.admits(element, bits) {
                    let wrong: Vec<String> = expected
                        .iter()
                        .zip(memory.bits(number))
                        .enumerate()
                        .filter(|&(_, (scalar, &bits))| !scalar.admits(element, bits))
                        .map(|(place, _)| place.to_string())
                        .collect();
                    return Some(format!(
                        "on {device}: element {place} in the memory of a{number} is {} and not {}; {} elements: {}{}",
                        describe(element, bits),
                        scalar.describe(element),
                        wrong.len(),
                        wrong[..wrong.len().min(SHOWN)].join(" "),
                        if wrong.len() > SHOWN { " ..." } else { "" }
                    ));
                }
            }
            if let ([(_, first), (device, second)], true) = (found, scalar.same()) {
                let (first, second) = (first.bits(number)[place], second.bits(number)[place]);
                if first != second && !scalar.admits_both(element, first, second) {
                    return Some(format!(
                        "on {device}: element {place} in the memory of a{number} is {} and on the CPU {}",
                        describe(element, second),
                        describe(element, first)
                    ));
                }
            }
        }
    }
    None
}
