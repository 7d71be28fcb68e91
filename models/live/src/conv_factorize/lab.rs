//! Factorized convolutions: a square filter and four cheaper ways to the same receptive field, in one classifier, each
//! timed under the measured roof ([`measure`]) and trained on the same batches.

mod forms;
mod measure;
mod panels;
#[cfg(test)]
mod tests;

use mlsys_device as device;
use mlsys_lab::nearest::nearest;
use mlsys_lab::report::FrameTrigger;
use mlsys_lab::schema::SchemaError;
use mlsys_lab::{LabError, Params, Run, Value};
use mlsys_nn::baseline::Recipe;
use mlsys_nn::data::{Batches, DataConfig, Dataset, Examples, Labelled};
use mlsys_nn::divergence::DivergenceCheck;
use mlsys_nn::memory_budget::MemoryBudget;
use mlsys_nn::networks::{
    Activation, Architecture, FilterNetConfig, FilterShape, Initialization, Network, ReceptiveField,
};
use mlsys_nn::train::{Activations, EvaluationSet, Knobs, Measuring, Trainer, data_error};
use mlsys_nn::{data, divergence};
use serde::Deserialize;

use self::forms::{Form, Sizes};
use self::measure::Times;
use crate::stepped::{self, LiveLab, StepError, SteppedLab, Steps, point};

pub fn lab() -> Result<LiveLab, SchemaError> {
    LiveLab::stepped(include_str!("lab.toml"), Session::open)?.reading::<FixedParams>()
}

const CLASSES: usize = 10;

const SAMPLES: usize = 4000;

/// Edge of the filter that makes channels of an image.
const STEM: usize = 3;

#[derive(Deserialize)]
struct FixedParams {
    factorizations: Vec<Value>,
    channels: usize,
    kernel: usize,
    size: usize,
    bottleneck_ratio: usize,
    batch_size: usize,
    steps: u64,
    seed: u64,
}

#[derive(Clone, Debug)]
struct Setup {
    forms: Vec<Form>,
    sizes: Sizes,
    batch_size: usize,
    steps: u64,
    seed: u64,
}

impl Setup {
    fn read(params: &Params) -> Result<Self, LabError> {
        let own: FixedParams = params.read()?;
        let (channels, kernel, ratio) = (own.channels, own.kernel, own.bottleneck_ratio);
        let forms = forms(&own.factorizations)?;
        if kernel.is_multiple_of(2) {
            let message = format!(
                "a filter of {kernel} x {kernel} has no pixel in its middle; take 3, 5 or 7"
            );
            return Err(LabError::contradiction(["kernel"], message));
        }
        if forms.contains(&Form::Bottleneck) && !channels.is_multiple_of(ratio) {
            let message = format!(
                "{channels} channels cannot be divided by {ratio} inside a bottleneck; take a divisor of {channels}, or leave \
                 bottleneck out of factorizations"
            );
            return Err(LabError::contradiction(["channels", "bottleneck_ratio"], message));
        }
        Ok(Self {
            forms,
            sizes: Sizes { channels, kernel, size: own.size, ratio },
            batch_size: own.batch_size,
            steps: own.steps,
            seed: own.seed,
        })
    }

    fn architecture(&self, form: Form) -> Architecture {
        Architecture::Filters(self.config(form))
    }

    fn config(&self, form: Form) -> FilterNetConfig {
        let stem = FilterShape {
            channels_in: 1,
            channels_out: self.sizes.channels,
            window: [STEM, STEM],
            stride: 1,
            sight: ReceptiveField::All,
        };
        let block = form.layers(&self.sizes);
        FilterNetConfig {
            edge: self.sizes.size,
            filters: std::iter::once(stem).chain(block).collect(),
            outputs: CLASSES,
        }
    }

    fn data(&self) -> DataConfig {
        DataConfig { samples: SAMPLES, ..DataConfig::new(Dataset::Digits, self.seed) }
    }

    /// Bytes of all variants that learn, side by side, and of the one that is judged meanwhile, by all fresh digits at once.
    fn bytes(&self) -> u64 {
        let images = self.batch_size as u64;
        let fresh = Dataset::Digits.held_out_samples() as u64;
        let forms = self.forms.iter();
        let configs: Vec<FilterNetConfig> = forms.map(|form| self.config(*form)).collect();
        let learning = configs.iter().map(|config| config.learning_bytes(images));
        let judging = configs.iter().map(|config| config.judging_bytes(fresh));
        learning.sum::<u64>() + judging.max().unwrap_or(0)
    }
}

fn forms(wanted: &[Value]) -> Result<Vec<Form>, LabError> {
    let wrong = |message: String| LabError::contradiction(["factorizations"], message);
    let names = Form::ALL.map(Form::name);
    let known = names.join(", ");
    let mut forms = Vec::with_capacity(wanted.len());
    for value in wanted {
        let name = value.as_str().unwrap_or("");
        let Some(form) = Form::ALL.into_iter().find(|form| form.name() == name) else {
            let quoted = value.as_str().map(|name| format!("'{}'", name.escape_debug()));
            let shown = quoted.unwrap_or_else(|| value.to_string());
            let hint = nearest(name, names).map(|near| format!("; did you mean '{near}'?"));
            let hint = hint.unwrap_or_default();
            return Err(wrong(format!("{shown} is no variant{hint} (there are {known})")));
        };
        if forms.contains(&form) {
            return Err(wrong(format!("'{name}' stands there twice")));
        }
        forms.push(form);
    }
    if forms.is_empty() {
        return Err(wrong(format!("there is nothing to train; name at least one of {known}")));
    }
    Ok(forms)
}

/// Square images shrunk to a smaller edge: each new pixel is the mean of the area that it covers.
fn shrunk(examples: &Examples, edge: usize) -> Examples {
    let Examples::Labelled(labelled) = examples else { return examples.clone() };
    let from = labelled.features.isqrt();
    if from == edge {
        return examples.clone();
    }
    let shares = shares(from, edge);
    let images = labelled.inputs.chunks(labelled.features.max(1));
    let inputs = images.flat_map(|image| {
        let shares = &shares;
        shares.iter().flat_map(move |rows| {
            shares.iter().map(move |columns| {
                let row = |(y, high): &(usize, f32)| {
                    let pixels = columns.iter().map(|(x, wide)| wide * image[y * from + x]);
                    high * pixels.sum::<f32>()
                };
                rows.iter().map(row).sum::<f32>()
            })
        })
    });
    Examples::Labelled(Labelled {
        inputs: inputs.collect(),
        labels: labelled.labels.clone(),
        features: edge * edge,
    })
}

/// Of each new pixel along an edge, the old ones that it covers and their shares of it.
fn shares(from: usize, to: usize) -> Vec<Vec<(usize, f32)>> {
    let wide = from as f64 / to as f64;
    let pixel = |new: usize| {
        let (start, end) = (new as f64 * wide, (new + 1) as f64 * wide);
        let first = start.floor() as usize;
        let last = (end.ceil() as usize).min(from);
        let share = |old: usize| {
            let covered = end.min((old + 1) as f64) - start.max(old as f64);
            (old, (covered / wide) as f32)
        };
        let old = (first..last).map(share);
        old.filter(|(_, share)| *share > 0.0).collect()
    };
    (0..to).map(pixel).collect()
}

const JUDGED: u64 = 20;

fn count(run: &mut Run<'_>, setup: &Setup) {
    let sizes = &setup.sizes;
    let standard = Form::Standard.flops(sizes) as f64;
    for form in &setup.forms {
        let name = form.metric();
        run.scalar(&format!("weights.{name}"), form.weights(sizes) as i64);
        run.scalar(&format!("flops.{name}"), form.flops(sizes) as i64);
        let field = form.receptive_field(sizes) as i64;
        run.scalar(&format!("receptive_field.{name}"), field);
        run.scalar(&format!("intensity.{name}"), form.intensity(sizes));
        let ratio = form.flops(sizes) as f64 / standard;
        run.scalar(&format!("flops_ratio.{name}"), ratio);
    }
}

fn report_times(run: &mut Run<'_>, times: &Times) {
    let standard = times.block(Form::Standard);
    for (form, seconds) in &times.blocks {
        let name = form.metric();
        run.scalar(&format!("seconds.{name}"), *seconds);
        if let Some(standard) = standard {
            run.scalar(&format!("seconds_ratio.{name}"), seconds / standard);
        }
    }
}

struct Variant {
    form: Form,
    trainer: Trainer,
}

struct Session {
    setup: Setup,
    how: Knobs,
    times: Times,
    variants: Vec<Variant>,
    train: Examples,
    judged: EvaluationSet,
    steps: Steps,
    looked: u64,
}

impl Session {
    fn open(run: &mut Run<'_>) -> Result<Self, StepError> {
        let setup = Setup::read(&run.params)?;
        MemoryBudget::for_device(run.device).require(
            setup.bytes(),
            "these blocks, their batch and its slopes",
            "channels, size or batch_size",
        )?;
        let device = device::open(run.device)?;
        count(run, &setup);
        let begin = (0, FrameTrigger::Running);
        stepped::draw(run, begin, &panels::BEFORE, |_, make| make(&setup));
        let times = Times::measure(run, &setup)?;
        report_times(run, &times);
        let data = data::load(&setup.data()).map_err(data_error)?;
        let train = shrunk(&data.train, setup.sizes.size);
        let judged = shrunk(&data.held_out, setup.sizes.size);
        let recipe = |form: Form| Recipe {
            data: setup.data(),
            architecture: setup.architecture(form),
            activation: Activation::Relu,
            learning_rate: 0.0,
            batch_size: setup.batch_size,
            steps: setup.steps,
            seed: setup.seed,
        };
        let mut how = recipe(Form::Standard).knobs();
        how.update.learning_rate = run.params.float("learning_rate")?;
        let learning = device.clone().autodiff();
        let variants = setup.forms.iter().map(|&form| {
            let architecture = setup.architecture(form);
            let network = architecture.init(Initialization::He, setup.seed, &learning);
            // The same examples in the same order for all.
            let batches = Batches::new(setup.seed, train.len());
            let place = (run.device, learning.clone());
            Variant {
                form,
                trainer: Trainer::new(network, &how, batches, place, Activations::Kept)
                    .spread(&architecture),
            }
        });
        let losses = setup.forms.len();
        let mut session = Self {
            variants: variants.collect(),
            judged: EvaluationSet::new(&judged, &device),
            how,
            setup,
            times,
            train,
            steps: Steps::new(vec![DivergenceCheck::new(10_f64.ln()); losses]),
            looked: 0,
        };
        session.draw(run, FrameTrigger::Running)?;
        Ok(session)
    }

    fn networks(&self) -> Vec<(Form, Network)> {
        self.variants.iter().map(|x| (x.form, x.trainer.network())).collect()
    }

    fn judge(&mut self, run: &mut Run<'_>) {
        self.looked = self.steps.done;
        for variant in &self.variants {
            let network = variant.trainer.network();
            let accuracy = self.judged.judge(&network, Activation::Relu).accuracy;
            run.scalar(&format!("accuracy.{}", variant.form.metric()), accuracy);
        }
    }
}

impl SteppedLab for Session {
    type Knobs = f64;

    fn steps(&mut self) -> &mut Steps {
        &mut self.steps
    }

    fn has_next(&self) -> bool {
        self.steps.done < self.setup.steps
    }

    fn read(&self, params: &Params) -> Result<f64, LabError> {
        params.float("learning_rate")
    }

    fn turn(&mut self, _: &mut Run<'_>, rate: f64) -> Result<(), StepError> {
        self.how.update.learning_rate = rate;
        Ok(())
    }

    fn advance(&mut self, run: &mut Run<'_>) -> Result<(), StepError> {
        self.steps.done += 1;
        for (index, variant) in self.variants.iter_mut().enumerate() {
            let step = variant.trainer.step(&self.train, &self.how, Measuring::Nothing);
            let loss = step.loss.into_data().iter::<f64>().next().unwrap_or(f64::NAN);
            let name = format!("loss.{}", variant.form.metric());
            point(run, &name, self.steps.done, loss);
            if let Some(what) = self.steps.judge_loss(index, loss) {
                let reason = format!(
                    "{}: {}",
                    variant.form.name(),
                    divergence::at_rate(what, self.how.update.learning_rate)
                );
                self.steps.diverge(run, self.steps.done, what, reason);
                break;
            }
        }
        if self.steps.done.is_multiple_of(JUDGED) {
            self.judge(run);
        }
        Ok(())
    }

    fn draw(&mut self, run: &mut Run<'_>, moment: FrameTrigger) -> Result<(), StepError> {
        let at = (self.steps.done, moment);
        stepped::draw(run, at, &panels::ALL, |_, make| make(self));
        Ok(())
    }

    fn finish(&mut self, run: &mut Run<'_>) -> Result<(), StepError> {
        if self.steps.divergence().is_none() && self.looked < self.steps.done {
            self.judge(run);
        }
        Ok(())
    }
}
