//! A run from the trained network to the last report.

mod report;

use std::sync::Arc;
use std::time::Instant;

use burn::tensor::Device;
use mlsys_lab::control::Turn;
use mlsys_lab::report::{Moment, Report};
use mlsys_lab::{DeviceId, LabError, Params, Run, Schema, Value};

use super::cut::{self, Cut, Field};
use super::hardware::{self, Uses};
use super::pictures::{self, Event, Pictured, Sample};
use super::setup::{Choice, Knobs, Setup, Start};
use super::size::Curves;
use super::tuner::{self, Tuner};
use crate::baseline::{self, Layer, Trained};
use crate::data::{Batches, Examples};
use crate::device;
use crate::divergence::{self, Ceiling};
use crate::nets::{Architecture, Initialization, Network};
use crate::parallel::flat;
use crate::parallel::knobs;
use crate::parallel::wire::Trouble;
use crate::train::EvaluationSet;

/// Steps between two accuracies.
const RECORDED: u64 = 10;

/// Runs the lab.
pub(super) fn run(schema: &Schema, run: &mut Run<'_>) -> Result<(), LabError> {
    let id = run.device;
    let failed = |trouble| failed(id, trouble);
    let Some(mut session) = Session::open(run)? else {
        return Ok(());
    };
    session.begin(run).map_err(failed)?;
    session.draw(run, Moment::Final);
    while session.divergence.is_none() && session.step < session.goal {
        match run.control.turn(session.step) {
            Turn::Go(changes) => {
                session.apply(schema, run, changes).map_err(failed)?;
                session.advance(run).map_err(failed)?;
            }
            Turn::Redraw(changes) => {
                session.apply(schema, run, changes).map_err(failed)?;
                session.draw(run, Moment::Asked);
            }
            Turn::Stop(_) => break,
        }
    }
    session.finish(run)
}

fn failed(device: DeviceId, trouble: Trouble) -> LabError {
    let reason = match trouble {
        Trouble::Failed(what) => format!("the run {what}"),
        // There is one worker here, and it waits for nobody.
        Trouble::Late { .. } | Trouble::Gone { .. } | Trouble::Wrong { .. } | Trouble::Aborted => {
            "the run was ended".to_owned()
        }
    };
    LabError::Failed { device, reason }
}

struct Session {
    setup: Setup,
    knobs: Knobs,
    params: Params,
    /// Without autodiff.
    device: Device,
    trained: Arc<Trained>,
    layers: Vec<Layer>,
    uses: Vec<Uses>,
    examples: Examples,
    judged: EvaluationSet,
    draws: Vec<Vec<f64>>,
    batches: Batches,
    /// Where the weights that are left begin a round, if not where they are.
    restart: Option<Vec<f32>>,
    /// Accuracy of the whole network.
    dense: f64,
    /// What the last cut was made of.
    before: Vec<f32>,
    cut: Cut,
    tuner: Option<Tuner>,
    /// All weights now, zero where they are gone.
    row: Vec<f32>,
    accuracy: f64,
    /// Rounds begun.
    round: u64,
    /// Steps of the last round.
    steps_of_round: u64,
    step: u64,
    /// Steps after which the run is over.
    goal: u64,
    recorded: Option<u64>,
    trail: Vec<Sample>,
    curves: Option<Curves>,
    seconds: Option<[f64; 2]>,
    ceiling: Ceiling,
    divergence: Option<&'static str>,
    started: Instant,
}

impl Session {
    /// None if the run was ended while its network was trained.
    fn open(run: &mut Run<'_>) -> Result<Option<Self>, LabError> {
        let started = Instant::now();
        let setup = Setup::read(&run.params)?;
        let knobs = Knobs::read(&run.params)?;
        let Some(trained) = baseline::obtain(run, &setup.recipe)? else {
            return Ok(None);
        };
        match trained.architecture {
            Architecture::Mlp(_) | Architecture::Cnn(_) => {}
            Architecture::Transformer(_) | Architecture::Filters(_) => {
                let message = "this lab prunes an mlp or a cnn, and what that lab trains is neither; name another";
                return Err(LabError::contradiction(["model_from"], message));
            }
        }
        let device = device::open(run.device)?;
        let layers = trained.layers();
        let data = trained.data()?;
        let judged = EvaluationSet::new(&trained.fresh()?, &device);
        let dense = judged.judge(&trained.network(&device), trained.activation);
        let mut session = Self {
            uses: hardware::uses(&trained.architecture, &layers),
            draws: cut::draws(&layers, setup.seed),
            batches: Batches::new(setup.seed, data.train.len()),
            restart: None,
            dense: dense.accuracy,
            accuracy: dense.accuracy,
            before: trained.weights.clone(),
            row: trained.weights.clone(),
            cut: Cut::none(&layers),
            tuner: None,
            round: 0,
            steps_of_round: 0,
            step: 0,
            goal: 0,
            recorded: None,
            trail: vec![Sample::at(0, dense.accuracy, Event::Dense)],
            curves: None,
            seconds: None,
            ceiling: Ceiling::new(10.0_f64.ln()),
            divergence: None,
            params: run.params.clone(),
            examples: data.train,
            judged,
            layers,
            trained,
            device,
            setup,
            knobs,
            started,
        };
        session.restart = session
            .initial()
            .map_err(|trouble| failed(run.device, trouble))?;
        session.tell_of_beginnings(run);
        run.scalar("accuracy_before", session.dense);
        Ok(Some(session))
    }

    /// Of a network that another run has left it is not known where it began.
    fn tell_of_beginnings(&self, run: &mut Run<'_>) {
        if self.setup.start == Start::Initial && run.params.get("model_from").is_some() {
            run.sink.report(Report::Notice(
                "what is left goes back to the weights that He's rule draws from the network's seed; if the run that left \
                 the network began elsewhere, this is no lottery ticket"
                    .to_owned(),
            ));
        }
    }

    /// The weights that each round begins with, where those are not the trained ones.
    fn initial(&self) -> Result<Option<Vec<f32>>, Trouble> {
        let seed = self.trained.data.seed;
        let seed = match self.setup.start {
            Start::Trained => return Ok(None),
            Start::Initial => seed,
            // Any other number would do as well.
            Start::Redrawn => seed.wrapping_add(1_000_003),
        };
        let architecture = &self.trained.architecture;
        let network = architecture.init(Initialization::He, seed, &self.device);
        flat::weights(&network).map(Some)
    }

    /// The first round, from the trained network on.
    fn begin(&mut self, run: &mut Run<'_>) -> Result<(), Trouble> {
        self.cut = Cut::none(&self.layers);
        self.row = self.trained.weights.clone();
        self.goal = self.step + self.setup.all_steps();
        // Without steps between them, rounds would only choose among the same weights again and again.
        self.round = if self.setup.steps == 0 {
            self.setup.rounds - 1
        } else {
            0
        };
        self.next_round(run)
    }

    /// Takes away what this round takes.
    fn next_round(&mut self, run: &mut Run<'_>) -> Result<(), Trouble> {
        self.round += 1;
        self.steps_of_round = 0;
        let choice = self.knobs.choice.after(self.round, self.setup.rounds);
        let field = Field {
            layers: &self.layers,
            row: &self.row,
            draws: &self.draws,
        };
        let cut = self.cut.choose(&field, choice);
        self.before = std::mem::take(&mut self.row);
        self.cut = cut;
        self.judge_pruned(run, choice)?;
        // Without steps of fine-tuning nothing begins anywhere: what is left is what was trained.
        let restart = self.restart.as_ref().filter(|_| self.setup.steps > 0);
        let rewound = restart.is_some();
        let from = restart.unwrap_or(&self.before);
        let device = self.device.clone().autodiff();
        let tuner = Tuner::new(&self.trained, &self.layers, from, &self.cut, &device)?;
        self.row = tuner.whole()?;
        if rewound {
            self.accuracy = self.judge(&tuner.network());
            let event = Event::Rewound;
            self.trail.push(Sample::at(self.step, self.accuracy, event));
        }
        self.tuner = Some(tuner);
        self.ceiling.begin_anew();
        self.report_left(run);
        self.report_after(run)
    }

    /// The accuracy right after pruning, with the weights that were trained.
    fn judge_pruned(&mut self, run: &mut Run<'_>, choice: Choice) -> Result<(), Trouble> {
        let tuner = Tuner::new(
            &self.trained,
            &self.layers,
            &self.before,
            &self.cut,
            &self.device,
        )?;
        self.accuracy = self.judge(&tuner.network());
        run.scalar("accuracy_pruned", self.accuracy);
        let event = Event::Pruned(choice.in_words());
        self.trail.push(Sample::at(self.step, self.accuracy, event));
        // A series has one value a step: what knobs do before the first is in the picture alone.
        if self.tuner.is_none() {
            point(run, "accuracy", 0, self.accuracy);
        }
        Ok(())
    }

    fn judge(&self, network: &Network) -> f64 {
        self.judged.judge(network, self.trained.activation).accuracy
    }

    fn apply(
        &mut self,
        schema: &Schema,
        run: &mut Run<'_>,
        changes: Vec<(String, Value)>,
    ) -> Result<(), Trouble> {
        let params = &mut self.params;
        let turned = knobs::turn(schema, run, params, self.step, changes, Knobs::read);
        let Some(knobs) = turned else {
            return Ok(());
        };
        let before = std::mem::replace(&mut self.knobs, knobs);
        if before.choice != self.knobs.choice {
            return self.begin(run);
        }
        self.report_left(run);
        if before.value_bits != self.knobs.value_bits {
            self.report_after(run)?;
        }
        Ok(())
    }

    /// One step with everything that is due after it.
    fn advance(&mut self, run: &mut Run<'_>) -> Result<(), Trouble> {
        if self.steps_of_round == self.setup.steps && self.round < self.setup.rounds {
            self.next_round(run)?;
        }
        let Some(tuner) = &mut self.tuner else {
            return Ok(());
        };
        let loss = tuner.step(&self.examples, &mut self.batches)?;
        let broken = divergence::of_weights(tuner.weights());
        self.step += 1;
        self.steps_of_round += 1;
        point(run, "loss", self.step, loss);
        if let Some(what) = self.ceiling.judge(loss).or(broken) {
            self.divergence = Some(what);
            run.sink.report(Report::Diverged {
                step: self.step,
                reason: what.to_owned(),
            });
        }
        let is_last = self.steps_of_round == self.setup.steps;
        if self.divergence.is_none() && (is_last || self.steps_of_round.is_multiple_of(RECORDED)) {
            self.record(run)?;
        }
        self.draw(run, Moment::Running);
        Ok(())
    }

    /// What has become of the accuracy.
    fn record(&mut self, run: &mut Run<'_>) -> Result<(), Trouble> {
        let Some(tuner) = &self.tuner else {
            return Ok(());
        };
        self.row = tuner.whole()?;
        let network = tuner.network();
        self.accuracy = self.judge(&network);
        self.recorded = Some(self.step);
        point(run, "accuracy", self.step, self.accuracy);
        let event = Event::Tuned;
        self.trail.push(Sample::at(self.step, self.accuracy, event));
        self.report_after(run)
    }

    fn draw(&mut self, run: &mut Run<'_>, moment: Moment) {
        for (panel, make) in pictures::ALL {
            if !run.sink.wants_frame(panel, moment) {
                continue;
            }
            if panel == "size"
                && !self
                    .curves
                    .as_ref()
                    .is_some_and(|of| of.are_of(&self.knobs))
            {
                let none = Cut::none(&self.layers);
                let field = Field {
                    layers: &self.layers,
                    row: &self.trained.weights,
                    draws: &self.draws,
                };
                self.curves = Some(Curves::compute(&none, &field, &self.knobs));
            }
            let frame = make(&Pictured {
                layers: &self.layers,
                uses: &self.uses,
                knobs: &self.knobs,
                cut: &self.cut,
                before: &self.before,
                row: &self.row,
                trail: &self.trail,
                curves: self.curves.as_ref(),
                seconds: self.seconds,
            });
            run.sink.report(Report::Frame {
                panel: panel.into(),
                step: self.step,
                frame,
            });
        }
        run.sink.frames_done();
    }

    /// The last values and pictures of a run, however it ended.
    fn finish(mut self, run: &mut Run<'_>) -> Result<(), LabError> {
        let id = run.device;
        let failed = |trouble| failed(id, trouble);
        if self.divergence.is_none() && self.step > 0 && self.recorded != Some(self.step) {
            self.record(run).map_err(failed)?;
        }
        if self.knobs.value_bits < 32 {
            let after = self.accuracy_after().map_err(failed)?;
            let event = Event::Rounded(self.knobs.value_bits);
            self.trail.push(Sample::at(self.step, after, event));
        }
        let stays = self.cut.row(&self.layers, self.row.len());
        let resurrected = tuner::resurrected(&self.row, &stays);
        run.scalar("resurrected_weights", resurrected as i64);
        self.time(run)?;
        self.draw(run, Moment::Final);
        run.scalar("steps_done", self.step as i64);
        run.scalar("diverged", self.divergence.is_some());
        run.scalar("wall_seconds", self.started.elapsed().as_secs_f64());
        Ok(())
    }
}

fn point(run: &mut Run<'_>, name: &str, step: u64, value: f64) {
    run.sink.report(Report::Point {
        name: name.into(),
        step,
        value,
    });
}
