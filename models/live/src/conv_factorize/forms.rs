//! Factorizations of a square filter, what each costs, and what one output sees through it.

use mlsys_nn::networks::{FilterCost, FilterShape, ReceptiveField};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Standard,
    /// Filters of 3 x 3 on top of each other (Simonyan & Zisserman 2015).
    Stacked,
    /// A filter of one column, then one of one row (Szegedy et al. 2016).
    RowColumn,
    /// A filter for each channel alone, then a mixture of the channels at each pixel (Howard et al. 2017).
    Separable,
    /// Fewer channels, the filter between them, and back (He et al. 2016).
    Bottleneck,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sizes {
    pub(super) channels: usize,
    /// Edge of the square that an output sees.
    pub(super) kernel: usize,
    pub(super) size: usize,
    /// Channels over those inside a bottleneck.
    pub(super) ratio: usize,
}

impl Form {
    pub(super) const ALL: [Self; 5] =
        [Self::Standard, Self::Stacked, Self::RowColumn, Self::Separable, Self::Bottleneck];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Standard => "standard",
            Self::Stacked => "stacked-3x3",
            Self::RowColumn => "row-column",
            Self::Separable => "depthwise-separable",
            Self::Bottleneck => "bottleneck",
        }
    }

    pub(super) fn metric(self) -> String {
        self.name().replace('-', "_")
    }

    /// The block's layers, from the input on, all of the map's size.
    pub(super) fn layers(self, sizes: &Sizes) -> Vec<FilterShape> {
        let Sizes { channels, kernel, .. } = *sizes;
        let square = |edge| FilterShape {
            channels_in: channels,
            channels_out: channels,
            window: [edge, edge],
            stride: 1,
            sight: ReceptiveField::All,
        };
        let window = |window| FilterShape { window, ..square(kernel) };
        match self {
            Self::Standard => vec![square(kernel)],
            Self::Stacked => vec![square(3); (kernel - 1) / 2],
            Self::RowColumn => vec![window([kernel, 1]), window([1, kernel])],
            Self::Separable => {
                let own = FilterShape { sight: ReceptiveField::Own, ..square(kernel) };
                vec![own, square(1)]
            }
            Self::Bottleneck => {
                let few = channels / sizes.ratio;
                let between = |channels_in, channels_out, edge| FilterShape {
                    channels_in,
                    channels_out,
                    ..square(edge)
                };
                vec![
                    between(channels, few, 1),
                    between(few, few, kernel),
                    between(few, channels, 1),
                ]
            }
        }
    }

    pub(super) fn costs(self, sizes: &Sizes) -> Vec<FilterCost> {
        let layers = self.layers(sizes).into_iter();
        layers.map(|layer| layer.cost(sizes.size)).collect()
    }

    pub(super) fn weights(self, sizes: &Sizes) -> u64 {
        self.costs(sizes).iter().map(|cost| cost.weights).sum()
    }

    /// Operations of the block for one image: 2 * size² * weights.
    pub(super) fn flops(self, sizes: &Sizes) -> u64 {
        self.costs(sizes).iter().map(|cost| cost.flops(1)).sum()
    }

    /// Operations per byte for one image, each layer's operands moved once.
    pub(super) fn intensity(self, sizes: &Sizes) -> f64 {
        let bytes: u64 = self.costs(sizes).iter().map(|cost| cost.bytes(1)).sum();
        self.flops(sizes) as f64 / bytes as f64
    }

    /// Edge of the square of inputs that one output sees: 1 + the sum of what each window reaches beyond its middle.
    pub(super) fn receptive_field(self, sizes: &Sizes) -> usize {
        let [height, width] = reach(&self.layers(sizes));
        height.max(width)
    }
}

/// Height and width of the inputs that one output sees through layers.
pub(super) fn reach(layers: &[FilterShape]) -> [usize; 2] {
    [0, 1].map(|axis| 1 + layers.iter().map(|x| x.window[axis] - 1).sum::<usize>())
}

/// Of each pixel of a square map, row by row, over how many paths it reaches the output at the middle through these layers:
/// one pixel of one layer to each that its window lies on. Nothing beyond the map's edge is seen.
pub(super) fn paths(layers: &[FilterShape], edge: usize) -> Vec<u64> {
    let middle = edge / 2;
    let mut paths = vec![0; edge * edge];
    if let Some(output) = paths.get_mut(middle * edge + middle) {
        *output = 1;
    }
    for layer in layers.iter().rev() {
        let [high, wide] = layer.window.map(|window| window / 2);
        let mut before = vec![0; edge * edge];
        for (place, &count) in paths.iter().enumerate().filter(|(_, count)| **count > 0) {
            let (y, x) = (place / edge, place % edge);
            for row in y.saturating_sub(high)..(y + high + 1).min(edge) {
                for column in x.saturating_sub(wide)..(x + wide + 1).min(edge) {
                    before[row * edge + column] += count;
                }
            }
        }
        paths = before;
    }
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZES: Sizes = Sizes { channels: 16, kernel: 5, size: 14, ratio: 4 };

    #[test]
    fn weights_are_those_of_the_formulas() {
        let expected = [6400, 4608, 2560, 656, 528];
        for (form, weights) in Form::ALL.into_iter().zip(expected) {
            assert_eq!(form.weights(&SIZES), weights, "{form:?}");
        }
        for (channels, kernel, ratio) in [(2, 3, 2), (12, 7, 3), (256, 5, 16), (64, 3, 4)] {
            let sizes = Sizes { channels, kernel, ratio, size: 9 };
            let (c, k, r) = (channels as u64, kernel as u64, ratio as u64);
            let formulas = [
                c * c * k * k,
                (k - 1) / 2 * 9 * c * c,
                2 * c * c * k,
                c * k * k + c * c,
                2 * c * c / r + (c / r).pow(2) * k * k,
            ];
            for (form, weights) in Form::ALL.into_iter().zip(formulas) {
                assert_eq!(form.weights(&sizes), weights, "{form:?} {sizes:?}");
                assert_eq!(form.flops(&sizes), 2 * 81 * weights, "{form:?} {sizes:?}");
                assert_eq!(form.receptive_field(&sizes), kernel, "{form:?} {sizes:?}");
                assert_eq!(reach(&form.layers(&sizes)), [kernel; 2], "{form:?} {sizes:?}");
            }
        }
    }

    #[test]
    fn intensity_of_layers_is_that_of_the_lecture() {
        let sizes = Sizes { channels: 64, kernel: 3, ..SIZES };
        let standard = Form::Standard.intensity(&sizes);
        assert!((standard - 58.3).abs() < 0.05, "{standard}");
        let depthwise = Form::Separable.costs(&sizes)[0];
        let own = depthwise.flops(1) as f64 / depthwise.bytes(1) as f64;
        assert!((own - 2.2).abs() < 0.01, "{own}");
    }

    fn layer(window: [usize; 2]) -> FilterShape {
        let (sight, stride) = (ReceptiveField::All, 1);
        FilterShape { channels_in: 1, channels_out: 1, window, stride, sight }
    }

    #[test]
    fn paths_are_counted_through_all_layers() {
        let two = paths(&[layer([3, 3]); 2], 7);
        let row = |y: usize| two[7 * y..7 * y + 7].to_vec();
        assert_eq!(row(0), [0; 7]);
        assert_eq!(row(1), [0, 1, 2, 3, 2, 1, 0]);
        assert_eq!(row(3), [0, 3, 6, 9, 6, 3, 0]);
        assert_eq!(two.iter().sum::<u64>(), 81);
        for layers in [
            vec![layer([5, 5])],
            vec![layer([5, 1]), layer([1, 5])],
            vec![layer([1, 1]), layer([5, 5]), layer([1, 1])],
        ] {
            for (place, count) in paths(&layers, 9).into_iter().enumerate() {
                let inside = [place / 9, place % 9].iter().all(|x| (2..=6).contains(x));
                assert_eq!(count, u64::from(inside));
            }
        }
        // What lies beyond the edge is not seen.
        assert_eq!(paths(&[layer([7, 7])], 4), [1; 16]);
        assert_eq!(paths(&[layer([3, 3])], 1), [1]);
    }
}
