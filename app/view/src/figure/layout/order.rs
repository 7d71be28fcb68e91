//! The order within layers: barycentre sweeps, then swaps of neighbours, the order with the fewest crossings kept.

use super::layers::{Arranged, Seat};

/// Sweeps to the right and back.
const SWEEPS: usize = 12;
/// Lines in all up to which neighbours are swapped one by one; above, that takes longer than a frame.
const SWAPPED: usize = 300;

/// Orders each layer so that few lines cross.
pub(super) fn reduce_crossings(arranged: &mut Arranged) {
    begin(arranged);
    let mut best = arranged.layers.clone();
    let mut fewest = crossings(arranged);
    for sweep in 0..SWEEPS {
        if fewest == 0 {
            break;
        }
        let count = arranged.layers.len();
        if sweep % 2 == 0 {
            (1..count).for_each(|layer| by_barycentre(arranged, layer, Look::Left));
        } else {
            (0..count.saturating_sub(1))
                .rev()
                .for_each(|layer| by_barycentre(arranged, layer, Look::Right));
        }
        let now = crossings(arranged);
        if now < fewest {
            fewest = now;
            best.clone_from(&arranged.layers);
        }
    }
    for (layer, seats) in best.into_iter().enumerate() {
        arranged.reorder(layer, seats);
    }
    if fewest > 0 && arranged.links.len() <= SWAPPED {
        swap_neighbours(arranged);
    }
}

/// Which neighbours count.
#[derive(Clone, Copy)]
enum Look {
    Left,
    Right,
}

/// Each layer begins in the order in which a walk along the links first comes to its boxes, so that what belongs
/// together lies together.
fn begin(arranged: &mut Arranged) {
    let boxes = arranged.layer_of.len();
    let mut out: Vec<Vec<usize>> = vec![Vec::new(); boxes];
    let mut into: Vec<Vec<usize>> = vec![Vec::new(); boxes];
    for &(from, to) in &arranged.links {
        out[from].push(to);
        into[to].push(from);
    }
    let mut seen = vec![usize::MAX; boxes];
    let mut count = 0;
    for start in 0..boxes {
        let mut stack = vec![start];
        while let Some(at) = stack.pop() {
            if seen[at] != usize::MAX {
                continue;
            }
            seen[at] = count;
            count += 1;
            stack.extend(out[at].iter().chain(&into[at]).rev());
        }
    }
    for layer in 0..arranged.layers.len() {
        let mut seats = arranged.layers[layer].clone();
        seats.sort_by_key(|seat| match *seat {
            Seat::Box(index) | Seat::Pass { of: index, .. } => seen[index],
        });
        arranged.reorder(layer, seats);
    }
}

fn by_barycentre(arranged: &mut Arranged, layer: usize, look: Look) {
    let (lines, flip) = match look {
        Look::Left => (arranged.lines(layer - 1), true),
        Look::Right => (arranged.lines(layer), false),
    };
    let seats = &arranged.layers[layer];
    let mut sums = vec![(0_usize, 0_usize); seats.len()];
    for (left, right) in lines {
        let (here, there) = if flip { (right, left) } else { (left, right) };
        sums[here].0 += there;
        sums[here].1 += 1;
    }
    // What has no neighbour stays about where it is.
    let centre = |place: usize| match sums[place] {
        (_, 0) => place as f64,
        (sum, count) => sum as f64 / count as f64,
    };
    let mut order: Vec<usize> = (0..seats.len()).collect();
    order.sort_by(|a, b| centre(*a).total_cmp(&centre(*b)));
    let seats = order.into_iter().map(|place| seats[place]).collect();
    arranged.reorder(layer, seats);
}

/// How often lines cross in all gaps.
pub(super) fn crossings(arranged: &Arranged) -> usize {
    (0..arranged.layers.len().saturating_sub(1))
        .map(|layer| crossings_of(arranged.lines(layer), arranged.layers[layer + 1].len()))
        .sum()
}

/// How often lines cross in one gap: inversions, counted with a Fenwick tree over the places on the right.
fn crossings_of(mut lines: Vec<(usize, usize)>, right: usize) -> usize {
    lines.sort_unstable();
    let mut tree = vec![0_usize; right + 1];
    let mut crossings = 0;
    for (seen, &(_, to)) in lines.iter().enumerate() {
        // Of the lines before, those that end further down cross this one.
        let mut not_below = 0;
        let mut at = to + 1;
        while at > 0 {
            not_below += tree[at];
            at &= at - 1;
        }
        crossings += seen - not_below;
        let mut at = to + 1;
        while at <= right {
            tree[at] += 1;
            at += at & at.wrapping_neg();
        }
    }
    crossings
}

fn swap_neighbours(arranged: &mut Arranged) {
    let around = |arranged: &Arranged, layer: usize| {
        let of =
            |layer: usize| crossings_of(arranged.lines(layer), arranged.layers[layer + 1].len());
        let before = layer.checked_sub(1).map_or(0, of);
        let after = if layer + 1 < arranged.layers.len() { of(layer) } else { 0 };
        before + after
    };
    for _ in 0..4 {
        let mut better = false;
        for layer in 0..arranged.layers.len() {
            let mut now = around(arranged, layer);
            for place in 1..arranged.layers[layer].len() {
                if now == 0 {
                    break;
                }
                arranged.swap(layer, place - 1, place);
                let then = around(arranged, layer);
                if then < now {
                    now = then;
                    better = true;
                } else {
                    arranged.swap(layer, place - 1, place);
                }
            }
        }
        if !better {
            break;
        }
    }
}
