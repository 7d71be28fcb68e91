//! Waiting for a run, and what it changes.

use std::collections::BTreeMap;
use std::io;
use std::time::{Duration, Instant};

use super::{NoScreen, Talk};
use crate::command::Command;
use crate::driver::Pulse;
use crate::message::Message;
use crate::plain::say;
use crate::plain::words::{self, Line};
use crate::state::page::CheckState;

/// Time between two lines about a run: often enough to know that it lives, seldom enough to be read out.
const PROGRESS: Duration = Duration::from_secs(3);

impl Talk<'_> {
    /// Waits for the end of a run, if one goes on; a line that says stop ends it, others wait for their turn.
    pub(super) fn settle(&mut self) -> io::Result<()> {
        let Some(active) = self.app.session.active else {
            return Ok(());
        };
        let before = self.judged();
        let mut pulse = Pulse::new();
        let mut told = Instant::now();
        while self.driver.done.is_none() && self.app.session.active.is_some() {
            let is_stop = |line: &Option<String>| {
                line.as_deref().is_some_and(|line| words::read(line) == Ok(Line::Stop))
            };
            if self.driver.lines.front().is_some_and(is_stop) {
                self.driver.lines.pop_front();
                self.send(Message::Do(Command::Stop))?;
            }
            self.driver.turn(&mut self.app, &mut NoScreen, &self.inbox, &mut pulse)?;
            if told.elapsed() >= PROGRESS {
                told = Instant::now();
                self.of_page(|page| {
                    let slot = page.labs.get(active.slot);
                    slot.map(say::progress).into_iter().collect()
                })?;
                self.out.flush()?;
            }
        }
        self.of_page(|page| {
            let slot = page.labs.get(active.slot);
            slot.map(say::end).unwrap_or_default()
        })?;
        self.verdicts(&before)?;
        self.notice()
    }

    /// What is known of checks and predictions.
    fn judged(&self) -> (BTreeMap<String, CheckState>, BTreeMap<String, Option<String>>) {
        let Some(page) = &self.app.page else {
            return Default::default();
        };
        let predictions = page.predictions.iter();
        (
            page.checks.clone(),
            predictions.map(|(id, made)| (id.clone(), made.comparison.clone())).collect(),
        )
    }

    /// Says what a run has changed about checks and predictions.
    fn verdicts(
        &mut self,
        before: &(BTreeMap<String, CheckState>, BTreeMap<String, Option<String>>),
    ) -> io::Result<()> {
        let after = self.judged();
        self.of_page(|page| {
            let mut lines = Vec::new();
            for predict in page.lesson.predictions() {
                if after.1.get(&predict.id) != before.1.get(&predict.id) {
                    lines.extend(say::comparison(page, predict));
                }
            }
            for check in page.lesson.checks() {
                if after.0.get(&check.id) != before.0.get(&check.id) {
                    lines.extend(say::check_line(page, check));
                }
            }
            lines
        })
    }
}
