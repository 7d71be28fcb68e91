//! The way through a lesson, from task to task and to the next lesson.

use mlsys_lesson::Block;

use crate::state::{App, Seen, Side};
use crate::{document, view};

impl App {
    /// Goes on in the lesson: shows text that has not been on the screen, page by page, until the next activity is on it,
    /// and marks that. The first one of a lesson that has just been opened is shown before it is passed.
    pub(super) fn next_activity(&mut self) {
        let size = self.screen.size;
        let (width, height) = view::text_size(size);
        if self.show_revealed() {
            return self.start_instant();
        }
        // The answers come before the text below them, which they move.
        if self.is_answer_due() {
            return self.start_instant();
        }
        let Some(page) = self.page.as_mut() else { return };
        page.turn_to(Side::Text);
        if let Some(turn) = page.pending_turn().filter(|_| page.passing != page.marked) {
            page.passing = page.marked;
            self.notify(format!("this try waits for a run with {turn}; n goes on without it"));
            return self.start_instant();
        }
        let document = document::build(page, width, &self.screen.look);
        let scroll_for = |block| document.scroll_for(block, page.scroll, height);
        let is_ahead = scroll_for(page.marked) > page.scroll;
        let next = match page.arrived {
            false => page.first_task(),
            true if is_ahead && !page.ended => page.marked,
            true => page.next_activity(),
        };
        // The first one is not passed over where it is in view from the beginning, unless it is done.
        let next = match next {
            Some(first) if !page.arrived => {
                page.mark_at(first);
                if page.is_marked_open() || page.is_left(first) || page.is_unrun(first) {
                    page.marked
                } else {
                    page.next_activity()
                }
            }
            next => next,
        };
        let longest = document.longest_scroll(height);
        let to =
            next.map_or(longest, |block| document.scroll_for(Some(block), page.scroll, height));
        let here = Seen::up_to(page.scroll + height, &document.blocks);
        let seen = page.seen.max(here).line(&document.blocks);
        if seen < to {
            // The last line that was seen stays, to read on from.
            page.scroll = seen.saturating_sub(1).max(page.scroll + 1).min(longest);
            page.see(height, &document.blocks);
            return self.start_instant();
        }
        page.arrived = true;
        match next {
            Some(block) => {
                page.ended = false;
                page.mark_at(block);
                self.keep_marked_in_view();
                self.start_instant();
            }
            None => self.end_lesson(),
        }
    }

    /// Marks a block as if every screen between had been turned to.
    pub(super) fn go_to_block(&mut self, block: usize) {
        let Some(page) = self.page.as_mut() else { return };
        page.turn_to(Side::Text);
        page.arrived = true;
        page.ended = false;
        page.revealed = None;
        page.mark_at(block);
        self.keep_marked_in_view();
        self.start_instant();
    }

    /// Whether what a run has revealed was not on the screen: shows it and leaves the marked activity as it is.
    fn show_revealed(&mut self) -> bool {
        let is_hidden = self.is_revealed_hidden();
        let Some(page) = self.page.as_mut() else { return false };
        let Some(block) = page.revealed.take().filter(|_| is_hidden) else { return false };
        page.turn_to(Side::Text);
        self.scroll_in(|page, document, height| {
            document.scroll_for(Some(block), page.scroll, height)
        });
        true
    }

    /// Whether a revealed prediction is on the other side or has been scrolled away.
    fn is_revealed_hidden(&self) -> bool {
        let (width, height) = view::text_size(self.screen.size);
        let Some(page) = &self.page else { return false };
        let Some(block) = page.revealed else { return false };
        let takes_turns = view::sides(self.screen.size).tabs.is_some();
        if page.full_screen.is_some() || takes_turns && page.side != Side::Text {
            return true;
        }
        let document = document::build(page, width, &self.screen.look);
        document.scroll_for(Some(block), page.scroll, height) != page.scroll
    }

    /// Says after a run that what it has revealed is not on the screen.
    pub(super) fn tell_revealed(&mut self) {
        let is_hidden = self.is_revealed_hidden();
        let Some(page) = self.page.as_mut() else { return };
        let is_new = page.revealed_told != page.revealed;
        // What was in sight as the run ended needs no word later.
        page.revealed_told = page.revealed;
        if is_hidden && is_new {
            self.notify("this run answers your guess: n shows how near it was");
        }
    }

    /// Marks the activity before the marked one; if that one has been scrolled away, first shows the last one that begins
    /// above the end of the screen.
    pub(super) fn previous_activity(&mut self) {
        let (width, height) = view::text_size(self.screen.size);
        let Some(page) = self.page.as_mut() else { return };
        page.turn_to(Side::Text);
        page.ended = false;
        page.arrived = true;
        let document = document::build(page, width, &self.screen.look);
        if document.scroll_for(page.marked, page.scroll, height) < page.scroll {
            let bottom = page.scroll + height;
            let is_above =
                |block: &usize| document.blocks.get(*block).is_some_and(|(head, _)| *head < bottom);
            if let Some(last) = page.activities().into_iter().rfind(is_above) {
                page.mark_at(last);
            }
        } else {
            page.mark(-1);
        }
        self.keep_marked_in_view();
        self.start_instant();
    }

    /// Where the head of the marked task is not on the screen, marks the first open task that is: enter means what is seen.
    pub(super) fn mark_task_in_sight(&mut self) {
        let (width, height) = view::text_size(self.screen.size);
        let Some(page) = self.page.as_mut() else { return };
        let document = document::build(page, width, &self.screen.look);
        let (top, bottom) = (page.scroll, page.scroll + height);
        let lines = |block: usize| document.blocks.get(block).copied();
        let is_head_seen =
            |block: usize| lines(block).is_some_and(|(head, _)| (top..bottom).contains(&head));
        if page.marked.is_some_and(is_head_seen) {
            return;
        }
        // The last line of a block is empty.
        let is_seen =
            |block: &usize| lines(*block).is_some_and(|(head, end)| head < bottom && end > top + 1);
        let mut seen = page.activities().into_iter().filter(is_seen);
        let is_left = |block: &usize| page.is_open(*block) || page.is_left(*block);
        if let Some(open) = seen.find(is_left) {
            page.mark_at(open);
        }
    }

    /// After the last activity: shows the end with what is left to do, then goes to the first open task or, the first time,
    /// to a lab that checks wait for, and from a lesson in which nothing is open to the next one.
    fn end_lesson(&mut self) {
        let next = self.next_lesson();
        let Some(page) = self.page.as_mut() else { return };
        if !page.ended {
            page.ended = true;
            page.ends += 1;
            let next = next.and_then(|next| self.course.lessons.get(next));
            let open = page.first_open();
            let then = match (open, next) {
                (Some(block), _) => match page.lesson.blocks.get(block).and_then(Block::as_lab) {
                    Some(lab) => format!("n goes to lab {}, which checks wait for", lab.id),
                    None => "n goes to what is open".to_owned(),
                },
                (None, Some(next)) => format!("n opens the next lesson, {}", next.front.title),
                (None, None) => "this was the last lesson".to_owned(),
            };
            let summary = page.summary();
            let comma = if summary.is_empty() { "" } else { ": " };
            self.notify(format!("end of the lesson{comma}{summary}; {then}"));
            return self.scroll_to(|_, last| last);
        }
        match (page.first_open(), next) {
            (Some(block), _) => {
                page.ended = false;
                page.mark_at(block);
                self.keep_marked_in_view();
            }
            (None, Some(next)) => {
                self.leave();
                self.course.chosen = next;
                self.open_chosen();
            }
            (None, None) => self.notify("this was the last lesson".to_owned()),
        }
        self.start_instant();
    }

    /// The lesson after the open one, as a place in its course.
    fn next_lesson(&self) -> Option<usize> {
        let open = &self.page.as_ref()?.lesson.front.id;
        let place = self.course.lessons.iter().position(|listed| listed.front.id == *open)?;
        Some(place + 1).filter(|next| *next < self.course.lessons.len())
    }
}
