//! A run from starting the workers to the last report.

mod batches;
mod memory;
mod report;
mod watch;

use std::cell::RefCell;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use mlsys_lab::report::{Moment, Report};
use mlsys_lab::{LabError, Params, Run};
use mlsys_sim::pipeline::Played;

use self::batches::Microbatches;
use self::watch::Watch;
use super::clock::Modelled;
use super::pictures;
use super::setup::{Clock, Comparison, Knobs, Setup};
use super::stage::{Answer, Diary, Order, Stage, Wanted};
use crate::stepped::{StepError, SteppedLab, point};
use mlsys_device as device;
use mlsys_distributed::model::Model;
use mlsys_distributed::reference::{self, Reference};
use mlsys_distributed::transport::Traffic;
use mlsys_distributed::worker_pool::{WorkerContext, WorkerPool, contexts, timeout};
use mlsys_nn::divergence::{self, Ceiling};

/// Between two steps, drawing waits for so many times as long as it took last.
const DRAWING: u32 = 3;

pub(super) struct Session {
    setup: Arc<Setup>,
    model: Model,
    knobs: Knobs,
    pool: WorkerPool<Stage>,
    reference: Option<Reference>,
    batches: Microbatches,
    modelled: Modelled,
    ceiling: Ceiling,
    divergence: Option<&'static str>,
    /// Steps done.
    step: u64,
    /// What the stages did in the last step.
    measured: Played,
    /// What they are doing in this one.
    diary: Diary,
    /// Idle shares of the steps, summed up.
    idle: f64,
    /// The last step's answers, without their rows.
    answers: Vec<Answer>,
    traffic: Option<Traffic>,
    pictured: Option<(Instant, Duration)>,
}

/// What was found in a step, of all stages together; nothing where nobody compares it.
struct Whole {
    gradients: Vec<f32>,
    weights: Vec<f32>,
}

impl Session {
    pub(super) fn open(run: &mut Run<'_>) -> Result<Self, StepError> {
        let setup = Arc::new(Setup::read(&run.params)?);
        let knobs = Knobs::read(&run.params)?;
        let model = Model::transformer(setup.config.clone(), setup.seed)?;
        let flops = model.flops(setup.batch() as u64);
        let modelled = Modelled::of(&setup, flops, &knobs)?;
        memory::must_fit(run.device, &setup, &model)?;
        run.sink.report(Report::Status("opening the device".to_owned()));
        let device = device::open(run.device)?;
        let limit = timeout(flops as f64);
        let diary = Diary::default();
        let make = {
            let (setup, model, diary) = (Arc::clone(&setup), model.clone(), Arc::clone(&diary));
            move |spec| Stage::new(Arc::clone(&setup), &model, spec, Arc::clone(&diary))
        };
        let contexts = contexts(run, setup.stages)?;
        let pool = WorkerPool::start(run.device, contexts, limit, make)?;
        run.scalar("worker_devices", pool.devices(setup.stages));
        let reference = match setup.comparison {
            Comparison::OneWorker => {
                let place = run.device.to_string();
                let context = WorkerContext { device, place };
                let alone = Reference::start(run.device, context, &model, setup.rule, limit)?;
                Some(alone)
            }
            Comparison::Nobody => None,
        };
        run.sink.report(Report::Status(String::new()));
        let mut session = Self {
            batches: Microbatches::new(&setup, model.data.train.len()),
            ceiling: match setup.is_asynchronous() {
                true => Ceiling::from_guessing(model.guessing),
                false => Ceiling::new(model.guessing),
            },
            measured: Played::default(),
            setup,
            model,
            knobs,
            pool,
            reference,
            modelled,
            divergence: None,
            step: 0,
            diary,
            idle: 0.0,
            answers: Vec::new(),
            traffic: None,
            pictured: None,
        };
        session.report_sizes(run);
        session.report_model(run);
        session.draw(run, Moment::Running)?;
        Ok(session)
    }

    /// What all stages hold of something, in the order of the model; it is taken out of their answers.
    fn whole(&self, answers: &mut [Answer], of: fn(&mut Answer) -> &mut Vec<Vec<f32>>) -> Vec<f32> {
        let mut row = Vec::new();
        for chunk in 0..self.setup.chunks {
            for answer in answers.iter_mut() {
                if let Some(own) = of(answer).get_mut(chunk) {
                    row.append(own);
                }
            }
        }
        row
    }

    fn diverge(&mut self, run: &mut Run<'_>, what: &'static str) {
        self.divergence = Some(what);
        let delay = if self.setup.is_asynchronous() {
            ", and gradients that come updates late bear less still"
        } else {
            ""
        };
        let reason = divergence::at_rate(what, self.knobs.learning_rate);
        run.sink.report(Report::Diverged { step: self.step, reason: format!("{reason}{delay}") });
    }

    /// The same step by one worker, and how far it is from that of the stages.
    fn compare(
        &mut self,
        run: &mut Run<'_>,
        microbatches: &[Vec<usize>],
        whole: &Whole,
    ) -> Result<(), StepError> {
        let Some(reference) = &mut self.reference else {
            return Ok(());
        };
        let own = microbatches.get(..self.setup.microbatches);
        let own = own.unwrap_or(microbatches);
        let rate = self.knobs.learning_rate;
        let control = &run.control;
        // One that is as often updated, but always on the newest weights, shows what delay alone does.
        let pieces: Vec<Vec<usize>> =
            if self.setup.is_asynchronous() { own.to_vec() } else { vec![own.concat()] };
        let (mut loss, mut seconds) = (0.0, 0.0);
        let mut last = None;
        for piece in &pieces {
            let step = reference.step(self.step, piece, rate, || control.interrupted())?;
            loss += step.loss / pieces.len() as f64;
            seconds += step.seconds;
            last = Some(step);
        }
        let Some(alone) = last else {
            return Ok(());
        };
        point(run, "reference_step_seconds", self.step, seconds);
        point(run, "reference_loss", self.step, loss);
        if !self.setup.is_asynchronous() {
            let far = reference::relative_difference(&whole.gradients, &alone.gradient);
            point(run, "max_gradient_difference", self.step, far);
        }
        let far = reference::difference(&whole.weights, &alone.weights);
        point(run, "max_weight_difference", self.step, far);
        Ok(())
    }

    fn clear_diary(&self) {
        let mut diary = self.diary.lock().unwrap_or_else(PoisonError::into_inner);
        *diary = vec![Vec::new(); self.setup.stages];
    }

    /// What the panels go by.
    fn shown(&self) -> &Played {
        match self.knobs.clock {
            Clock::Modelled => &self.modelled.played,
            Clock::Measured => &self.measured,
        }
    }
}

impl SteppedLab for Session {
    type Knobs = (Modelled, Knobs);

    fn done(&self) -> u64 {
        self.step
    }

    fn has_next(&self) -> bool {
        self.step < self.knobs.steps
    }

    fn diverged(&self) -> bool {
        self.divergence.is_some()
    }

    fn read(&self, params: &Params) -> Result<Self::Knobs, LabError> {
        let knobs = Knobs::read(params)?;
        let flops = self.model.flops(self.setup.batch() as u64);
        Ok((Modelled::of(&self.setup, flops, &knobs)?, knobs))
    }

    fn turn(&mut self, run: &mut Run<'_>, turned: Self::Knobs) -> Result<(), StepError> {
        (self.modelled, self.knobs) = turned;
        self.ceiling.begin_anew();
        self.report_model(run);
        Ok(())
    }

    fn advance(&mut self, run: &mut Run<'_>) -> Result<(), StepError> {
        let begun = Instant::now();
        let examples = Arc::new(self.batches.of_step(self.step));
        let wanted = match self.reference {
            Some(_) => Wanted::Rows,
            None => Wanted::Counts,
        };
        let orders: Vec<Order> = (0..self.setup.stages)
            .map(|stage| Order {
                operations: self.setup.operations(stage, self.step),
                examples: Arc::clone(&examples),
                rate: self.knobs.learning_rate,
                wanted,
                begun,
            })
            .collect();
        self.clear_diary();
        let (setup, diary, clock) = (&self.setup, &self.diary, self.knobs.clock);
        let watch = RefCell::new(Watch { sink: &mut *run.sink, drawn: begun, step: self.step + 1 });
        let control = &run.control;
        let glance = || {
            watch.borrow_mut().glance(setup, clock, diary);
            control.interrupted()
        };
        let mut answers = self.pool.act(self.step + 1, orders, glance)?;
        let seconds = begun.elapsed().as_secs_f64();
        self.traffic = Some(self.pool.traffic());
        self.step += 1;
        let losses: Vec<f64> = answers.iter().flat_map(|a| &a.losses).copied().collect();
        let loss = losses.iter().sum::<f64>() / losses.len().max(1) as f64;
        self.measured = Played {
            stages: answers.iter_mut().map(|answer| std::mem::take(&mut answer.slots)).collect(),
            transfers: Vec::new(),
        };
        self.idle += idle_share(&self.measured);
        point(run, "loss", self.step, loss);
        point(run, "measured_step_seconds", self.step, seconds);
        let whole = Whole {
            gradients: self.whole(&mut answers, |answer| &mut answer.gradients),
            weights: self.whole(&mut answers, |answer| &mut answer.weights),
        };
        self.answers = answers;
        self.report_counts(run);
        // A run that is stopped while the one worker computes has its counts.
        self.compare(run, &examples.1, &whole)?;
        let broken = self.answers.iter().find_map(|answer| answer.broken);
        if let Some(what) = self.ceiling.judge(loss).or(broken) {
            self.diverge(run, what);
        }
        if self.pictured.is_none_or(|(since, cost)| since.elapsed() >= DRAWING * cost) {
            self.draw(run, Moment::Running)?;
        }
        Ok(())
    }

    fn draw(&mut self, run: &mut Run<'_>, moment: Moment) -> Result<(), StepError> {
        let begun = Instant::now();
        let (setup, clock) = (&self.setup, self.knobs.clock);
        let there = clock == Clock::Modelled || self.step > 0;
        let mut offer = |panel: &str, draw: &dyn Fn() -> mlsys_lab::Frame| {
            if run.sink.wants_frame(panel, moment) {
                run.sink.report(Report::Frame {
                    panel: panel.into(),
                    step: self.step,
                    frame: Box::new(draw()),
                });
            }
        };
        if there {
            offer("timeline", &|| pictures::timeline(setup, clock, self.shown()));
            offer("activations", &|| pictures::activations(setup, clock, self.shown()));
        }
        if let Some(traffic) = &self.traffic {
            offer("traffic", &|| pictures::traffic(traffic));
            offer("order", &|| pictures::order(setup, &self.measured));
            let (stages, alone) = self.memory();
            offer("memory", &|| pictures::memory(setup, &stages, &alone));
        }
        run.sink.frames_done();
        self.pictured = Some((Instant::now(), begun.elapsed()));
        Ok(())
    }

    fn finish(&mut self, run: &mut Run<'_>) -> Result<(), StepError> {
        if self.step > 0 {
            let idle = self.idle / self.step as f64;
            run.scalar("measured_bubble_fraction", idle);
        }
        self.draw(run, Moment::Final)
    }
}

/// What share of the stages' time nothing was done, from the beginning of the step to its last operation's end.
fn idle_share(played: &Played) -> f64 {
    let stages = played.stages.len();
    let busy: f64 = (0..stages).map(|stage| played.busy(stage)).sum();
    let whole = stages as f64 * played.makespan();
    if whole > 0.0 { 1.0 - busy / whole } else { 0.0 }
}
