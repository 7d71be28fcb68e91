//! A run from opening the device to the last report.

mod compare;
mod report;

use std::sync::Arc;
use std::time::Instant;

use mlsys_lab::report::{Moment, Report};
use mlsys_lab::{LabError, Params, Run};

use super::clock;
use super::cut::Layout;
use super::link::Done;
use super::pictures;
use super::setup::{Compare, Knobs, Mode, Setup, Sums};
use super::worker::{Order, Rank, Telling};
use crate::stepped::{self, StepError, SteppedLab};
use mlsys_device as device;
use mlsys_distributed::model::Model;
use mlsys_distributed::transport::{Flow, Traffic};
use mlsys_distributed::worker_pool::{self, WorkerPool, timeout};
use mlsys_nn::data::Batches;
use mlsys_nn::divergence::Ceiling;
use mlsys_nn::flat_params;
use mlsys_nn::memory_budget::MemoryBudget;

pub(super) struct Session {
    pub(super) setup: Setup,
    pub(super) knobs: Knobs,
    pub(super) model: Model,
    pub(super) layout: Layout,
    pool: WorkerPool<Rank>,
    /// All weights, put together.
    weights: Arc<[f32]>,
    one: Option<One>,
    batches: Batches,
    ceiling: Ceiling,
    divergence: Option<&'static str>,
    /// Steps done.
    pub(super) step: u64,
    /// Of the last step.
    pub(super) last: Option<Last>,
}

/// One worker that does what all ranks do together, twice over.
struct One {
    /// It trains by itself from the first weights on.
    trains: WorkerPool<Rank>,
    /// It is given the ranks' weights before each step, so that what it finds differs by what splitting changes in that step
    /// and by nothing that came before.
    checks: WorkerPool<Rank>,
}

/// What the last step showed.
pub(super) struct Last {
    pub(super) done: Done,
    pub(super) traffic: Traffic,
    /// The largest over ranks.
    pub(super) sent: Flow,
    pub(super) loss: f64,
    /// Why a rank's weights are of no use any more.
    pub(super) broken: Option<&'static str>,
    pub(super) seconds: f64,
    /// A few numbers of what each rank gave to the first sum of the step; empty without one.
    pub(super) samples: Vec<Vec<f32>>,
    pub(super) beside: Option<Beside>,
}

/// One worker's step, and how far this one is from it.
pub(super) struct Beside {
    pub(super) loss: f64,
    pub(super) seconds: f64,
    pub(super) output: f64,
    pub(super) gradient: f64,
    pub(super) weight: f64,
}

/// Modelled seconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Modelled {
    pub(super) compute: f64,
    pub(super) communication: f64,
}

impl Modelled {
    pub(super) fn step(self) -> f64 {
        self.compute + self.communication
    }
}

impl Session {
    pub(super) fn open(run: &mut Run<'_>) -> Result<Self, StepError> {
        let setup = Setup::read(&run.params)?;
        let knobs = Knobs::read(&run.params)?;
        must_fit(run, &setup)?;
        let status = |run: &mut Run<'_>, said: &str| {
            run.sink.report(Report::Status(said.to_owned()));
        };
        status(run, "opening the device");
        let device = device::open(run.device)?;
        let model = Model::transformer(setup.config.clone(), setup.seed)?;
        let network = model.network(&device.clone().autodiff());
        let failed = |error| LabError::Failed {
            device: run.device,
            reason: format!("the first weights could not be read: {error:?}"),
        };
        let whole: Arc<[f32]> = flat_params::weights(&network).map_err(failed)?.into();
        let limit = timeout(model.flops(setup.batch as u64) as f64);
        let start = |run: &Run<'_>, ranks: usize| {
            let (setup, whole) = (setup.clone(), Arc::clone(&whole));
            let data = Arc::clone(&model.data);
            let contexts = worker_pool::contexts(run, ranks)?;
            let made = WorkerPool::start(run.device, contexts, limit, move |spec| {
                Ok(Rank::new(&spec, &setup, &whole, &data))
            })?;
            Ok::<_, StepError>(made)
        };
        let pool = start(run, setup.ranks)?;
        run.scalar("worker_devices", pool.devices(setup.ranks));
        let one = match setup.compare {
            Compare::Yes => Some(One { trains: start(run, 1)?, checks: start(run, 1)? }),
            Compare::No => None,
        };
        status(run, "");
        if setup.mode == Mode::Context && knobs.sums == Sums::LeftOut {
            run.sink.report(Report::Notice(
                "skip_all_reduce changes nothing in mode context: no matrix is split by rows there, so there is no sum to \
                 leave out"
                    .to_owned(),
            ));
        }
        let mut session = Self {
            layout: Layout::new(&setup.config, setup.mode, setup.ranks),
            batches: Batches::new(setup.seed, model.data.train.len()),
            ceiling: Ceiling::new(model.guessing),
            setup,
            knobs,
            model,
            pool,
            weights: whole,
            one,
            divergence: None,
            step: 0,
            last: None,
        };
        session.report_sizes(run);
        session.draw(run, Moment::Final)?;
        Ok(session)
    }
}

impl SteppedLab for Session {
    type Knobs = Knobs;

    fn done(&self) -> u64 {
        self.step
    }

    fn has_next(&self) -> bool {
        self.step < self.knobs.steps
    }

    fn diverged(&self) -> bool {
        self.divergence.is_some()
    }

    fn read(&self, params: &Params) -> Result<Knobs, LabError> {
        Knobs::read(params)
    }

    fn turn(&mut self, run: &mut Run<'_>, knobs: Knobs) -> Result<(), StepError> {
        self.knobs = knobs;
        self.ceiling.begin_anew();
        self.report_modelled(run);
        Ok(())
    }

    fn advance(&mut self, run: &mut Run<'_>) -> Result<(), StepError> {
        let step = self.step + 1;
        let order = Order {
            indices: self.batches.next(self.setup.batch).into(),
            learning_rate: self.knobs.learning_rate,
            sums: self.knobs.sums,
            telling: match self.setup.compare {
                Compare::Yes => Telling::All,
                Compare::No => Telling::Loss,
            },
            from: None,
        };
        let interrupted = || run.control.interrupted();
        let begun = Instant::now();
        let orders = std::iter::repeat_n(order.clone(), self.setup.ranks);
        let answers = self.pool.act(step, orders, interrupted)?;
        let seconds = begun.elapsed().as_secs_f64();
        let traffic = self.pool.traffic();
        let beside = match &mut self.one {
            None => None,
            Some(one) => {
                let begun = Instant::now();
                let trained = one.trains.act(step, [order.clone()], interrupted)?;
                let seconds = begun.elapsed().as_secs_f64();
                let order = Order { from: Some(Arc::clone(&self.weights)), ..order };
                let checked = one.checks.act(step, [order], interrupted)?;
                self.compare(&answers, trained.first(), checked.first(), seconds)
            }
        };
        let first = answers.first();
        let loss = if self.setup.mode.cuts_tokens() {
            answers.iter().map(|answer| answer.loss).sum()
        } else {
            first.map_or(f64::NAN, |answer| answer.loss)
        };
        self.step = step;
        self.last = Some(Last {
            done: first.map_or_else(Done::default, |answer| answer.done),
            sent: traffic.most_sent(),
            traffic,
            loss,
            broken: answers.iter().find_map(|answer| answer.broken),
            seconds,
            samples: answers.into_iter().map(|answer| answer.samples).collect(),
            beside,
        });
        self.report_step(run);
        self.draw(run, Moment::Running)
    }

    fn draw(&mut self, run: &mut Run<'_>, moment: Moment) -> Result<(), StepError> {
        let at = (self.step, moment);
        stepped::draw(run, at, &pictures::ALL, |_, picture| picture(self));
        Ok(())
    }

    fn finish(&mut self, run: &mut Run<'_>) -> Result<(), StepError> {
        self.draw(run, Moment::Final)
    }
}

/// All workers of a run share the memory of one machine: refuses what it does not have.
fn must_fit(run: &Run<'_>, setup: &Setup) -> Result<(), LabError> {
    let alone = Setup { ranks: 1, ..setup.clone() };
    let beside = match setup.compare {
        Compare::Yes => 2.0 * clock::state_bytes(&alone),
        Compare::No => 0.0,
    };
    let needed = setup.ranks as f64 * clock::state_bytes(setup) + beside;
    let who = format!("{} workers with this model", setup.ranks);
    let smaller = "global_batch, context, hidden or layers";
    MemoryBudget::of(run.device).require(needed as u64, &who, smaller)
}
