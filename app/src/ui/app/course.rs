//! Commands on the course page.

use std::sync::Arc;

use mlsys_lesson::Event;
use mlsys_lesson::Lesson;

use super::App;
use crate::ui::command::Command;
use crate::ui::message::Effect;
use crate::ui::page::Page;

impl App {
    pub(super) fn course_command(&mut self, command: Command) -> Vec<Effect> {
        let last = self.lessons.len().saturating_sub(1);
        let half = usize::from(self.size.1 / 2);
        match command {
            Command::Up => self.chosen = self.chosen.saturating_sub(1),
            Command::Down => self.chosen = (self.chosen + 1).min(last),
            Command::PageUp => self.chosen = self.chosen.saturating_sub(half),
            Command::PageDown => self.chosen = (self.chosen + half).min(last),
            Command::Top => self.chosen = 0,
            Command::Bottom => self.chosen = last,
            Command::Enter => {
                if let Some(lesson) = self.lessons.get(self.chosen).cloned() {
                    return self.open(lesson);
                }
            }
            // The table gives these no key on this page.
            Command::Run
            | Command::Step
            | Command::Reset
            | Command::Stop
            | Command::Less
            | Command::More
            | Command::NextActivity
            | Command::PreviousActivity
            | Command::SwitchSide
            | Command::NextPanel
            | Command::Tempo
            | Command::Words
            | Command::NextLab
            | Command::PreviousLab
            | Command::Hint
            | Command::Device
            | Command::Help
            | Command::Back
            | Command::Quit
            | Command::Suspend => {}
        }
        Vec::new()
    }

    /// Opens a lesson where the learner left it.
    pub fn open(&mut self, lesson: Arc<Lesson>) -> Vec<Effect> {
        let id = lesson.front.id.clone();
        let page = match self.kept.remove(id.as_str()) {
            // Left in the middle, it is found in the middle; a new one begins at its first line.
            Some(page) => page,
            None => {
                let mut page = Page::open(Arc::clone(&lesson), self.registry, self.seed);
                page.restore(&self.progress, self.registry);
                page
            }
        };
        self.page = Some(page);
        let event = Event::LessonOpened { lesson: id };
        self.progress.apply(event.clone());
        let mut effects = vec![Effect::Save(event)];
        effects.extend(self.start_instant());
        effects
    }
}
