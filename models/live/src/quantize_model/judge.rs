//! How well a network does on examples that it has not seen, and how long it takes.

use std::time::Instant;

use burn::tensor::Device;
use mlsys_lab::{DeviceId, LabError};

use super::calibrated::InputGrids;
use super::pass;
use mlsys_device as device;
use mlsys_nn::baseline::Trained;
use mlsys_nn::data::{Examples, Form, Vocabulary};
use mlsys_nn::nets::{Activation, Inputs, Network};
use mlsys_nn::train::EvaluationSet;

/// Passes that are timed, the middle one of which counts.
const TIMED: usize = 3;

/// The examples, on the device.
pub(super) struct Judge {
    id: DeviceId,
    /// Without autodiff.
    device: Device,
    activation: Activation,
    form: Form,
    set: EvaluationSet,
    /// The same on the host.
    pub(super) examples: Examples,
    /// What tokens are called.
    pub(super) vocabulary: Option<Vocabulary>,
}

/// What a network answered.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Answers {
    /// Mean cross-entropy in nats.
    pub(super) loss: f64,
    /// Share right; minus the loss where answers are tokens.
    pub(super) score: f64,
    /// The class thought likeliest for each label.
    pub(super) classes: Vec<usize>,
}

impl Judge {
    pub(super) fn new(trained: &Trained, id: DeviceId, device: &Device) -> Result<Self, LabError> {
        let examples = trained.fresh()?;
        let form = trained.data.dataset.form();
        let language = match form {
            Form::Tokens => trained.data()?.language,
            Form::Images | Form::Points => None,
        };
        Ok(Self {
            id,
            device: device.clone(),
            activation: trained.activation,
            form,
            set: EvaluationSet::new(&examples, device),
            examples,
            vocabulary: language.map(|language| language.vocabulary),
        })
    }

    /// Whether answers are tokens.
    pub(super) fn reads_tokens(&self) -> bool {
        match self.form {
            Form::Tokens => true,
            Form::Images | Form::Points => false,
        }
    }

    /// What a network without autodiff answers, if the inputs of its layers are rounded to these grids.
    pub(super) fn answers(&self, network: &Network, grids: &InputGrids) -> Answers {
        let mut forward = |inputs: Inputs| {
            let mut rounding = |layer, x| grids.round(layer, x);
            pass::forward(network, inputs, self.activation, &mut rounding)
        };
        let (verdict, classes) = self.set.answers(&mut forward);
        Answers {
            score: if self.reads_tokens() { -verdict.loss } else { verdict.accuracy },
            loss: verdict.loss,
            classes,
        }
    }

    /// Seconds to answer all examples: the median of a few times, after one that does not count.
    ///
    /// # Errors
    /// If the device is lost.
    pub(super) fn seconds(&self, network: &Network, grids: &InputGrids) -> Result<f64, LabError> {
        let mut times = Vec::with_capacity(TIMED);
        for time in 0..=TIMED {
            device::sync(&self.device, self.id)?;
            let begun = Instant::now();
            // The answers are read, so that whatever the device put off is done.
            self.answers(network, grids);
            if time > 0 {
                times.push(begun.elapsed().as_secs_f64());
            }
        }
        times.sort_by(f64::total_cmp);
        Ok(times.get(TIMED / 2).copied().unwrap_or(f64::NAN))
    }
}

impl Answers {
    /// Labels for which the likeliest class is another.
    pub(super) fn changed(&self, before: &Self) -> Vec<usize> {
        let pairs = self.classes.iter().zip(&before.classes);
        let changed = pairs.enumerate().filter(|(_, (now, then))| now != then);
        changed.map(|(index, _)| index).collect()
    }
}
