//! The channel between two layers, a cell at a time.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BinaryHeap};

/// The cells of a wire through one channel.
pub(super) type Path = Vec<(usize, usize)>;

#[derive(Clone, Copy, Debug)]
pub(super) struct Wire {
    /// The source of its value: wires of one source share their beginning.
    pub source: usize,
    /// What it leads to: wires to one target share their end.
    pub target: usize,
    pub from: usize,
    pub goal: Goal,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Goal {
    pub best: usize,
    pub rows: (usize, usize),
}

impl Goal {
    pub(super) fn level(row: usize) -> Self {
        Self { best: row, rows: (row, row) }
    }
}

const LEFT: u8 = 1;
const RIGHT: u8 = 2;
const UP: u8 = 4;
const DOWN: u8 = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Way {
    Right,
    Up,
    Down,
}

impl Way {
    const ALL: [Self; 3] = [Self::Right, Self::Up, Self::Down];

    /// The side by which a cell is left, and that by which the next is entered.
    fn sides(self) -> (u8, u8) {
        match self {
            Self::Right => (RIGHT, LEFT),
            Self::Up => (UP, DOWN),
            Self::Down => (DOWN, UP),
        }
    }
}

/// What is in a cell: the wires through it and the sides at which they meet.
#[derive(Clone, Debug, Default)]
struct Cell {
    wires: Vec<usize>,
    sides: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Before {
    Entry,
    /// From a wire of the same source, at a place of its path.
    Wire(usize, usize),
    State(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Entered {
    Free,
    Across,
    /// It is where it wanted to go, or on a wire that leads there.
    Arrived,
}

/// One step of a search, the most promising first: estimate, cost so far, and the step itself.
type Candidate = Reverse<(usize, usize, (usize, usize), Way, Before, Entered)>;

/// A channel and the wires led through it so far.
pub(super) struct Channel<'a> {
    width: usize,
    height: usize,
    wires: &'a [Wire],
    cells: Vec<Cell>,
    paths: Vec<Path>,
    /// By state: the search that settled it last, and how that came there.
    settled: Vec<(usize, Before)>,
    search: usize,
    /// The owner of the row on the left, and on the right.
    sources: Vec<Option<usize>>,
    targets: Vec<Option<usize>>,
    /// Whether a wire's source has other targets here.
    forks: Vec<bool>,
}

impl<'a> Channel<'a> {
    pub(super) fn new(width: usize, height: usize, wires: &'a [Wire]) -> Self {
        let (mut sources, mut targets) = (vec![None; height], vec![None; height]);
        for wire in wires {
            if let Some(row) = sources.get_mut(wire.from) {
                *row = Some(wire.source);
            }
            if let Some(row) = targets.get_mut(wire.goal.best) {
                *row = Some(wire.target);
            }
        }
        let mut target_of: BTreeMap<usize, Option<usize>> = BTreeMap::new();
        for wire in wires {
            let known = target_of.entry(wire.source).or_insert(Some(wire.target));
            *known = known.filter(|target| *target == wire.target);
        }
        let forks = wires.iter();
        let forks = forks.map(|wire| target_of.get(&wire.source) == Some(&None));
        let forks = forks.collect();
        Self {
            width,
            height,
            wires,
            cells: vec![Cell::default(); width * height],
            paths: vec![Path::new(); wires.len()],
            settled: vec![(0, Before::Entry); width * height * Way::ALL.len()],
            search: 0,
            sources,
            targets,
            forks,
        }
    }

    pub(super) fn finish(self) -> Vec<Path> {
        self.paths
    }

    fn cell(&self, (x, y): (usize, usize)) -> &Cell {
        &self.cells[y * self.width + x]
    }

    fn state(&self, (x, y): (usize, usize), way: Way) -> usize {
        (y * self.width + x) * Way::ALL.len() + way as usize
    }

    fn place(&self, state: usize) -> (usize, usize) {
        let cell = state / Way::ALL.len();
        (cell % self.width, cell / self.width)
    }

    /// Leads a wire through; false if there is no way.
    pub(super) fn route(&mut self, index: usize) -> bool {
        let wire = self.wires[index];
        if wire.from >= self.height || wire.goal.rows.1 >= self.height {
            return false;
        }
        if let Some(path) = self.twin(&wire) {
            self.keep(index, path);
            return true;
        }
        self.search += 1;
        let mut queue: BinaryHeap<Candidate> = BinaryHeap::new();
        self.begin(&wire, &mut queue);
        while let Some(Reverse((_, spent, at, way, before, entered))) = queue.pop() {
            if entered == Entered::Arrived {
                let path = self.path(before, at, wire.target);
                self.keep(index, path);
                return true;
            }
            let state = self.state(at, way);
            if self.settled[state].0 == self.search {
                continue;
            }
            self.settled[state] = (self.search, before);
            for next_way in Way::ALL {
                let turns = next_way != way;
                let may_turn = entered == Entered::Free && !matches!(before, Before::Wire(..));
                // There are no bends next to the boxes, so that what enters and leaves stays apart.
                let at_edge = at.0 == 0 || at.0 + 1 >= self.width;
                let back = turns && way != Way::Right && next_way != Way::Right;
                if back || (turns && !may_turn) || (next_way != Way::Right && at_edge) {
                    continue;
                }
                let Some(next) = self.neighbour(&wire, at, next_way) else { continue };
                if let Some((entered, cost)) = self.enter(index, next, next_way) {
                    let spent = spent + cost + if turns { cost::BEND } else { 0 };
                    let estimate = spent + self.left_over(&wire, next);
                    let before = Before::State(state);
                    queue.push(Reverse((estimate, spent, next, next_way, before, entered)));
                }
            }
        }
        false
    }

    pub(super) fn force(&mut self, index: usize) {
        let wire = self.wires[index];
        let (from, to) = (wire.from, wire.goal.best);
        let bend = self.width / 2;
        let mut path: Path = (0..bend).map(|x| (x, from)).collect();
        path.extend((from.min(to)..=from.max(to)).map(|y| (bend, y)));
        if from > to {
            path[bend..].reverse();
        }
        path.extend((bend + 1..self.width).map(|x| (x, to)));
        self.paths[index] = path;
    }

    /// The path of a wire that does the same, if the goal has no row left for another.
    fn twin(&self, wire: &Wire) -> Option<Path> {
        let same = |other: &Wire| other.source == wire.source && other.target == wire.target;
        let mut others = self.wires.iter().zip(&self.paths);
        let (_, path) = others.find(|(other, path)| same(other) && !path.is_empty())?;
        let (first, last) = wire.goal.rows;
        let free = (first..=last).any(|y| self.cell((self.width - 1, y)).wires.is_empty());
        (!free).then(|| path.clone())
    }

    /// Where the search begins: where the source enters, or all along the wires that it has already.
    fn begin(&self, wire: &Wire, queue: &mut BinaryHeap<Candidate>) {
        let mut begun = false;
        for (other, path) in self.paths.iter().enumerate() {
            if self.wires[other].source != wire.source {
                continue;
            }
            begun |= !path.is_empty();
            for (place, &at) in path.iter().enumerate() {
                let cell = self.cell(at);
                let foreign = cell.wires.iter().map(|w| &self.wires[*w]);
                let mut foreign = foreign.filter(|w| w.source != wire.source);
                let to = self.wires[other].target;
                match foreign.next() {
                    // From where another joined, all goes to the one target.
                    Some(joined) if joined.target == to => break,
                    Some(_) => continue,
                    None if at.0 + 1 >= self.width => continue,
                    None => {}
                }
                // Another branch at a corner or fork costs no bend of its own.
                let bent = cell.sides & (UP | DOWN) != 0 && cell.sides & (LEFT | RIGHT) != 0;
                let cost = if bent { cost::STEP } else { cost::BEND };
                let estimate = cost + self.left_over(wire, at);
                for way in Way::ALL {
                    if cell.sides & way.sides().0 == 0 {
                        let before = Before::Wire(other, place);
                        queue.push(Reverse((estimate, cost, at, way, before, Entered::Free)));
                    }
                }
            }
        }
        let at = (0, wire.from);
        if !begun && self.cell(at).wires.is_empty() {
            let estimate = self.left_over(wire, at);
            queue.push(Reverse((estimate, 0, at, Way::Right, Before::Entry, Entered::Free)));
        }
    }

    /// The cells from where the source enters to an end, and on along a wire that was joined there.
    fn path(&self, before: Before, end: (usize, usize), target: usize) -> Path {
        let mut cells = vec![end];
        let mut before = before;
        let mut head: &[(usize, usize)] = &[];
        loop {
            match before {
                Before::Entry => break,
                Before::Wire(other, place) => {
                    head = &self.paths[other][..place];
                    break;
                }
                Before::State(state) => {
                    cells.push(self.place(state));
                    before = self.settled[state].1;
                }
            }
        }
        let mut path = head.to_vec();
        path.extend(cells.into_iter().rev());
        let joined = self.cell(end).wires.iter();
        let mut joined = joined.filter(|wire| self.wires[**wire].target == target);
        if let Some(other) = joined.next() {
            let rest = self.paths[*other].iter();
            path.extend(rest.skip_while(|at| **at != end).skip(1));
        }
        path
    }

    /// Takes a path for a wire and enters it into the cells.
    fn keep(&mut self, index: usize, path: Path) {
        for (place, &(x, y)) in path.iter().enumerate() {
            let cell = &mut self.cells[y * self.width + x];
            if !cell.wires.contains(&index) {
                cell.wires.push(index);
            }
            let towards = |other: (usize, usize)| match (other.0.cmp(&x), other.1.cmp(&y)) {
                (Ordering::Less, _) => LEFT,
                (Ordering::Greater, _) => RIGHT,
                (Ordering::Equal, Ordering::Less) => UP,
                (Ordering::Equal, Ordering::Greater | Ordering::Equal) => DOWN,
            };
            cell.sides |= place.checked_sub(1).map_or(LEFT, |p| towards(path[p]));
            cell.sides |= path.get(place + 1).map_or(RIGHT, |next| towards(*next));
        }
        self.paths[index] = path;
    }
}

/// Costs on the way, four to a cell.
mod cost {
    pub(super) const STEP: usize = 4;
    pub(super) const BEND: usize = 12;
    pub(super) const CROSS: usize = 20;
    pub(super) const JOIN: usize = 6;
    /// A join next to a fork, along the row and else: it could be read as if both sources led to both targets.
    pub(super) const UNCLEAR: usize = 60;
    pub(super) const MISLEADING: usize = 160;
    /// A cell in a row that another wire needs to come in or to get out.
    pub(super) const IN_THE_WAY: usize = 6;
    /// A row of the goal away from the best.
    pub(super) const OFF: usize = 3;
}

/// How far a wire may leave the rows between its ends.
const DETOUR: usize = 12;

impl Channel<'_> {
    /// The neighbour of a cell, if the wire may be that far off.
    fn neighbour(&self, wire: &Wire, (x, y): (usize, usize), way: Way) -> Option<(usize, usize)> {
        let top = wire.from.min(wire.goal.rows.0).saturating_sub(DETOUR);
        let bottom = (wire.from.max(wire.goal.rows.1) + DETOUR).min(self.height - 1);
        match way {
            Way::Right => (x + 1 < self.width).then_some((x + 1, y)),
            Way::Up => (y > top).then(|| (x, y - 1)),
            Way::Down => (y < bottom).then_some((x, y + 1)),
        }
    }

    /// What a cell costs a wire that comes in some direction, and what it may do there; nothing if it may not come in.
    fn enter(&self, index: usize, at: (usize, usize), way: Way) -> Option<(Entered, usize)> {
        let wire = &self.wires[index];
        let (x, y) = at;
        let cell = self.cell(at);
        let (_, entering) = way.sides();
        if x + 1 == self.width {
            let open = cell.wires.is_empty() && (wire.goal.rows.0..=wire.goal.rows.1).contains(&y);
            let off = y.abs_diff(wire.goal.best) * cost::OFF;
            return open.then_some((Entered::Arrived, cost::STEP + off));
        }
        if cell.wires.is_empty() {
            let foreign = |whose: Option<usize>, own: usize| whose.is_some_and(|w| w != own);
            let in_the_way = way == Way::Right
                && (foreign(self.sources[y], wire.source) || foreign(self.targets[y], wire.target));
            let more = if in_the_way { cost::IN_THE_WAY } else { 0 };
            return Some((Entered::Free, cost::STEP + more));
        }
        let all = |same: &dyn Fn(&Wire) -> bool| cell.wires.iter().all(|w| same(&self.wires[*w]));
        let own = cell.wires.iter().any(|w| self.wires[*w].source == wire.source);
        if own {
            return None;
        }
        if all(&|other| other.target == wire.target) {
            let open = cell.sides & entering == 0;
            let forks = cell.wires.iter().any(|w| self.forks[*w]) || self.forks[index];
            let join = match (forks, cell.sides & (UP | DOWN)) {
                (false, _) => cost::JOIN,
                (true, 0) => cost::UNCLEAR,
                (true, _) => cost::MISLEADING,
            };
            return open.then_some((Entered::Arrived, cost::STEP + join));
        }
        let across = match way {
            Way::Right => cell.sides == UP | DOWN,
            Way::Up | Way::Down => cell.sides == LEFT | RIGHT,
        };
        across.then_some((Entered::Across, cost::STEP + cost::CROSS))
    }

    /// The least that the rest of the way costs.
    fn left_over(&self, wire: &Wire, (x, y): (usize, usize)) -> usize {
        let (first, last) = wire.goal.rows;
        let down = y.abs_diff(y.clamp(first, last));
        (down + usize::from(x + 1 < self.width)) * cost::STEP
    }
}
