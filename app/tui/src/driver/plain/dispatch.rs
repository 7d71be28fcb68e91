//! What is done for a line that was understood.

use std::io;

use mlsys_kernel::LANES;
use mlsys_lesson::Block;

use super::Talk;
use crate::command::Command;
use crate::message::Message;
use crate::plain::say;
use crate::plain::words::{self, Line};
use crate::state::page::Page;
use mlsys_view::figure::kernel::Thread;
use mlsys_view::panel::Inspect;

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
                let slot = page.slot();
                slot.map_or(vec!["This lesson has no lab.".to_owned()], |slot| {
                    let mut lines = say::knobs(slot);
                    lines.extend(say::pictures(slot));
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
