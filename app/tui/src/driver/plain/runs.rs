//! Answers, hints, runs and knobs.

use std::collections::BTreeMap;
use std::io;
use std::time::{Duration, Instant};

use mlsys_kernel::{Direction, Goal};
use mlsys_lesson::{Asked, Block};
use mlsys_view::kernel::{KernelDebugger, thread_details};

use crate::command::Command;
use crate::driver::Pulse;
use crate::driver::plain::{NoScreen, Talk};
use crate::key::Key;
use crate::message::Message;
use crate::plain::words::Line;
use crate::plain::{say, words};
use crate::state::App;
use crate::state::lab::LabState;
use crate::state::page::{CheckState, Page, Side};
use crate::update::Animation;

impl Talk<'_> {
    pub(super) fn answer(&mut self, text: &str) -> io::Result<()> {
        let Some(page) = self.app.page.as_mut() else { return Ok(()) };
        page.side = Side::Text;
        let asked = page.marked_block().cloned();
        let locked = asked.as_ref().and_then(Block::as_predict).is_some_and(|p| {
            let made = page.predictions.get(&p.id);
            made.is_some_and(|made| made.locked)
        });
        if locked {
            return self
                .say(["This prediction stands: what it is held against is known.".to_owned()]);
        }
        let is_kernel = asked
            .as_ref()
            .and_then(Block::as_question)
            .is_some_and(|question| matches!(question.kind.asked(), Asked::Kernel { .. }));
        if is_kernel {
            return self.answer_kernel(text);
        }
        let asked = asked.filter(|block| block.as_lab().is_none());
        let Some(asked) = asked else { return self.say(["Nothing is asked here.".to_owned()]) };
        if let Some(complaint) = self.type_in(Command::Enter, text)? {
            return self.say(say::sentence(&format!("Not taken: {complaint}.")));
        }
        self.of_page(|page| match &asked {
            Block::Question(question) => say::answered(page, question),
            Block::Predict(_) => vec!["Kept; it stands when the run starts.".to_owned()],
            Block::Lab(_) | Block::Prose(_) | Block::Check(_) | Block::Notes(_) => Vec::new(),
        })?;
        self.notice()
    }

    fn type_in(&mut self, opening: Command, text: &str) -> io::Result<Option<String>> {
        self.send(Message::Do(opening))?;
        self.send(Message::Key(Key::End))?;
        self.send(Message::Key(Key::Ctrl('u')))?;
        self.send(Message::Paste(text.to_owned()))?;
        self.send(Message::Key(Key::Enter))?;
        let entry = self.app.page.as_ref().and_then(|page| page.entry.as_ref());
        let complaint = entry.and_then(|entry| entry.complaint.clone());
        if entry.is_some() {
            self.send(Message::Key(Key::Esc))?;
        }
        Ok(complaint)
    }

    pub(super) fn hint(&mut self) -> io::Result<()> {
        let asked = self.app.page.as_ref().and_then(Page::marked_question);
        let asked = asked.cloned();
        let shown = |app: &App, id: &str| {
            let page = app.page.as_ref();
            page.and_then(|page| page.hints.get(id).copied()).unwrap_or(0)
        };
        let Some(question) = asked else {
            return self.say(["Hints belong to questions.".to_owned()]);
        };
        let before = shown(&self.app, &question.id);
        if let Some(page) = self.app.page.as_mut() {
            page.side = Side::Text;
        }
        self.send(Message::Do(Command::Hint))?;
        if shown(&self.app, &question.id) > before {
            self.say(say::hint(&question, before))
        } else {
            self.notice()
        }
    }

    pub(super) fn run(&mut self) -> io::Result<()> {
        let Some(page) = self.app.page.as_mut() else { return Ok(()) };
        let marked = page.marked_block().and_then(Block::as_predict);
        if let Some(lab) = marked.and_then(say::lab_of) {
            page.show_lab(&lab);
        }
        let current = page.current;
        self.send(Message::Do(Command::Run))?;
        let asked_to_predict = self.app.session.active.is_none()
            && self.app.page.as_ref().and_then(|page| page.reminded) == Some(current);
        if asked_to_predict {
            self.app.screen.notice = None;
            let marked = self.app.page.as_ref().and_then(|page| page.marked);
            self.say(["Predict first; run again runs without a prediction.".to_owned()])?;
            self.at = marked;
            return self.here();
        }
        self.notice()
    }

    pub(super) fn save(&mut self, file: &str) -> io::Result<()> {
        if let Err(why) = self.app.available(Command::SaveWeights) {
            return self.say(say::sentence(&why.to_string()));
        }
        self.type_in(Command::SaveWeights, file)?;
        let mut pulse = Pulse::new();
        while self.app.session.is_saving && self.driver.done.is_none() {
            self.driver.turn(&mut self.app, &mut NoScreen, &self.inbox, &mut pulse)?;
        }
        self.notice()
    }

    /// Goes along a graph or a kernel, to the end of the search, and says what came of it.
    pub(super) fn walk(&mut self, command: Command) -> io::Result<()> {
        self.send(Message::Do(command))?;
        while self.app.animation() == Some(Animation::Searching) {
            self.send(Message::Beat)?;
        }
        self.notice()
    }

    /// Goes along the lab's kernel, to the end of the search, and says what came of it.
    pub(super) fn stride(&mut self, goal: Goal, way: Direction) -> io::Result<()> {
        let lab = self.app.page.as_mut().and_then(Page::lab_mut);
        let Some(walk) = lab.and_then(|lab| lab.debugger.as_mut()) else {
            return self.say(["No kernel has run here.".to_owned()]);
        };
        walk.seek(goal, way);
        while self.app.animation() == Some(Animation::Searching) {
            self.send(Message::Beat)?;
        }
        self.app.screen.notice = None;
        let told = self.app.walk_in_words();
        self.say(told.iter().flat_map(|line| say::sentence(line)))
    }

    /// Looks at another part of the lab's kernel, and says the thread that is looked at.
    pub(super) fn look(
        &mut self,
        choose: impl FnOnce(&mut KernelDebugger) -> bool,
    ) -> io::Result<()> {
        let lab = self.app.page.as_mut().and_then(Page::lab_mut);
        let Some(walk) = lab.and_then(|lab| lab.debugger.as_mut()) else {
            return self.say(["No kernel has run here.".to_owned()]);
        };
        let told: Vec<String> = if choose(walk) {
            let told = thread_details(walk).into_iter();
            told.flat_map(|(_, line)| say::sentence(&line)).collect()
        } else {
            vec!["The kernel has none of that name or number where it stands.".to_owned()]
        };
        self.say(told)
    }

    pub(super) fn set(&mut self, name: &str, value: &str) -> io::Result<()> {
        let Some(page) = self.app.page.as_mut() else { return Ok(()) };
        // A knob may be an entry of a table: its name contains a dot as well.
        let known = |open: &LabState| open.controls.knobs.iter().any(|knob| knob.name == name);
        let (lab, knob) = match name.split_once('.') {
            Some((lab, knob)) if !page.lab().is_some_and(known) => (Some(lab), knob),
            Some(_) | None => (None, name),
        };
        if let Some(lab) = lab {
            page.show_lab(lab);
        }
        let Some(open) = page.lab_mut().filter(|open| lab.is_none_or(|lab| open.id == lab)) else {
            return self.say([format!("There is no lab {}.", lab.unwrap_or_default())]);
        };
        let Some(index) = open.controls.knobs.iter().position(|k| k.name == knob) else {
            let names: Vec<&str> = open.controls.knobs.iter().map(|k| k.name.as_str()).collect();
            let said = format!("Lab {} has no knob {knob}; it has: {}.", open.id, names.join(", "));
            return self.say(say::sentence(&said));
        };
        open.controls.marked = index;
        page.side = Side::Lab;
        let complaint = self.type_in(Command::Enter, value)?;
        if let Some(page) = self.app.page.as_mut() {
            page.side = Side::Text;
        }
        match complaint {
            Some(complaint) => self.say(say::sentence(&format!("Not taken: {complaint}.")))?,
            None => self.of_page(|page| {
                let open = page.lab();
                let knob = open.and_then(|open| open.controls.knobs.get(index));
                let value = knob.and_then(|knob| knob.value.as_ref());
                value
                    .map(|value| format!("{knob} is {value}.", knob = knob.map_or("", |k| &k.name)))
                    .into_iter()
                    .collect()
            })?,
        }
        self.notice()
    }
}

/// Time between two lines about a run: often enough to know that it lives, seldom enough to be read out.
const PROGRESS: Duration = Duration::from_secs(3);

impl Talk<'_> {
    /// Waits for the end of a run, if one goes on; a line that says stop ends it, others wait for their turn.
    pub(super) fn settle(&mut self) -> io::Result<()> {
        let Some(active) = self.app.session.active else { return Ok(()) };
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
                    let lab = page.labs.get(active.lab);
                    lab.map(say::progress).into_iter().collect()
                })?;
                self.out.flush()?;
            }
        }
        self.of_page(|page| {
            let lab = page.labs.get(active.lab);
            lab.map(say::end).unwrap_or_default()
        })?;
        self.verdicts(&before)?;
        self.notice()
    }

    /// What is known of checks and predictions.
    fn judged(&self) -> (BTreeMap<String, CheckState>, BTreeMap<String, Option<String>>) {
        let Some(page) = &self.app.page else { return Default::default() };
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
