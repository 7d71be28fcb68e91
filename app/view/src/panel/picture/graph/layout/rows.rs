//! The rows: each layer as near to its neighbours as its order and distances allow, in the sense of least squares.

use crate::panel::picture::graph::layout::layers::{Arranged, Seat};
use crate::panel::picture::graph::layout::{Fit, Size, Spacing};

/// Sweeps to the right and back.
const SWEEPS: usize = 8;
/// How much more a long line wants to be straight than a short one.
const STRAIGHT: f64 = 8.0;
/// The same in a layout that has to be narrow: a line that changes its row takes a column.
const STRAIGHTER: f64 = 64.0;

pub(super) type Ports = Vec<Vec<usize>>;

/// Rows above and below the port that a seat takes.
fn reach(seat: Seat, sizes: &[Size]) -> (f64, f64) {
    match seat {
        Seat::Box(index) => {
            let size = sizes[index];
            let below = size.height.saturating_sub(size.port + 1);
            (size.port as f64, below as f64)
        }
        Seat::Pass { .. } => (0.0, 0.0),
    }
}

/// The least distance of the ports of two seats, the first above the second.
fn distance(above: Seat, below: Seat, sizes: &[Size], spacing: Spacing) -> f64 {
    let gap = match (above, below) {
        (Seat::Box(_), Seat::Box(_)) => spacing.rows as f64,
        (Seat::Pass { .. }, _) | (_, Seat::Pass { .. }) => 0.0,
    };
    reach(above, sizes).1 + reach(below, sizes).0 + gap + 1.0
}

pub(super) fn rows(arranged: &Arranged, sizes: &[Size], spacing: Spacing) -> Ports {
    let layers = &arranged.layers;
    // The port of each seat were they packed from the top.
    let packed = |layer: &Vec<Seat>| {
        let mut at = layer.first().map_or(0.0, |seat| reach(*seat, sizes).0);
        let mut rows = Vec::with_capacity(layer.len());
        for (place, seat) in layer.iter().enumerate() {
            if place > 0 {
                at += distance(layer[place - 1], *seat, sizes, spacing);
            }
            rows.push(at);
        }
        rows
    };
    let offsets: Vec<Vec<f64>> = layers.iter().map(packed).collect();
    let mut rows = offsets.clone();
    let lines: Vec<Vec<(usize, usize)>> = (0..layers.len()).map(|l| arranged.lines(l)).collect();
    for sweep in 0..SWEEPS {
        let both = sweep >= SWEEPS / 2;
        let order: Vec<usize> = if sweep % 2 == 0 {
            (0..layers.len()).collect()
        } else {
            (0..layers.len()).rev().collect()
        };
        for layer in order {
            let mut wanted: Vec<(f64, f64)> = vec![(0.0, 0.0); layers[layer].len()];
            if layer > 0 && (both || sweep % 2 == 0) {
                for &(left, right) in &lines[layer - 1] {
                    let weight = weight(layers[layer - 1][left], layers[layer][right], spacing.fit);
                    wanted[right].0 += weight * rows[layer - 1][left];
                    wanted[right].1 += weight;
                }
            }
            if layer + 1 < layers.len() && (both || sweep % 2 == 1) {
                for &(left, right) in &lines[layer] {
                    let weight = weight(layers[layer][left], layers[layer + 1][right], spacing.fit);
                    wanted[left].0 += weight * rows[layer + 1][right];
                    wanted[left].1 += weight;
                }
            }
            settle(&mut rows[layer], &wanted, &offsets[layer]);
        }
    }
    finish(arranged, sizes, spacing, &rows, &lines)
}

fn weight(left: Seat, right: Seat, fit: Fit) -> f64 {
    match (left, right) {
        (Seat::Pass { .. }, Seat::Pass { .. }) if fit == Fit::Narrow => STRAIGHTER,
        (Seat::Pass { .. }, Seat::Pass { .. }) => STRAIGHT,
        (Seat::Pass { .. }, Seat::Box(_)) | (Seat::Box(_), Seat::Pass { .. }) => 2.0,
        (Seat::Box(_), Seat::Box(_)) => 1.0,
    }
}

/// Moves a layer's seats to where they want to be, in order and apart: isotonic regression of what is left of the
/// wishes when the distances are taken away, by pooling adjacent violators.
fn settle(rows: &mut [f64], wanted: &[(f64, f64)], offsets: &[f64]) {
    // Blocks of seats that stand as close as they may: sum of weighted wishes, sum of weights, how many.
    let mut blocks: Vec<(f64, f64, usize)> = Vec::new();
    for (place, &(sum, weight)) in wanted.iter().enumerate() {
        // Without a wish a seat stays, but gives way.
        let (mean, weight) =
            if weight > 0.0 { (sum / weight, weight) } else { (rows[place], 1e-3) };
        let mut block = ((mean - offsets[place]) * weight, weight, 1);
        while let Some(above) = blocks.last() {
            if above.0 / above.1 <= block.0 / block.1 {
                break;
            }
            block = (above.0 + block.0, above.1 + block.1, above.2 + block.2);
            blocks.pop();
        }
        blocks.push(block);
    }
    let mut place = 0;
    for (sum, weight, count) in blocks {
        for _ in 0..count {
            rows[place] = sum / weight + offsets[place];
            place += 1;
        }
    }
}

/// Whole rows from 0; what is a row or two off its only neighbour is moved level with it where there is room.
fn finish(
    arranged: &Arranged,
    sizes: &[Size],
    spacing: Spacing,
    rows: &[Vec<f64>],
    lines: &[Vec<(usize, usize)>],
) -> Ports {
    let layers = &arranged.layers;
    let mut whole: Vec<Vec<i64>> = Vec::with_capacity(rows.len());
    for (layer, rows) in layers.iter().zip(rows) {
        let mut ports: Vec<i64> = Vec::with_capacity(rows.len());
        for (place, row) in rows.iter().enumerate() {
            let least = place.checked_sub(1).map_or(i64::MIN, |above| {
                ports[above] + distance(layer[above], layer[place], sizes, spacing) as i64
            });
            ports.push((row.round() as i64).max(least));
        }
        whole.push(ports);
    }
    for _ in 0..2 {
        for layer in 1..layers.len() {
            level(&mut whole, layers, sizes, spacing, layer, layer - 1, &lines[layer - 1]);
        }
        for layer in (0..layers.len().saturating_sub(1)).rev() {
            let flipped: Vec<_> = lines[layer].iter().map(|(a, b)| (*b, *a)).collect();
            level(&mut whole, layers, sizes, spacing, layer, layer + 1, &flipped);
        }
    }
    let tops = layers.iter().zip(&whole).flat_map(|(layer, ports)| {
        let top = |(seat, port): (&Seat, &i64)| port - reach(*seat, sizes).0 as i64;
        layer.iter().zip(ports).map(top)
    });
    let first = tops.min().unwrap_or(0);
    let from_first = |row: i64| usize::try_from(row - first).unwrap_or(0);
    whole.into_iter().map(|ports| ports.into_iter().map(from_first).collect()).collect()
}

/// Moves seats of `layer` level with their only line to `other`; `lines` are pairs of places there and here.
fn level(
    whole: &mut [Vec<i64>],
    layers: &[Vec<Seat>],
    sizes: &[Size],
    spacing: Spacing,
    layer: usize,
    other: usize,
    lines: &[(usize, usize)],
) {
    const NEAR: i64 = 3;
    let mut only: Vec<Option<Option<usize>>> = vec![None; layers[layer].len()];
    for &(there, here) in lines {
        only[here] = Some(match only[here] {
            None => Some(there),
            Some(before) => before.filter(|before| *before == there),
        });
    }
    for place in 0..only.len() {
        let Some(Some(there)) = only[place] else { continue };
        let target = whole[other][there];
        let apart = |a: usize, b: usize| {
            distance(layers[layer][a], layers[layer][b], sizes, spacing) as i64
        };
        let clear_above = place == 0 || whole[layer][place - 1] + apart(place - 1, place) <= target;
        let last = place + 1 == only.len();
        let clear_below = last || target + apart(place, place + 1) <= whole[layer][place + 1];
        if (target - whole[layer][place]).abs() <= NEAR && clear_above && clear_below {
            whole[layer][place] = target;
        }
    }
}
