//! A run from the trained network to the last report.

use std::sync::Arc;

use burn::tensor::Device;
use mlsys_lab::report::{Moment, Report};
use mlsys_lab::{DeviceId, LabError, Params, Run};
use mlsys_sim::quantizer::Noise;

use super::calibrated::{InputGrids, Observed};
use super::judge::{Answers, Judge};
use super::native;
use super::pictures::{self, Curves, Pictured};
use super::rounding::{self, Rounded};
use super::scan::{Scan, Tried};
use super::setup::{Execution, Knobs, Method, Setup};
use super::tune::Tuner;
use crate::stepped::{self, StepError, SteppedLab, point};
use mlsys_device as device;
use mlsys_nn::baseline::{self, Layer, Trained};
use mlsys_nn::divergence::Ceiling;
use mlsys_nn::nets::Network;

/// Steps of training between two looks at fresh examples.
const LOOK_EVERY: u64 = 10;

pub(super) struct Session {
    id: DeviceId,
    /// Without autodiff.
    device: Device,
    setup: Setup,
    knobs: Knobs,
    pub(super) trained: Arc<Trained>,
    pub(super) layers: Vec<Layer>,
    pub(super) judge: Judge,
    /// What the network answered as it was trained.
    pub(super) before: Answers,
    pub(super) seconds_before: f64,
    /// What came into its layers; not looked at before somebody asks for it.
    observed: Option<Observed>,
    /// The weights behind the levels: as trained, or as trained on since.
    pub(super) row: Vec<f32>,
    pub(super) rounded: Rounded,
    /// What rounding did when weights last took their levels; shared values that are trained since no longer lie nearest.
    pub(super) fresh: Noise,
    grids: InputGrids,
    /// What the rounded network answers.
    pub(super) after: Answers,
    /// None until no training is left that would change it.
    pub(super) seconds_after: Option<f64>,
    /// Weights that burn holds as quantized tensors, in matrices.
    pub(super) native: usize,
    tuner: Option<Tuner>,
    /// Steps of training done since the knobs were as they are.
    tuned: u64,
    pub(super) scan: Scan,
    curves: Option<Curves>,
    ceiling: Ceiling,
    pub(super) diverged: bool,
    /// Steps done: of training, or layers tried alone.
    pub(super) step: u64,
}

impl Session {
    pub(super) fn open(run: &mut Run<'_>) -> Result<Self, StepError> {
        let setup = Setup::read(&run.params)?;
        let knobs = Knobs::read(&run.params)?;
        let trained = baseline::obtain(run, &setup.recipe)?.ok_or(StepError::Stopped)?;
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
            rounded: Rounded::of(&knobs, &layers, &row),
            fresh: Noise::default(),
            after: before.clone(),
            seconds_after: None,
            native: 0,
            observed: None,
            grids: none,
            tuner: None,
            tuned: 0,
            curves: None,
            ceiling: Ceiling::new((classes as f64).ln()),
            diverged: false,
            step: 0,
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
        session.draw(run, Moment::Final)?;
        Ok(session)
    }

    pub(super) fn knobs(&self) -> &Knobs {
        &self.knobs
    }

    /// From the trained network, with the knobs as they are.
    fn begin(&mut self, run: &mut Run<'_>) -> Result<(), LabError> {
        self.row.clone_from(&self.trained.weights);
        self.tuned = 0;
        self.tuner = None;
        if self.knobs.trains() && self.setup.finetune_steps > 0 {
            let examples = self.trained.data()?.train;
            self.tuner = Some(Tuner::new(examples, self.setup.seed, &self.device));
        }
        self.round(run)
    }

    /// The weights rounded anew.
    fn round(&mut self, run: &mut Run<'_>) -> Result<(), LabError> {
        self.seconds_after = None;
        self.ceiling.begin_anew();
        self.rounded = Rounded::of(&self.knobs, &self.layers, &self.row);
        let noise = self.rounded.noise(&self.layers, &self.row);
        self.fresh = noise.into_iter().fold(Noise::default(), Noise::and);
        self.calibrate()?;
        self.scan.follow(&self.knobs);
        if self.has_training_left() {
            self.look();
            self.report(run);
            point(run, "tuning_accuracy", self.step, self.after.score);
            Ok(())
        } else {
            self.settle(run)
        }
    }

    fn calibrate(&mut self) -> Result<(), LabError> {
        if self.knobs.activations.is_some() && self.observed.is_none() {
            let examples = self.trained.data()?.train;
            let network = self.trained.network(&self.device);
            let (count, activation) = (self.layers.len(), self.trained.activation);
            self.observed =
                Some(Observed::of(&network, count, activation, &examples, &self.device));
        }
        let observed = self.observed.as_ref();
        self.grids = observed.map_or_else(InputGrids::default, |seen| seen.grids(&self.knobs));
        Ok(())
    }

    /// The rounded network on the device, as it is executed.
    fn network(&mut self) -> Network {
        match self.knobs.execution {
            Execution::Simulated => {
                self.native = 0;
                self.trained.network_of(&self.rounded.row, &self.device)
            }
            Execution::Native => {
                let (network, matrices) = native::network(
                    &self.trained,
                    &self.layers,
                    &self.rounded,
                    &self.knobs,
                    &self.device,
                );
                self.native = matrices;
                network
            }
        }
    }

    fn look(&mut self) {
        let network = self.network();
        self.after = self.judge.answers(&network, &self.grids);
    }

    /// What is known once no training is left.
    fn settle(&mut self, run: &mut Run<'_>) -> Result<(), LabError> {
        let network = self.network();
        self.after = self.judge.answers(&network, &self.grids);
        self.seconds_after = Some(self.judge.seconds(&network, &self.grids)?);
        self.report(run);
        Ok(())
    }

    fn has_training_left(&self) -> bool {
        self.tuner.is_some() && self.tuned < self.setup.finetune_steps && !self.diverged
    }

    fn train(&mut self, run: &mut Run<'_>) -> Result<(), StepError> {
        let Some(tuner) = &mut self.tuner else {
            return Ok(());
        };
        let loss = tuner.step(
            &self.knobs,
            &self.grids,
            &self.trained,
            &self.layers,
            &mut self.row,
            &mut self.rounded,
        )?;
        self.step += 1;
        self.tuned += 1;
        point(run, "tuning_loss", self.step, loss);
        if let Some(what) = self.ceiling.judge(loss) {
            self.diverged = true;
            run.sink.report(Report::Diverged { step: self.step, reason: what.to_owned() });
        }
        let last = !self.has_training_left();
        if last {
            self.settle(run)?;
        } else if self.tuned.is_multiple_of(LOOK_EVERY) {
            self.look();
            self.report(run);
        }
        if last || self.tuned.is_multiple_of(LOOK_EVERY) {
            point(run, "tuning_accuracy", self.step, self.after.score);
        }
        Ok(())
    }

    /// The trained network with one layer rounded.
    fn try_alone(&mut self, run: &mut Run<'_>, layer: usize, knobs: &Knobs) {
        let Some(own) = self.layers.get(layer) else {
            return;
        };
        let mut row = self.trained.weights.clone();
        let rounded = rounding::of_layer(knobs, own, &row);
        own.put(&mut row, &rounded.back);
        let network = self.trained.network_of(&row, &self.device);
        let answers = self.judge.answers(&network, &InputGrids::default());
        self.scan.tried.push(Tried {
            layer,
            bits: knobs.weight_bits(),
            lost: self.before.score - answers.score,
        });
        self.step += 1;
        if knobs.weight_bits() == self.knobs.weight_bits() {
            self.report_sensitivity(run, layer);
        }
    }

    /// The noise of all widths takes as long as rounding that often, and does not depend on the one that is set.
    fn draw_curves(&mut self) {
        let known = self.curves.as_ref();
        if !known.is_some_and(|curves| curves.is_of(&self.knobs)) {
            let weights = &self.trained.weights;
            self.curves = Some(Curves::of(&self.knobs, &self.layers, weights));
        }
    }
}

impl SteppedLab for Session {
    type Knobs = Knobs;

    fn done(&self) -> u64 {
        self.step
    }

    fn has_next(&self) -> bool {
        self.has_training_left() || self.scan.next(&self.knobs).is_some()
    }

    fn diverged(&self) -> bool {
        self.diverged
    }

    fn read(&self, params: &Params) -> Result<Knobs, LabError> {
        Knobs::read(params)
    }

    fn turn(&mut self, run: &mut Run<'_>, knobs: Knobs) -> Result<(), StepError> {
        let before = std::mem::replace(&mut self.knobs, knobs);
        if before.same_rounding(&knobs) {
            return Ok(());
        }
        let has_next = (before.method, knobs.method) == (Method::Aware, Method::Aware);
        if has_next && self.has_training_left() {
            self.round(run)?;
        } else {
            self.begin(run)?;
        }
        Ok(())
    }

    /// A step of training while some are left, then a layer that is tried alone.
    fn advance(&mut self, run: &mut Run<'_>) -> Result<(), StepError> {
        if self.has_training_left() {
            self.train(run)?;
        } else if let Some((layer, knobs)) = self.scan.next(&self.knobs) {
            self.try_alone(run, layer, &knobs);
        } else {
            return Ok(());
        }
        self.draw(run, Moment::Running)
    }

    fn draw(&mut self, run: &mut Run<'_>, moment: Moment) -> Result<(), StepError> {
        let at = (self.step, moment);
        stepped::draw(run, at, &pictures::ALL, |panel, make| {
            if panel == pictures::NOISE {
                self.draw_curves();
            }
            make(&Pictured {
                session: self,
                observed: self.observed.as_ref(),
                grids: &self.grids,
                curves: self.curves.as_ref(),
                device: self.id,
            })
        });
        Ok(())
    }

    fn finish(&mut self, run: &mut Run<'_>) -> Result<(), StepError> {
        if self.seconds_after.is_none() {
            self.settle(run)?;
        }
        self.draw(run, Moment::Final)
    }
}
