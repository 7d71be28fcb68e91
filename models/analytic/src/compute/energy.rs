//! Kind `energy`: electricity and emissions of a training run, and the units that news stories use.

use mlsys_lab::schema::{Schema, SchemaError};
use mlsys_lab::value::number;
use mlsys_lab::{Frame, Lab, LabError, Params, Run};

use mlsys_lab::picture;
use mlsys_lab::steps::{Steps, finite};

/// The lab `energy`.
pub struct Energy {
    schema: Schema,
}

impl Energy {
    /// The lab with its schema read.
    ///
    /// # Errors
    /// The schema does not read.
    pub fn new() -> Result<Self, SchemaError> {
        let schema = Schema::parse(include_str!("../../labs/energy.toml"))?;
        Ok(Self { schema })
    }
}

impl Lab for Energy {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn run(&self, run: &mut Run<'_>) -> Result<(), LabError> {
        let training = Training::read(&run.params)?;
        let (hours, tonnes) = (training.megawatt_hours(), training.tonnes());
        let sizes = || {
            format!("{} device-hours of {} watts", number(training.hours), number(training.watts))
        };
        finite(run, "device_hours", training.hours, sizes)?;
        finite(run, "megawatt_hours", hours, sizes)?;
        finite(run, "tonnes_co2e", tonnes, sizes)?;
        if let Some(reported) = training.reported {
            let none = || {
                "no electricity was used, so that no intensity follows from emissions".to_owned()
            };
            finite(run, "implied_kg_co2e_per_kwh", reported / hours, none)?;
        }
        for (metric, param, _) in EQUIVALENTS {
            let each = run.params.float(param)?;
            let zero =
                || format!("{param} is {}; nothing can be counted in units of it", number(each));
            finite(run, metric, training.counted() / each, zero)?;
        }
        picture::offer(run, "chain", || training.chain());
        let each: Vec<(f64, &str)> = EQUIVALENTS
            .iter()
            .filter_map(|(_, param, words)| Some((run.params.optional_float(param)?, *words)))
            .collect();
        picture::offer(run, "equivalents", || training.equivalents(&each));
        Ok(())
    }
}

/// Metric, the parameter with the tonnes of one, and its name.
const EQUIVALENTS: [(&str, &str, &str); 3] = [
    ("jet_round_trips", "tonnes_per_jet_round_trip", "whole jets, coast to coast"),
    ("passenger_round_trips", "tonnes_per_passenger_round_trip", "seats in one"),
    ("car_lifetimes", "tonnes_per_car_lifetime", "cars, with their fuel"),
];

/// A run and where its electricity comes from.
struct Training {
    hours: f64,
    /// How the hours come about: formula and numbers.
    why: (&'static str, String),
    watts: f64,
    pue: f64,
    intensity: f64,
    reported: Option<f64>,
}

impl Training {
    fn read(params: &Params) -> Result<Self, LabError> {
        let (devices, days) = (params.float("devices")?, params.float("days")?);
        let (hours, why) = match params.optional_float("device_hours") {
            Some(hours) => (hours, ("given", String::new())),
            None => (
                devices * days * 24.0,
                ("devices*days*24", format!("{}*{}*24", number(devices), number(days))),
            ),
        };
        Ok(Self {
            hours,
            why,
            watts: params.float("watts")?,
            pue: params.float("pue")?,
            intensity: params.float("kg_co2e_per_kwh")?,
            reported: params.optional_float("reported_tonnes_co2e"),
        })
    }

    fn megawatt_hours(&self) -> f64 {
        self.hours * self.watts * self.pue / 1e6
    }

    /// A kilogram a kilowatt-hour is a tonne a megawatt-hour.
    fn tonnes(&self) -> f64 {
        self.megawatt_hours() * self.intensity
    }

    /// The emissions that the equivalents are counted from.
    fn counted(&self) -> f64 {
        self.reported.unwrap_or_else(|| self.tonnes())
    }

    fn chain(&self) -> Frame {
        let mut steps = Steps::default();
        steps.add("device_hours", self.why.0, self.why.1.clone(), self.hours);
        let (hours, watts, pue) = (number(self.hours), number(self.watts), number(self.pue));
        let energy = self.megawatt_hours();
        steps.add(
            "megawatt_hours",
            "device_hours*watts*pue/1e6",
            format!("{hours}*{watts}*{pue}/1e6"),
            energy,
        );
        let numbers = format!("{}*{}", number(energy), number(self.intensity));
        steps.add("tonnes_co2e", "megawatt_hours*kg_co2e_per_kwh", numbers, self.tonnes());
        if let Some(reported) = self.reported {
            let numbers = format!("{}/{}", number(reported), number(energy));
            steps.add(
                "implied_kg_co2e_per_kwh",
                "reported/megawatt_hours",
                numbers,
                reported / energy,
            );
        }
        steps.table()
    }

    fn equivalents(&self, each: &[(f64, &str)]) -> Frame {
        let bar = |(tonnes, words): &(f64, &str)| {
            let count = self.counted() / tonnes;
            let remark = format!("of {} tonnes each", number(*tonnes));
            count.is_finite().then(|| picture::bar(*words, count, remark))
        };
        picture::bars("", each.iter().filter_map(bar).collect())
    }
}
