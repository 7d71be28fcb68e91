//! The lab's panels.

use mlsys_device::meter::Precision;
use mlsys_device::timing::Timings;
use mlsys_lab::frame::{Dimension, Scatter, ScatterLine, ScatterPoint, Table};
use mlsys_lab::schema::Scale;
use mlsys_lab::{Frame, Run, Value};

use super::Measurement;
use crate::roof::{self, Roof, logarithmic, short};

type Picture = fn(&Results, &[Roof]) -> Frame;

/// Every panel.
pub(super) const ALL: [(&str, Picture); 4] =
    [("roofline", roofline), ("ladder", ladder), ("table", table), ("repetitions", repetitions)];

/// The measured roof with the printed ones, and the ridge of each.
fn roofline(results: &Results, compared: &[Roof]) -> Frame {
    let own = results.roof();
    let all: Vec<&Roof> = own.iter().chain(compared).collect();
    let ridges = || all.iter().map(|roof| roof.ridge());
    let low = ridges().fold(f64::INFINITY, f64::min) / 16.0;
    let high = ridges().fold(0.0, f64::max) * 16.0;
    let measured = |place: usize| own.is_some() && place == 0;
    let points = all.iter().enumerate().map(|(place, roof)| ScatterPoint {
        x: Some(roof.ridge()),
        y: Some(roof.peak),
        label: short(&roof.name),
        series: usize::from(!measured(place)),
    });
    let lines = all.iter().enumerate().map(|(place, roof)| {
        let way = if measured(place) { "measured" } else { "printed" };
        roof::line(roof, low, high, format!("{}, {way}", short(&roof.name)))
    });
    Frame::Scatter(Scatter {
        x: logarithmic("intensity", "flops/byte"),
        y: logarithmic("attainable", "flop/s"),
        series: vec!["measured ridge".to_owned(), "printed ridge".to_owned()],
        points: points.collect(),
        lines: lines.collect(),
    })
}

/// Bandwidth against the size of the working set.
fn ladder(results: &Results, _: &[Roof]) -> Frame {
    let rungs: Vec<(f64, f64)> =
        results.ladder().map(|(bytes, rate)| (bytes as f64, rate)).collect();
    let names = results.all.iter().filter_map(|(measurement, outcome)| {
        outcome.rate()?;
        Some(measurement.name())
    });
    let names: Vec<String> = names.collect();
    let first = names.len() - rungs.len();
    let points = rungs.iter().zip(&names[first..]);
    Frame::Scatter(Scatter {
        x: logarithmic("working set", "bytes"),
        y: logarithmic("read", "bytes/s"),
        series: vec!["read again and again".to_owned()],
        points: points
            .map(|(&(x, y), name)| ScatterPoint {
                x: Some(x),
                y: Some(y),
                label: name.clone(),
                series: 0,
            })
            .collect(),
        lines: vec![ScatterLine { name: "bandwidth".to_owned(), points: rungs }],
    })
}

/// Peak, bandwidth, ridge and cost of a start of every machine.
fn table(results: &Results, compared: &[Roof]) -> Frame {
    let own = results.roof();
    let unknown = || Value::from("unknown");
    let times = |value: f64, of: Option<f64>| match of {
        Some(own) => Value::from(value / own),
        None => unknown(),
    };
    let row = |roof: &Roof, name: &str, launch: Value| {
        vec![
            Value::from(name),
            roof.peak.into(),
            roof.bandwidth.into(),
            roof.ridge().into(),
            launch,
            times(roof.peak, own.as_ref().map(|own| own.peak)),
            times(roof.bandwidth, own.as_ref().map(|own| own.bandwidth)),
        ]
    };
    let launch = results.launch_seconds().map_or_else(unknown, Value::from);
    let own_row = own.iter().map(|roof| row(roof, &results.device, launch.clone()));
    let others = compared.iter().map(|roof| row(roof, &roof.name, unknown()));
    Frame::Table(Table {
        columns: [
            "machine",
            "flop/s",
            "bytes/s",
            "ridge",
            "launch, s",
            "flop/s, times",
            "bytes/s, times",
        ]
        .map(str::to_owned)
        .to_vec(),
        rows: own_row.chain(others).collect(),
        ..Table::default()
    })
}

/// Every timing as a dot, in medians of its measurement.
fn repetitions(results: &Results, _: &[Roof]) -> Frame {
    let mut points = Vec::new();
    for (place, (measurement, outcome)) in results.all.iter().enumerate() {
        let Measured::Timed(times) = outcome else {
            continue;
        };
        let Some(median) = times.median() else {
            continue;
        };
        let mut dot = |seconds: f64, label: String, series: usize| {
            points.push(ScatterPoint {
                x: Some(place as f64 + 1.0),
                y: Some(seconds / median),
                label,
                series,
            });
        };
        dot(times.first, measurement.name(), 1);
        for seconds in &times.seconds {
            dot(*seconds, String::new(), 0);
        }
    }
    let last = results.all.len().max(1) as f64;
    Frame::Scatter(Scatter {
        x: Dimension {
            name: "measurement".to_owned(),
            scale: Scale::Linear,
            ..Dimension::default()
        },
        y: logarithmic("time over median", ""),
        series: vec!["repetition".to_owned(), "warm-up".to_owned()],
        points,
        lines: vec![ScatterLine {
            name: "median".to_owned(),
            points: vec![(1.0, 1.0), (last, 1.0)],
        }],
    })
}

// Results, and the metrics computed from them.

/// What was measured so far.
pub(super) struct Results {
    /// The device's name.
    pub(super) device: String,
    pub(super) precision: Precision,
    /// Each measurement, finished or under way.
    pub(super) all: Vec<(Measurement, Measured)>,
}

/// What a measurement gave.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Measured {
    /// Timings of our own.
    Timed(Timings),
    /// A rate that burn's probe told.
    Told(f64),
}

impl Measured {
    /// Bytes, operations or starts in a second.
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

    /// Seconds that the smallest operation takes.
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

    /// The measured roof, once both of its ceilings are known.
    pub(super) fn roof(&self) -> Option<Roof> {
        Some(Roof {
            name: "this machine".to_owned(),
            peak: self.rate(Measurement::Arithmetic)?,
            bandwidth: self.rate(Measurement::Copy)?,
        })
    }

    /// The worst spread of all measurements.
    fn spread(&self) -> Option<f64> {
        let spreads = self.all.iter().filter_map(|(_, outcome)| match outcome {
            Measured::Timed(times) => times.spread(),
            Measured::Told(_) => None,
        });
        spreads.reduce(f64::max)
    }

    /// Reports every metric that is known.
    pub(super) fn report(&self, run: &mut Run<'_>) {
        let mut tell = |name: &str, value: Option<f64>| {
            if let Some(value) = value {
                run.scalar(name, value);
            }
        };
        let peak = self.rate(Measurement::Arithmetic);
        tell("copy_bytes_per_second", self.rate(Measurement::Copy));
        tell("read_bytes_per_second", self.rate(Measurement::Read));
        tell("peak_flops_per_second", peak);
        tell("launch_seconds", self.launch_seconds());
        tell("ridge_intensity", self.roof().map(|roof| roof.ridge()));
        for (bytes, rate) in self.ladder() {
            tell(&format!("ladder.b{bytes}"), Some(rate));
        }
        tell("spread", self.spread());
        let printed = roof::chip_of(&self.device)
            .and_then(|chip| roof::printed(chip, self.precision))
            .map(|roof| roof.peak);
        let fraction = peak.zip(printed).map(|(peak, printed)| peak / printed);
        tell("fraction_of_datasheet", fraction);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mlsys_lab::{Control, DeviceId, Params, RunData};

    fn timed(amount: f64, seconds: [f64; 3]) -> Measured {
        Measured::Timed(Timings { amount, first: 1.0, seconds: seconds.to_vec() })
    }

    fn reported(device: &str, all: Vec<(Measurement, Measured)>) -> RunData {
        let mut data = RunData::default();
        let schema = crate::device_peak::lab().unwrap();
        let schema = mlsys_lab::Lab::schema(&schema);
        let mut run = Run {
            params: Params::resolve(
                schema,
                &Default::default(),
                mlsys_lab::Tables::builtin(),
                None,
            )
            .unwrap(),
            device: DeviceId::CPU,
            sink: &mut data,
            control: Control::free(Default::default(), Default::default()),
        };
        let results = Results { device: device.to_owned(), precision: Precision::Fp32, all };
        results.report(&mut run);
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
    }

    #[test]
    fn a_device_that_no_table_knows_has_no_datasheet() {
        let all = vec![(Measurement::Arithmetic, Measured::Told(1e11))];
        let data = reported("AMD EPYC, 2 threads", all);
        assert!(data.metric("fraction_of_datasheet").is_none());
        assert!(data.metric("ridge_intensity").is_none());
    }
}
