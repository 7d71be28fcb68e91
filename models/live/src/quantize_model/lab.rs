//! Rounds a trained network to few bits, and measures the effect on its answers, its size and its noise.
//!
//! Rounding is `mlsys_sim::quantizer`, on the host, matrix by matrix of the flat parameters ([`rounding`]), which then go to
//! the device. Quantization-aware training takes the gradient at the rounded weights and applies it to the unrounded ones
//! ([`tune`]); the same file makes the network in burn's own quantized tensors, with our scales. [`forward`] has the pass
//! that observes and rounds each layer's input.

mod forward;
mod panels;
mod params;
mod rounding;
#[cfg(test)]
mod tests;
mod tune;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use burn::tensor::Device;
use mlsys_device as device;
use mlsys_lab::report::FrameTrigger;
use mlsys_lab::schema::SchemaError;
use mlsys_lab::{DeviceId, LabError, Params, Run};
use mlsys_nn::baseline::{self, Layer, Trained};
use mlsys_nn::divergence::DivergenceCheck;
use mlsys_nn::networks::Network;
use mlsys_sim::quantizer::Noise;

use self::panels::Curves;
use self::params::{Execution, Knobs, Method, Setup};
use self::rounding::{Answers, InputGrids, Judge, Observed, Rounded};
use self::tune::FineTuner;
use crate::fine_tune;
use crate::stepped::{self, LiveLab, StepError, SteppedLab, Steps, known, point};

pub fn lab() -> Result<LiveLab, SchemaError> {
    LiveLab::stepped(include_str!("lab.toml"), Session::open)?.reading::<params::Fields>()
}

const EVALUATE_EVERY: u64 = 10;

struct Session {
    id: DeviceId,
    /// Without autodiff.
    device: Device,
    setup: Setup,
    knobs: Knobs,
    trained: Arc<Trained>,
    layers: Vec<Layer>,
    judge: Judge,
    before: Answers,
    seconds_before: f64,
    /// The layers' inputs; observed when first needed.
    observed: Option<Observed>,
    /// The weights behind the levels: as trained, or as trained on since.
    row: Vec<f32>,
    rounded: Rounded,
    /// What rounding did when weights last took their levels; shared values that are trained since no longer lie nearest.
    fresh: Noise,
    grids: InputGrids,
    after: Answers,
    /// None until no training is left that would change it.
    seconds_after: Option<f64>,
    /// Weights that burn holds as quantized tensors, in matrices.
    native: usize,
    tuner: Option<FineTuner>,
    /// Steps of training done since the knobs were as they are.
    tuned: u64,
    scan: Scan,
    curves: Option<Curves>,
    /// A step is one of training, or a layer that is tried alone.
    steps: Steps,
}

impl Session {
    fn open(run: &mut Run<'_>) -> Result<Self, StepError> {
        let setup = Setup::read(&run.params)?;
        let knobs = Knobs::read(&run.params)?;
        let trained = baseline::obtain(run, &setup.recipe)?.ok_or(StepError::Stopped)?;
        baseline::require_at_most(&trained, fine_tune::MOST_PARAMETERS)?;
        let device = device::open(run.device)?;
        let layers = trained.layers();
        let judge = Judge::new(&trained, run.device, &device)?;
        let network = trained.network(&device);
        let none = InputGrids::default();
        let before = judge.answers(&network, &none);
        let seconds_before = judge.seconds(&network, &none)?;
        let row = trained.weights.clone();
        let classes = layers.last().map_or(2, |layer| layer.outputs);
        let mut session = Self {
            id: run.device,
            scan: Scan::new(&knobs, layers.len()),
            rounded: Rounded::new(&knobs, &layers, &row),
            fresh: Noise::default(),
            after: before.clone(),
            seconds_after: None,
            native: 0,
            observed: None,
            grids: none,
            tuner: None,
            tuned: 0,
            curves: None,
            steps: Steps::new([DivergenceCheck::new((classes as f64).ln())]),
            device,
            setup,
            knobs,
            trained,
            layers,
            judge,
            before,
            seconds_before,
            row,
        };
        session.begin(run)?;
        session.draw(run, FrameTrigger::Final)?;
        Ok(session)
    }

    fn begin(&mut self, run: &mut Run<'_>) -> Result<(), LabError> {
        self.row.clone_from(&self.trained.weights);
        self.tuned = 0;
        self.tuner = None;
        if self.knobs.trains() && self.setup.finetune_steps > 0 {
            let examples = self.trained.data()?.train;
            self.tuner = Some(FineTuner::new(examples, self.setup.seed, &self.device));
        }
        self.round(run)
    }

    fn round(&mut self, run: &mut Run<'_>) -> Result<(), LabError> {
        self.seconds_after = None;
        self.steps.begin_anew();
        self.rounded = Rounded::new(&self.knobs, &self.layers, &self.row);
        let noise = self.rounded.noise(&self.layers, &self.row);
        self.fresh = noise.into_iter().fold(Noise::default(), Noise::and);
        self.calibrate()?;
        self.scan.follow(&self.knobs);
        self.assess(run)
    }

    /// Reports the network as it is now, with its time once no training is left.
    fn assess(&mut self, run: &mut Run<'_>) -> Result<(), LabError> {
        if self.has_training_left() {
            self.evaluate();
            self.report(run);
        } else {
            self.settle(run)?;
        }
        if self.tuner.is_some() {
            point(run, "tuning_accuracy", self.steps.done, self.after.score);
        }
        Ok(())
    }

    fn calibrate(&mut self) -> Result<(), LabError> {
        if self.knobs.activations.is_some() && self.observed.is_none() {
            let examples = self.trained.data()?.train;
            let network = self.trained.network(&self.device);
            let (layers, activation) = (self.layers.len(), self.trained.activation);
            let seen = Observed::new(&network, layers, activation, &examples, &self.device);
            self.observed = Some(seen);
        }
        let observed = self.observed.as_ref();
        self.grids = observed.map_or_else(InputGrids::default, |seen| seen.grids(&self.knobs));
        Ok(())
    }

    fn network(&mut self) -> Network {
        match self.knobs.execution {
            Execution::Simulated => {
                self.native = 0;
                self.trained.network_of(&self.rounded.row, &self.device)
            }
            Execution::Native => {
                let (layers, device) = (&self.layers, &self.device);
                let (network, matrices) =
                    tune::network(&self.trained, layers, &self.rounded, &self.knobs, device);
                self.native = matrices;
                network
            }
        }
    }

    fn evaluate(&mut self) -> Network {
        let network = self.network();
        self.after = self.judge.answers(&network, &self.grids);
        network
    }

    fn settle(&mut self, run: &mut Run<'_>) -> Result<(), LabError> {
        let network = self.evaluate();
        self.seconds_after = Some(self.judge.seconds(&network, &self.grids)?);
        self.report(run);
        Ok(())
    }

    fn has_training_left(&self) -> bool {
        self.tuner.is_some()
            && self.tuned < self.setup.finetune_steps
            && self.steps.divergence().is_none()
    }

    fn train(&mut self, run: &mut Run<'_>) -> Result<(), StepError> {
        let Some(tuner) = &mut self.tuner else { return Ok(()) };
        let weights = (self.row.as_mut_slice(), &mut self.rounded);
        let loss = tuner.step(&self.knobs, &self.grids, &self.trained, &self.layers, weights)?;
        self.steps.done += 1;
        self.tuned += 1;
        point(run, "tuning_loss", self.steps.done, loss);
        self.steps.judge(run, &[loss], None, str::to_owned);
        if !self.has_training_left() || self.tuned.is_multiple_of(EVALUATE_EVERY) {
            self.assess(run)?;
        }
        Ok(())
    }

    fn try_alone(&mut self, run: &mut Run<'_>, layer: usize, knobs: &Knobs) {
        let own = &self.layers[layer];
        let mut row = self.trained.weights.clone();
        let rounded = rounding::of_layer(knobs, own, &row);
        own.put(&mut row, &rounded.back);
        let network = self.trained.network_of(&row, &self.device);
        let answers = self.judge.answers(&network, &InputGrids::default());
        let bits = knobs.weight_bits();
        self.scan.lost.insert((layer, bits), self.before.score - answers.score);
        self.steps.done += 1;
        if bits == self.knobs.weight_bits() {
            self.report_sensitivity(run, layer);
        }
    }

    /// The noise of all widths takes as long as rounding that often, and does not depend on the one that is set.
    fn draw_curves(&mut self) {
        if !self.curves.as_ref().is_some_and(|curves| curves.matches(&self.knobs)) {
            self.curves = Some(Curves::new(&self.knobs, &self.layers, &self.trained.weights));
        }
    }

    fn report(&self, run: &mut Run<'_>) {
        let [before, after] = [self.before.score, self.after.score];
        let changed = self.after.changed(&self.before).len();
        run.scalar("accuracy_before", before);
        run.scalar("accuracy_after", after);
        run.scalar("accuracy_drop", before - after);
        run.scalar("changed_predictions", changed as i64);
        if self.judge.reads_tokens() {
            run.scalar("perplexity_before", self.before.loss.exp());
            run.scalar("perplexity_after", self.after.loss.exp());
        }
        self.report_noise(run);
        let size = self.rounded.size();
        run.scalar("stored_bytes_before", size.before as i64);
        run.scalar("stored_bytes", size.after() as i64);
        run.scalar("compression_ratio", size.ratio());
        run.scalar("bits_per_weight", size.bits_per_weight());
        run.scalar("forward_seconds_before", self.seconds_before);
        known(run, "forward_seconds_after", self.seconds_after);
        (0..self.layers.len()).for_each(|layer| self.report_sensitivity(run, layer));
    }

    fn report_noise(&self, run: &mut Run<'_>) {
        let noise = self.rounded.noise(&self.layers, &self.row);
        for (layer, noise) in self.layers.iter().zip(&noise) {
            for (family, decibels) in
                [("sqnr_db", noise.sqnr_db()), ("predicted_sqnr_db", noise.predicted_db())]
            {
                known(run, &format!("{family}.{}", layer.name), decibels);
            }
        }
        let all = if self.knobs.method == Method::Kmeans {
            self.fresh
        } else {
            noise.into_iter().fold(Noise::default(), Noise::and)
        };
        run.scalar("max_error_over_half_step", all.worst);
        run.scalar("clipped_fraction", all.clipped as f64 / all.weights.max(1) as f64);
    }

    /// What was lost with one layer alone rounded to the bits that are set, if that has been tried.
    fn report_sensitivity(&self, run: &mut Run<'_>, layer: usize) {
        let lost = self.scan.lost(layer, self.knobs.weight_bits());
        known(run, &format!("sensitivity.{}", self.layers[layer].name), lost);
    }
}

impl SteppedLab for Session {
    type Knobs = Knobs;

    fn steps(&mut self) -> &mut Steps {
        &mut self.steps
    }

    fn has_next(&self) -> bool {
        self.has_training_left() || self.scan.next(&self.knobs).is_some()
    }

    fn read(&self, params: &Params) -> Result<Knobs, LabError> {
        Knobs::read(params)
    }

    fn turn(&mut self, run: &mut Run<'_>, knobs: Knobs) -> Result<(), StepError> {
        let before = std::mem::replace(&mut self.knobs, knobs);
        if before.same_rounding(&knobs) {
            return Ok(());
        }
        let was_aware = (before.method, knobs.method) == (Method::Aware, Method::Aware);
        if was_aware && self.has_training_left() {
            self.round(run)?;
        } else {
            self.begin(run)?;
        }
        Ok(())
    }

    fn advance(&mut self, run: &mut Run<'_>) -> Result<(), StepError> {
        if self.has_training_left() {
            return self.train(run);
        }
        if let Some((layer, knobs)) = self.scan.next(&self.knobs) {
            self.try_alone(run, layer, &knobs);
        }
        Ok(())
    }

    fn draw(&mut self, run: &mut Run<'_>, moment: FrameTrigger) -> Result<(), StepError> {
        let at = (self.steps.done, moment);
        stepped::draw(run, at, &panels::ALL, |panel, make| {
            if panel == panels::NOISE {
                self.draw_curves();
            }
            make(self)
        });
        Ok(())
    }

    fn finish(&mut self, run: &mut Run<'_>) -> Result<(), StepError> {
        if self.seconds_after.is_none() {
            self.settle(run)?;
        }
        Ok(())
    }
}

// How much each layer minds being rounded: one layer at a time, at several widths.

const BITS: [u32; 5] = [2, 3, 4, 6, 8];

struct Scan {
    /// By what layers are rounded; none of it depends on the width that is set.
    by: Knobs,
    layers: usize,
    /// Accuracy, or minus the loss, relative to the trained network, by layer and bits.
    lost: HashMap<(usize, u32), f64>,
}

impl Scan {
    fn new(knobs: &Knobs, layers: usize) -> Self {
        Self { by: plain(knobs), layers, lost: HashMap::new() }
    }

    /// Follows the knobs: what was tried stays if it would come out the same.
    fn follow(&mut self, knobs: &Knobs) {
        if plain(knobs) != self.by {
            *self = Self::new(knobs, self.layers);
        }
    }

    fn widths(knobs: &Knobs) -> Vec<u32> {
        let others = BITS.into_iter().filter(|_| knobs.method != Method::Nf4);
        others.chain([knobs.weight_bits()]).collect::<BTreeSet<u32>>().into_iter().collect()
    }

    /// The layer to try next and the knobs to round it by: first all layers at the width that is set.
    fn next(&self, knobs: &Knobs) -> Option<(usize, Knobs)> {
        let own = knobs.weight_bits();
        let others = Self::widths(knobs).into_iter().filter(|bits| *bits != own);
        let mut order = std::iter::once(own).chain(others);
        order.find_map(|bits| {
            let layer = (0..self.layers).find(|layer| self.lost(*layer, bits).is_none())?;
            Some((layer, Knobs { bits, ..self.by }))
        })
    }

    fn lost(&self, layer: usize, bits: u32) -> Option<f64> {
        self.lost.get(&(layer, bits)).copied()
    }
}

/// The knobs that matter to a layer that is rounded alone, without training and with its inputs as they are.
fn plain(knobs: &Knobs) -> Knobs {
    Knobs {
        method: if knobs.method == Method::Aware { Method::Round } else { knobs.method },
        bits: 0,
        activations: None,
        layer: 0,
        ..*knobs
    }
}
