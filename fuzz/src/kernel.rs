//! What must hold of any text that is given as a kernel.

use std::collections::BTreeSet;

use mlsys_kernel::types::Type;
use mlsys_kernel::{Argument, Diagnostic, Kernel, Launch, Subgroups, Target, Values};

use crate::is_printable;

/// Instructions of one launch.
const BUDGET: u64 = 400;

/// How far a text got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    Refused,
    /// It reads, and no launch of it begins.
    Read,
    Launched,
}

/// What was found out about a text: how far it got, and a number for each sentence that it was answered with, without the
/// names in it.
pub struct Outcome {
    pub stage: Stage,
    pub is_translated: bool,
    pub sentences: BTreeSet<u64>,
}

/// Reads, translates and runs a text as far as each goes: it is read or refused with places inside it, translated or refused
/// with reasons, and what reads runs within its budget.
pub fn tried(text: &str) -> Outcome {
    let kernel = match Kernel::parse("k.cu", text) {
        Ok(kernel) => kernel,
        Err(refused) => {
            assert!(!refused.diagnostics.is_empty());
            let lines = text.lines().count().max(1) as u32;
            for complaint in &refused.diagnostics {
                assert!((1..=lines + 1).contains(&complaint.place.line));
            }
            is_printable(&refused.to_string());
            let sentences = refused.diagnostics.iter().map(sentence).collect();
            return Outcome { stage: Stage::Refused, is_translated: false, sentences };
        }
    };
    let mut sentences = BTreeSet::new();
    let target = Target { block_dim: [8, 2, 1], dynamic_shared: 64, subgroups: Subgroups::Of32 };
    let translated = kernel.wgsl(target);
    let is_translated = translated.is_ok();
    match translated {
        Ok(wgsl) => assert!(!wgsl.text.contains("untranslated")),
        Err(told) => {
            assert!(!told.is_empty());
            sentences.extend(told.iter().map(sentence));
        }
    }
    let mut launch = Launch::line(2, 48);
    launch.dynamic_shared = 64;
    let arguments: Vec<Argument> = kernel
        .params()
        .map(|(_, ty)| match ty {
            Type::Pointer { .. } => Argument::Buffer(Values::Poison(40)),
            Type::Void | Type::Scalar(_) | Type::Array { .. } => Argument::Whole(37),
        })
        .collect();
    let launched = kernel.launch(launch, &arguments);
    let stage = if launched.is_ok() { Stage::Launched } else { Stage::Read };
    if let Ok(mut machine) = launched {
        machine.run(BUDGET);
    }
    Outcome { stage, is_translated, sentences }
}

/// A number for what is told, the same for all names and numbers that it is told of: of its plain words (FNV-1a).
fn sentence(told: &Diagnostic) -> u64 {
    let is_plain = |word: &&str| word.bytes().all(|byte| byte.is_ascii_lowercase());
    let plain = told.message.split(' ').filter(is_plain).flat_map(|word| word.bytes());
    plain.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
