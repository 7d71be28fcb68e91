//! Kind `training-compute`: the FLOPs of a training run, and the days, device-hours and money they take.

mod pictures;

use mlsys_lab::schema::{Schema, SchemaError};
use mlsys_lab::value::number;
use mlsys_lab::{Lab, LabError, Params, Run};

use mlsys_lab::picture;
use mlsys_lab::steps::finite;

const SECONDS_PER_HOUR: f64 = 3600.0;
const SECONDS_PER_DAY: f64 = 86_400.0;

/// The lab `training-compute`.
pub struct TrainingCompute {
    schema: Schema,
}

impl TrainingCompute {
    /// The lab with its schema read.
    ///
    /// # Errors
    /// The schema does not read.
    pub fn new() -> Result<Self, SchemaError> {
        let schema = Schema::parse(include_str!("../../labs/training-compute.toml"))?;
        Ok(Self { schema })
    }
}

impl Lab for TrainingCompute {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn run(&self, run: &mut Run<'_>) -> Result<(), LabError> {
        let work = Work::read(&run.params)?;
        let pace = Pace::read(&run.params, &work)?;
        let large = || "parameters, tokens and their FLOPs are too large for a product".to_owned();
        finite(run, "flops", work.flops, large)?;
        finite(run, "flops_per_token", work.per_token(), large)?;
        finite(run, "petaflop_days", work.petaflop_days(), large)?;
        let machine = || {
            format!(
                "{} FLOPs on {} devices of {} flop/s each, {} of them used",
                number(work.flops),
                number(pace.devices),
                number(pace.peak),
                number(pace.rate)
            )
        };
        finite(run, "achieved_flops_per_second", pace.rate, machine)?;
        finite(run, "utilization", pace.utilization(), machine)?;
        finite(run, "device_hours", pace.device_hours, machine)?;
        finite(run, "days", pace.days(), machine)?;
        finite(run, "years", pace.days() / 365.25, machine)?;
        let price = run.params.optional_float("usd_per_device_hour");
        if let Some(price) = price {
            finite(run, "usd", pace.device_hours * price, machine)?;
        }
        let within = run.params.optional_float("within_days");
        if let Some(days) = within {
            let done = pace.flops_within(days);
            finite(run, "flops_within_days", done, machine)?;
            finite(run, "fraction_within_days", done / work.flops, machine)?;
        }
        picture::offer(run, "published-runs", || work.among_published());
        picture::offer(run, "days", || pace.at_shares(&work, within));
        picture::offer(run, "devices", || pace.on_more());
        picture::offer(run, "steps", || pace.steps(&work, price, within));
        Ok(())
    }
}

/// What there is to compute.
struct Work {
    parameters: f64,
    tokens: f64,
    per_parameter_token: f64,
    flops: f64,
    origin: Origin,
}

/// Where the FLOPs come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    /// They are given, whatever parameters and tokens are.
    Given,
    /// They are counted from parameters and tokens.
    Counted,
}

impl Work {
    fn read(params: &Params) -> Result<Self, LabError> {
        let parameters = params.float("parameters")?;
        let tokens = params.float("tokens")?;
        let per_parameter_token = params.float("flops_per_parameter_token")?;
        let (flops, origin) = match params.optional_float("flops") {
            Some(flops) => (flops, Origin::Given),
            // flops = flops_per_parameter_token*N*D
            None => (per_parameter_token * parameters * tokens, Origin::Counted),
        };
        Ok(Self { parameters, tokens, per_parameter_token, flops, origin })
    }

    /// flops_per_token = flops_per_parameter_token*N
    fn per_token(&self) -> f64 {
        self.per_parameter_token * self.parameters
    }

    fn petaflop_days(&self) -> f64 {
        self.flops / (1e15 * SECONDS_PER_DAY)
    }
}

/// How fast devices do it.
struct Pace {
    devices: f64,
    /// Dense peak of one device, in flop/s.
    peak: f64,
    /// What one device does, in flop/s.
    rate: f64,
    device_hours: f64,
    measure: Measure,
}

/// What the rate was found from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Measure {
    /// Device-hours that somebody counted.
    DeviceHours,
    /// A rate that somebody measured.
    Rate,
    /// A share of peak.
    Utilization,
}

impl Pace {
    fn read(params: &Params, work: &Work) -> Result<Self, LabError> {
        let peak = params.float("peak_flops_per_second")?;
        let hours = params.optional_float("device_hours");
        let achieved = params.optional_float("achieved_flops_per_second");
        let (rate, measure) = match (hours, achieved) {
            (Some(hours), _) => (work.flops / (hours * SECONDS_PER_HOUR), Measure::DeviceHours),
            (None, Some(rate)) => (rate, Measure::Rate),
            (None, None) => (params.float("utilization")? * peak, Measure::Utilization),
        };
        Ok(Self {
            devices: params.float("devices")?,
            peak,
            rate,
            // device_hours = flops/(rate*3600)
            device_hours: hours.unwrap_or(work.flops / (rate * SECONDS_PER_HOUR)),
            measure,
        })
    }

    fn utilization(&self) -> f64 {
        self.rate / self.peak
    }

    /// days = device_hours/devices/24
    fn days(&self) -> f64 {
        self.device_hours / self.devices / 24.0
    }

    /// flops_within_days = devices*rate*within_days*86400
    fn flops_within(&self, days: f64) -> f64 {
        self.devices * self.rate * days * SECONDS_PER_DAY
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counted_hours_and_a_measured_rate_say_the_same() {
        for flops in [3.8e25, 3.14e23, 1.0] {
            let pace = |rate: f64| Pace {
                devices: 16_384.0,
                peak: 989.4e12,
                rate,
                device_hours: flops / (rate * SECONDS_PER_HOUR),
                measure: Measure::Rate,
            };
            let pace = pace(400e12);
            let done = pace.flops_within(pace.days());
            assert!((done / flops - 1.0).abs() < 1e-12, "{flops}: {done}");
        }
    }
}
