//! The arguments of `#[kernel(...)]`.

use proc_macro2::Span;
use syn::parse::{Parse, ParseStream};
use syn::{AngleBracketedGenericArguments, Error, Ident, LitInt, Result, Token, parenthesized};

/// `#[kernel(threads = 256, producer = 32, vector = 4, grid = 2, min_blocks = 2, registers = 64, cluster = (2, 1, 1), instances(<f32>))]`
pub(crate) struct Attribute {
    pub(crate) threads: u32,
    pub(crate) producer: Option<u32>,
    pub(crate) vector: u32,
    pub(crate) grid: u32,
    pub(crate) min_blocks: Option<u32>,
    pub(crate) registers: Option<u32>,
    pub(crate) cluster: [u32; 3],
    pub(crate) dependent: Option<Dependent>,
    pub(crate) instances: Vec<AngleBracketedGenericArguments>,
}

/// The point at which a kernel with programmatic dependent launch (PDL) waits for its predecessor.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dependent {
    /// Before anything else.
    AtEntry,
    /// Where the kernel's body calls for it. The launch vouches for the code before.
    Early,
}

/// A number that must pass `legal`.
fn number(input: ParseStream<'_>, legal: impl Fn(u32) -> bool, wanted: &str) -> Result<u32> {
    let literal: LitInt = input.parse()?;
    let value = literal.base10_parse()?;
    if legal(value) { Ok(value) } else { Err(Error::new(literal.span(), wanted)) }
}

impl Parse for Attribute {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut attribute = Self {
            threads: 128,
            producer: None,
            vector: 4,
            grid: 1,
            min_blocks: None,
            registers: None,
            cluster: [1; 3],
            dependent: None,
            instances: Vec::new(),
        };
        while !input.is_empty() {
            let key: Ident = input.parse()?;
            if key == "instances" {
                let list;
                parenthesized!(list in input);
                let list = list.parse_terminated(AngleBracketedGenericArguments::parse, Token![,])?;
                attribute.instances = list.into_iter().collect();
            } else if key == "dependent" && !input.peek(Token![=]) {
                attribute.dependent = Some(Dependent::AtEntry);
            } else {
                input.parse::<Token![=]>()?;
                match key.to_string().as_str() {
                    "threads" => {
                        attribute.threads = number(
                            input,
                            |n| n.is_power_of_two() && (32..=1024).contains(&n),
                            "a block has 32, 64, 128, 256, 512 or 1024 threads",
                        )?;
                    }
                    "producer" => {
                        attribute.producer = Some(number(
                            input,
                            |n| n % 32 == 0 && (32..=128).contains(&n),
                            "`producer` is the number of producer threads: 32, a warp for one ring, 64 or 96 for more rings, or 128, a warpgroup",
                        )?);
                    }
                    "vector" => {
                        attribute.vector = number(
                            input,
                            |n| n.is_power_of_two() && n <= 16,
                            "`vector` is how many neighbouring elements a thread holds: 1, 2, 4, 8 or 16",
                        )?;
                    }
                    "grid" => {
                        attribute.grid =
                            number(input, |n| (1..=3).contains(&n), "a grid has 1, 2 or 3 axes")?;
                    }
                    "min_blocks" => {
                        attribute.min_blocks = Some(number(
                            input,
                            |n| (1..=32).contains(&n),
                            "`min_blocks` is how many blocks a multiprocessor should hold at least: 1 to 32",
                        )?);
                    }
                    "registers" => {
                        attribute.registers = Some(number(
                            input,
                            |n| (16..=255).contains(&n),
                            "`registers` caps the registers of a thread: 16 to 255",
                        )?);
                    }
                    "cluster" => {
                        let sizes;
                        parenthesized!(sizes in input);
                        for (axis, size) in attribute.cluster.iter_mut().enumerate() {
                            if axis > 0 {
                                sizes.parse::<Token![,]>()?;
                            }
                            *size = number(
                                &sizes,
                                |n| (1..=8).contains(&n),
                                "a cluster has 1 to 8 blocks along an axis",
                            )?;
                        }
                    }
                    "dependent" => {
                        let when: Ident = input.parse()?;
                        if when != "early" {
                            return Err(Error::new(
                                when.span(),
                                "`dependent` waits for the kernel before at entry, `dependent = early` where the body says so",
                            ));
                        }
                        attribute.dependent = Some(Dependent::Early);
                    }
                    _ => {
                        return Err(Error::new(
                            key.span(),
                            "expected threads, producer, vector, grid, min_blocks, registers, cluster, dependent or instances",
                        ));
                    }
                }
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        if attribute.threads + attribute.producer.unwrap_or(0) > 1024 {
            let problem = "a block has at most 1024 threads, producer threads included";
            return Err(Error::new(Span::call_site(), problem));
        }
        Ok(attribute)
    }
}

impl Attribute {
    /// The settings that the builder finds in the PTX and turns into directives of the entry.
    pub(crate) fn settings(&self) -> String {
        let mut line = format!(" maxntid={}", self.threads);
        if let Some(threads) = self.producer {
            // Producer threads count on targets with TMA, which the builder knows.
            line += &format!(" producer={threads}");
        }
        if let Some(blocks) = self.min_blocks {
            line += &format!(" minnctapersm={blocks}");
        }
        if let Some(registers) = self.registers {
            line += &format!(" maxnreg={registers}");
        }
        if self.cluster != [1; 3] {
            let [x, y, z] = self.cluster;
            line += &format!(" cluster={x},{y},{z}");
        }
        line
    }

    /// The properties that a launch relies on, for the fingerprint.
    pub(crate) fn numbers(&self) -> Vec<u64> {
        let Self {
            threads,
            producer,
            vector,
            grid,
            min_blocks: _,
            registers: _,
            cluster,
            dependent,
            instances: _,
        } = self;
        let dependent = match dependent {
            None => 0,
            Some(Dependent::AtEntry) => 1,
            Some(Dependent::Early) => 2,
        };
        let [x, y, z] = *cluster;
        [*threads, producer.unwrap_or(0), *vector, *grid, x, y, z, dependent].map(u64::from).to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Attribute> {
        syn::parse_str(text)
    }

    #[test]
    fn threads_that_copy_stand_beside_the_launch_bounds() {
        assert_eq!(parse("threads = 256").unwrap().settings(), " maxntid=256");
        let settings = parse("threads = 256, producer = 32, min_blocks = 2").unwrap().settings();
        assert_eq!(settings, " maxntid=256 producer=32 minnctapersm=2");
        assert_eq!(parse("producer = 128").unwrap().settings(), " maxntid=128 producer=128");
    }

    #[test]
    fn what_a_launch_relies_on_is_in_the_numbers() {
        let numbers = |text| parse(text).unwrap().numbers();
        let all = [
            "",
            "threads = 64",
            "producer = 32",
            "vector = 8",
            "grid = 2",
            "cluster = (1, 2, 1)",
            "dependent",
        ];
        for (k, text) in all.iter().enumerate() {
            assert_eq!(all.iter().position(|other| numbers(other) == numbers(text)), Some(k), "{text}");
        }
        assert_eq!(numbers("registers = 64, min_blocks = 2"), numbers(""));
    }

    #[test]
    fn blocks_that_are_too_large_are_refused() {
        let message = |text| parse(text).err().unwrap().to_string();
        assert!(message("producer = 48").starts_with("`producer` is the number of producer threads"));
        assert!(message("threads = 1024, producer = 32").starts_with("a block has at most 1024 threads"));
    }
}
