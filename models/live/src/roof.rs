//! Roofs: what was measured here, and what is printed about chips of the table.

use mlsys_lab::frame::ScatterPoint;
use mlsys_lab::nearest::nearest;
use mlsys_lab::picture::{self, log_axis, scatter};
use mlsys_lab::{Frame, LabError, Params, Tables, Value};

use std::time::Duration;

use mlsys_device::meter::{Arithmetic, ComputeUnits, Meter, Precision, Workload};
pub(crate) use mlsys_sim::roof::Roof;

/// The printed roofs of the chips that parameter `compare` names, but for those without a peak in this precision.
pub(crate) fn compared(params: &Params, precision: Precision) -> Result<Vec<Roof>, LabError> {
    let Some(Value::Array(names)) = params.get("compare") else { return Ok(Vec::new()) };
    let known = Tables::builtin().names("gpu");
    let mut roofs = Vec::new();
    for name in names {
        let Some(name) = name.as_str() else { continue };
        if !known.contains(&name) {
            let hint = nearest(name, known.iter().copied())
                .map_or_else(String::new, |near| format!("; did you mean '{near}'?"));
            let message = format!("'{}' is no chip of the table{hint}", name.escape_debug());
            return Err(LabError::contradiction(["compare"], message));
        }
        roofs.extend(printed(name, precision));
    }
    Ok(roofs)
}

/// The roof of a chip of the table, by its printed peak and bandwidth.
pub(crate) fn printed(chip: &str, precision: Precision) -> Option<Roof> {
    let peak = printed_peak(chip, precision.tabled_path())?;
    Some(Roof { name: chip.to_owned(), peak, bandwidth: printed_bandwidth(chip)? })
}

/// The printed peak of a chip's path, such as `fp16-tensor`, in flop/s.
pub(crate) fn printed_peak(chip: &str, path: &str) -> Option<f64> {
    let path = format!("path.{path}.peak_flops_per_second");
    Tables::builtin().field("gpu", chip, &path)?.as_f64()
}

/// The printed memory bandwidth of a chip, in bytes/s.
pub(crate) fn printed_bandwidth(chip: &str) -> Option<f64> {
    Tables::builtin().field("gpu", chip, "bandwidth_bytes_per_second")?.as_f64()
}

/// Points by intensity under named roofs, whose lines reach `margin` times beyond the outermost points and ridges.
pub(crate) fn roofline<S: AsRef<str>>(
    rate: &str,
    series: &[S],
    points: Vec<ScatterPoint>,
    roofs: &[(&Roof, String)],
    margin: f64,
) -> Frame {
    let ridges = roofs.iter().map(|(roof, _)| roof.ridge());
    let across = points.iter().filter_map(|point| point.x).chain(ridges);
    let (low, high) =
        across.fold((f64::INFINITY, 0.0_f64), |(low, high), x| (low.min(x), high.max(x)));
    let lines = roofs
        .iter()
        .map(|(roof, name)| picture::line(name, roof.line(low / margin, high * margin)))
        .collect();
    let axes = [log_axis("intensity", "flops/byte"), log_axis(rate, "flop/s")];
    scatter(axes, series, points, lines)
}

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

// The roof of the device at hand, measured between the repetitions, so that other load disturbs both alike.

/// How long one look at the arithmetic takes.
const SLICE: Duration = Duration::from_millis(2);

pub(crate) struct Ceilings {
    peak: f64,
    bandwidth: f64,
    /// Looks again at the arithmetic, where that is timed: work and how often it is done at once.
    again: Option<(Box<dyn Workload>, u64)>,
}

impl Ceilings {
    pub(crate) fn measure(
        meter: &Meter,
        baseline: Option<f64>,
        interrupted: impl Fn() -> bool,
    ) -> Result<Self, LabError> {
        let bandwidth = meter.bandwidth(&interrupted)?;
        let mut ceilings = Self { peak: baseline.unwrap_or(0.0), bandwidth, again: None };
        if baseline.is_none() {
            match meter.arithmetic(ComputeUnits::Products)? {
                Arithmetic::Probed(rate) => ceilings.peak = rate,
                Arithmetic::Timed(mut pass) => {
                    pass.time(1)?;
                    let once = pass.time(1)?;
                    let passes = (SLICE.as_secs_f64() / once.max(1e-9)).clamp(1.0, 1e6);
                    ceilings.again = Some((pass, passes as u64));
                    for _ in 0..8 {
                        ceilings.look_again()?;
                    }
                }
            }
        }
        Ok(ceilings)
    }

    /// Times the arithmetic once more: a ceiling is the most that was ever seen.
    pub(crate) fn look_again(&mut self) -> Result<(), LabError> {
        if let Some((pass, passes)) = &mut self.again {
            let seconds = pass.time(*passes)?.max(f64::MIN_POSITIVE);
            self.peak = self.peak.max(pass.amount() * *passes as f64 / seconds);
        }
        Ok(())
    }

    pub(crate) fn roof(&self) -> Roof {
        Roof { name: "this machine".to_owned(), peak: self.peak, bandwidth: self.bandwidth }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chips_have_what_is_printed_about_them() {
        let v100 = printed("v100-sxm2-16gb", Precision::Fp16).unwrap();
        assert!((v100.ridge() - 138.9).abs() < 0.1);
        assert_eq!(printed("v100-sxm2-16gb", Precision::Bf16), None);
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
