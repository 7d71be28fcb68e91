//! Tensor parallelism by Megatron's rule (Shoeybi et al. 2019), with the gradients of a single worker.
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
use mlsys_distributed::transport::Traffic;
use mlsys_distributed::worker_pool::{self, WorkerPool, timeout};
use mlsys_lab::report::FrameTrigger;
use mlsys_lab::schema::SchemaError;
use mlsys_lab::{LabError, Params, Run};
use mlsys_nn::data::Batches;
use mlsys_nn::divergence::DivergenceCheck;
use mlsys_nn::memory_budget::MemoryBudget;
use mlsys_nn::{divergence, flat_params};

use self::collectives::CollectiveCounts;
use self::layout::Layout;
use self::params::{Knobs, Mode, Setup, Sums};
use self::worker::{Answer, Rank, StepOrder};
use crate::stepped::{LiveLab, StepError, SteppedLab, Steps, point};
use crate::{parallel, stepped};

/// The lab `train-tensor-parallel`.
pub fn lab() -> Result<LiveLab, SchemaError> {
    LiveLab::stepped(include_str!("lab.toml"), Session::open)?
        .reading::<params::Fields>()?
        .reading::<Knobs>()
}

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
    traffic: Traffic,
    /// A few numbers of what each rank gave to the first sum of the step; empty without one.
    samples: Vec<Vec<f32>>,
}

impl Session {
    fn open(run: &mut Run<'_>) -> Result<Self, StepError> {
        let setup = Setup::read(&run.params)?;
        let knobs = Knobs::read(&run.params)?;
        // All workers of a run share the memory of one machine.
        let alone = Setup { ranks: 1, ..setup.clone() };
        let reference = if setup.compare { 2.0 * clock::state_bytes(&alone) } else { 0.0 };
        let needed = setup.ranks as f64 * clock::state_bytes(&setup) + reference;
        let who = format!("{} workers with this model", setup.ranks);
        let smaller = "global_batch, context, hidden or layers";
        MemoryBudget::for_device(run.device).require(needed as u64, &who, smaller)?;
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
        let start = |run: &Run<'_>, ranks: usize| -> Result<_, StepError> {
            let (setup, whole, data) = (setup.clone(), Arc::clone(&whole), Arc::clone(&model.data));
            let contexts = worker_pool::contexts(run, ranks)?;
            let make = move |spec| Ok(Rank::new(&spec, &setup, &whole, &data));
            Ok(WorkerPool::start(run.device, contexts, limit, make)?)
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

    /// How far all ranks together are from one worker, as metrics; keeps their weights.
    fn compare(
        &mut self,
        answers: &[Answer],
        trained: Option<&Answer>,
        checked: Option<&Answer>,
        seconds: f64,
    ) -> Option<[(&'static str, f64); 5]> {
        let (trained, checked) = (trained?, checked?.details.as_ref()?);
        let count = self.layout.len();
        let (mut gradient, mut weights) = (vec![0.0; count], vec![0.0; count]);
        // What all have comes from the first: the last to be put down.
        for (rank, answer) in answers.iter().enumerate().rev() {
            let details = answer.details.as_ref()?;
            self.layout.put(&mut gradient, rank, &details.gradient);
            self.layout.put(&mut weights, rank, &details.weights);
        }
        let logits = self.logits(answers)?;
        let compared = [
            ("reference_loss", trained.loss),
            ("reference_step_seconds", seconds),
            ("max_output_difference", relative_difference(&logits, &checked.logits)),
            ("max_gradient_difference", relative_difference(&gradient, &checked.gradient)),
            ("max_weight_difference", difference(&weights, &trained.details.as_ref()?.weights)),
        ];
        self.weights = weights.into();
        Some(compared)
    }

    /// The scores of all tokens, `[batch, time, vocab]`.
    fn logits(&self, answers: &[Answer]) -> Option<Vec<f32>> {
        let (batch, ranks) = (self.setup.batch, self.setup.ranks);
        let logits = |rank: usize| Some(&answers.get(rank)?.details.as_ref()?.logits);
        if !self.setup.mode.cuts_tokens() {
            return logits(0).cloned();
        }
        let own = self.setup.config.context / ranks * self.setup.config.vocab;
        let mut all = Vec::with_capacity(batch * ranks * own);
        for sequence in 0..batch {
            for rank in 0..ranks {
                all.extend_from_slice(logits(rank)?.get(sequence * own..(sequence + 1) * own)?);
            }
        }
        Some(all)
    }

    fn report_sizes(&self, run: &mut Run<'_>) {
        let alone = Setup { ranks: 1, ..self.setup.clone() };
        parallel::report_sizes(run, &self.model, self.setup.batch);
        for (name, bytes) in [
            ("weight_bytes_per_worker", clock::weight_bytes(&self.setup)),
            ("activation_bytes_per_worker", clock::activation_bytes(&self.setup)),
            ("reference_activation_bytes", clock::activation_bytes(&alone)),
        ] {
            run.scalar(name, bytes as i64);
        }
        self.report_modelled(run);
    }

    /// Messages and bytes of a rank: counted, or by formula before the first step.
    fn sent(&self) -> (f64, f64) {
        match &self.last {
            Some(last) => {
                let sent = last.traffic.most_sent();
                (sent.messages as f64, sent.bytes as f64)
            }
            None => clock::sent(&clock::phases(&self.setup, self.knobs.sums)),
        }
    }

    fn report_modelled(&self, run: &mut Run<'_>) {
        let (messages, bytes) = self.sent();
        let (ranks, knobs) = (self.setup.ranks as f64, &self.knobs);
        let compute = self.model.flops(self.setup.batch as u64) as f64
            / (ranks * knobs.worker_flops_per_second);
        let communication = knobs.network.seconds(messages, bytes);
        let step = compute + communication;
        let speedup = ranks * compute / step;
        parallel::report_clock(run, [compute, communication, step], speedup);
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
            with_details: self.setup.compare,
            from: None,
        };
        let interrupted = || run.control.interrupted();
        let begun = Instant::now();
        let orders = std::iter::repeat_n(order.clone(), self.setup.ranks);
        let answers = self.pool.act(step, orders, interrupted)?;
        let seconds = begun.elapsed().as_secs_f64();
        let traffic = self.pool.traffic();
        let compared = match &mut self.one {
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
        let (loss, done) = match answers.first() {
            Some(first) if !self.setup.mode.cuts_tokens() => (first.loss, first.done),
            Some(first) => (answers.iter().map(|answer| answer.loss).sum(), first.done),
            None => (f64::NAN, CollectiveCounts::default()),
        };
        self.steps.done = step;
        let own = [("loss", loss), ("measured_step_seconds", seconds)];
        for (name, value) in own.into_iter().chain(compared.into_iter().flatten()) {
            point(run, name, step, value);
        }
        let sent = traffic.most_sent();
        for (name, count) in [
            ("all_reduces", done.all_reduces),
            ("all_gathers", done.all_gathers),
            ("reduce_scatters", done.reduce_scatters),
            ("bytes_sent_per_worker", sent.bytes as i64),
            ("messages_per_worker", sent.messages as i64),
        ] {
            run.scalar(name, count);
        }
        let broken = answers.iter().find_map(|answer| answer.broken);
        let samples = answers.into_iter().map(|answer| answer.samples).collect();
        self.last = Some(LastStep { traffic, samples });
        let rate = self.knobs.learning_rate;
        self.steps.judge(run, &[loss], broken, |what| divergence::at_rate(what, rate));
        self.report_modelled(run);
        Ok(())
    }

    fn draw(&mut self, run: &mut Run<'_>, moment: FrameTrigger) -> Result<(), StepError> {
        let at = (self.steps.done, moment);
        stepped::draw(run, at, &panels::ALL, |_, picture| picture(self));
        Ok(())
    }
}
