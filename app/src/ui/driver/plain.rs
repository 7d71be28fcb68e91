//! The workbench without a screen: a line in, what came of it out.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Read, Write};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use mlsys_lesson::Block;

use super::inputs::{self, Input};
use super::runs::Runner;
use super::{Broken, Driver, Left, Options, Outbox, Pulse, state};
use crate::paths::Paths;
use crate::ui::app::{App, Tempo};
use crate::ui::command::Command;
use crate::ui::key::Key;
use crate::ui::message::Message;
use crate::ui::page::{CheckState, Page, Side};
use crate::ui::plain::say;
use crate::ui::plain::words::{self, Line};
use crate::ui::terminal::{Screen, Stop};

/// Time between two lines about a run: often enough to know that it lives, seldom enough to be read out.
const PROGRESS: Duration = Duration::from_secs(3);

/// A longer line is no answer; the rest of it is passed over.
const LONGEST_LINE: u64 = 64 * 1024;

/// Columns and rows that pages are laid out for; nobody sees them.
const SIZE: (u16, u16) = (120, 60);

/// Whether a prompt is shown where a line is awaited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prompt {
    /// Somebody types.
    Shown,
    /// A script or a file is read.
    Silent,
}

/// Goes through the course or a lesson line by line until the learner leaves or the lines end.
pub fn run_plain(
    mut options: Options,
    prompt: Prompt,
    out: &mut dyn Write,
) -> Result<Left, Broken> {
    let folder = options.paths.as_ref().map(Paths::runs);
    let exports = options.paths.as_ref().map(Paths::exports);
    let (mut app, log, effects) = state(&mut options, SIZE)?;
    app.tempo = Tempo::Full;
    let (sender, inbox) = mpsc::channel();
    listen(&sender)?;
    inputs::probe_devices(&sender);
    let mut talk = Talk {
        driver: Driver {
            runner: Runner::new(app.registry, folder, sender),
            log,
            done: None,
            lines: Default::default(),
            exports,
        },
        app,
        inbox,
        out,
        prompt,
        at: None,
    };
    let ended = talk.begin(effects).and_then(|()| talk.serve());
    // However it ends, the record of a run that goes on is closed.
    talk.driver.runner.abandon();
    Ok(ended?)
}

/// Reads lines, and hears the system's requests to end.
fn listen(outbox: &Outbox) -> io::Result<()> {
    let lines = outbox.clone();
    thread::Builder::new()
        .name("lines".to_owned())
        .spawn(move || {
            let mut stdin = io::stdin().lock();
            loop {
                let mut bytes = Vec::new();
                let read = (&mut stdin)
                    .take(LONGEST_LINE)
                    .read_until(b'\n', &mut bytes);
                let line = match read {
                    Ok(0) | Err(_) => None,
                    Ok(_) => Some(String::from_utf8_lossy(&bytes).into_owned()),
                };
                let is_last = line.is_none();
                if lines.send(Input::Line(line)).is_err() || is_last {
                    return;
                }
            }
        })?;
    requests(outbox.clone())
}

#[cfg(unix)]
fn requests(outbox: Outbox) -> io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let mut signals = signal_hook::iterator::Signals::new([SIGTERM, SIGHUP, SIGINT])?;
    thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || {
            for _ in signals.forever() {
                if outbox.send(Input::Message(Message::Terminate)).is_err() {
                    return;
                }
            }
        })?;
    Ok(())
}

#[cfg(not(unix))]
fn requests(_outbox: Outbox) -> io::Result<()> {
    Ok(())
}

/// Frames go nowhere.
struct NoScreen;

impl Screen for NoScreen {
    fn draw(&mut self, _view: impl FnOnce(&mut ratatui::Frame<'_>)) -> io::Result<()> {
        Ok(())
    }

    fn size(&self) -> io::Result<(u16, u16)> {
        Ok(SIZE)
    }

    fn stop_job(&mut self) -> io::Result<Stop> {
        Ok(Stop::NoShell)
    }

    fn take_again(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The state, and who is spoken to.
struct Talk<'a> {
    driver: Driver,
    app: App,
    inbox: Receiver<Input>,
    out: &'a mut dyn Write,
    prompt: Prompt,
    /// The block of the lesson that was read last.
    at: Option<usize>,
}

impl Talk<'_> {
    fn begin(&mut self, effects: Vec<crate::ui::message::Effect>) -> io::Result<()> {
        self.driver
            .carry_out(effects, &mut self.app, &mut NoScreen)?;
        self.notice()?;
        if self.app.page.is_some() {
            self.opened()
        } else {
            self.say(say::course(&self.app))
        }
    }

    fn serve(&mut self) -> io::Result<Left> {
        loop {
            self.settle()?;
            if self.prompt == Prompt::Shown {
                write!(self.out, "> ")?;
            }
            self.out.flush()?;
            let line = self.line()?;
            if let Some(left) = self.driver.done {
                if left == Left::OnRequest {
                    self.say(["Asked to end; everything is kept.".to_owned()])?;
                }
                self.out.flush()?;
                return Ok(left);
            }
            let Some(line) = line else {
                self.say(["The lines have ended; everything is kept.".to_owned()])?;
                self.out.flush()?;
                return Ok(Left::ByChoice);
            };
            match words::read(&harmless(&line)) {
                Ok(meant) => self.line_meant(meant)?,
                Err(complaint) => self.say([complaint])?,
            }
        }
    }

    /// The next line; none when there are no more, or when the program is to end.
    fn line(&mut self) -> io::Result<Option<String>> {
        let mut pulse = Pulse::new();
        loop {
            if self.driver.done.is_some() {
                return Ok(None);
            }
            if let Some(line) = self.driver.lines.pop_front() {
                return Ok(line);
            }
            self.driver
                .turn(&mut self.app, &mut NoScreen, &self.inbox, &mut pulse)?;
        }
    }

    fn line_meant(&mut self, meant: Line) -> io::Result<()> {
        let in_lesson = self.app.page.is_some();
        match meant {
            Line::Help => self.say(say::help()),
            Line::Quit => self.send(Message::Do(Command::Quit)),
            Line::Open(which) => self.open(&which),
            Line::Lessons => {
                if in_lesson {
                    self.send(Message::Do(Command::Back))?;
                }
                self.say(say::course(&self.app))
            }
            Line::Next | Line::Again | Line::Activities if !in_lesson => {
                self.say(say::course(&self.app))
            }
            Line::Text(text) if !in_lesson => self.say([words::not_understood(&text)]),
            Line::Back
            | Line::Go(_)
            | Line::Answer(_)
            | Line::Hint
            | Line::Run
            | Line::Stop
            | Line::Set(..)
            | Line::Reset
            | Line::Show
            | Line::Lab(_)
            | Line::Checks
                if !in_lesson =>
            {
                self.say(["No lesson is open; type open and a lesson's number.".to_owned()])
            }
            Line::Next => self.next(),
            Line::Back => self.back(),
            Line::Again => self.here(),
            Line::Activities => self.of_page(say::activities),
            Line::Go(number) => self.go(number),
            Line::Answer(text) => self.answer(&text),
            Line::Text(text) => {
                let asks = self.app.page.as_ref().and_then(Page::marked_block);
                match asks {
                    Some(Block::Predict(_) | Block::Question(_)) => self.answer(&text),
                    Some(Block::Lab(_) | Block::Prose(_) | Block::Check(_) | Block::Notes(_))
                    | None => self.say([words::not_understood(&text)]),
                }
            }
            Line::Hint => self.hint(),
            Line::Run => self.run(),
            Line::Stop => {
                self.send(Message::Do(Command::Stop))?;
                self.notice()
            }
            Line::Set(name, value) => self.set(&name, &value),
            Line::Reset => {
                self.send(Message::Do(Command::Reset))?;
                self.say(["All knobs are as the lesson has them.".to_owned()])
            }
            Line::Show => self.of_page(|page| {
                let slot = page.slot();
                slot.map_or(vec!["This lesson has no lab.".to_owned()], |slot| {
                    let mut lines = say::knobs(slot);
                    lines.extend(say::pictures(slot));
                    lines
                })
            }),
            Line::Lab(name) => self.lab(&name),
            Line::Checks => self.of_page(|page| {
                let checks = page.lesson.checks();
                let lines: Vec<String> = checks
                    .flat_map(|check| say::check_line(page, check))
                    .collect();
                if lines.is_empty() {
                    vec!["This lesson has no checks.".to_owned()]
                } else {
                    lines
                }
            }),
        }
    }

    fn open(&mut self, which: &str) -> io::Result<()> {
        let by_number = which
            .parse::<usize>()
            .ok()
            .and_then(|number| number.checked_sub(1))
            .filter(|&index| index < self.app.lessons.len());
        let by_id = || {
            let mut lessons = self.app.lessons.iter();
            lessons.position(|lesson| lesson.front.id.as_str() == which)
        };
        let Some(index) = by_number.or_else(by_id) else {
            return self.say([format!(
                "There is no lesson {which}; lessons lists them with their numbers."
            )]);
        };
        if self.app.page.is_some() {
            self.send(Message::Do(Command::Back))?;
        }
        self.app.chosen = index;
        self.send(Message::Do(Command::Enter))?;
        self.opened()
    }

    /// The first lines of a lesson that has been opened.
    fn opened(&mut self) -> io::Result<()> {
        self.at = None;
        let Some(page) = &self.app.page else {
            return Ok(());
        };
        let front = &page.lesson.front;
        let opening = format!(
            "{}, {} minutes. An empty line reads on; help says what else can be typed. Where the text names \
             keys, it means those of the workbench on a screen.",
            front.title, front.minutes
        );
        self.say(say::sentence(&opening))?;
        self.next()
    }

    /// Reads on to the next activity, or to the end.
    fn next(&mut self) -> io::Result<()> {
        let Some(page) = &self.app.page else {
            return Ok(());
        };
        let from = self.at.map_or(0, |at| at + 1);
        let activities = page.activities();
        let until = activities.into_iter().find(|&block| block >= from);
        let last = until.unwrap_or_else(|| page.lesson.blocks.len().saturating_sub(1));
        let mut lines = Vec::new();
        for block in from..=last {
            let said = say::block(page, block);
            if !said.is_empty() && !lines.is_empty() {
                lines.push(String::new());
            }
            lines.extend(said);
        }
        if until.is_none() {
            let end =
                "The lesson ends here. list says what it asks, lessons goes back to the course.";
            lines.push(String::new());
            lines.push(end.to_owned());
        }
        self.at = Some(last);
        if let Some(block) = until {
            self.mark(block)?;
        }
        self.say(lines)
    }

    fn back(&mut self) -> io::Result<()> {
        let Some(page) = &self.app.page else {
            return Ok(());
        };
        let at = self.at.unwrap_or_default();
        let before = page.activities().into_iter().rev().find(|&b| b < at);
        match before {
            Some(block) => self.go_to(block),
            None => self.say(["There is nothing before this.".to_owned()]),
        }
    }

    fn go(&mut self, number: usize) -> io::Result<()> {
        let activities = self.app.page.as_ref().map(Page::activities);
        let block = number
            .checked_sub(1)
            .and_then(|index| activities.as_ref()?.get(index).copied());
        match block {
            Some(block) => self.go_to(block),
            None => self.say([format!("There is no {number} in the list.")]),
        }
    }

    fn lab(&mut self, name: &str) -> io::Result<()> {
        let Some(page) = &self.app.page else {
            return Ok(());
        };
        let is_it = |block: &Block| block.as_lab().is_some_and(|lab| lab.id == name);
        match page.lesson.blocks.iter().position(is_it) {
            Some(block) => self.go_to(block),
            None => {
                let labs: Vec<&str> = page.slots.iter().map(|slot| slot.id.as_str()).collect();
                self.say([format!(
                    "There is no lab {name}; the labs are: {}.",
                    labs.join(", ")
                )])
            }
        }
    }

    fn go_to(&mut self, block: usize) -> io::Result<()> {
        self.at = Some(block);
        self.mark(block)?;
        self.here()
    }

    /// Says the block that was read last.
    fn here(&mut self) -> io::Result<()> {
        let at = self.at.unwrap_or_default();
        self.of_page(|page| say::block(page, at))
    }

    /// Marks an activity as going to it with the keys does.
    fn mark(&mut self, block: usize) -> io::Result<()> {
        let Some(page) = self.app.page.as_mut() else {
            return Ok(());
        };
        let places = page.activities();
        let place = |wanted| places.iter().position(|&b| Some(b) == wanted);
        let (Some(from), Some(to)) = (place(page.marked), place(Some(block))) else {
            return Ok(());
        };
        let (command, steps) = if to < from {
            (Command::PreviousActivity, from - to)
        } else {
            (Command::NextActivity, to - from)
        };
        for _ in 0..steps {
            self.send(Message::Do(command))?;
        }
        // What is marked from the beginning shows its lab only when it is gone to.
        if let Some(page) = self.app.page.as_mut() {
            page.mark(0);
        }
        Ok(())
    }

    fn answer(&mut self, text: &str) -> io::Result<()> {
        let Some(page) = self.app.page.as_mut() else {
            return Ok(());
        };
        page.side = Side::Text;
        let asked = page.marked_block().cloned();
        let locked = asked.as_ref().and_then(Block::as_predict).is_some_and(|p| {
            let made = page.predictions.get(&p.id);
            made.is_some_and(|made| made.locked)
        });
        if locked {
            return self.say(["This prediction stands: its run has started.".to_owned()]);
        }
        let asked = asked.filter(|block| block.as_lab().is_none());
        let Some(asked) = asked else {
            return self.say(["Nothing is asked here.".to_owned()]);
        };
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

    /// Opens a field, types a text into it, and gives it; what the field complains about is returned.
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

    fn hint(&mut self) -> io::Result<()> {
        let asked = self.app.page.as_ref().and_then(Page::marked_question);
        let asked = asked.cloned();
        let shown = |app: &App, id: &str| {
            let page = app.page.as_ref();
            page.and_then(|page| page.hints.get(id).copied())
                .unwrap_or(0)
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

    fn run(&mut self) -> io::Result<()> {
        let Some(page) = self.app.page.as_mut() else {
            return Ok(());
        };
        let marked = page.marked_block().and_then(Block::as_predict);
        if let Some(lab) = marked.and_then(say::lab_of) {
            page.show_lab(&lab);
        }
        let current = page.current;
        self.send(Message::Do(Command::Run))?;
        let asked_to_predict = self.app.active.is_none()
            && self.app.page.as_ref().and_then(|page| page.reminded) == Some(current);
        if asked_to_predict {
            self.app.notice = None;
            let marked = self.app.page.as_ref().and_then(|page| page.marked);
            self.say(["Predict first; run again runs without a prediction.".to_owned()])?;
            self.at = marked;
            return self.here();
        }
        self.notice()
    }

    fn set(&mut self, name: &str, value: &str) -> io::Result<()> {
        let Some(page) = self.app.page.as_mut() else {
            return Ok(());
        };
        let (lab, knob) = name
            .split_once('.')
            .map_or((None, name), |(lab, knob)| (Some(lab), knob));
        if let Some(lab) = lab {
            page.show_lab(lab);
        }
        let Some(slot) = page
            .slot_mut()
            .filter(|slot| lab.is_none_or(|lab| slot.id == lab))
        else {
            return self.say([format!("There is no lab {}.", lab.unwrap_or_default())]);
        };
        let Some(index) = slot.knobs.iter().position(|k| k.param.name == knob) else {
            let names: Vec<&str> = slot.knobs.iter().map(|k| k.param.name.as_str()).collect();
            let said = format!(
                "Lab {} has no knob {knob}; it has: {}.",
                slot.id,
                names.join(", ")
            );
            return self.say(say::sentence(&said));
        };
        slot.knob = index;
        page.side = Side::Lab;
        let complaint = self.type_in(Command::Enter, value)?;
        if let Some(page) = self.app.page.as_mut() {
            page.side = Side::Text;
        }
        match complaint {
            Some(complaint) => self.say(say::sentence(&format!("Not taken: {complaint}.")))?,
            None => self.of_page(|page| {
                let slot = page.slot();
                let knob = slot.and_then(|slot| slot.knobs.get(index));
                let value = knob.and_then(|knob| knob.value.as_ref());
                value
                    .map(|value| {
                        format!(
                            "{knob} is {value}.",
                            knob = knob.map_or("", |k| &k.param.name)
                        )
                    })
                    .into_iter()
                    .collect()
            })?,
        }
        self.notice()
    }

    /// Waits for the end of a run, if one goes on; a line that says stop ends it, others wait for their turn.
    fn settle(&mut self) -> io::Result<()> {
        let Some(active) = self.app.active else {
            return Ok(());
        };
        let before = self.judged();
        let mut pulse = Pulse::new();
        let mut told = Instant::now();
        while self.driver.done.is_none() && self.app.active.is_some() {
            let is_stop = |line: &Option<String>| {
                line.as_deref()
                    .is_some_and(|line| words::read(line) == Ok(Line::Stop))
            };
            if self.driver.lines.front().is_some_and(is_stop) {
                self.driver.lines.pop_front();
                self.send(Message::Do(Command::Stop))?;
            }
            self.driver
                .turn(&mut self.app, &mut NoScreen, &self.inbox, &mut pulse)?;
            if told.elapsed() >= PROGRESS {
                told = Instant::now();
                self.of_page(|page| {
                    let slot = page.slots.get(active.slot);
                    slot.map(say::progress).into_iter().collect()
                })?;
                self.out.flush()?;
            }
        }
        self.of_page(|page| {
            let slot = page.slots.get(active.slot);
            slot.map(say::end).unwrap_or_default()
        })?;
        self.verdicts(&before)?;
        self.notice()
    }

    /// What is known of checks and predictions.
    fn judged(
        &self,
    ) -> (
        BTreeMap<String, CheckState>,
        BTreeMap<String, Option<String>>,
    ) {
        let Some(page) = &self.app.page else {
            return Default::default();
        };
        let predictions = page.predictions.iter();
        (
            page.checks.clone(),
            predictions
                .map(|(id, made)| (id.clone(), made.comparison.clone()))
                .collect(),
        )
    }

    /// Says what a run has changed about checks and predictions.
    fn verdicts(
        &mut self,
        before: &(
            BTreeMap<String, CheckState>,
            BTreeMap<String, Option<String>>,
        ),
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

    fn send(&mut self, message: Message) -> io::Result<()> {
        self.driver.feed(&mut self.app, &mut NoScreen, message)
    }

    /// Says what the app has to say.
    fn notice(&mut self) -> io::Result<()> {
        match self.app.notice.take() {
            Some(notice) => self.say(say::sentence(&notice)),
            None => Ok(()),
        }
    }

    fn of_page(&mut self, lines: impl FnOnce(&Page) -> Vec<String>) -> io::Result<()> {
        let lines = self.app.page.as_ref().map(lines).unwrap_or_default();
        self.say(lines)
    }

    /// Lines, and an empty one after them.
    fn say(&mut self, lines: impl IntoIterator<Item = String>) -> io::Result<()> {
        let mut any = false;
        for line in lines {
            writeln!(self.out, "{}", harmless(&line))?;
            any = true;
        }
        if any { writeln!(self.out) } else { Ok(()) }
    }
}

/// A line without anything that could steer a terminal.
fn harmless(line: &str) -> String {
    line.chars()
        .filter(|c| !c.is_control() || *c == '\t')
        .collect()
}
