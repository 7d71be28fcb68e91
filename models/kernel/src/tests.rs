//! Kernels with outputs and counts by hand, the semantics of C, every fault, and every complaint.

mod classics;
mod debugger;
mod diagnostics;
mod files;
mod foreign;
mod parallel;
mod semantics;
mod wgsl;

use crate::examples::EXAMPLES;
use crate::*;
use mlsys_lab::random::SplitMix64;

/// A launch of a text on buffers, run to its end.
pub(super) fn ran(text: &str, launch: Launch, arguments: &[Argument]) -> Machine {
    let mut machine = started(text, launch, arguments);
    assert_eq!(machine.run(10_000_000), Progress::Finished, "{text}");
    machine
}

pub(super) fn started(text: &str, launch: Launch, arguments: &[Argument]) -> Machine {
    let kernel = Kernel::parse("test.cu", text).unwrap_or_else(|refused| panic!("{refused}"));
    kernel.launch(launch, arguments).unwrap_or_else(|error| panic!("{error}"))
}

pub(super) fn all(machine: &Machine, buffer: &str) -> Vec<f64> {
    machine.elements(buffer, 0..usize::MAX).collect()
}

pub(super) fn poison(count: usize) -> Argument {
    Argument::Buffer(Values::Poison(count))
}

/// The rows of a table: columns between ` => `, in which `\n` ends a line, and comments behind `#`.
pub(super) fn table<const N: usize>(text: &'static str) -> impl Iterator<Item = [&'static str; N]> {
    text.lines().filter(|line| !line.starts_with("# ")).map(|line| {
        let mut columns = line.splitn(N, " => ");
        std::array::from_fn(|_| columns.next().unwrap_or(""))
    })
}

// Mutated kernels (parts changed, deleted, doubled) never panic.

/// Pieces that mean something, to be put where they mean something else.
/// The spaces keep words apart from what follows.
const PIECES: &str = "(|)|[|]|{|}|;|,|*|&|++|--|<<|>>|=|==|!|~|?|:|-|/|%|0|1|2147483647|0xffffffffu|1e38f|0.5|int |\
                      unsigned |float |double |long long |bool |const |__shared__ |__syncthreads();|for (;;) |return ";

fn piece(random: &mut SplitMix64) -> String {
    let count = PIECES.split('|').count();
    PIECES.split('|').nth(random.below(count)).expect("a piece").to_owned()
}

fn changed(text: &str, random: &mut SplitMix64) -> String {
    let mut words: Vec<String> = Vec::new();
    for c in text.chars() {
        let part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        match words.last_mut() {
            Some(word) if part(c) && word.ends_with(part) => word.push(c),
            Some(_) | None => words.push(c.to_string()),
        }
    }
    for _ in 0..1 + random.below(2) {
        let at = random.below(words.len());
        match random.below(5) {
            0 => {
                words.remove(at);
            }
            1 => words.insert(at, piece(random)),
            2 => words[at] = piece(random),
            3 => {
                let other = random.below(words.len());
                words.swap(at, other);
            }
            _ => {
                let other = words[random.below(words.len())].clone();
                words[at] = other;
            }
        }
    }
    words.concat()
}

/// Reads, translates and runs a text as far as each goes.
fn try_out(text: &str) -> bool {
    let Ok(kernel) = Kernel::parse("k.cu", text) else { return false };
    // Both an answer and a refusal are fine.
    let _ = kernel.wgsl(Target {
        block_dim: [8, 2, 1],
        dynamic_shared: 64,
        subgroups: Subgroups::Of32,
    });
    let mut launch = Launch::line(2, 48);
    launch.dynamic_shared = 64;
    let arguments: Vec<Argument> = kernel
        .params()
        .map(|(_, ty)| match ty {
            Type::Pointer { .. } => Argument::Buffer(Values::Poison(40)),
            Type::Void | Type::Scalar(_) | Type::Array { .. } => Argument::Whole(37),
        })
        .collect();
    if let Ok(mut machine) = kernel.launch(launch, &arguments) {
        machine.run(2_000);
    }
    true
}

/// Helpers that each call the one before eight times.
pub(super) fn nested_helpers(depth: usize) -> String {
    let helper = |i: usize| {
        let calls = vec![format!("f{}(x)", i - 1); 8].join("+");
        format!("__device__ int f{i}(int x) {{ return {calls}; }}\n")
    };
    let helpers: String = (1..=depth).map(helper).collect();
    format!(
        "__device__ int f0(int x) {{ return x; }}\n{helpers}__global__ void k(int *o) {{ o[0] = f{depth}(1); }}\n"
    )
}

#[test]
fn mutated_kernels_never_panic() {
    let mut random = SplitMix64(20);
    let mut taken = 0;
    let mut texts: Vec<&str> = EXAMPLES.iter().map(|example| example.source).collect();
    let nested = nested_helpers(3);
    texts.extend([include_str!("tests/everything.cu"), &nested]);
    for round in 0..150 {
        for text in &texts {
            let mut broken = changed(text, &mut random);
            for _ in 0..round % 3 {
                broken = changed(&broken, &mut random);
            }
            taken += usize::from(try_out(&broken));
        }
    }
    // Enough of them are still kernels that what comes after reading is tried too.
    assert!(taken > 100, "{taken}");
}

#[test]
fn bytes_of_any_kind_are_refused_or_read() {
    let mut random = SplitMix64(7);
    for _ in 0..2_000 {
        let length = random.below(60);
        let text: String = (0..length)
            .map(|_| match random.below(3) {
                0 => piece(&mut random),
                1 => char::from(random.below(128) as u8).to_string(),
                _ => char::from_u32(random.below(0x11_0000) as u32).unwrap_or('x').to_string(),
            })
            .collect();
        try_out(&text);
        try_out(&format!("__global__ void k(float *a) {{ {text} }}"));
    }
}
