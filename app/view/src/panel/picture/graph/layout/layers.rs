//! Which layer each box is in, and what passes through the layers between.

use crate::panel::picture::graph::layout::Fit;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seat {
    Box(usize),
    /// The line of a box further left to boxes further right; all links of a box share it.
    Pass {
        of: usize,
        /// Which of all such places.
        id: usize,
    },
}

/// Boxes in layers, before they have a size.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arranged {
    /// The layers from the left, each from the top.
    pub layers: Vec<Vec<Seat>>,
    pub layer_of: Vec<usize>,
    /// The links from left to right; those of a cycle were turned round.
    pub links: Vec<(usize, usize)>,
    pub turned: Vec<bool>,
    fit: Fit,
    /// What is joined in each channel between a layer and the next.
    channels: Vec<Vec<(Seat, Seat)>>,
    /// Where in its layer each box is, and each place of a line that passes.
    places: [Vec<usize>; 2],
}

impl Arranged {
    /// Puts boxes into layers so that links lead to the right, and orders the layers so that few lines cross.
    pub fn new(boxes: usize, links: &[(usize, usize)], fit: Fit) -> Self {
        let known = |link: &(usize, usize)| link.0 < boxes && link.1 < boxes;
        // What is linked to nothing there is is as good as linked to itself: it has no line.
        let links = links.iter();
        let links = links.map(|link| if known(link) { *link } else { (0, 0) });
        let mut links: Vec<(usize, usize)> = links.collect();
        let (sorted, turned) = sort(boxes, &links);
        for (link, turned) in links.iter_mut().zip(&turned) {
            if *turned {
                *link = (link.1, link.0);
            }
        }
        let layer_of = ranks(boxes, &links, &sorted);
        let count = layer_of.iter().max().map_or(0, |last| last + 1);
        let mut layers = vec![Vec::new(); count];
        let mut channels = vec![Vec::new(); count.saturating_sub(1)];
        for (index, layer) in layer_of.iter().enumerate() {
            layers[*layer].push(Seat::Box(index));
        }
        let mut id = 0;
        // The seats of each box's line, by how far right of it.
        let mut trails: Vec<Vec<Seat>> = (0..boxes).map(|index| vec![Seat::Box(index)]).collect();
        for (of, last) in furthest(&layer_of, &links).into_iter().enumerate() {
            for layer in layer_of[of] + 1..last {
                let pass = Seat::Pass { of, id };
                id += 1;
                layers[layer].push(pass);
                channels[layer - 1].push((trails[of][layer - 1 - layer_of[of]], pass));
                trails[of].push(pass);
            }
        }
        for &(from, to) in links.iter().filter(|(from, to)| from != to) {
            let channel = layer_of[to] - 1;
            channels[channel].push((trails[from][channel - layer_of[from]], Seat::Box(to)));
        }
        let places = [vec![0; boxes], vec![0; id]];
        let mut arranged = Self { layers, layer_of, links, turned, fit, channels, places };
        (0..count).for_each(|layer| arranged.count(layer));
        reduce_crossings(&mut arranged);
        arranged
    }

    /// The lines through the channel right of a layer: pairs of places, in that layer and in the next.
    pub fn lines(&self, layer: usize) -> Vec<(usize, usize)> {
        let pairs = self.channels.get(layer).map_or(&[][..], Vec::as_slice);
        pairs.iter().map(|(left, right)| (self.place(*left), self.place(*right))).collect()
    }

    /// How hard the lines of a channel are to draw: a crossing costs one, and in a narrow drawing two where both lines go on
    /// behind it, each in the row that the other came from.
    fn tangle(&self, layer: usize) -> usize {
        let Some(right) = self.layers.get(layer + 1) else { return 0 };
        let lines = self.lines(layer);
        let goes_on = |line: &&(usize, usize)| matches!(right[line.1], Seat::Pass { .. });
        let going_on = lines.iter().filter(goes_on).copied().collect();
        let detours = if self.fit == Fit::Narrow { crossings_of(going_on, right.len()) } else { 0 };
        crossings_of(lines, right.len()) + detours
    }

    pub fn place(&self, seat: Seat) -> usize {
        match seat {
            Seat::Box(index) => self.places[0][index],
            Seat::Pass { id, .. } => self.places[1][id],
        }
    }

    pub(super) fn reorder(&mut self, layer: usize, seats: Vec<Seat>) {
        self.layers[layer] = seats;
        self.count(layer);
    }

    pub(super) fn swap(&mut self, layer: usize, one: usize, other: usize) {
        self.layers[layer].swap(one, other);
        for place in [one, other] {
            self.put(self.layers[layer][place], place);
        }
    }

    fn count(&mut self, layer: usize) {
        for place in 0..self.layers[layer].len() {
            self.put(self.layers[layer][place], place);
        }
    }

    fn put(&mut self, seat: Seat, place: usize) {
        match seat {
            Seat::Box(index) => self.places[0][index] = place,
            Seat::Pass { id, .. } => self.places[1][id] = place,
        }
    }
}

/// The last layer that a box's links reach.
fn furthest(layer_of: &[usize], links: &[(usize, usize)]) -> Vec<usize> {
    let mut last = layer_of.to_vec();
    for &(from, to) in links {
        last[from] = last[from].max(layer_of[to]);
    }
    last
}

/// The boxes so that links lead on, and the links that do not because of a cycle.
fn sort(boxes: usize, links: &[(usize, usize)]) -> (Vec<usize>, Vec<bool>) {
    let mut out: Vec<Vec<usize>> = vec![Vec::new(); boxes];
    for (link, &(from, to)) in links.iter().enumerate() {
        if from != to {
            out[from].push(link);
        }
    }
    let mut turned = vec![false; links.len()];
    // 0 unseen, 1 on the path, 2 done; with a stack of its own, since a chain may be longer than the thread's.
    let mut state = vec![0_u8; boxes];
    let mut done = Vec::with_capacity(boxes);
    for start in 0..boxes {
        if state[start] != 0 {
            continue;
        }
        state[start] = 1;
        let mut path = vec![(start, 0)];
        while let Some((at, next)) = path.last_mut() {
            let at = *at;
            match out[at].get(*next) {
                Some(&link) => {
                    *next += 1;
                    let to = links[link].1;
                    match state[to] {
                        0 => {
                            state[to] = 1;
                            path.push((to, 0));
                        }
                        1 => turned[link] = true,
                        _ => {}
                    }
                }
                None => {
                    state[at] = 2;
                    done.push(at);
                    path.pop();
                }
            }
        }
    }
    done.reverse();
    (done, turned)
}

/// The longest path to each box, then boxes moved right towards what reads them where that shortens lines.
fn ranks(boxes: usize, links: &[(usize, usize)], sorted: &[usize]) -> Vec<usize> {
    let mut outs: Vec<Vec<usize>> = vec![Vec::new(); boxes];
    let mut ins = vec![0_usize; boxes];
    for &(from, to) in links.iter().filter(|(from, to)| from != to) {
        outs[from].push(to);
        ins[to] += 1;
    }
    let mut rank = vec![0; boxes];
    for &at in sorted {
        for &to in &outs[at] {
            rank[to] = rank[to].max(rank[at] + 1);
        }
    }
    for &at in sorted.iter().rev() {
        let nearest = outs[at].iter().map(|to| rank[*to]).min();
        if let Some(nearest) = nearest
            && outs[at].len() > ins[at]
        {
            rank[at] = nearest - 1;
        }
    }
    rank
}

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

#[derive(Clone, Copy)]
enum Look {
    Left,
    Right,
}

/// Layers begin in the order in which a walk along the links finds their boxes, so that related boxes are near.
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

pub(super) fn crossings(arranged: &Arranged) -> usize {
    (0..arranged.layers.len()).map(|layer| arranged.tangle(layer)).sum()
}

/// How often lines cross in one channel: inversions, counted with a Fenwick tree over the places on the right.
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
        let before = layer.checked_sub(1).map_or(0, |before| arranged.tangle(before));
        before + arranged.tangle(layer)
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
