//! The arguments of `#[kernel(...)]`.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::{AngleBracketedGenericArguments, Error, Expr, Ident, LitInt, Result, Token, parenthesized};

/// `#[kernel(threads = 256, producer = 32, cluster = [2, 1], vector = 4, grid = 2, min_blocks = 2, registers = 64, targets = warpgroups,
/// cpu = true, instances(<f32>))]`
#[derive(Clone)]
pub(crate) struct Attribute {
    pub(crate) threads: u32,
    pub(crate) producer: Option<u32>,
    pub(crate) consumers: u32,
    /// The blocks of a cluster, as rows and columns of tiles.
    pub(crate) cluster: [u32; 2],
    pub(crate) vector: u32,
    pub(crate) grid: u32,
    pub(crate) min_blocks: Option<u32>,
    pub(crate) registers: Option<u32>,
    pub(crate) dependent: Option<Dependent>,
    /// The targets of all instances.
    pub(crate) targets: Targets,
    /// Whether the CPU runs an instance, as an expression of its parameters; without one it does.
    pub(crate) cpu: Option<Expr>,
    pub(crate) instances: Vec<ListedInstance>,
}

/// An entry of `instances(..)`: `<256> with(threads = 512) if warpgroups`.
#[derive(Clone)]
pub(crate) struct ListedInstance {
    pub(crate) values: AngleBracketedGenericArguments,
    /// What stands in `with(..)`.
    own: Own,
    /// What stands behind `if`.
    targets: Option<Targets>,
}

/// The settings that an instance has in place of the kernel's.
#[derive(Clone, Copy, Default)]
struct Own {
    threads: Option<u32>,
    vector: Option<u32>,
    min_blocks: Option<u32>,
    registers: Option<u32>,
}

/// The targets that a kernel or an instance is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Targets {
    All,
    Warpgroups,
    NoWarpgroups,
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

impl Parse for Targets {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let span = input.span();
        let is_negated = input.parse::<Option<Token![!]>>()?.is_some();
        match input.parse::<Ident>() {
            Ok(word) if word == "warpgroups" && is_negated => Ok(Self::NoWarpgroups),
            Ok(word) if word == "warpgroups" => Ok(Self::Warpgroups),
            _ => Err(Error::new(
                span,
                "the targets of a kernel are `warpgroups`, GPUs with warpgroups (compute capability 9.0), or `!warpgroups`, all others",
            )),
        }
    }
}

impl Targets {
    /// The condition under which a target is among them; none if all are.
    pub(crate) fn condition(self) -> Option<TokenStream> {
        // As `WARPGROUPS` in `cuda_tiles::arch::matrix`.
        match self {
            Self::All => None,
            Self::Warpgroups => Some(quote!(target_feature = "sm_90a")),
            Self::NoWarpgroups => Some(quote!(not(target_feature = "sm_90a"))),
        }
    }

    /// The value of the library's type.
    pub(crate) fn value(self) -> TokenStream {
        match self {
            Self::All => quote!(::cuda_tiles::launch::Targets::All),
            Self::Warpgroups => quote!(::cuda_tiles::launch::Targets::Warpgroups),
            Self::NoWarpgroups => quote!(::cuda_tiles::launch::Targets::NoWarpgroups),
        }
    }
}

fn threads(input: ParseStream<'_>) -> Result<u32> {
    let legal = |n: u32| n.is_power_of_two() && (32..=1024).contains(&n);
    number(input, legal, "a block has 32, 64, 128, 256, 512 or 1024 threads")
}

fn cluster(input: ParseStream<'_>) -> Result<[u32; 2]> {
    let list;
    let brackets = syn::bracketed!(list in input);
    let sizes = list.parse_terminated(<LitInt as Parse>::parse, Token![,])?;
    match sizes.iter().map(LitInt::base10_parse).collect::<Result<Vec<u32>>>()?[..] {
        [rows @ (1 | 2 | 4), columns @ (1 | 2 | 4)] if matches!(rows * columns, 2 | 4) => Ok([rows, columns]),
        _ => Err(Error::new(
            brackets.span.join(),
            "a cluster is two or four blocks, in rows and columns of tiles: `[2, 1]`, `[1, 2]`, `[4, 1]`, `[2, 2]` or `[1, 4]`",
        )),
    }
}

fn vector(input: ParseStream<'_>) -> Result<u32> {
    let wanted = "`vector` is how many neighbouring elements a thread holds: 1, 2, 4, 8 or 16";
    number(input, |n| n.is_power_of_two() && n <= 16, wanted)
}

fn min_blocks(input: ParseStream<'_>) -> Result<u32> {
    let wanted = "`min_blocks` is how many blocks a multiprocessor should hold at least: 1 to 32";
    number(input, |n| (1..=32).contains(&n), wanted)
}

fn registers(input: ParseStream<'_>) -> Result<u32> {
    number(input, |n| (16..=255).contains(&n), "`registers` caps the registers of a thread: 16 to 255")
}

impl Parse for Own {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut own = Self::default();
        while !input.is_empty() {
            let key: Ident = input.parse()?;
            input.parse::<Token![=]>()?;
            match key.to_string().as_str() {
                "threads" => own.threads = Some(threads(input)?),
                "vector" => own.vector = Some(vector(input)?),
                "min_blocks" => own.min_blocks = Some(min_blocks(input)?),
                "registers" => own.registers = Some(registers(input)?),
                _ => {
                    return Err(Error::new(
                        key.span(),
                        "an instance has threads, vector, min_blocks or registers of its own; the other settings are the kernel's",
                    ));
                }
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(own)
    }
}

impl Parse for ListedInstance {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let values = input.parse()?;
        let mut own = Own::default();
        if input.peek(Ident) {
            let word: Ident = input.parse()?;
            if word != "with" {
                let wanted = "behind an instance stands `with(threads = 512)`, `if warpgroups`, or a comma";
                return Err(Error::new(word.span(), wanted));
            }
            let settings;
            parenthesized!(settings in input);
            own = settings.parse()?;
        }
        let targets =
            if input.parse::<Option<Token![if]>>()?.is_some() { Some(input.parse()?) } else { None };
        Ok(Self { values, own, targets })
    }
}

impl Parse for Attribute {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut attribute = Self {
            threads: 128,
            producer: None,
            consumers: 1,
            cluster: [1, 1],
            vector: 4,
            grid: 1,
            min_blocks: None,
            registers: None,
            dependent: None,
            targets: Targets::All,
            cpu: None,
            instances: Vec::new(),
        };
        while !input.is_empty() {
            let key: Ident = input.parse()?;
            if key == "instances" {
                let list;
                parenthesized!(list in input);
                let list = list.parse_terminated(ListedInstance::parse, Token![,])?;
                attribute.instances = list.into_iter().collect();
            } else if key == "dependent" && !input.peek(Token![=]) {
                attribute.dependent = Some(Dependent::AtEntry);
            } else {
                input.parse::<Token![=]>()?;
                match key.to_string().as_str() {
                    "threads" => attribute.threads = threads(input)?,
                    "producer" => {
                        attribute.producer = Some(number(
                            input,
                            |n| n % 32 == 0 && (32..=128).contains(&n),
                            "`producer` is the number of producer threads: 32, a warp for one ring, 64 or 96 for more rings, or 128, a warpgroup",
                        )?);
                    }
                    "consumers" => {
                        attribute.consumers = number(
                            input,
                            |n| (2..=3).contains(&n),
                            "`consumers` is how many blocks share a producer: 2 or 3",
                        )?;
                    }
                    "cluster" => attribute.cluster = cluster(input)?,
                    "vector" => attribute.vector = vector(input)?,
                    "grid" => {
                        attribute.grid =
                            number(input, |n| (1..=3).contains(&n), "a grid has 1, 2 or 3 axes")?;
                    }
                    "min_blocks" => attribute.min_blocks = Some(min_blocks(input)?),
                    "registers" => attribute.registers = Some(registers(input)?),
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
                    "targets" => attribute.targets = input.parse()?,
                    "cpu" => attribute.cpu = Some(input.parse()?),
                    _ => {
                        return Err(Error::new(
                            key.span(),
                            "expected threads, producer, consumers, cluster, vector, grid, min_blocks, registers, dependent, targets, cpu or instances",
                        ));
                    }
                }
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        attribute.check()?;
        for instance in &attribute.instances {
            attribute.of(instance).check()?;
        }
        let with_own = attribute.instances.iter().find(|instance| instance.targets.is_some());
        if let (false, Some(instance)) = (attribute.targets == Targets::All, with_own) {
            return Err(Error::new_spanned(
                &instance.values,
                "the `targets` of the kernel are those of each instance: write `targets`, or `if` behind instances",
            ));
        }
        Ok(attribute)
    }
}

impl Attribute {
    /// Whether the settings go together.
    fn check(&self) -> Result<()> {
        if self.threads + self.producer.unwrap_or(0) > 1024 {
            let problem = "a block has at most 1024 threads, producer threads included";
            return Err(Error::new(Span::call_site(), problem));
        }
        let is_warpgroups = self.threads == 128 && self.producer == Some(128);
        if self.consumers > 1 && !(is_warpgroups && self.grid == 1) {
            return Err(Error::new(
                Span::call_site(),
                "blocks that share a producer are warpgroups, and so is the producer: `consumers` goes with `threads = 128` and \
                 `producer = 128`, with a grid of one axis",
            ));
        }
        if self.consumers > 1 && self.targets != Targets::Warpgroups {
            return Err(Error::new(
                Span::call_site(),
                "blocks share a producer on GPUs with warpgroups: `consumers` goes with `targets = warpgroups`",
            ));
        }
        let is_cluster = self.cluster != [1, 1];
        if is_cluster && (self.producer.is_none() || self.consumers > 1 || self.grid > 1) {
            return Err(Error::new(
                Span::call_site(),
                "the producers of a cluster load together: `cluster` goes with `producer`, with a grid of one axis, and \
                 without `consumers`",
            ));
        }
        if is_cluster && self.targets != Targets::Warpgroups {
            return Err(Error::new(
                Span::call_site(),
                "blocks form clusters on GPUs with warpgroups: `cluster` goes with `targets = warpgroups`",
            ));
        }
        Ok(())
    }

    /// The settings of an instance.
    pub(crate) fn of(&self, instance: &ListedInstance) -> Self {
        let Own { threads, vector, min_blocks, registers } = instance.own;
        Self {
            threads: threads.unwrap_or(self.threads),
            vector: vector.unwrap_or(self.vector),
            min_blocks: min_blocks.or(self.min_blocks),
            registers: registers.or(self.registers),
            instances: Vec::new(),
            ..self.clone()
        }
    }

    /// The targets that an instance is for.
    pub(crate) fn targets_of(&self, instance: &ListedInstance) -> Targets {
        instance.targets.unwrap_or(self.targets)
    }

    /// The settings that the builder finds in the PTX and turns into directives of the entry.
    pub(crate) fn settings(&self) -> String {
        let mut line = format!(" maxntid={}", self.threads);
        if let Some(threads) = self.producer {
            // Producer threads count on targets with TMA, which the builder knows.
            line += &format!(" producer={threads}");
        }
        if self.consumers > 1 {
            line += &format!(" consumers={}", self.consumers);
        }
        if self.cluster != [1, 1] {
            line += &format!(" cluster={}", self.cluster[0] * self.cluster[1]);
        }
        if let Some(blocks) = self.min_blocks {
            line += &format!(" minnctapersm={blocks}");
        }
        if let Some(registers) = self.registers {
            line += &format!(" maxnreg={registers}");
        }
        line
    }

    /// The properties that a launch relies on, for the fingerprint.
    pub(crate) fn numbers(&self) -> Vec<u64> {
        let Self {
            threads,
            producer,
            consumers,
            cluster: [cluster_rows, cluster_columns],
            vector,
            grid,
            min_blocks: _,
            registers: _,
            dependent,
            // They are those of an instance.
            targets: _,
            // A GPU's code is the same.
            cpu: _,
            instances: _,
        } = self;
        let dependent = match dependent {
            None => 0,
            Some(Dependent::AtEntry) => 1,
            Some(Dependent::Early) => 2,
        };
        let producer = producer.unwrap_or(0);
        [*threads, producer, *consumers, *cluster_rows, *cluster_columns, *vector, *grid, dependent]
            .map(u64::from)
            .to_vec()
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
        let settings = parse("producer = 128, consumers = 3, targets = warpgroups").unwrap().settings();
        assert_eq!(settings, " maxntid=128 producer=128 consumers=3");
    }

    #[test]
    fn what_a_launch_relies_on_is_in_the_numbers() {
        let numbers = |text| parse(text).unwrap().numbers();
        let all = [
            "",
            "threads = 64",
            "producer = 32",
            "producer = 128",
            "producer = 128, consumers = 2, targets = warpgroups",
            "producer = 128, consumers = 3, targets = warpgroups",
            "producer = 128, cluster = [2, 1], targets = warpgroups",
            "producer = 128, cluster = [1, 2], targets = warpgroups",
            "vector = 8",
            "grid = 2",
            "dependent",
        ];
        for (k, text) in all.iter().enumerate() {
            assert_eq!(all.iter().position(|other| numbers(other) == numbers(text)), Some(k), "{text}");
        }
        assert_eq!(numbers("registers = 64, min_blocks = 2"), numbers(""));
    }

    #[test]
    fn instances_have_targets_of_their_own_or_those_of_the_kernel() {
        let targets = |text| {
            let attribute = parse(text).unwrap();
            attribute.instances.iter().map(|instance| attribute.targets_of(instance)).collect::<Vec<_>>()
        };
        let [all, with, without] = [Targets::All, Targets::Warpgroups, Targets::NoWarpgroups];
        assert_eq!(targets("instances(<128>, <256> if warpgroups)"), [all, with]);
        assert_eq!(targets("instances(<f32, 16> if !warpgroups, <f16, 8>,)"), [without, all]);
        assert_eq!(targets("targets = !warpgroups, instances(<1>, <2>)"), [without; 2]);
        assert_eq!(targets("instances(<1>), targets = warpgroups"), [with]);
    }

    #[test]
    fn instances_have_settings_of_their_own_or_those_of_the_kernel() {
        let text = "threads = 64, min_blocks = 2, instances(<1>, <2> with(threads = 512, vector = 8) if warpgroups, <3> with(registers = 40))";
        let attribute = parse(text).unwrap();
        let settings: Vec<_> =
            attribute.instances.iter().map(|instance| attribute.of(instance).settings()).collect();
        let expected = [
            " maxntid=64 minnctapersm=2",
            " maxntid=512 minnctapersm=2",
            " maxntid=64 minnctapersm=2 maxnreg=40",
        ];
        assert_eq!(settings, expected);
        let vectors = attribute.instances.iter().map(|instance| attribute.of(instance).vector);
        assert_eq!(vectors.collect::<Vec<_>>(), [4, 8, 4]);
        assert_eq!(attribute.targets_of(&attribute.instances[1]), Targets::Warpgroups);
    }

    #[test]
    fn settings_that_an_instance_cannot_have_are_refused() {
        let message = |text| parse(text).err().unwrap().to_string();
        assert!(message("instances(<1> with(grid = 2))").starts_with("an instance has threads, vector, "));
        assert!(message("instances(<1> with(threads = 48))").starts_with("a block has 32, 64, "));
        assert!(message("instances(<1> having(threads = 64))").starts_with("behind an instance stands"));
        let together = message("producer = 32, instances(<1> with(threads = 1024))");
        assert!(together.starts_with("a block has at most 1024 threads"), "{together}");
    }

    #[test]
    fn targets_that_nobody_knows_are_refused() {
        let message = |text| parse(text).err().unwrap().to_string();
        for text in ["targets = sm_90a", "targets = 90", "targets = !", "instances(<1> if not(warpgroups))"] {
            assert!(message(text).starts_with("the targets of a kernel are `warpgroups`, "), "{text}");
        }
        let both = message("targets = warpgroups, instances(<1>, <2> if !warpgroups)");
        assert!(both.starts_with("the `targets` of the kernel are those of each instance"), "{both}");
    }

    #[test]
    fn blocks_that_are_too_large_are_refused() {
        let message = |text| parse(text).err().unwrap().to_string();
        assert!(message("producer = 48").starts_with("`producer` is the number of producer threads"));
        assert!(
            message("consumers = 4").starts_with("`consumers` is how many blocks share a producer: 2 or 3")
        );
        for text in [
            "consumers = 2, targets = warpgroups",
            "consumers = 2, producer = 64, targets = warpgroups",
            "consumers = 2, producer = 128, threads = 256, targets = warpgroups",
            "consumers = 2, producer = 128, grid = 2, targets = warpgroups",
        ] {
            assert!(message(text).starts_with("blocks that share a producer are warpgroups"), "{text}");
        }
        assert!(message("producer = 128, consumers = 2").starts_with("blocks share a producer on GPUs with"));
        assert!(message("threads = 1024, producer = 32").starts_with("a block has at most 1024 threads"));
    }
}
