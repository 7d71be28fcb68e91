//! A lesson file that is followed while its author writes it: what it says now, and what is wrong with it.

mod anchor;
mod renew;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use mlsys_lesson::{Diagnostic, Lesson, LessonId, Parsed};

use super::app::App;
use super::message::Effect;
use super::page::Page;
use renew::Renewed;

/// What was seen of the file.
#[derive(Debug)]
pub enum Sight {
    /// It was read.
    Read(Box<Parsed>),
    /// It cannot be read, and why.
    Unreadable(String),
}

/// The file that is followed.
pub struct Preview {
    /// Its name, as it was typed.
    pub file: String,
    /// What is wrong with it now; warnings alone leave the lesson usable.
    pub problems: Vec<Diagnostic>,
    /// Why it cannot be read, if it cannot.
    pub unreadable: Option<String>,
    /// The lesson as it was last good.
    id: Option<LessonId>,
}

impl Preview {
    /// Follows a file of which nothing has been seen yet.
    pub fn new(file: String) -> Self {
        Self { file, problems: Vec::new(), unreadable: None, id: None }
    }

    /// How many lines it takes to tell all that is wrong.
    pub fn lines(&self) -> usize {
        let lines = |problem: &Diagnostic| 4 + usize::from(problem.help.is_some());
        1 + self.problems.iter().map(lines).sum::<usize>()
    }

    /// Whether what is on the screen is older than the file, or nothing is on it.
    pub fn is_behind(&self) -> bool {
        self.unreadable.is_some() || self.problems.iter().any(Diagnostic::is_error)
    }
}

impl App {
    /// Takes in what the followed file says now. What is wrong with it is shown, and the last good lesson stays.
    pub(super) fn previewed(&mut self, sight: Sight) -> Vec<Effect> {
        let Some(preview) = self.preview.as_mut() else {
            return Vec::new();
        };
        match sight {
            Sight::Unreadable(reason) => {
                preview.unreadable = Some(reason);
                Vec::new()
            }
            Sight::Read(parsed) => {
                preview.unreadable = None;
                preview.problems = parsed.diagnostics;
                match parsed.lesson {
                    Some(lesson) => self.show_anew(Arc::new(lesson)),
                    None => Vec::new(),
                }
            }
        }
    }

    /// Puts the new version of the followed lesson where the last one was.
    fn show_anew(&mut self, lesson: Arc<Lesson>) -> Vec<Effect> {
        let before =
            self.preview.as_mut().and_then(|preview| preview.id.replace(lesson.front.id.clone()));
        if let Some(preview) = &self.preview {
            let id = lesson.front.id.to_string();
            self.sources.insert(id, preview.file.clone());
        }
        let known = |known: &Arc<Lesson>| {
            known.front.id == lesson.front.id || Some(&known.front.id) == before.as_ref()
        };
        match self.lessons.iter_mut().find(|lesson| known(lesson)) {
            Some(place) => *place = Arc::clone(&lesson),
            None => self.lessons.push(Arc::clone(&lesson)),
        }
        let Some(before) = before else {
            return self.open(lesson);
        };
        let is_open = self.page.as_ref().is_some_and(|page| page.lesson.front.id == before);
        if is_open {
            return self.renew_open(lesson);
        }
        if let Some(page) = self.kept.remove(before.as_str()) {
            // Left behind, it has no run that could go on.
            let renewed = self.renewed(page, &lesson, None);
            let id = lesson.front.id.to_string();
            self.kept.insert(id, renewed.page);
        }
        Vec::new()
    }

    fn renew_open(&mut self, lesson: Arc<Lesson>) -> Vec<Effect> {
        let Some(page) = self.page.take() else {
            return Vec::new();
        };
        let running = self.active.map(|active| active.slot);
        let renewed = self.renewed(page, &lesson, running);
        self.page = Some(renewed.page);
        let mut effects = Vec::new();
        match (self.active.as_mut(), renewed.running) {
            (Some(active), Some(slot)) => active.slot = slot,
            (Some(_), None) => {
                self.active = None;
                effects.push(Effect::Abandon);
            }
            (None, _) => {}
        }
        self.notice = renewed.notice;
        self.share_attempts();
        effects.extend(self.start_instant());
        effects
    }

    fn renewed(&self, page: Page, lesson: &Arc<Lesson>, running: Option<usize>) -> Renewed {
        let fresh = Page::open(Arc::clone(lesson), self.registry, self.seed)
            .with_workers(self.workers.as_deref());
        renew::renew(page, fresh, running, self)
    }
}
