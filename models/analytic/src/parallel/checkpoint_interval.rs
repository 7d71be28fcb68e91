//! Kind `checkpoint-interval`: how often a cluster fails, and how often to save because of it.

use mlsys_lab::frame::{Dimension, Scatter, ScatterLine, ScatterPoint};
use mlsys_lab::schema::{Scale, Schema, SchemaError};
use mlsys_lab::value::{number, significant};
use mlsys_lab::{Frame, Lab, LabError, Run, Value};

use mlsys_lab::picture::{self, offer};
use mlsys_lab::steps::{Steps, finite, percent};

/// The lab `checkpoint-interval`.
pub struct CheckpointInterval {
    schema: Schema,
}

impl CheckpointInterval {
    /// The lab with its schema read.
    ///
    /// # Errors
    /// The schema does not read.
    pub fn new() -> Result<Self, SchemaError> {
        let schema = Schema::parse(include_str!("../../labs/checkpoint-interval.toml"))?;
        Ok(Self { schema })
    }
}

impl Lab for CheckpointInterval {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn run(&self, run: &mut Run<'_>) -> Result<(), LabError> {
        let cluster = Cluster {
            rate: run.params.float("failures_per_device_day")?,
            devices: run.params.float("devices")?,
            save: run.params.float("checkpoint_seconds")?,
        };
        let told = || {
            format!(
                "{} devices with {} failures a day each",
                number(cluster.devices),
                number(cluster.rate)
            )
        };
        let between = cluster.between();
        finite(run, "mean_seconds_between_failures", between, told)?;
        finite(run, "mean_hours_between_failures", between / 3600.0, told)?;
        let best = cluster.interval();
        finite(run, "optimal_interval_seconds", best, told)?;
        finite(run, "lost_fraction", cluster.lost(best), || {
            format!("checkpoints of {} s every {} s", number(cluster.save), number(best))
        })?;
        offer(run, "overhead", || cluster.overhead());
        offer(run, "day", || cluster.day());
        offer(run, "clusters", || cluster.beside());
        offer(run, "steps", || cluster.steps());
        Ok(())
    }
}

/// Devices that must all work, and what a checkpoint costs.
#[derive(Clone, Copy)]
struct Cluster {
    /// Failures of one device in a day.
    rate: f64,
    devices: f64,
    /// Seconds that one checkpoint stops training.
    save: f64,
}

impl Cluster {
    /// M = 86400/(failures_per_device_day*devices), seconds
    fn between(&self) -> f64 {
        86_400.0 / (self.rate * self.devices)
    }

    /// T = sqrt(2*checkpoint_seconds*M), seconds: where what saving costs and what repeating costs are equal, because
    /// one falls as 1/T and the other grows as T.
    fn interval(&self) -> f64 {
        (2.0 * self.save * self.between()).sqrt()
    }

    /// Share of the time spent saving every `interval` seconds.
    fn saving(&self, interval: f64) -> f64 {
        self.save / interval
    }

    /// Share of the time spent again on what a failure undid: half an interval on average.
    fn repeating(&self, interval: f64) -> f64 {
        interval / (2.0 * self.between())
    }

    fn lost(&self, interval: f64) -> f64 {
        self.saving(interval) + self.repeating(interval)
    }

    fn overhead(&self) -> Frame {
        let best = self.interval();
        // Equal factors to both sides of the best, where the sum is a symmetric valley.
        let places: Vec<f64> =
            (-24..=24).map(|step| best * 64_f64.powf(f64::from(step) / 24.0)).collect();
        let line = |name: &str, share: &dyn Fn(f64) -> f64| ScatterLine {
            name: name.to_owned(),
            points: places.iter().map(|&t| (t, 100.0 * share(t))).collect(),
        };
        let point = |interval: f64, label: String, series: usize| ScatterPoint {
            x: Some(interval),
            y: Some(100.0 * self.lost(interval)),
            label,
            series,
        };
        let label =
            |interval: f64| format!("{}: {}", duration(interval), percent(self.lost(interval)));
        let axis = |name: &str, unit: &str| Dimension {
            name: name.to_owned(),
            unit: unit.to_owned(),
            scale: Scale::Log,
            ..Dimension::default()
        };
        Frame::Scatter(Scatter {
            x: axis("interval", "s"),
            y: axis("time lost", "%"),
            series: vec!["best".to_owned(), "elsewhere".to_owned()],
            points: vec![
                point(best, label(best), 0),
                point(best / 8.0, label(best / 8.0), 1),
                point(best * 8.0, label(best * 8.0), 1),
            ],
            lines: vec![
                line("both", &|t| self.lost(t)),
                line("saving", &|t| self.saving(t)),
                line("work done again", &|t| self.repeating(t)),
            ],
        })
    }

    fn day(&self) -> Frame {
        let best = self.interval();
        let hours = |share: f64| 24.0 * share;
        let bar = |label: &str, share: f64| picture::bar(label, hours(share), percent(share));
        let left = 1.0 - self.lost(best);
        let mut bars =
            vec![bar("saving", self.saving(best)), bar("work done again", self.repeating(best))];
        // Where more than everything is lost, the formula's ground is gone; the steps say so.
        if left >= 0.0 {
            bars.push(bar("progress", left));
        }
        picture::bars("hours a day", bars)
    }

    fn beside(&self) -> Frame {
        let mut sizes: Vec<f64> =
            [1, 8, 64, 512, 4096, 16384, 100_000, 1_000_000].map(f64::from).to_vec();
        if !sizes.contains(&self.devices) {
            sizes.push(self.devices);
            sizes.sort_by(f64::total_cmp);
        }
        let row = |devices: f64| {
            let cluster = Self { devices, ..*self };
            let best = cluster.interval();
            [
                Value::from(devices as i64),
                duration(cluster.between()).into(),
                duration(best).into(),
                percent(cluster.lost(best)).into(),
                if devices == self.devices { "this one" } else { "" }.into(),
            ]
        };
        picture::table(
            ["devices", "between failures", "save every", "time lost", ""],
            sizes.into_iter().map(row).collect(),
        )
    }

    fn steps(&self) -> Frame {
        let mut steps = Steps::default();
        let (between, best) = (self.between(), self.interval());
        let (m, t, save) = (number(between), number(best), number(self.save));
        steps.add(
            "failures a day",
            "failures_per_device_day*devices",
            format!("{}*{}", number(self.rate), number(self.devices)),
            self.rate * self.devices,
        );
        steps.add(
            "mean_seconds_between_failures M",
            "86400/(failures a day)",
            format!("86400/{}", number(self.rate * self.devices)),
            between,
        );
        let numbers = format!("{m}/3600");
        steps.add("mean_hours_between_failures", "M/3600", numbers, between / 3600.0);
        steps.add(
            "optimal_interval_seconds T",
            "sqrt(2*checkpoint_seconds*M)",
            format!("sqrt(2*{save}*{m})"),
            best,
        );
        let numbers = format!("{save}/{t}");
        steps.add("share spent saving", "checkpoint_seconds/T", numbers, self.saving(best));
        let numbers = format!("{t}/(2*{m})");
        steps.add("share done again", "T/(2*M)", numbers, self.repeating(best));
        let numbers = format!("{} + {}", number(self.saving(best)), number(self.repeating(best)));
        let lost = self.lost(best);
        steps.add("lost_fraction", "saving + done again", numbers, lost);
        let holds = if best < 0.2 * between { "yes" } else { "no: only a rough guide" };
        let numbers = format!("{t} against {m}");
        steps.add(
            "T much shorter than M",
            "what Young's formula takes for granted",
            numbers,
            holds,
        );
        steps.table()
    }
}

/// A length of time as a person says it, with three digits.
fn duration(seconds: f64) -> String {
    let (unit, length) = match seconds {
        s if s < 120.0 => ("s", 1.0),
        s if s < 7200.0 => ("min", 60.0),
        s if s < 172_800.0 => ("h", 3600.0),
        s if s < 63_115_200.0 => ("days", 86_400.0),
        _ => ("years", 31_557_600.0),
    };
    format!("{} {unit}", number(significant(seconds / length, 3)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_other_interval_loses_less() {
        for (rate, devices, save) in
            [(4.7e-4, 16384.0, 60.0), (1e-3, 1000.0, 300.0), (1.0, 1.0, 0.1)]
        {
            let cluster = Cluster { rate, devices, save };
            let best = cluster.interval();
            assert!((cluster.saving(best) - cluster.repeating(best)).abs() < 1e-12);
            for factor in [0.1, 0.5, 0.9, 0.99, 1.01, 1.1, 2.0, 10.0] {
                assert!(cluster.lost(best) < cluster.lost(best * factor), "{factor}");
            }
        }
    }

    #[test]
    fn lengths_of_time_are_told_in_units_that_fit() {
        for (seconds, told) in [
            (0.5, "0.5 s"),
            (119.0, "119 s"),
            (817.377, "13.6 min"),
            (11135.0, "3.09 h"),
            (22_805_000.0, "264 days"),
            (1.8e8, "5.7 years"),
        ] {
            assert_eq!(duration(seconds), told, "{seconds}");
        }
    }
}
