//! The new task: the old images seen otherwise, or another chain.

use mlsys_lab::LabError;
use mlsys_nn::baseline::Trained;
use mlsys_nn::data::{self, DataConfig, Examples, Labelled, Vocabulary};
use mlsys_nn::random::Stream;
use mlsys_nn::train::data_error;
use serde::Deserialize;

/// How the new images are made from the old.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Task {
    Mirror,
    /// A quarter turned, clockwise.
    Rotate,
    /// Ink and paper exchanged.
    Invert,
    /// All pixels exchanged with one another, in all images alike.
    Permute,
}

pub(super) struct Tasks {
    pub(super) train: Examples,
    pub(super) new: Examples,
    pub(super) old: Examples,
    /// What tokens are called, if there are tokens.
    pub(super) vocabulary: Option<Vocabulary>,
    /// What the new examples are, such as "mirrored".
    pub(super) name: &'static str,
}

impl Tasks {
    pub(super) fn new(trained: &Trained, task: Task, seed: u64) -> Result<Self, LabError> {
        let known = trained.data()?;
        let old = trained.fresh()?;
        if let Examples::Sequence(_) = known.train {
            // The next seed is another chain, and not the one of the next run's network.
            let other =
                DataConfig { seed: trained.data.seed.wrapping_add(OTHER), ..trained.data.clone() };
            let other = data::load(&other).map_err(data_error)?;
            return Ok(Self {
                train: other.train,
                new: other.held_out,
                old,
                vocabulary: known.language.map(|language| language.vocabulary),
                name: "of the other chain",
            });
        }
        let order = order(task, &old, seed);
        Ok(Self {
            train: task.apply(known.train, &order),
            new: task.apply(old.clone(), &order),
            old,
            vocabulary: None,
            name: task.name(),
        })
    }
}

/// Far from the seeds that people give.
const OTHER: u64 = 1 << 40;

/// Where each pixel of a new image comes from.
fn order(task: Task, images: &Examples, seed: u64) -> Vec<usize> {
    let pixels = match images {
        Examples::Labelled(labelled) => labelled.features,
        Examples::Sequence(_) => 0,
    };
    let edge = pixels.isqrt();
    let from = |place: usize| {
        let (row, column) = (place / edge.max(1), place % edge.max(1));
        match task {
            Task::Mirror => row * edge + (edge - 1 - column),
            Task::Rotate => (edge - 1 - column) * edge + row,
            Task::Invert | Task::Permute => place,
        }
    };
    let mut order: Vec<usize> = (0..pixels).map(from).collect();
    if task == Task::Permute {
        Stream::new(seed, "lora/permutation").shuffle(&mut order);
    }
    order
}

impl Task {
    fn name(self) -> &'static str {
        match self {
            Self::Mirror => "mirrored",
            Self::Rotate => "rotated",
            Self::Invert => "inverted",
            Self::Permute => "permuted",
        }
    }

    fn apply(self, examples: Examples, order: &[usize]) -> Examples {
        let Examples::Labelled(labelled) = examples else { return examples };
        let features = labelled.features.max(1);
        let images = labelled.inputs.chunks_exact(features);
        let inputs = images
            .flat_map(|image| order.iter().map(|from| image[*from]))
            .map(|ink| if self == Self::Invert { 1.0 - ink } else { ink });
        Examples::Labelled(Labelled { inputs: inputs.collect(), ..labelled })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_are_turned_as_their_names_say() {
        let inputs = vec![0.0, 0.25, 0.5, 1.0];
        let image = Examples::Labelled(Labelled { inputs, labels: vec![7], features: 4 });
        let of = |task: Task| match task.apply(image.clone(), &order(task, &image, 1)) {
            Examples::Labelled(labelled) => {
                assert_eq!(labelled.labels, [7]);
                labelled.inputs
            }
            Examples::Sequence(_) => panic!("no images"),
        };
        assert_eq!(of(Task::Mirror), [0.25, 0.0, 1.0, 0.5]);
        // What was at the left is at the top: a quarter turn clockwise.
        assert_eq!(of(Task::Rotate), [0.5, 0.0, 1.0, 0.25]);
        assert_eq!(of(Task::Invert), [1.0, 0.75, 0.5, 0.0]);
        let mut permuted = of(Task::Permute);
        permuted.sort_by(f32::total_cmp);
        assert_eq!(permuted, [0.0, 0.25, 0.5, 1.0]);
    }
}
