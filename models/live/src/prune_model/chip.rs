//! A chip with tensor cores, by what is printed about it.

use mlsys_lab::{LabError, Tables};

use crate::roof::{self, Roof, printed_bandwidth, printed_peak};

/// The first compute capability with sparse tensor cores.
const AMPERE: f64 = 8.0;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Chip {
    /// Its title, and the peak of its matrix units in 16 bits.
    pub(super) roof: Roof,
    pub(super) short: String,
    /// Whether it leaves out zeros where at least two of every four weights are zero.
    pub(super) skips_two_of_four: bool,
}

impl Chip {
    pub(super) fn named(name: &str) -> Result<Self, LabError> {
        let text = |path: &str| {
            let field = Tables::builtin().field("gpu", name, path)?;
            field.as_str().map(str::to_owned)
        };
        let peaks = ["fp16-tensor", "bf16-tensor"].into_iter();
        let peak = peaks.filter_map(|path| printed_peak(name, path)).min_by(f64::total_cmp);
        let Some((peak, bandwidth)) = peak.zip(printed_bandwidth(name)) else {
            let message = format!(
                "the table has no peak in 16 bits or no bandwidth of {name}; take another chip"
            );
            return Err(LabError::contradiction(["gpu"], message));
        };
        let capability = text("compute_capability").and_then(|text| text.parse::<f64>().ok());
        Ok(Self {
            short: roof::short(name).to_uppercase(),
            roof: Roof { name: text("title").unwrap_or_else(|| name.to_owned()), peak, bandwidth },
            skips_two_of_four: capability.is_some_and(|capability| capability >= AMPERE),
        })
    }
}
