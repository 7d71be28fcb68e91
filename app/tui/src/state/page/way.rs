//! The way through a lesson: what has been read, what comes next, and what waits for an answer.

use mlsys_lesson::{Block, Check, Predict};

use crate::state::{Audience, Page, Side};

/// The text that has been on the screen: all blocks before one, and lines of that one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Seen {
    block: usize,
    lines: usize,
}

impl Seen {
    pub fn before(block: usize) -> Self {
        Self { block, lines: 0 }
    }

    /// All lines before this one; blocks are given by their first lines and one past their last ones.
    pub fn up_to(line: usize, blocks: &[(usize, usize)]) -> Self {
        let block = blocks.iter().position(|(_, end)| *end > line).unwrap_or(blocks.len());
        let start = blocks.get(block).map_or(line, |(start, _)| *start);
        Self { block, lines: line.saturating_sub(start) }
    }

    /// The first line that has not been seen.
    pub fn line(self, blocks: &[(usize, usize)]) -> usize {
        match blocks.get(self.block) {
            Some(&(start, end)) => (start + self.lines).min(end),
            None => blocks.last().map_or(0, |(_, end)| *end),
        }
    }
}

impl Page {
    /// The side that keys go to: of a lab without knobs its pictures have them.
    pub fn focus(&self) -> Side {
        let has_knobs = || self.lab().is_none_or(|lab| !lab.controls.knobs.is_empty());
        match self.side {
            Side::Lab if !has_knobs() => Side::Picture,
            side @ (Side::Text | Side::Lab | Side::Picture) => side,
        }
    }

    /// Where the first step goes: to the first task, in a lesson that was begun to the first that is open.
    pub fn first_task(&self) -> Option<usize> {
        let is_begun = !self.answers.is_empty() || !self.predictions.is_empty();
        let mut blocks = 0..self.lesson.blocks.len();
        let open = blocks.find(|block| self.is_left(*block) || self.is_unrun(*block));
        open.filter(|_| is_begun).or_else(|| self.activities().first().copied())
    }

    /// Whether a block is a prediction that is made and waits for its run.
    pub fn is_unrun(&self, block: usize) -> bool {
        let predict = self.lesson.blocks.get(block).and_then(Block::as_predict);
        let made = predict.and_then(|predict| self.predictions.get(&predict.id));
        made.is_some_and(|made| !made.locked)
    }

    /// The activity after the marked one, once the end was shown the next that is open; none after the last.
    pub fn next_activity(&self) -> Option<usize> {
        let marked = self.marked?;
        let mut after = self.activities().into_iter().filter(|block| *block > marked);
        after.find(|block| self.ends == 0 || self.is_left(*block))
    }

    /// Whether a prediction is not made, a question not answered rightly, or, after the first end, a lab has not run that
    /// checks wait for.
    pub fn is_left(&self, block: usize) -> bool {
        match self.lesson.blocks.get(block) {
            Some(Block::Predict(predict)) => !self.is_made(predict),
            Some(Block::Question(question)) => !self.is_done(question),
            Some(Block::Lab(lab)) => self.ends == 1 && self.is_awaited(&lab.id),
            Some(Block::Prose(_) | Block::Check(_) | Block::Notes(_)) | None => false,
        }
    }

    /// Whether a check waits for a run of this lab with the lesson's values.
    fn is_awaited(&self, id: &str) -> bool {
        let waits = |check: &&Check| !self.checks.contains_key(&check.id);
        let names_it = |check: &Check| {
            let names = check.assert.expr.names();
            names.iter().any(|(name, _)| name.parts().next() == Some(id))
        };
        let mut labs = self.labs.iter();
        labs.any(|lab| lab.id == id && lab.others.reference.is_none())
            && self.lesson.checks().filter(waits).any(names_it)
    }

    /// Notes that the lines from the scroll position on have been on a screen of this height.
    pub fn see(&mut self, height: usize, blocks: &[(usize, usize)]) {
        self.seen = self.seen.max(Seen::up_to(self.scroll + height, blocks));
    }

    /// Marks a block. A lab, a try and a guess that waits for its run bring their lab to the screen, another task the lab
    /// above it, unless that is the one of the task marked before: then the learner may have chosen which lab is shown.
    pub fn mark_at(&mut self, block: usize) {
        let before = self.marked.and_then(|marked| self.lab_above(marked));
        self.marked = Some(block);
        let above = self.lab_above(block).filter(|above| before.as_ref() != Some(above));
        if let Some(id) = self.awaited_lab(block).or(above) {
            self.show_lab(&id);
        }
    }

    /// The lab that the last lab or try above a block, or the block itself, is about.
    fn lab_above(&self, block: usize) -> Option<String> {
        let above = self.lesson.blocks.iter().take(block + 1).rev();
        above.into_iter().find_map(own_lab).map(str::to_owned)
    }

    /// The lab that is to be run at a block.
    fn awaited_lab(&self, block: usize) -> Option<String> {
        let block = self.lesson.blocks.get(block)?;
        let waits =
            |predict: &&Predict| self.predictions.get(&predict.id).is_some_and(|made| !made.locked);
        let guess = || block.as_predict().filter(waits);
        let revealed_by = || self.lesson.labs_of(guess()?).first().copied();
        own_lab(block).or_else(revealed_by).map(str::to_owned)
    }

    /// Shows the panels that waited for tasks which are done now; instructors see all. A guess is done when it stands:
    /// until then what its panel shows could still change it.
    pub fn release_panels(&mut self) {
        let is_open = |task: &&Block| match task {
            Block::Question(question) => !self.is_done(question),
            Block::Predict(predict) => {
                !self.predictions.get(&predict.id).is_some_and(|made| made.locked)
            }
            Block::Prose(_) | Block::Lab(_) | Block::Check(_) | Block::Notes(_) => false,
        };
        let is_held = self.audience == Audience::Student;
        let open = self.lesson.tasks().filter(|_| is_held).filter(is_open);
        let open = open.filter_map(Block::id).map(str::to_owned).collect();
        for lab in &mut self.labs {
            lab.pictures.release(&open);
        }
    }
}

/// The lab that a block is or, of a try, is made at: a prediction need not show its own.
fn own_lab(block: &Block) -> Option<&str> {
    match block {
        Block::Lab(lab) => Some(&lab.id),
        Block::Predict(predict) if predict.turn.is_some() => {
            predict.lab.as_ref().map(|lab| lab.value.as_str())
        }
        Block::Predict(_)
        | Block::Question(_)
        | Block::Prose(_)
        | Block::Check(_)
        | Block::Notes(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_seen_stays_seen_when_blocks_before_it_grow() {
        let blocks = [(0, 4), (4, 10), (10, 12)];
        let seen = Seen::up_to(7, &blocks);
        assert_eq!(seen.line(&blocks), 7);
        assert_eq!(seen.line(&[(0, 9), (9, 15), (15, 17)]), 12);
        // A block that was seen whole has been read, whatever it says later.
        let whole = Seen::up_to(10, &blocks);
        assert_eq!(whole.line(&[(0, 4), (4, 30), (30, 32)]), 30);
        assert_eq!(Seen::up_to(99, &blocks).line(&blocks), 12);
        assert!(Seen::default() < seen && seen < whole && whole == Seen::before(2));
    }
}
