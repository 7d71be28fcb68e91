//! What is done for a line that was understood: reading on, going to an activity, and the commands of its lab.

use std::io;

use mlsys_kernel::LANES;
use mlsys_lab::value::plural;
use mlsys_lesson::Block;
use mlsys_view::kernel::Thread;
use mlsys_view::panel::Inspect;

use super::words::{self, Line};
use super::{Talk, say};
use crate::command::Command;
use crate::message::Message;
use crate::state::Page;
use crate::view::lab::status::chosen_metrics;

impl Talk<'_> {
    pub(super) fn line_meant(&mut self, meant: Line) -> io::Result<()> {
        let in_lesson = self.page().is_some();
        if !in_lesson && matches!(meant, Line::Next | Line::Again | Line::Activities) {
            return self.say(say::course(&self.driver.app));
        }
        let anywhere = matches!(
            meant,
            Line::Edit | Line::Help | Line::Quit | Line::Open(_) | Line::Lessons | Line::Text(_)
        );
        if !in_lesson && !anywhere {
            return self.no_lesson();
        }
        let looks = matches!(
            meant,
            Line::Fault
                | Line::Help
                | Line::Show
                | Line::StepOn
                | Line::StepBack
                | Line::Walk(..)
                | Line::Thread(_)
                | Line::Block(_)
                | Line::Variable(_)
                | Line::Breakpoint(_)
        );
        if !looks {
            self.driver.app.leave_fault();
        }
        match meant {
            Line::Edit => {
                let done = self.edit();
                // Whatever came of it, lines are read again.
                let _ = self.go_on.send(());
                done
            }
            Line::Help => self.say(say::help()),
            Line::Quit => self.command(Command::Quit),
            Line::Open(which) => self.open(&which),
            Line::Lessons => {
                if in_lesson {
                    self.command(Command::Back)?;
                }
                self.say(say::course(&self.driver.app))
            }
            Line::Next => self.next(),
            Line::Back => self.back(),
            Line::Again => self.here(),
            Line::Activities => self.of_page(say::activities),
            Line::Go(number) => self.go(number),
            Line::Answer(text) => self.answer(&text),
            Line::Text(text) => {
                let asks = |block: &Block| matches!(block, Block::Predict(_) | Block::Question(_));
                if self.page().and_then(Page::marked_block).is_some_and(asks) {
                    self.answer(&text)
                } else {
                    self.say([words::not_understood(&text)])
                }
            }
            Line::Hint => self.hint(),
            Line::Run => self.run(),
            Line::Stop => {
                self.command(Command::Stop)?;
                self.notice()
            }
            Line::Set(name, value) => self.set(&name, &value),
            Line::Reset => {
                self.command(Command::Reset)?;
                self.tell("All knobs are as the lesson has them.")
            }
            Line::Save(file) => self.save(&file),
            Line::Show => {
                let app = &self.driver.app;
                let shown = app.page.as_ref().and_then(|page| Some((page, page.lab()?)));
                let Some((page, lab)) = shown else { return self.tell("This lesson has no lab.") };
                let metrics = chosen_metrics(app, lab).map(|told| format!("{told}."));
                let metrics = metrics.iter().flat_map(|told| say::sentence(told)).collect();
                self.say([say::knobs(lab), metrics, say::pictures(page, lab)].concat())
            }
            Line::StepOn => self.walk(Command::Inspect(Inspect::NextPoint)),
            Line::StepBack => self.walk(Command::Inspect(Inspect::PreviousPoint)),
            Line::Walk(goal, direction) => self.stride(goal, direction),
            Line::Thread(number) => self.look(|walk| {
                let (warp, lane) = (number / LANES as u32, number % LANES as u32);
                walk.choose(Thread { warp, lane, ..walk.here() })
            }),
            Line::Block(block) => self.look(|walk| walk.choose(Thread { block, ..walk.here() })),
            Line::Variable(name) => self.look(|walk| walk.choose_variable(&name)),
            Line::Breakpoint(line) => {
                let mut changed = None;
                self.look(|walk| {
                    walk.mark(|_, last| (line as usize).saturating_sub(1).min(last));
                    changed = Some(walk.change_breakpoint());
                    true
                })?;
                self.say(changed)
            }
            Line::Fault => self.fault(),
            Line::Lab(name) => self.lab(&name),
            Line::Checks => self.of_page(|page| {
                let checks = page.lesson.checks().flat_map(|check| say::check_line(page, check));
                let lines: Vec<String> = checks.collect();
                if lines.is_empty() { vec!["This lesson has no checks.".to_owned()] } else { lines }
            }),
        }
    }

    pub(super) fn no_lesson(&mut self) -> io::Result<()> {
        self.tell("No lesson is open; type open and a lesson's number.")
    }

    fn open(&mut self, which: &str) -> io::Result<()> {
        let lessons = &self.driver.app.course.lessons;
        let by_number = which.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let by_id = || lessons.iter().position(|lesson| lesson.front.id.as_str() == which);
        let Some(index) = by_number.filter(|&index| index < lessons.len()).or_else(by_id) else {
            return self.say([format!(
                "There is no lesson {which}; lessons lists them with their numbers."
            )]);
        };
        if self.page().is_some() {
            self.command(Command::Back)?;
        }
        self.driver.app.course.chosen = index;
        self.command(Command::Enter)?;
        self.opened()
    }

    pub(super) fn opened(&mut self) -> io::Result<()> {
        self.at = None;
        let Some(page) = self.page() else { return Ok(()) };
        let front = &page.lesson.front;
        let opening = format!(
            "{}, {}. An empty line reads on; help says what else can be typed. Where the text names \
             keys, it means those of the workbench on a screen.",
            front.title,
            plural(front.minutes as usize, "minute")
        );
        self.tell(&opening)?;
        self.next()
    }

    fn next(&mut self) -> io::Result<()> {
        let Some(page) = self.page() else { return Ok(()) };
        let from = self.at.map_or(0, |at| at + 1);
        let until = page.activities().into_iter().find(|&block| block >= from);
        let last = until.unwrap_or_else(|| page.lesson.blocks.len().saturating_sub(1));
        let mut lines = Vec::new();
        for block in from..=last {
            let text = say::block(page, block);
            if !text.is_empty() && !lines.is_empty() {
                lines.push(String::new());
            }
            lines.extend(text);
        }
        if until.is_none() {
            let end =
                "The lesson ends here. list says what it asks, lessons goes back to the course.";
            lines.extend([String::new(), end.to_owned()]);
        }
        self.at = Some(last);
        if let Some(block) = until {
            self.send(Message::GoTo(block))?;
        }
        self.say(lines)
    }

    fn activities(&self) -> Vec<usize> {
        self.page().map_or_else(Vec::new, Page::activities)
    }

    fn back(&mut self) -> io::Result<()> {
        match self
            .activities()
            .into_iter()
            .rev()
            .find(|&block| self.at.is_some_and(|at| block < at))
        {
            Some(block) => self.go_to(block),
            None => self.tell("There is nothing before this."),
        }
    }

    fn go(&mut self, number: usize) -> io::Result<()> {
        match number.checked_sub(1).and_then(|index| self.activities().get(index).copied()) {
            Some(block) => self.go_to(block),
            None => self.say([format!("There is no {number} in the list.")]),
        }
    }

    fn lab(&mut self, name: &str) -> io::Result<()> {
        let Some(page) = self.page() else { return Ok(()) };
        let is_it = |block: &Block| block.as_lab().is_some_and(|lab| lab.id == name);
        match page.lesson.blocks.iter().position(is_it) {
            Some(block) => self.go_to(block),
            None => {
                let labs: Vec<&str> = page.labs.iter().map(|lab| lab.id.as_str()).collect();
                self.say([format!("There is no lab {name}; the labs are: {}.", labs.join(", "))])
            }
        }
    }

    fn go_to(&mut self, block: usize) -> io::Result<()> {
        self.at = Some(block);
        self.send(Message::GoTo(block))?;
        self.here()
    }

    pub(super) fn here(&mut self) -> io::Result<()> {
        let at = self.at.unwrap_or(0);
        self.of_page(|page| say::block(page, at))
    }
}
