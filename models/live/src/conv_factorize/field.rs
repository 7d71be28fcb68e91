//! What one output sees: over how many ways each input pixel reaches it.

use mlsys_nn::nets::FilterShape;

/// Of each pixel of a square map, row by row, over how many ways it reaches the output at the middle through these layers:
/// one pixel of one layer to each that its window lies on. Nothing beyond the map's edge is seen.
pub(super) fn ways(layers: &[FilterShape], edge: usize) -> Vec<u64> {
    let middle = edge / 2;
    let mut ways = vec![0; edge * edge];
    if let Some(output) = ways.get_mut(middle * edge + middle) {
        *output = 1;
    }
    for layer in layers.iter().rev() {
        let [high, wide] = layer.window.map(|window| window / 2);
        let mut before = vec![0; edge * edge];
        for (place, &count) in ways.iter().enumerate().filter(|(_, count)| **count > 0) {
            let (y, x) = (place / edge, place % edge);
            for row in y.saturating_sub(high)..(y + high + 1).min(edge) {
                for column in x.saturating_sub(wide)..(x + wide + 1).min(edge) {
                    before[row * edge + column] += count;
                }
            }
        }
        ways = before;
    }
    ways
}

#[cfg(test)]
mod tests {
    use super::*;
    use mlsys_nn::nets::Sight;

    fn layer(window: [usize; 2]) -> FilterShape {
        FilterShape { channels_in: 1, channels_out: 1, window, stride: 1, sight: Sight::All }
    }

    #[test]
    fn two_small_filters_see_the_middle_oftener_than_the_rim() {
        let ways = ways(&[layer([3, 3]); 2], 7);
        let row = |y: usize| ways[7 * y..7 * y + 7].to_vec();
        assert_eq!(row(0), [0; 7]);
        assert_eq!(row(1), [0, 1, 2, 3, 2, 1, 0]);
        assert_eq!(row(3), [0, 3, 6, 9, 6, 3, 0]);
        assert_eq!(ways.iter().sum::<u64>(), 81);
    }

    #[test]
    fn a_column_and_a_row_see_each_pixel_of_the_square_once() {
        for layers in [
            vec![layer([5, 5])],
            vec![layer([5, 1]), layer([1, 5])],
            vec![layer([1, 1]), layer([5, 5]), layer([1, 1])],
        ] {
            let ways = ways(&layers, 9);
            for (place, count) in ways.into_iter().enumerate() {
                let inside = [place / 9, place % 9].iter().all(|x| (2..=6).contains(x));
                assert_eq!(count, u64::from(inside));
            }
        }
    }

    #[test]
    fn what_lies_beyond_the_edge_is_not_seen() {
        assert_eq!(ways(&[layer([7, 7])], 4), [1; 16]);
        assert_eq!(ways(&[layer([3, 3])], 1), [1]);
    }
}
