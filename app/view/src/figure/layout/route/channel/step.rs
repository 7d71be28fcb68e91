//! What one step of a search may do, and what it costs.

use super::{Channel, DOWN, Entered, LEFT, RIGHT, UP, Way, Wire};

/// Costs on the way, four to a cell.
pub(super) mod cost {
    pub(in super::super) const STEP: usize = 4;
    pub(in super::super) const BEND: usize = 12;
    pub(in super::super) const CROSS: usize = 20;
    pub(in super::super) const JOIN: usize = 6;
    /// A join next to a fork, along the row and else: it could be read as if both sources led to both targets.
    pub(in super::super) const UNCLEAR: usize = 60;
    pub(in super::super) const MISLEADING: usize = 160;
    /// A cell in a row that another wire needs to come in or to get out.
    pub(in super::super) const IN_THE_WAY: usize = 6;
    /// A row of the goal away from the best.
    pub(in super::super) const OFF: usize = 3;
}

/// How far a wire may leave the rows between its ends.
const DETOUR: usize = 12;

impl Channel<'_> {
    /// The neighbour of a cell, if the wire may be that far off.
    pub(super) fn beside(
        &self,
        wire: &Wire,
        (x, y): (usize, usize),
        way: Way,
    ) -> Option<(usize, usize)> {
        let top = wire.from.min(wire.goal.rows.0).saturating_sub(DETOUR);
        let bottom = (wire.from.max(wire.goal.rows.1) + DETOUR).min(self.height - 1);
        match way {
            Way::Right => (x + 1 < self.width).then_some((x + 1, y)),
            Way::Up => (y > top).then(|| (x, y - 1)),
            Way::Down => (y < bottom).then_some((x, y + 1)),
        }
    }

    /// What a cell costs a wire that comes in some direction, and what it may do there; nothing if it may not come in.
    pub(super) fn enter(
        &self,
        index: usize,
        at: (usize, usize),
        way: Way,
    ) -> Option<(Entered, usize)> {
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
    pub(super) fn left_over(&self, wire: &Wire, (x, y): (usize, usize)) -> usize {
        let (first, last) = wire.goal.rows;
        let down = y.abs_diff(y.clamp(first, last));
        (down + usize::from(x + 1 < self.width)) * cost::STEP
    }
}
