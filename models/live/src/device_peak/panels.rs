//! The lab's panels.

use mlsys_device::meter::Precision;
use mlsys_device::timing::Timings;
use mlsys_lab::frame::Dimension;
use mlsys_lab::picture::{axis, line, log_axis, point, scatter, table};
use mlsys_lab::{Frame, Run, Value};

use super::Measurement;
use crate::roof::{self, Roof, short};
use crate::stepped::known;

type Picture = fn(&Results, &[Roof]) -> Frame;

pub(super) const ALL: [(&str, Picture); 4] =
    [("roofline", roofline), ("ladder", ladder), ("table", machines), ("repetitions", repetitions)];

/// The measured roof with the printed ones, and the ridge of each.
fn roofline(results: &Results, compared: &[Roof]) -> Frame {
    let own = results.roof();
    let measured = own.iter().map(|roof| (roof, 0, "measured"));
    let all = measured.chain(compared.iter().map(|roof| (roof, 1, "printed")));
    let (points, roofs): (Vec<_>, Vec<_>) = all
        .map(|(roof, series, origin)| {
            // One name for the ridge and its roof.
            let name = format!("{}, {origin}", short(&roof.name));
            (point(roof.ridge(), roof.peak, name.clone(), series), (roof, name))
        })
        .unzip();
    let series = ["measured ridge", "printed ridge"];
    roof::roofline("attainable", &series, points, &roofs, 16.0)
}

fn ladder(results: &Results, _: &[Roof]) -> Frame {
    // In powers of two, as the sizes are.
    let across = |bytes: u64| bytes as f64 / 1024.0;
    let rungs = results.ladder().map(|(bytes, rate)| (across(bytes), rate));
    let points = results
        .ladder()
        .map(|(bytes, rate)| point(across(bytes), rate, Measurement::Rung(bytes).name(), 0));
    scatter(
        [log_axis("working set", "KiB"), log_axis("read", "bytes/s")],
        &["read again and again"],
        points.collect(),
        vec![line("bandwidth", rungs)],
    )
}

fn machines(results: &Results, compared: &[Roof]) -> Frame {
    let own = results.roof();
    let or_unknown = |value: Option<f64>| value.map_or_else(|| Value::from("unknown"), Value::from);
    let row = |roof: &Roof, name: &str, launch: Option<f64>| {
        [
            name.into(),
            roof.peak.into(),
            roof.bandwidth.into(),
            roof.ridge().into(),
            or_unknown(launch),
            or_unknown(own.as_ref().map(|own| roof.peak / own.peak)),
            or_unknown(own.as_ref().map(|own| roof.bandwidth / own.bandwidth)),
        ]
    };
    let own_row = own.iter().map(|roof| row(roof, &results.device, results.launch_seconds()));
    let others = compared.iter().map(|roof| row(roof, &roof.name, None));
    table(
        [
            "machine",
            "FLOP/s",
            "bytes/s",
            "ridge, FLOP/B",
            "launch, s",
            "FLOP/s, times",
            "bytes/s, times",
        ],
        own_row.chain(others).collect(),
    )
}

fn repetitions(results: &Results, _: &[Roof]) -> Frame {
    let (mut points, mut categories) = (Vec::new(), Vec::new());
    // The first measurement stands on top.
    for (measurement, outcome) in results.all.iter().rev() {
        let Measured::Timed(times) = outcome else { continue };
        let Some(median) = times.median() else { continue };
        let up = categories.len() as f64;
        points.push(point(times.first / median, up, measurement.name(), 1));
        points.extend(times.seconds.iter().map(|seconds| point(seconds / median, up, "", 0)));
        categories.push(measurement.name());
    }
    let top = categories.len().max(1) as f64 - 0.5;
    scatter(
        [log_axis("time over median", ""), Dimension { categories, ..axis("measurement", "") }],
        &["repetition", "warm-up"],
        points,
        vec![line("median", [(1.0, -0.5), (1.0, top)])],
    )
}

pub(super) struct Results {
    pub(super) device: String,
    pub(super) precision: Precision,
    pub(super) all: Vec<(Measurement, Measured)>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Measured {
    Timed(Timings),
    Told(f64),
}

impl Measured {
    pub(super) fn rate(&self) -> Option<f64> {
        match self {
            Self::Timed(times) => times.rate(),
            Self::Told(rate) => Some(*rate),
        }
    }
}

impl Results {
    pub(super) fn rate(&self, wanted: Measurement) -> Option<f64> {
        let found = self.all.iter().find(|(known, _)| *known == wanted);
        found.and_then(|(_, outcome)| outcome.rate())
    }

    pub(super) fn launch_seconds(&self) -> Option<f64> {
        self.rate(Measurement::Launch).map(f64::recip)
    }

    /// Read bandwidths by the size of the working set, in bytes.
    pub(super) fn ladder(&self) -> impl Iterator<Item = (u64, f64)> {
        self.all.iter().filter_map(|(known, outcome)| match known {
            Measurement::Rung(bytes) => Some((*bytes, outcome.rate()?)),
            Measurement::Arithmetic
            | Measurement::Copy
            | Measurement::Read
            | Measurement::Launch => None,
        })
    }

    pub(super) fn roof(&self) -> Option<Roof> {
        Some(Roof {
            name: "this machine".to_owned(),
            peak: self.rate(Measurement::Arithmetic)?,
            bandwidth: self.rate(Measurement::Copy)?,
        })
    }

    fn spread(&self) -> Option<f64> {
        let spreads = self.all.iter().filter_map(|(_, outcome)| match outcome {
            Measured::Timed(times) => times.spread(),
            Measured::Told(_) => None,
        });
        spreads.reduce(f64::max)
    }

    pub(super) fn report(&self, run: &mut Run<'_>) {
        let peak = self.rate(Measurement::Arithmetic);
        let printed = roof::chip_of(&self.device)
            .and_then(|chip| roof::printed(chip, self.precision))
            .map(|roof| roof.peak);
        for (name, value) in [
            ("copy_bytes_per_second", self.rate(Measurement::Copy)),
            ("read_bytes_per_second", self.rate(Measurement::Read)),
            ("peak_flops_per_second", peak),
            ("launch_seconds", self.launch_seconds()),
            ("ridge_intensity", self.roof().map(|roof| roof.ridge())),
            ("spread", self.spread()),
            ("fraction_of_datasheet", peak.zip(printed).map(|(peak, printed)| peak / printed)),
        ] {
            known(run, name, value);
        }
        for (bytes, rate) in self.ladder() {
            run.scalar(&format!("ladder.b{bytes}"), rate);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mlsys_lab::{Control, DeviceId, RunData};

    fn timed(amount: f64, seconds: [f64; 3]) -> Measured {
        Measured::Timed(Timings { amount, first: 1.0, seconds: seconds.to_vec() })
    }

    fn reported(device: &str, all: Vec<(Measurement, Measured)>) -> RunData {
        let mut data = RunData::default();
        let mut run = Run {
            params: crate::trial::params(&crate::device_peak::lab().unwrap(), &[]),
            device: DeviceId::CPU,
            sink: &mut data,
            control: Control::free(Default::default(), Default::default()),
        };
        Results { device: device.to_owned(), precision: Precision::Fp32, all }.report(&mut run);
        data
    }

    #[test]
    fn metrics_are_made_of_medians_and_the_worst_spread() {
        let all = vec![
            (Measurement::Arithmetic, Measured::Told(60e12)),
            (Measurement::Copy, timed(6e9, [3.0, 2.0, 1.0])),
            (Measurement::Launch, timed(1.0, [1e-6, 1e-6, 1.5e-6])),
            (Measurement::Rung(16_384), timed(1e9, [1.0, 1.0, 1.0])),
        ];
        let data = reported("NVIDIA H100 80GB HBM3", all);
        let number = |name: &str| data.metric(name).and_then(|value| value.as_f64());
        for (name, value) in [
            ("peak_flops_per_second", 60e12),
            ("copy_bytes_per_second", 3e9),
            ("ridge_intensity", 20e3),
            ("launch_seconds", 1e-6),
            ("ladder.b16384", 1e9),
            ("spread", 1.0),
            ("fraction_of_datasheet", 60.0 / 67.0),
        ] {
            let found = number(name).unwrap();
            assert!((found / value - 1.0).abs() < 1e-12, "{name} {found}");
        }
        assert_eq!(number("read_bytes_per_second"), None);
        let all = vec![(Measurement::Arithmetic, Measured::Told(1e11))];
        let data = reported("AMD EPYC, 2 threads", all);
        assert!(data.metric("fraction_of_datasheet").is_none());
        assert!(data.metric("ridge_intensity").is_none());
    }
}
