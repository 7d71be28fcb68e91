//! Parameters as the run needs them.

use mlsys_lab::nearest::nearest;
use mlsys_lab::{LabError, Params, Value};

use super::form::{FORMS, Form, Sizes};
use mlsys_nn::data::{DataConfig, Dataset, Examples, Labelled};
use mlsys_nn::nets::{Architecture, FilterNetConfig, FilterShape, Sight};

/// What the digits are told apart into.
const CLASSES: usize = 10;

/// Digits to learn from.
const SAMPLES: usize = 4000;

/// Edge of the filter that makes channels of an image.
const STEM: usize = 3;

/// What cannot change during a run.
#[derive(Clone, Debug)]
pub(super) struct Setup {
    pub(super) forms: Vec<Form>,
    pub(super) sizes: Sizes,
    pub(super) batch_size: usize,
    pub(super) steps: u64,
    pub(super) seed: u64,
}

impl Setup {
    pub(super) fn read(params: &Params) -> Result<Self, LabError> {
        let setup = Self {
            forms: forms(params)?,
            sizes: Sizes {
                channels: params.size("channels")?,
                kernel: params.size("kernel")?,
                size: params.size("size")?,
                ratio: params.size("bottleneck_ratio")?,
            },
            batch_size: params.size("batch_size")?,
            steps: params.size("steps")? as u64,
            seed: params.int("seed")?.unsigned_abs(),
        };
        let Sizes { channels, kernel, ratio, .. } = setup.sizes;
        if kernel.is_multiple_of(2) {
            let said = format!(
                "a filter of {kernel} x {kernel} has no pixel in its middle; take 3, 5 or 7"
            );
            return Err(LabError::contradiction(["kernel"], said));
        }
        if setup.forms.contains(&Form::Bottleneck) && !channels.is_multiple_of(ratio) {
            let said = format!(
                "{channels} channels cannot be divided by {ratio} inside a bottleneck; take a divisor of {channels}, or leave \
                 bottleneck out of factorizations"
            );
            return Err(LabError::contradiction(["channels", "bottleneck_ratio"], said));
        }
        Ok(setup)
    }

    /// The classifier that has this block.
    pub(super) fn architecture(&self, form: Form) -> Architecture {
        Architecture::Filters(self.config(form))
    }

    fn config(&self, form: Form) -> FilterNetConfig {
        let stem = FilterShape {
            channels_in: 1,
            channels_out: self.sizes.channels,
            window: [STEM, STEM],
            stride: 1,
            sight: Sight::All,
        };
        let block = form.layers(&self.sizes);
        FilterNetConfig {
            edge: self.sizes.size,
            filters: std::iter::once(stem).chain(block).collect(),
            outputs: CLASSES,
        }
    }

    pub(super) fn data(&self) -> DataConfig {
        DataConfig { samples: SAMPLES, ..DataConfig::new(Dataset::Digits, self.seed) }
    }

    /// Bytes of all variants that learn, side by side, and of the one that is judged meanwhile, by all fresh digits at once.
    pub(super) fn bytes(&self) -> u64 {
        let images = self.batch_size as u64;
        let fresh = Dataset::Digits.held_out_samples() as u64;
        let forms = self.forms.iter();
        let configs: Vec<FilterNetConfig> = forms.map(|form| self.config(*form)).collect();
        let learning = configs.iter().map(|config| config.learning_bytes(images));
        let judging = configs.iter().map(|config| config.judging_bytes(fresh));
        learning.sum::<u64>() + judging.max().unwrap_or(0)
    }
}

fn forms(params: &Params) -> Result<Vec<Form>, LabError> {
    let wrong = |said: String| LabError::contradiction(["factorizations"], said);
    let names = || {
        let names = FORMS.map(|(name, _)| name);
        names.join(", ")
    };
    let Some(Value::Array(wanted)) = params.get("factorizations") else {
        return Err(wrong(format!("it is a list of variants: {}", names())));
    };
    let mut forms = Vec::with_capacity(wanted.len());
    for value in wanted {
        let name = value.as_str().unwrap_or_default();
        let Some((_, form)) = FORMS.iter().find(|(known, _)| *known == name) else {
            let shown = match value.as_str() {
                Some(name) => format!("'{}'", name.escape_debug()),
                None => value.to_string(),
            };
            let hint = nearest(name, FORMS.iter().map(|(known, _)| *known))
                .map_or_else(String::new, |near| format!("; did you mean '{near}'?"));
            return Err(wrong(format!("{shown} is no variant{hint} (there are {})", names())));
        };
        if forms.contains(form) {
            return Err(wrong(format!("'{name}' stands there twice")));
        }
        forms.push(*form);
    }
    if forms.is_empty() {
        return Err(wrong(format!("there is nothing to train; name at least one of {}", names())));
    }
    Ok(forms)
}

/// Square images shrunk to a smaller edge: each new pixel is the mean of the area that it covers.
pub(super) fn shrunk(examples: &Examples, edge: usize) -> Examples {
    let Examples::Labelled(labelled) = examples else {
        return examples.clone();
    };
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shrinking_keeps_the_mean_and_averages_areas() {
        let image: Vec<f32> = (0..36).map(|x| (x % 7) as f32).collect();
        let examples =
            Examples::Labelled(Labelled { inputs: image.clone(), labels: vec![3], features: 36 });
        let mean = |values: &[f32]| values.iter().sum::<f32>() / values.len() as f32;
        for edge in [1, 2, 3, 4, 5, 6] {
            let Examples::Labelled(small) = shrunk(&examples, edge) else { panic!("labelled") };
            assert_eq!((small.inputs.len(), small.features), (edge * edge, edge * edge));
            assert!((mean(&small.inputs) - mean(&image)).abs() < 1e-5, "{edge}");
        }
        let Examples::Labelled(half) = shrunk(&examples, 3) else { panic!("labelled") };
        let corner = [image[0], image[1], image[6], image[7]];
        assert!((half.inputs[0] - mean(&corner)).abs() < 1e-6);
    }
}
