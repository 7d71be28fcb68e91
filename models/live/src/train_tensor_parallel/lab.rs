//! Tensor parallelism: every layer split over ranks by Megatron's rule (Shoeybi et al. 2019), with gradients equal to
//! those of a single worker.
//!
//! A rank's part of a transformer is a transformer with fewer heads and a narrower gated layer ([`layout`]), so that ranks and
//! a single worker run the same modules. burn cannot differentiate a message: its graph ends at each collective and
//! begins again behind it with a leaf ([`cut_pass`]); the gradient crosses by the collective's transpose, which is again a message
//! ([`collectives`]). Attention over a sequence split over ranks ([`ring`]) is the only backward pass written by hand. With one rank
//! nothing is cut, and the run is bit for bit the plain transformer's, which is also the comparison. [`clock`] predicts
//! operations, messages and bytes by formula; [`worker`] does a step of one rank.

mod clock;
mod collectives;
mod cut_pass;
mod layout;
mod panels;
mod params;
mod ring;
#[cfg(test)]
mod tests;
mod worker;

use std::sync::Arc;
use std::time::Instant;

use mlsys_device as device;
use mlsys_distributed::model::Model;
use mlsys_distributed::reference::{difference, relative_difference};
use mlsys_distributed::transport::{Flow, Traffic};
use mlsys_distributed::worker_pool;
use mlsys_distributed::worker_pool::{WorkerPool, timeout};
use mlsys_lab::report::{FrameTrigger, Report};
use mlsys_lab::schema::SchemaError;
use mlsys_lab::{LabError, Params, Run};
use mlsys_nn::data::Batches;
use mlsys_nn::divergence::DivergenceCheck;
use mlsys_nn::memory_budget::MemoryBudget;
use mlsys_nn::{divergence, flat_params};

use self::collectives::CollectiveCounts;
use self::layout::Layout;
use self::params::{Knobs, Mode, Setup, Sums};
use self::worker::{Answer, Detail, Rank, StepOrder};
use crate::stepped::{LiveLab, StepError, SteppedLab, Steps};
use crate::{parallel, stepped};

/// The lab `train-tensor-parallel`.
///
/// # Errors
/// If the schema does not read, which is a mistake in this crate.
pub fn lab() -> Result<LiveLab, SchemaError> {
    LiveLab::stepped(include_str!("lab.toml"), Session::open)?
        .reading::<params::Fields>()?
        .reading::<Knobs>()
}

// The run.

struct Session {
    setup: Setup,
    knobs: Knobs,
    model: Model,
    layout: Layout,
    pool: WorkerPool<Rank>,
    weights: Arc<[f32]>,
    one: Option<ReferenceWorkers>,
    batches: Batches,
    steps: Steps,
    last: Option<LastStep>,
}

/// One worker that does what all ranks do together, twice over.
struct ReferenceWorkers {
    /// It trains by itself from the first weights on.
    trains: WorkerPool<Rank>,
    /// It is given the ranks' weights before each step, so that what it finds differs by what splitting changes in that step
    /// and by nothing that came before.
    checks: WorkerPool<Rank>,
}

struct LastStep {
    done: CollectiveCounts,
    traffic: Traffic,
    /// The largest over ranks.
    sent: Flow,
    loss: f64,
    /// Why a rank's weights are of no use any more.
    broken: Option<&'static str>,
    seconds: f64,
    /// A few numbers of what each rank gave to the first sum of the step; empty without one.
    samples: Vec<Vec<f32>>,
    reference: Option<ReferenceStep>,
}

/// One worker's step, and how far this one is from it.
struct ReferenceStep {
    loss: f64,
    seconds: f64,
    output: f64,
    gradient: f64,
    weight: f64,
}

#[derive(Clone, Copy, Debug)]
struct Modelled {
    compute: f64,
    communication: f64,
}

impl Modelled {
    fn step(self) -> f64 {
        self.compute + self.communication
    }
}

impl Session {
    fn open(run: &mut Run<'_>) -> Result<Self, StepError> {
        let setup = Setup::read(&run.params)?;
        let knobs = Knobs::read(&run.params)?;
        must_fit(run, &setup)?;
        run.status("opening the device");
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
            true => Some(ReferenceWorkers { trains: start(run, 1)?, checks: start(run, 1)? }),
            false => None,
        };
        run.status("");
        if setup.mode == Mode::Context && knobs.sums == Sums::LeftOut {
            run.notice(
                "skip_all_reduce changes nothing in mode context: no matrix is split by rows there, so there is no sum to \
                 leave out",
            );
        }
        let mut session = Self {
            layout: Layout::new(&setup.config, setup.mode, setup.ranks),
            batches: Batches::new(setup.seed, model.data.train.len()),
            steps: Steps::new([DivergenceCheck::new(model.guessing)]),
            setup,
            knobs,
            model,
            pool,
            weights: whole,
            one,
            last: None,
        };
        session.report_sizes(run);
        session.draw(run, FrameTrigger::Final)?;
        Ok(session)
    }
}

impl SteppedLab for Session {
    type Knobs = Knobs;

    fn steps(&mut self) -> &mut Steps {
        &mut self.steps
    }

    fn has_next(&self) -> bool {
        self.steps.done < self.knobs.steps
    }

    fn read(&self, params: &Params) -> Result<Knobs, LabError> {
        Knobs::read(params)
    }

    fn turn(&mut self, run: &mut Run<'_>, knobs: Knobs) -> Result<(), StepError> {
        self.knobs = knobs;
        self.report_modelled(run);
        Ok(())
    }

    fn advance(&mut self, run: &mut Run<'_>) -> Result<(), StepError> {
        let step = self.steps.done + 1;
        let order = StepOrder {
            indices: self.batches.next(self.setup.batch).into(),
            learning_rate: self.knobs.learning_rate,
            sums: self.knobs.sums,
            detail: if self.setup.compare { Detail::All } else { Detail::Loss },
            from: None,
        };
        let interrupted = || run.control.interrupted();
        let begun = Instant::now();
        let orders = std::iter::repeat_n(order.clone(), self.setup.ranks);
        let answers = self.pool.act(step, orders, interrupted)?;
        let seconds = begun.elapsed().as_secs_f64();
        let traffic = self.pool.traffic();
        let reference = match &mut self.one {
            None => None,
            Some(one) => {
                let begun = Instant::now();
                let trained = one.trains.act(step, [order.clone()], interrupted)?;
                let seconds = begun.elapsed().as_secs_f64();
                let order = StepOrder { from: Some(Arc::clone(&self.weights)), ..order };
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
        self.steps.done = step;
        self.last = Some(LastStep {
            done: first.map_or_else(CollectiveCounts::default, |answer| answer.done),
            sent: traffic.most_sent(),
            traffic,
            loss,
            broken: answers.iter().find_map(|answer| answer.broken),
            seconds,
            samples: answers.into_iter().map(|answer| answer.samples).collect(),
            reference,
        });
        self.report_step(run);
        Ok(())
    }

    fn draw(&mut self, run: &mut Run<'_>, moment: FrameTrigger) -> Result<(), StepError> {
        let at = (self.steps.done, moment);
        stepped::draw(run, at, &panels::ALL, |_, picture| picture(self));
        Ok(())
    }
}

/// All workers of a run share the memory of one machine: refuses what it does not have.
fn must_fit(run: &Run<'_>, setup: &Setup) -> Result<(), LabError> {
    let alone = Setup { ranks: 1, ..setup.clone() };
    let reference = if setup.compare { 2.0 * clock::state_bytes(&alone) } else { 0.0 };
    let needed = setup.ranks as f64 * clock::state_bytes(setup) + reference;
    let who = format!("{} workers with this model", setup.ranks);
    let smaller = "global_batch, context, hidden or layers";
    MemoryBudget::of(run.device).require(needed as u64, &who, smaller)
}

// How far all ranks together are from one worker.

impl Session {
    /// How far all ranks together are from one worker; keeps their weights.
    fn compare(
        &mut self,
        answers: &[Answer],
        trained: Option<&Answer>,
        checked: Option<&Answer>,
        seconds: f64,
    ) -> Option<ReferenceStep> {
        let (trained, checked) = (trained?, checked?.all.as_ref()?);
        let count = self.layout.len();
        let (mut gradient, mut weights) = (vec![0.0; count], vec![0.0; count]);
        // What all have comes from the first: the last to be put down.
        for (rank, answer) in answers.iter().enumerate().rev() {
            let all = answer.all.as_ref()?;
            self.layout.put(&mut gradient, rank, &all.gradient);
            self.layout.put(&mut weights, rank, &all.weights);
        }
        let logits = self.logits(answers)?;
        let reference = ReferenceStep {
            loss: trained.loss,
            seconds,
            output: relative_difference(&logits, &checked.logits),
            gradient: relative_difference(&gradient, &checked.gradient),
            weight: difference(&weights, &trained.all.as_ref()?.weights),
        };
        self.weights = weights.into();
        Some(reference)
    }

    /// The scores of all tokens, `[batch, time, vocab]`.
    fn logits(&self, answers: &[Answer]) -> Option<Vec<f32>> {
        let (batch, ranks) = (self.setup.batch, self.setup.ranks);
        let of = |rank: usize| Some(&answers.get(rank)?.all.as_ref()?.logits);
        if !self.setup.mode.cuts_tokens() {
            return of(0).cloned();
        }
        let own = self.setup.config.context / ranks * self.setup.config.vocab;
        let mut all = Vec::with_capacity(batch * ranks * own);
        for sequence in 0..batch {
            for rank in 0..ranks {
                all.extend_from_slice(of(rank)?.get(sequence * own..(sequence + 1) * own)?);
            }
        }
        Some(all)
    }
}

// What a session says: sizes, modelled seconds, and what each step found.

impl Session {
    fn report_sizes(&self, run: &mut Run<'_>) {
        let setup = &self.setup;
        parallel::report_sizes(run, &self.model, setup.batch);
        run.scalar("weight_bytes_per_worker", clock::weight_bytes(setup) as i64);
        let kept = clock::activation_bytes(setup);
        run.scalar("activation_bytes_per_worker", kept as i64);
        let alone = Setup { ranks: 1, ..setup.clone() };
        let kept = clock::activation_bytes(&alone);
        run.scalar("reference_activation_bytes", kept as i64);
        self.report_modelled(run);
    }

    fn flops(&self) -> u64 {
        self.model.flops(self.setup.batch as u64)
    }

    /// What a rank sends: counted, or by formula before the first step.
    fn sent(&self) -> (f64, f64) {
        match &self.last {
            Some(last) => (last.sent.messages as f64, last.sent.bytes as f64),
            None => {
                let sent = clock::sent(&clock::parts(&self.setup, self.knobs.sums));
                (sent.messages, sent.bytes)
            }
        }
    }

    fn modelled(&self) -> Modelled {
        let (messages, bytes) = self.sent();
        Modelled {
            compute: self.flops() as f64 / (self.setup.ranks as f64 * self.knobs.rate),
            communication: self.knobs.network.seconds(messages, bytes),
        }
    }

    fn report_modelled(&self, run: &mut Run<'_>) {
        let modelled = self.modelled();
        run.scalar("compute_seconds", modelled.compute);
        run.scalar("communication_seconds", modelled.communication);
        run.scalar("step_seconds", modelled.step());
        let alone = self.setup.ranks as f64 * modelled.compute;
        run.scalar("speedup", alone / modelled.step());
    }

    fn report_step(&mut self, run: &mut Run<'_>) {
        let Some(last) = &self.last else {
            return;
        };
        let step = self.steps.done;
        let mut point = |name: &'static str, value: f64| {
            run.sink.report(Report::Point { name: name.into(), step, value });
        };
        point("loss", last.loss);
        point("measured_step_seconds", last.seconds);
        if let Some(reference) = &last.reference {
            point("reference_loss", reference.loss);
            point("reference_step_seconds", reference.seconds);
            point("max_output_difference", reference.output);
            point("max_gradient_difference", reference.gradient);
            point("max_weight_difference", reference.weight);
        }
        run.scalar("all_reduces", last.done.all_reduces);
        run.scalar("all_gathers", last.done.all_gathers);
        run.scalar("reduce_scatters", last.done.reduce_scatters);
        run.scalar("bytes_sent_per_worker", last.sent.bytes as i64);
        run.scalar("messages_per_worker", last.sent.messages as i64);
        let rate = self.knobs.learning_rate;
        let reason = |what| divergence::at_rate(what, rate);
        self.steps.judge(run, &[last.loss], last.broken, reason);
        self.report_modelled(run);
    }
}
