//! What is done for a line that was understood.

use std::io;

use mlsys_kernel::LANES;
use mlsys_lesson::Block;
use mlsys_view::kernel::Thread;
use mlsys_view::panel::Inspect;

use crate::command::Command;
use crate::driver::plain::Talk;
use crate::message::Message;
use crate::plain::words::Line;
use crate::plain::{say, words};
use crate::state::page::Page;

impl Talk<'_> {
    pub(super) fn line_meant(&mut self, meant: Line) -> io::Result<()> {
        let in_lesson = self.app.page.is_some();
        if meant == Line::Edit {
            let done = self.edit();
            // Whatever came of it, lines are read again.
            let _ = self.go_on.send(());
            return done;
        }
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
            Line::Edit => Ok(()),
            Line::Back
            | Line::Go(_)
            | Line::Answer(_)
            | Line::Hint
            | Line::Run
            | Line::Stop
            | Line::Set(..)
            | Line::Reset
            | Line::Save(_)
            | Line::Show
            | Line::StepOn
            | Line::StepBack
            | Line::Walk(..)
            | Line::Thread(_)
            | Line::Block(_)
            | Line::Variable(_)
            | Line::Breakpoint(_)
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
            Line::Save(file) => self.save(&file),
            Line::Show => self.of_page(|page| {
                let lab = page.lab();
                lab.map_or(vec!["This lesson has no lab.".to_owned()], |lab| {
                    let mut lines = say::knobs(lab);
                    lines.extend(say::pictures(lab));
                    lines
                })
            }),
            Line::StepOn => self.walk(Command::Inspect(Inspect::NextPoint)),
            Line::StepBack => self.walk(Command::Inspect(Inspect::PreviousPoint)),
            Line::Walk(goal, way) => self.stride(goal, way),
            Line::Thread(number) => self.look(|walk| {
                let lanes = LANES as u32;
                let (warp, lane) = (number / lanes, number % lanes);
                let block = walk.here().block;
                walk.choose(Thread { block, warp, lane })
            }),
            Line::Block(block) => self.look(|walk| {
                let here = walk.here();
                walk.choose(Thread { block, ..here })
            }),
            Line::Variable(name) => self.look(|walk| walk.choose_variable(&name)),
            Line::Breakpoint(line) => {
                let mut said = None;
                self.look(|walk| {
                    walk.mark(|_, last| (line as usize).saturating_sub(1).min(last));
                    said = Some(walk.change_breakpoint());
                    true
                })?;
                self.say(said)
            }
            Line::Lab(name) => self.lab(&name),
            Line::Checks => self.of_page(|page| {
                let checks = page.lesson.checks();
                let lines: Vec<String> =
                    checks.flat_map(|check| say::check_line(page, check)).collect();
                if lines.is_empty() { vec!["This lesson has no checks.".to_owned()] } else { lines }
            }),
        }
    }
}

impl Talk<'_> {
    pub(super) fn open(&mut self, which: &str) -> io::Result<()> {
        let by_number = which
            .parse::<usize>()
            .ok()
            .and_then(|number| number.checked_sub(1))
            .filter(|&index| index < self.app.course.lessons.len());
        let by_id = || {
            let mut lessons = self.app.course.lessons.iter();
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
        self.app.course.chosen = index;
        self.send(Message::Do(Command::Enter))?;
        self.opened()
    }

    pub(super) fn opened(&mut self) -> io::Result<()> {
        self.at = None;
        let Some(page) = &self.app.page else { return Ok(()) };
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
    pub(super) fn next(&mut self) -> io::Result<()> {
        let Some(page) = &self.app.page else { return Ok(()) };
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

    pub(super) fn back(&mut self) -> io::Result<()> {
        let Some(page) = &self.app.page else { return Ok(()) };
        let at = self.at.unwrap_or_default();
        let before = page.activities().into_iter().rev().find(|&b| b < at);
        match before {
            Some(block) => self.go_to(block),
            None => self.say(["There is nothing before this.".to_owned()]),
        }
    }

    pub(super) fn go(&mut self, number: usize) -> io::Result<()> {
        let activities = self.app.page.as_ref().map(Page::activities);
        let block =
            number.checked_sub(1).and_then(|index| activities.as_ref()?.get(index).copied());
        match block {
            Some(block) => self.go_to(block),
            None => self.say([format!("There is no {number} in the list.")]),
        }
    }

    pub(super) fn lab(&mut self, name: &str) -> io::Result<()> {
        let Some(page) = &self.app.page else { return Ok(()) };
        let is_it = |block: &Block| block.as_lab().is_some_and(|lab| lab.id == name);
        match page.lesson.blocks.iter().position(is_it) {
            Some(block) => self.go_to(block),
            None => {
                let labs: Vec<&str> = page.labs.iter().map(|open| open.id.as_str()).collect();
                self.say([format!("There is no lab {name}; the labs are: {}.", labs.join(", "))])
            }
        }
    }

    fn go_to(&mut self, block: usize) -> io::Result<()> {
        self.at = Some(block);
        self.mark(block)?;
        self.here()
    }

    /// Says the block that was read last.
    pub(super) fn here(&mut self) -> io::Result<()> {
        let at = self.at.unwrap_or_default();
        self.of_page(|page| say::block(page, at))
    }

    /// Marks an activity as going to it with the keys does.
    fn mark(&mut self, block: usize) -> io::Result<()> {
        let Some(page) = self.app.page.as_mut() else { return Ok(()) };
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
        // A key may first bring what is marked into view, and go to the next when it is pressed again.
        for _ in 0..2 * steps {
            let marked = self.app.page.as_ref().and_then(|page| page.marked);
            if marked != Some(block) {
                self.send(Message::Do(command))?;
            }
        }
        // What is marked from the beginning shows its lab only when it is gone to.
        if let Some(page) = self.app.page.as_mut() {
            page.mark(0);
        }
        Ok(())
    }
}
