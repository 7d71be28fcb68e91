//! Removes weights from a trained network, lets the rest recover, and counts what is left to store and to compute.
//!
//! [`masks`] scores matrices `[inputs, outputs]`, chooses, and trains flat parameters with removed ones set to zero after each
//! step. Units, channels and attention heads are cut out of the modules themselves ([`network`]), so that the network that is
//! timed ([`hardware`]) really is smaller. A knob that moves the mask starts its rounds again from the trained network, which
//! stays on the host and is not trained again.

mod chip;
mod coding;
mod hardware;
mod masks;
mod network;
mod panels;
mod params;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Instant;

use burn::tensor::Device;
use mlsys_device as device;
use mlsys_distributed::transport::CommError;
use mlsys_lab::report::FrameTrigger;
use mlsys_lab::schema::SchemaError;
use mlsys_lab::{LabError, Params, Run};
use mlsys_nn::baseline::Trained;
use mlsys_nn::data::{Batches, Examples};
use mlsys_nn::divergence::DivergenceCheck;
use mlsys_nn::networks::{Architecture, Initialization, Network};
use mlsys_nn::train::{Evaluation, EvaluationSet};
use mlsys_nn::{baseline, divergence, flat_params};
use mlsys_sim::pruning::huffman::CodedSize;
use mlsys_sim::pruning::mask;

use self::coding::{Stored, rounded};
use self::hardware::{Curves, Product, Uses};
use self::masks::{Candidates, FineTuner, Masks};
use self::network::Body;
use self::panels::{Event, Sample};
use self::params::{Knobs, Setup, Start};
use crate::fine_tune;
use crate::stepped::{self, LiveLab, StepError, SteppedLab, Steps, point};

pub fn lab() -> Result<LiveLab, SchemaError> {
    LiveLab::stepped(include_str!("lab.toml"), Session::open)?.reading::<params::Fields>()
}

const RECORDED: u64 = 10;

struct Session {
    setup: Setup,
    knobs: Knobs,
    /// Without autodiff.
    device: Device,
    trained: Arc<Trained>,
    body: Body,
    uses: Vec<Uses>,
    /// Fresh images, or tokens that are held out.
    items: f64,
    examples: Examples,
    judged: EvaluationSet,
    draws: Vec<Vec<f64>>,
    batches: Batches,
    /// Where the weights that are left begin a round, if not where they are.
    restart: Option<Vec<f32>>,
    dense: f64,
    /// What the last cut was made of.
    before: Vec<f32>,
    cut: Masks,
    tuner: Option<FineTuner>,
    /// All weights now, zero where they are gone.
    row: Vec<f32>,
    accuracy: f64,
    round: u64,
    steps_of_round: u64,
    goal: u64,
    recorded: u64,
    trail: Vec<Sample>,
    curves: Option<Curves>,
    seconds: Option<[f64; 2]>,
    steps: Steps,
}

impl Session {
    fn open(run: &mut Run<'_>) -> Result<Self, StepError> {
        let setup = Setup::read(&run.params)?;
        let knobs = Knobs::read(&run.params)?;
        let trained = baseline::obtain(run, &setup.recipe)?.ok_or(StepError::Stopped)?;
        baseline::require_at_most(&trained, fine_tune::MOST_PARAMETERS)?;
        if matches!(trained.architecture, Architecture::Filters(_)) {
            let message = "this lab prunes an mlp, a cnn or a transformer, and what that lab trains is none; name another";
            return Err(LabError::contradiction(["model_from"], message).into());
        }
        let device = device::open(run.device)?;
        let body = Body::new(&trained);
        let data = trained.data()?;
        let fresh = trained.fresh()?;
        let judged = EvaluationSet::new(&fresh, &device);
        let dense = score(&fresh, &judged.judge(&trained.network(&device), trained.activation));
        let classes = body.layers.last().map_or(2, |layer| layer.outputs);
        let mut session = Self {
            uses: hardware::uses(&trained.architecture, &body.layers),
            items: (fresh.len() * fresh.labels_each()) as f64,
            draws: masks::draws(&body, setup.seed),
            batches: Batches::new(setup.seed, data.train.len()),
            restart: None,
            dense,
            accuracy: dense,
            before: trained.weights.clone(),
            row: trained.weights.clone(),
            cut: Masks::none(&body),
            tuner: None,
            round: 0,
            steps_of_round: 0,
            goal: 0,
            recorded: 0,
            trail: vec![Sample { step: 0, accuracy: dense, event: Event::Dense }],
            curves: None,
            seconds: None,
            steps: Steps::new([DivergenceCheck::new((classes as f64).ln())]),
            examples: data.train,
            judged,
            body,
            trained,
            device,
            setup,
            knobs,
        };
        session.restart = session.initial()?;
        // Of a network that another run has left it is not known where it began.
        if session.setup.start == Start::Initial && run.params.get("model_from").is_some() {
            run.notice(
                "what is left goes back to the weights that He's rule draws from the network's seed; if the run that left \
                 the network began elsewhere, this is no lottery ticket",
            );
        }
        run.scalar("accuracy_before", session.dense);
        session.begin(run)?;
        session.draw(run, FrameTrigger::Final)?;
        Ok(session)
    }

    fn initial(&self) -> Result<Option<Vec<f32>>, CommError> {
        let seed = match self.setup.start {
            Start::Trained => return Ok(None),
            Start::Initial => self.trained.data.seed,
            // Any other number would do as well.
            Start::Redrawn => self.trained.data.seed.wrapping_add(1_000_003),
        };
        let network = self.trained.architecture.init(Initialization::He, seed, &self.device);
        Ok(Some(flat_params::weights(&network)?))
    }

    fn begin(&mut self, run: &mut Run<'_>) -> Result<(), CommError> {
        self.cut = Masks::none(&self.body);
        self.row = self.trained.weights.clone();
        self.goal = self.steps.done + self.setup.rounds * self.setup.steps;
        // Without steps between them, rounds would only choose among the same weights again and again.
        self.round = if self.setup.steps == 0 { self.setup.rounds - 1 } else { 0 };
        self.next_round(run)
    }

    fn next_round(&mut self, run: &mut Run<'_>) -> Result<(), CommError> {
        self.round += 1;
        self.steps_of_round = 0;
        let choice = self.knobs.choice.after(self.round, self.setup.rounds);
        self.before = std::mem::take(&mut self.row);
        let from = Candidates { body: &self.body, row: &self.before, draws: &self.draws };
        self.cut = self.cut.choose(&from, choice);
        let mut tuner = self.fine_tuner(&self.before)?;
        self.accuracy = self.judge(&tuner.network());
        run.scalar("accuracy_pruned", self.accuracy);
        self.log(Event::Pruned(choice.in_words()), self.accuracy);
        // A series has one value a step: what knobs do before the first is in the picture alone.
        if self.tuner.is_none() {
            point(run, "accuracy", 0, self.accuracy);
        }
        // Without steps of fine-tuning nothing begins anywhere: what is left is what was trained.
        if let Some(restart) = self.restart.as_ref().filter(|_| self.setup.steps > 0) {
            tuner = self.fine_tuner(restart)?;
            self.accuracy = self.judge(&tuner.network());
            self.log(Event::Rewound, self.accuracy);
        }
        self.row = tuner.whole()?;
        self.tuner = Some(tuner);
        self.steps.begin_anew();
        self.report_left(run);
        self.report_after(run)
    }

    fn fine_tuner(&self, row: &[f32]) -> Result<FineTuner, CommError> {
        let device = self.device.clone().autodiff();
        FineTuner::new(&self.trained, &self.body, row, &self.cut, &device)
    }

    fn log(&mut self, event: Event, accuracy: f64) {
        self.trail.push(Sample { step: self.steps.done, accuracy, event });
    }

    fn judge(&self, network: &Network) -> f64 {
        score(&self.examples, &self.judged.judge(network, self.trained.activation))
    }

    /// Whether the network reads tokens, of which several may follow, and not images.
    fn reads_tokens(&self) -> bool {
        matches!(self.examples, Examples::Sequence(_))
    }

    fn record(&mut self, run: &mut Run<'_>) -> Result<(), CommError> {
        let Some(tuner) = &self.tuner else { return Ok(()) };
        self.row = tuner.whole()?;
        self.accuracy = self.judge(&tuner.network());
        self.recorded = self.steps.done;
        point(run, "accuracy", self.steps.done, self.accuracy);
        self.log(Event::Tuned, self.accuracy);
        self.report_after(run)
    }

    /// What networks of all sparsities take to store is found anew only if a knob that it depends on was turned.
    fn draw_curves(&mut self) {
        if self.curves.as_ref().is_some_and(|curves| curves.matches(&self.knobs)) {
            return;
        }
        let none = Masks::none(&self.body);
        let from = Candidates { body: &self.body, row: &self.trained.weights, draws: &self.draws };
        self.curves = Some(Curves::compute(&none, &from, &self.knobs));
    }

    fn report_left(&self, run: &mut Run<'_>) {
        let (cut, layers) = (&self.cut, &self.body.layers);
        let (kept, all) = (cut.kept(), cut.weights_in_all());
        run.scalar("kept_weights", kept as i64);
        run.scalar("sparsity_reached", 1.0 - kept as f64 / all as f64);
        let mut flops = 0.0;
        for ((layer, mask), uses) in layers.iter().zip(&cut.masks).zip(&self.uses) {
            let kept = mask::count(mask) as f64;
            run.scalar(&format!("sparsity.{}", layer.name), 1.0 - kept / mask.len() as f64);
            flops += 2.0 * uses.places * kept;
        }
        run.scalar("remaining_flops", flops as i64);
        let products = self.products();
        let sum = |seconds: fn(&Product) -> f64| -> f64 { products.iter().map(seconds).sum() };
        let speedup = sum(|product| product.dense) / sum(|product| product.pruned);
        run.scalar("modelled_speedup", speedup);
        if let Some(tuner) = &self.tuner {
            run.scalar("parameters", tuner.weights().len() as i64);
        }
    }

    fn products(&self) -> Vec<Product> {
        let (chip, method) = (&self.knobs.chip, self.knobs.choice.method);
        hardware::products(chip, &self.body, (&self.uses, self.items), &self.cut, method)
    }

    /// What is stored follows the weights where they are Huffman-coded, and is reported with their accuracy.
    fn report_after(&self, run: &mut Run<'_>) -> Result<(), CommError> {
        let stored = Stored::new(&self.body, &self.row, &self.cut, &self.knobs);
        run.scalar("stored_bytes", stored.bytes as i64);
        run.scalar("storage_format", stored.format);
        let dense = 4.0 * self.trained.weights.len() as f64;
        run.scalar("compression_ratio", dense / stored.bytes as f64);
        if let Some(CodedSize { mean_bits: [value, offset], .. }) = stored.coded {
            run.scalar("mean_value_bits", value);
            run.scalar("mean_offset_bits", offset);
        }
        let after = self.accuracy_after()?;
        run.scalar("accuracy_after", after);
        run.scalar("accuracy_drop", self.dense - after);
        Ok(())
    }

    fn accuracy_after(&self) -> Result<f64, CommError> {
        match &self.tuner {
            Some(tuner) if self.knobs.value_bits < 32 => Ok(self.judge(
                &tuner.network_with(&rounded(&self.body, &self.row, self.knobs.value_bits)),
            )),
            _ => Ok(self.accuracy),
        }
    }

    fn time(&mut self, run: &mut Run<'_>) -> Result<(), LabError> {
        let Some(tuner) = &self.tuner else { return Ok(()) };
        let (whole, left) = (self.trained.network(&self.device), tuner.network());
        let mut fastest = [f64::INFINITY; 2];
        let begun = Instant::now();
        // The first pass of each makes room for its results.
        for timing in 0..=TIMINGS {
            if timing > 1 && begun.elapsed().as_secs_f64() > TIMEOUT {
                break;
            }
            for (network, fastest) in [&whole, &left].into_iter().zip(&mut fastest) {
                device::sync(&self.device, run.device)?;
                let begun = Instant::now();
                self.judged.forward(network, self.trained.activation);
                device::sync(&self.device, run.device)?;
                if timing > 0 {
                    *fastest = fastest.min(begun.elapsed().as_secs_f64());
                }
            }
        }
        self.seconds = Some(fastest);
        run.scalar("dense_seconds", fastest[0]);
        run.scalar("pruned_seconds", fastest[1]);
        Ok(())
    }
}

/// The share right; of tokens, of which several may follow, minus the loss in nats.
fn score(examples: &Examples, verdict: &Evaluation) -> f64 {
    match examples {
        Examples::Labelled(_) => verdict.accuracy,
        Examples::Sequence(_) => -verdict.loss,
    }
}

impl SteppedLab for Session {
    type Knobs = Knobs;

    fn steps(&mut self) -> &mut Steps {
        &mut self.steps
    }

    fn has_next(&self) -> bool {
        self.steps.done < self.goal
    }

    fn read(&self, params: &Params) -> Result<Knobs, LabError> {
        Knobs::read(params)
    }

    fn turn(&mut self, run: &mut Run<'_>, knobs: Knobs) -> Result<(), StepError> {
        let before = std::mem::replace(&mut self.knobs, knobs);
        if before.choice != self.knobs.choice {
            return Ok(self.begin(run)?);
        }
        self.report_left(run);
        Ok(self.report_after(run)?)
    }

    fn advance(&mut self, run: &mut Run<'_>) -> Result<(), StepError> {
        if self.steps_of_round == self.setup.steps && self.round < self.setup.rounds {
            self.next_round(run)?;
        }
        let Some(tuner) = &mut self.tuner else { return Ok(()) };
        let loss = tuner.step(&self.examples, &mut self.batches)?;
        let broken = divergence::check_weights(tuner.weights());
        self.steps.done += 1;
        self.steps_of_round += 1;
        point(run, "loss", self.steps.done, loss);
        self.steps.judge(run, &[loss], broken, str::to_owned);
        let is_last = self.steps_of_round == self.setup.steps;
        if self.steps.divergence().is_none()
            && (is_last || self.steps_of_round.is_multiple_of(RECORDED))
        {
            self.record(run)?;
        }
        Ok(())
    }

    fn draw(&mut self, run: &mut Run<'_>, moment: FrameTrigger) -> Result<(), StepError> {
        let at = (self.steps.done, moment);
        stepped::draw(run, at, &panels::ALL, |panel, make| {
            if panel == "size" {
                self.draw_curves();
            }
            make(self)
        });
        Ok(())
    }

    fn finish(&mut self, run: &mut Run<'_>) -> Result<(), StepError> {
        if self.steps.divergence().is_none() && self.recorded < self.steps.done {
            self.record(run)?;
        }
        if self.knobs.value_bits < 32 {
            let after = self.accuracy_after()?;
            self.log(Event::Rounded(self.knobs.value_bits), after);
        }
        let stays = self.cut.row(&self.body, self.row.len());
        let resurrected = masks::resurrected(&self.row, &stays);
        run.scalar("resurrected_weights", resurrected as i64);
        Ok(self.time(run)?)
    }
}

/// How often each network is timed; the fastest counts, for whatever else the machine does only adds time.
const TIMINGS: usize = 7;

/// Seconds after which one timing of each is enough: a wide network takes long, and seven would keep the learner waiting.
const TIMEOUT: f64 = 2.0;
