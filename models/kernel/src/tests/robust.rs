//! Mutated kernels (parts changed, deleted, doubled) never panic.

use mlsys_lab::random::SplitMix64;

use super::super::examples::EXAMPLES;
use super::*;

/// Pieces that mean something, to be put where they mean something else.
const PIECES: [&str; 40] = [
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ";",
    ",",
    "*",
    "&",
    "++",
    "--",
    "<<",
    ">>",
    "=",
    "==",
    "!",
    "~",
    "?",
    ":",
    "-",
    "/",
    "%",
    "0",
    "1",
    "2147483647",
    "0xffffffffu",
    "1e38f",
    "0.5",
    "int ",
    "unsigned ",
    "float ",
    "double ",
    "long long ",
    "bool ",
    "const ",
    "__shared__ ",
    "__syncthreads();",
    "for (;;) ",
    "return ",
];

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
            1 => words.insert(at, PIECES[random.below(PIECES.len())].to_owned()),
            2 => words[at] = PIECES[random.below(PIECES.len())].to_owned(),
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
    let Ok(kernel) = Kernel::parse("k.cu", text) else {
        return false;
    };
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

#[test]
fn mutated_kernels_never_panic() {
    let mut random = SplitMix64(20);
    let mut taken = 0;
    let mut texts: Vec<&str> = EXAMPLES.iter().map(|example| example.source).collect();
    texts.push(include_str!("everything.cu"));
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
                0 => PIECES[random.below(PIECES.len())].to_owned(),
                1 => char::from(random.below(128) as u8).to_string(),
                _ => char::from_u32(random.below(0x11_0000) as u32).unwrap_or('x').to_string(),
            })
            .collect();
        try_out(&text);
        try_out(&format!("__global__ void k(float *a) {{ {text} }}"));
    }
}
