//! The launch before this one: its lines, matched with those of the text as it is now, and what they cost there.

use std::collections::BTreeMap;

use mlsys_lab::frame::Frame;
use mlsys_lab::frame::kernel::{Kernel, LineCost, View};

use crate::panel::picture::Past;

/// More pairs of lines than this are not compared: only the first and last lines of the texts are matched then.
const MOST_PAIRS: usize = 1 << 20;

pub(crate) struct Before<'a> {
    pub(super) label: &'a str,
    pub(super) then: &'a Kernel,
    now: &'a Kernel,
    /// Costs by the line's number as it is now, for lines that both texts have.
    costs: BTreeMap<u32, LineCost>,
}

impl<'a> Before<'a> {
    /// Absent where there is no earlier launch, or where it is the same one.
    pub(super) fn of(past: Option<Past<'a>>, now: &'a Kernel) -> Option<Self> {
        let Past { label, frame } = past?;
        let Frame::Kernel(then) = frame else { return None };
        if then.recipe == now.recipe {
            return None;
        }
        let lines = |text: &'a str| text.lines().map(str::trim).collect::<Vec<_>>();
        let matched = matched(&lines(&then.recipe.source), &lines(&now.recipe.source));
        let cost = |line: usize| {
            let number = line as u32 + 1;
            let known = then.whole.lines.iter().find(|cost| cost.line == number);
            known.copied().unwrap_or(LineCost { line: number, ..LineCost::default() })
        };
        let pairs = (1..).zip(matched).filter_map(|(number, then)| Some((number, cost(then?))));
        Some(Self { label, then, now, costs: pairs.collect() })
    }

    /// What a line of the present text cost, by its number; absent if the earlier text has no such line.
    pub(super) fn cost(&self, line: u32) -> Option<LineCost> {
        self.costs.get(&line).copied()
    }

    fn own(&self, line: u32) -> Option<LineCost> {
        self.now.whole.lines.iter().find(|cost| cost.line == line).copied()
    }

    /// Whether a line's counts are others than they were.
    pub(super) fn has_changed(&self, line: u32) -> bool {
        self.cost(line)
            .is_some_and(|then| counts(&then) != counts(&self.own(line).unwrap_or_default()))
    }

    /// What differs in a line of both texts.
    pub(super) fn line(&self, line: u32) -> Option<String> {
        let names = ["runs", "active lanes", "sectors", "divergent branches", "bank replays"];
        let (then, now) = (self.cost(line)?, self.own(line).unwrap_or_default());
        let changes = changes(&names, &counts(&then), &counts(&now));
        (!changes.is_empty()).then(|| format!("Line {line}, against {}: {changes}.", self.label))
    }

    /// Both launches in whole.
    pub(super) fn totals(&self) -> String {
        let [then, now] = [self.then, self.now].map(|kernel| {
            let sum = |count: fn(&LineCost) -> u64| kernel.whole.lines.iter().map(count).sum();
            let sectors: u64 = sum(|cost| cost.sectors);
            let replays: u64 = sum(|cost| cost.replays);
            [kernel.whole.steps, sectors, replays, kernel.whole.problems.len() as u64]
        });
        let names = ["warp instructions", "sectors", "bank replays", "problems"];
        let changes = changes(&names, &then, &now);
        match changes.as_str() {
            "" => format!("The same counts as in {}.", self.label),
            changes => format!("Against {}: {changes}.", self.label),
        }
    }

    /// What a view does not say itself.
    pub(super) fn sentences(&self, view: View) -> Vec<String> {
        match view {
            View::Source => {
                let changed = self.costs.keys().filter_map(|line| self.line(*line));
                [self.totals()].into_iter().chain(changed).collect()
            }
            View::Memory | View::Problems => self.problems().into_iter().collect(),
            View::Grid
            | View::Lanes
            | View::Sectors
            | View::Banks
            | View::Timeline
            | View::Divergence => Vec::new(),
        }
    }

    /// What accesses in a line moved in both launches, if the line had any.
    pub(super) fn accesses(&self, line: u32) -> Option<String> {
        let then = self.cost(line).filter(|cost| cost.accesses > 0)?;
        let now = self.own(line).filter(|cost| cost.accesses > 0)?;
        let [before, each] = [then, now].map(|cost| cost.sectors as f64 / cost.accesses as f64);
        Some(format!(
            " In the whole run an access in this line moves {each:.1} sectors on average; in {} it moved {before:.1}.",
            self.label
        ))
    }

    /// Extra passes over shared memory in a line in both launches, if it had any in one of them.
    pub(super) fn replays(&self, line: u32) -> Option<String> {
        let then = self.cost(line)?.replays;
        let now = self.own(line)?.replays;
        (then.max(now) > 0).then(|| {
            format!(
                " In the whole run this line has {now} bank replays; in {} it had {then}.",
                self.label
            )
        })
    }

    /// The elements which a buffer does not have and that the earlier launch reached for.
    pub(super) fn outside(&self, buffer: &str) -> impl Iterator<Item = i64> {
        let reached = self.then.whole.problems.iter().filter_map(|one| one.outside.as_ref());
        reached.filter(move |outside| outside.buffer == buffer).map(|outside| outside.at)
    }

    /// What went wrong in the earlier launch, if as much does not go wrong now.
    pub(super) fn problems(&self) -> Option<String> {
        let [then, now] = [self.then, self.now].map(|kernel| kernel.whole.problems_found());
        if then == now {
            return None;
        }
        let counts = format!("Problems: {now} now, {then} in {}.", self.label);
        Some(match self.then.whole.problems.first() {
            Some(first) => {
                let (line, sentence) = (first.line, &first.sentence);
                format!("{counts} The first there, in line {line}: {sentence}.")
            }
            None => counts,
        })
    }
}

fn counts(cost: &LineCost) -> [u64; 5] {
    [cost.issues, cost.lanes, cost.sectors, cost.divergent, cost.replays]
}

/// The counts that differ: `sectors 4 instead of 32`.
fn changes(names: &[&str], then: &[u64], now: &[u64]) -> String {
    let pairs = then.iter().zip(now);
    let changed = names.iter().zip(pairs).filter(|(_, (then, now))| then != now);
    let texts = changed.map(|(name, (then, now))| format!("{name} {now} instead of {then}"));
    texts.collect::<Vec<_>>().join(", ")
}

/// For each line of the new text its place in the old one: by the longest common sequence of lines, and one by one where
/// as many lines stand between two common ones in both.
fn matched(old: &[&str], new: &[&str]) -> Vec<Option<usize>> {
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let ends = old[head..].iter().rev().zip(new[head..].iter().rev());
    let tail = ends.take_while(|(a, b)| a == b).count();
    let (a, b) = (&old[head..old.len() - tail], &new[head..new.len() - tail]);
    // Of what begins at a place of the old text and at one of the new.
    let compared = if a.len() * b.len() <= MOST_PAIRS { a.len() } else { 0 };
    let mut longest = vec![vec![0_usize; b.len() + 1]; compared + 1];
    for (i, line) in a.iter().enumerate().take(compared).rev() {
        for j in (0..b.len()).rev() {
            let either = longest[i + 1][j].max(longest[i][j + 1]);
            longest[i][j] = if *line == b[j] { longest[i + 1][j + 1] + 1 } else { either };
        }
    }
    let mut places: Vec<Option<usize>> = vec![None; new.len()];
    let mut pair = |from: [usize; 2], to: [usize; 2]| {
        if to[0] - from[0] == to[1] - from[1] {
            (from[0]..to[0]).zip(from[1]..to[1]).for_each(|(i, j)| places[j] = Some(i));
        }
    };
    pair([0, 0], [head, head]);
    let (mut i, mut j, mut gap) = (0, 0, [head, head]);
    while i < compared && j < b.len() {
        if a[i] == b[j] {
            pair(gap, [head + i, head + j]);
            pair([head + i, head + j], [head + i + 1, head + j + 1]);
            (i, j) = (i + 1, j + 1);
            gap = [head + i, head + j];
        } else if longest[i + 1][j] >= longest[i][j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    pair(gap, [old.len() - tail, new.len() - tail]);
    pair([old.len() - tail, new.len() - tail], [old.len(), new.len()]);
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_matched_by_their_text_and_else_by_their_place() {
        for (old, new, expected) in [
            ("a b c", "a b c", "0 1 2"),
            ("a b c", "a x c", "0 1 2"),
            ("a b c", "a b x c", "0 1 - 2"),
            ("a b c d", "a d", "0 3"),
            ("a b c d e", "a y c z z e", "0 1 2 - - 4"),
            ("", "a b", "- -"),
            ("a b", "", ""),
            ("a a a", "a a", "0 1"),
        ] {
            let lines = |text: &'static str| text.split_whitespace().collect::<Vec<_>>();
            let places = matched(&lines(old), &lines(new));
            let said: Vec<String> = places
                .into_iter()
                .map(|at| at.map_or_else(|| "-".to_owned(), |at| at.to_string()))
                .collect();
            assert_eq!(said.join(" "), expected, "{old} to {new}");
        }
    }
}
