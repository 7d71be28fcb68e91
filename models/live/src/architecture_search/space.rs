//! The space that is searched: five choices.

use mlsys_nn::nets::{Architecture, FilterNetConfig, FilterShape, Sight};
use mlsys_nn::random::Stream;

/// Channels of the first stage.
const FIRST: [usize; 3] = [4, 8, 16];
/// Channels of the second stage.
const SECOND: [usize; 3] = [8, 16, 32];
/// Edges of the windows.
const KERNELS: [usize; 2] = [3, 5];
/// Convolutions of a stage.
const BLOCKS: [usize; 2] = [1, 2];
/// How many there are of each choice: first, second, kernel, separable or not, blocks.
const OPTIONS: [usize; 5] = [FIRST.len(), SECOND.len(), KERNELS.len(), 2, BLOCKS.len()];
/// Networks in the space.
pub(super) const SIZE: usize = 72;

/// Edge of the digits.
const EDGE: usize = 28;
/// What they are told apart into.
const CLASSES: usize = 10;

/// A network of the space, by the place of each choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Candidate([usize; 5]);

impl Candidate {
    /// Every network of the space, the last choice changing fastest.
    pub(super) fn all() -> Vec<Self> {
        let of = |number: usize| {
            let mut rest = number;
            let mut choices = [0; 5];
            for (choice, options) in choices.iter_mut().zip(OPTIONS).rev() {
                *choice = rest % options;
                rest /= options;
            }
            Self(choices)
        };
        (0..SIZE).map(of).collect()
    }

    /// The one with the most weights and operations.
    pub(super) fn largest() -> Self {
        Self([2, 2, 1, 0, 1])
    }

    /// The same with one choice changed to another.
    pub(super) fn mutated(mut self, stream: &mut Stream) -> Self {
        let place = stream.below(OPTIONS.len());
        if let (Some(choice), Some(options)) = (self.0.get_mut(place), OPTIONS.get(place)) {
            *choice = (*choice + 1 + stream.below(options - 1)) % options;
        }
        self
    }

    /// Channels of both stages.
    pub(super) fn channels(self) -> [usize; 2] {
        [
            FIRST.get(self.0[0]).copied().unwrap_or(FIRST[0]),
            SECOND.get(self.0[1]).copied().unwrap_or(SECOND[0]),
        ]
    }

    /// Edge of the windows.
    pub(super) fn kernel(self) -> usize {
        KERNELS.get(self.0[2]).copied().unwrap_or(KERNELS[0])
    }

    /// Whether its convolutions are depthwise and pointwise ones.
    pub(super) fn is_separable(self) -> bool {
        self.0[3] == 1
    }

    /// Convolutions of a stage.
    pub(super) fn blocks(self) -> usize {
        BLOCKS.get(self.0[4]).copied().unwrap_or(BLOCKS[0])
    }

    /// Its choices, such as `8-16 3x3 sep x2`: channels of both stages, windows, separable, blocks of a stage.
    pub(super) fn name(self) -> String {
        let ([first, second], k) = (self.channels(), self.kernel());
        let separable = if self.is_separable() { " sep" } else { "" };
        format!("{first}-{second} {k}x{k}{separable} x{}", self.blocks())
    }

    /// Its name, and what becomes of an image layer by layer: `4-8 3x3 x1 (28x28x1, 3x3: 14x14x4, ...)`.
    pub(super) fn opened(self) -> String {
        let config = self.config();
        let layers = config.edges().into_iter().map(|(shape, edge)| {
            let own = match shape.sight {
                Sight::All => "",
                Sight::Own => "depthwise ",
            };
            let ([k, _], edge) = (shape.window, shape.edge_out(edge));
            format!(", {own}{k}x{k}: {edge}x{edge}x{}", shape.channels_out)
        });
        let layers: String = layers.collect();
        format!("{} ({EDGE}x{EDGE}x1{layers}, all: {CLASSES} classes)", self.name())
    }

    /// The network's sizes: two stages, each of which halves the image in its first convolution.
    pub(super) fn config(self) -> FilterNetConfig {
        let k = self.kernel();
        let mut filters = Vec::new();
        let mut channels_in = 1;
        for channels_out in self.channels() {
            for block in 0..self.blocks() {
                let shape = FilterShape {
                    channels_in,
                    channels_out,
                    window: [k, k],
                    stride: if block == 0 { 2 } else { 1 },
                    sight: Sight::All,
                };
                // Of an image of one channel, a filter per channel would be a single one.
                if self.is_separable() && channels_in > 1 {
                    filters.push(FilterShape {
                        channels_out: channels_in,
                        sight: Sight::Own,
                        ..shape
                    });
                    filters.push(FilterShape { window: [1, 1], stride: 1, ..shape });
                } else {
                    filters.push(shape);
                }
                channels_in = channels_out;
            }
        }
        FilterNetConfig { edge: EDGE, filters, outputs: CLASSES }
    }

    /// The same as an architecture.
    pub(super) fn architecture(self) -> Architecture {
        Architecture::Filters(self.config())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_72_networks_and_no_two_are_alike() {
        let all = Candidate::all();
        assert_eq!(all.len(), SIZE);
        assert_eq!(OPTIONS.iter().product::<usize>(), SIZE);
        for (place, one) in all.iter().enumerate() {
            for other in &all[..place] {
                assert_ne!(one.config(), other.config());
                assert_ne!(one.name(), other.name());
            }
        }
        let largest = Candidate::largest().architecture();
        for one in all {
            assert!(one.architecture().parameters() <= largest.parameters());
            assert!(one.architecture().forward_flops(1) <= largest.forward_flops(1));
        }
    }

    #[test]
    fn a_mutation_changes_one_choice_and_reaches_every_other() {
        let mut stream = Stream::new(1, "test");
        let one = Candidate([1, 1, 0, 0, 0]);
        let mut reached = Vec::new();
        for _ in 0..200 {
            let other = one.mutated(&mut stream);
            let changed = one.0.iter().zip(other.0).filter(|(a, b)| **a != *b);
            assert_eq!(changed.count(), 1);
            assert!(Candidate::all().contains(&other));
            if !reached.contains(&other) {
                reached.push(other);
            }
        }
        assert_eq!(reached.len(), 7);
    }

    #[test]
    fn a_separable_network_sees_the_image_itself_by_whole_filters() {
        let separable = Candidate([0, 0, 0, 1, 1]).config();
        let windows: Vec<(usize, Sight)> =
            separable.filters.iter().map(|shape| (shape.window[0], shape.sight)).collect();
        use Sight::{All, Own};
        let pair = [(3, Own), (1, All)];
        assert_eq!(windows, [&[(3, All)], &pair[..], &pair, &pair].concat());
        assert_eq!(separable.flat(), 8 * 7 * 7);
        assert_eq!(Candidate([0, 0, 0, 1, 1]).name(), "4-8 3x3 sep x2");
        assert_eq!(
            Candidate([0, 0, 0, 1, 0]).opened(),
            "4-8 3x3 sep x1 (28x28x1, 3x3: 14x14x4, depthwise 3x3: 7x7x4, 1x1: 7x7x8, all: 10 classes)"
        );
    }
}
