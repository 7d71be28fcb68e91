//! Kind `doubling-time`: growth over a period as the time it takes to double.

use mlsys_lab::frame::{Dimension, Scatter, ScatterLine, ScatterPoint};
use mlsys_lab::schema::{Scale, Schema, SchemaError};
use mlsys_lab::value::number;
use mlsys_lab::{Frame, Lab, LabError, Run, Value};

use mlsys_lab::picture;
use mlsys_lab::steps::{Steps, finite};

/// What has been published to grow so many times over in so many months, and by whom.
const TRENDS: [(&str, f64, f64, &str); 7] = [
    ("training compute", 750.0, 24.0, "Gholami et al. 2024"),
    ("model size", 410.0, 24.0, "Gholami et al. 2024"),
    ("accelerator FLOP/s", 3.0, 24.0, "Gholami et al. 2024"),
    ("accelerator memory", 2.0, 24.0, "Gholami et al. 2024"),
    ("DRAM bandwidth", 1.6, 24.0, "Gholami et al. 2024"),
    ("interconnect bandwidth", 1.4, 24.0, "Gholami et al. 2024"),
    ("training compute, 2012 to 2018", 2.0, 3.4, "OpenAI 2018"),
];

/// Years that the picture of lines spans.
const YEARS: f64 = 10.0;

/// The highest factor in it: beyond it nothing else could be told apart.
const HIGHEST: f64 = 1e4;

/// The lab `doubling-time`.
pub struct DoublingTime {
    schema: Schema,
}

impl DoublingTime {
    /// The lab with its schema read.
    ///
    /// # Errors
    /// The schema does not read.
    pub fn new() -> Result<Self, SchemaError> {
        let schema = Schema::parse(include_str!("../../labs/doubling-time.toml"))?;
        Ok(Self { schema })
    }
}

impl Lab for DoublingTime {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn run(&self, run: &mut Run<'_>) -> Result<(), LabError> {
        let trend =
            Trend { factor: run.params.float("factor")?, months: run.params.float("months")? };
        if trend.factor == 1.0 {
            return Err(LabError::contradiction(
                ["factor"],
                "a factor of 1 never doubles; choose one above 1",
            ));
        }
        let told = || format!("{}-fold in {} months", number(trend.factor), number(trend.months));
        finite(run, "doubling_months", trend.doubling(), told)?;
        finite(run, "factor_per_year", trend.per_year(), told)?;
        picture::offer(run, "growth", || trend.growth());
        picture::offer(run, "diverging", || trend.diverging());
        picture::offer(run, "trends", || trend.beside());
        picture::offer(run, "steps", || trend.steps());
        Ok(())
    }
}

struct Trend {
    factor: f64,
    months: f64,
}

impl Trend {
    /// doubling_months = months*ln 2/ln factor
    fn doubling(&self) -> f64 {
        self.months * std::f64::consts::LN_2 / self.factor.ln()
    }

    /// factor_per_year = factor^(12/months)
    fn per_year(&self) -> f64 {
        self.factor.powf(12.0 / self.months)
    }

    fn growth(&self) -> Frame {
        let bar = |years: i32| {
            let factor = self.per_year().powi(years);
            let plural = if years == 1 { "" } else { "s" };
            let label = format!("{years} year{plural}");
            factor
                .is_finite()
                .then(|| picture::bar(label, factor.log2(), format!("{}-fold", number(factor))))
        };
        let years = [1, 2, 3, 5, 10].into_iter();
        picture::bars("doublings", years.filter_map(bar).collect())
    }

    /// This trend and the published ones as lines over ten years: steady growth is straight where equal steps multiply.
    fn diverging(&self) -> Frame {
        let line = |name: &str, trend: &Self| {
            let reached = |years: f64| (years, trend.per_year().powf(years));
            // A trend that leaves the picture ends at its edge.
            let years = YEARS.min(HIGHEST.ln() / trend.per_year().ln());
            ScatterLine { name: name.to_owned(), points: vec![reached(0.0), reached(years)] }
        };
        let mut lines: Vec<ScatterLine> = TRENDS
            .into_iter()
            .map(|(name, factor, months, _)| line(name, &Self { factor, months }))
            .collect();
        lines.push(line("this one", self));
        let own = line("", self).points.last().copied().unwrap_or_default();
        Frame::Scatter(Scatter {
            x: Dimension {
                name: "after".to_owned(),
                unit: "years".to_owned(),
                ..Dimension::default()
            },
            y: Dimension {
                name: "grown".to_owned(),
                unit: "times".to_owned(),
                scale: Scale::Log,
                ..Dimension::default()
            },
            series: Vec::new(),
            points: vec![ScatterPoint {
                x: Some(own.0),
                y: Some(own.1),
                label: "this one".to_owned(),
                series: 0,
            }],
            lines,
        })
    }

    /// This trend among the published ones, the fastest first.
    fn beside(&self) -> Frame {
        let published =
            TRENDS.map(|(name, factor, months, source)| (name, Self { factor, months }, source));
        let own = Self { factor: self.factor, months: self.months };
        let mut all: Vec<_> = published.into_iter().collect();
        all.push(("this one", own, ""));
        all.sort_by(|(_, a, _), (_, b, _)| a.doubling().total_cmp(&b.doubling()));
        let row = |(name, trend, source): (&str, Self, &str)| {
            [
                Value::from(name),
                format!("{} in {} months", number(trend.factor), number(trend.months)).into(),
                Value::from(trend.doubling()),
                Value::from(trend.per_year()),
                Value::from(source),
            ]
        };
        picture::table(
            ["trend", "growth", "months to double", "a year", "source"],
            all.into_iter().map(row).collect(),
        )
    }

    fn steps(&self) -> Frame {
        let mut steps = Steps::default();
        let (factor, months) = (number(self.factor), number(self.months));
        steps.add(
            "doublings in the period",
            "ln factor/ln 2",
            format!("ln {factor}/ln 2"),
            self.factor.log2(),
        );
        steps.add(
            "doubling_months",
            "months*ln 2/ln factor",
            format!("{months}*0.693147/{}", number(self.factor.ln())),
            self.doubling(),
        );
        steps.add(
            "factor_per_year",
            "factor^(12/months)",
            format!("{factor}^(12/{months})"),
            self.per_year(),
        );
        steps.table()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_the_doubling_time_it_has_doubled() {
        for (factor, months) in [(3.0, 24.0), (750.0, 24.0), (1.001, 1.0), (2.0, 7.0)] {
            let trend = Trend { factor, months };
            let doubled = trend.per_year().powf(trend.doubling() / 12.0);
            assert!((doubled - 2.0).abs() < 1e-9, "{factor} {months}: {doubled}");
        }
    }
}
