//! Commands on the course page.

use std::sync::Arc;

use mlsys_lesson::{Course, Event, Lesson};

use super::App;
use crate::message::Effect;
use crate::page::Page;
use mlsys_run::settings::KnobTurn;

impl App {
    /// Opens the marked lesson.
    pub(super) fn open_chosen(&mut self) -> Vec<Effect> {
        match self.lessons.get(self.chosen).cloned() {
            Some(lesson) => self.open(lesson),
            None => Vec::new(),
        }
    }

    /// Puts the lessons of a course, by its modules, on the course page.
    pub fn take_course(&mut self, course: &Course) {
        self.title.clone_from(&course.title);
        self.modules = course.modules().to_vec();
        self.lessons = course.lessons().iter().cloned().map(Arc::new).collect();
    }

    /// Opens a lesson where the learner left it.
    pub fn open(&mut self, lesson: Arc<Lesson>) -> Vec<Effect> {
        let mut effects = self.enter_lesson(lesson);
        effects.extend(self.start_instant());
        effects
    }

    /// Opens a lesson with its knobs where they are wanted; the first that cannot be turned is the error.
    pub fn open_at(
        &mut self,
        lesson: Arc<Lesson>,
        turns: &[KnobTurn],
    ) -> Result<Vec<Effect>, String> {
        let mut effects = self.enter_lesson(lesson);
        self.set_knobs(turns)?;
        effects.extend(self.start_instant());
        Ok(effects)
    }

    fn enter_lesson(&mut self, lesson: Arc<Lesson>) -> Vec<Effect> {
        let id = lesson.front.id.clone();
        let page = match self.kept.remove(id.as_str()) {
            // Left in the middle, it is found in the middle; a new one begins at its first line.
            Some(page) => page,
            None => {
                let mut page = Page::open(Arc::clone(&lesson), self.registry, self.seed)
                    .with_workers(self.workers.as_deref());
                page.restore(&self.progress, self.registry);
                page
            }
        };
        self.page = Some(page);
        self.share_attempts();
        let event = Event::LessonOpened { lesson: id };
        self.progress.apply(event.clone());
        let mut effects = self.recall_attempts();
        effects.push(Effect::Save(event));
        effects
    }
}
