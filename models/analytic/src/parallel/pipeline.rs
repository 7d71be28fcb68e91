//! Kind `pipeline`: schedules of a pipeline of layers, played through operation by operation.

mod pictures;

use mlsys_lab::{LabError, Params, Run, Value};

use crate::closed_form::Values;
use mlsys_lab::picture;

use mlsys_sim::pipeline::{Plan, Played, Schedule, Times, play};

pub(crate) fn run(run: &mut Run<'_>) -> Result<Values, LabError> {
    let mut values = Values::default();
    let setup = Setup::read(&run.params)?;
    let outcome = setup.outcome()?;
    let stages = 0..setup.stages;
    let large = || "the times are too large for their sum".to_owned();
    values.finite("makespan", outcome.makespan, large)?;
    values.finite("ideal_time", outcome.ideal, large)?;
    values.finite("bubble_time", outcome.bubble(), large)?;
    let nothing = || {
        "forward_time, backward_input_time and backward_weight_time are all 0, so nothing takes any time".to_owned()
    };
    values.finite("bubble_fraction", outcome.fraction(), nothing)?;
    values.finite("bubble_over_ideal", outcome.over_ideal(), nothing)?;
    let idle = stages.clone().map(|stage| outcome.played.idle(stage));
    values.set("stage_idle", array(idle));
    let peaks = stages.map(|stage| outcome.peak(stage));
    values.set("peak_activations", array(peaks));
    picture::offer(run, "timeline", || pictures::timeline(&setup, &outcome));
    picture::offer(run, "activations", || pictures::kept(&setup, &outcome));
    picture::offer(run, "schedules", || pictures::schedules(&setup));
    picture::offer(run, "microbatches", || pictures::microbatches(&setup));
    picture::offer(run, "steps", || pictures::steps(&setup, &outcome));
    Ok(values)
}

fn array(values: impl Iterator<Item = f64>) -> Value {
    Value::Array(values.map(Value::Float).collect())
}

/// What is played through.
#[derive(Clone, Copy, Debug)]
struct Setup {
    schedule: Schedule,
    stages: usize,
    microbatches: usize,
    /// 1 unless the schedule interleaves.
    chunks: usize,
    times: Times,
}

impl Setup {
    fn read(params: &Params) -> Result<Self, LabError> {
        let count = |name: &str| Ok::<_, LabError>(usize::try_from(params.int(name)?).unwrap_or(0));
        // The schema knows no name but these.
        let schedule = Schedule::named(params.text("schedule")?).unwrap_or(Schedule::GPipe);
        Ok(Self {
            schedule,
            stages: count("stages")?,
            microbatches: count("microbatches")?,
            chunks: if schedule == Schedule::Interleaved { count("chunks_per_stage")? } else { 1 },
            times: Times {
                forward: params.float("forward_time")?,
                backward_input: params.float("backward_input_time")?,
                backward_weight: params.float("backward_weight_time")?,
            },
        })
    }

    fn outcome(&self) -> Result<Outcome, LabError> {
        let plan = Plan::new(self.schedule, self.stages, self.microbatches, self.chunks)?;
        // A deadlock between orders would be a bug here, not a wrong parameter.
        let played = play(&plan, self.times, None).unwrap_or_default();
        Ok(Outcome {
            makespan: played.makespan(),
            ideal: self.microbatches as f64 * self.times.microbatch(),
            plan,
            played,
        })
    }
}

/// What came of it.
struct Outcome {
    plan: Plan,
    played: Played,
    makespan: f64,
    /// m*(F + B + W)
    ideal: f64,
}

impl Outcome {
    fn bubble(&self) -> f64 {
        self.makespan - self.ideal
    }

    fn fraction(&self) -> f64 {
        self.bubble() / self.makespan
    }

    fn over_ideal(&self) -> f64 {
        self.bubble() / self.ideal
    }

    /// In whole-stage units.
    fn peak(&self, stage: usize) -> f64 {
        self.plan.peak_chunks(stage) as f64 / self.plan.chunks() as f64
    }
}
