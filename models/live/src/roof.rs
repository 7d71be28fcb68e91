//! Roofs: what was measured here, and what is printed about chips of the table.

mod ceilings;

use mlsys_lab::frame::{Better, Dimension, ScatterLine};
use mlsys_lab::nearest::nearest;
use mlsys_lab::schema::Scale;
use mlsys_lab::{LabError, Params, Tables, Value};

use mlsys_device::meter::Precision;

pub(crate) use ceilings::Ceilings;

/// Two ceilings: arithmetic and memory (Williams, Waterman and Patterson 2009).
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Roof {
    /// The device's name.
    pub(crate) name: String,
    /// flop/s.
    pub(crate) peak: f64,
    /// bytes/s.
    pub(crate) bandwidth: f64,
}

impl Roof {
    /// The chips that parameter `compare` names, by what is printed about them; those without a printed peak in this
    /// precision are left out.
    ///
    /// # Errors
    /// A name that the table does not have.
    pub(crate) fn compared(params: &Params, precision: Precision) -> Result<Vec<Self>, LabError> {
        let Some(Value::Array(names)) = params.get("compare") else {
            return Ok(Vec::new());
        };
        let known = Tables::builtin().names("gpu");
        let mut roofs = Vec::new();
        for name in names {
            let name = name.as_str().unwrap_or_default();
            if !known.contains(&name) {
                let hint = nearest(name, known.iter().copied())
                    .map_or_else(String::new, |near| format!("; did you mean '{near}'?"));
                let message = format!("'{}' is no chip of the table{hint}", name.escape_debug());
                return Err(LabError::contradiction(["compare"], message));
            }
            roofs.extend(Self::printed(name, precision));
        }
        Ok(roofs)
    }

    /// The roof of a chip of the table, by its printed peak and bandwidth.
    pub(crate) fn printed(chip: &str, precision: Precision) -> Option<Self> {
        let field = |path: &str| Tables::builtin().field("gpu", chip, path)?.as_f64();
        let path = precision.tabled_path();
        Some(Self {
            name: chip.to_owned(),
            peak: field(&format!("path.{path}.peak_flops_per_second"))?,
            bandwidth: field("bandwidth_bytes_per_second")?,
        })
    }

    /// ridge = peak/bandwidth, flops/byte
    pub(crate) fn ridge(&self) -> f64 {
        self.peak / self.bandwidth
    }

    /// attainable = min(peak, intensity*bandwidth), flop/s
    pub(crate) fn at(&self, intensity: f64) -> f64 {
        self.peak.min(intensity * self.bandwidth)
    }

    /// Seconds of an operation: as long as its arithmetic or its traffic, whichever takes longer.
    pub(crate) fn seconds(&self, flops: f64, bytes: f64) -> f64 {
        (flops / self.peak).max(bytes / self.bandwidth)
    }

    /// The roof as a line from one intensity to another.
    pub(crate) fn line(&self, from: f64, to: f64, name: String) -> ScatterLine {
        let place = |intensity: f64| (intensity, self.at(intensity));
        ScatterLine {
            name,
            points: vec![place(from), place(self.ridge().clamp(from, to)), place(to)],
        }
    }
}

/// The chip of the table that a driver calls by this name.
pub(crate) fn chip_of(device: &str) -> Option<&'static str> {
    let tables = Tables::builtin();
    let called = |chip: &&str| match tables.field("gpu", chip, "device_names") {
        Some(Value::Array(names)) => names.iter().any(|name| name.as_str() == Some(device)),
        Some(
            Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Text(_) | Value::Table(_),
        )
        | None => false,
    };
    tables.names("gpu").into_iter().find(called)
}

/// A chip's name without its mounting and memory, as in `h100`.
pub(crate) fn short(name: &str) -> String {
    name.split_once('-').map_or(name, |(first, _)| first).to_owned()
}

/// A logarithmic axis.
pub(crate) fn logarithmic(name: &str, unit: &str) -> Dimension {
    Dimension {
        name: name.to_owned(),
        unit: unit.to_owned(),
        scale: Scale::Log,
        better: Better::Neither,
        ..Dimension::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_roof_is_the_lower_of_two_ceilings() {
        let roof = Roof { name: "one".to_owned(), peak: 100.0, bandwidth: 10.0 };
        assert_eq!(roof.ridge(), 10.0);
        for (intensity, rate) in [(1.0, 10.0), (10.0, 100.0), (20.0, 100.0)] {
            assert_eq!(roof.at(intensity), rate);
        }
        let line = roof.line(1.0, 40.0, "roof".to_owned());
        assert_eq!(line.points, [(1.0, 10.0), (10.0, 100.0), (40.0, 100.0)]);
    }

    #[test]
    fn chips_have_what_is_printed_about_them() {
        let v100 = Roof::printed("v100-sxm2-16gb", Precision::Fp16).unwrap();
        assert!((v100.ridge() - 138.9).abs() < 0.1);
        assert_eq!(Roof::printed("v100-sxm2-16gb", Precision::Bf16), None);
        assert_eq!(chip_of("Tesla V100-SXM2-16GB"), Some("v100-sxm2-16gb"));
        assert_eq!(chip_of("NVIDIA H100 80GB HBM3"), Some("h100-sxm5-80gb"));
        assert_eq!(chip_of("AMD EPYC, 2 threads"), None);
    }

    #[test]
    fn no_two_chips_bear_one_device_name() {
        let tables = Tables::builtin();
        for chip in tables.names("gpu") {
            if let Some(Value::Array(names)) = tables.field("gpu", chip, "device_names") {
                for name in &names {
                    assert_eq!(chip_of(name.as_str().unwrap()), Some(chip));
                }
            }
        }
    }
}
