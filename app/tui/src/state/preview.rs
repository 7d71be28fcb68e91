//! A lesson file that is followed while its author writes it: what it says now, and what is wrong with it.

use mlsys_lesson::{Diagnostic, LessonId, Parsed};

#[derive(Debug)]
pub enum PreviewState {
    Read(Box<Parsed>),
    Unreadable(String),
}

pub struct Preview {
    pub file: String,
    /// What is wrong with it now; warnings alone leave the lesson usable.
    pub problems: Vec<Diagnostic>,
    /// Why it cannot be read, if it cannot.
    pub unreadable: Option<String>,
    /// The lesson as it was last good.
    pub id: Option<LessonId>,
}

impl Preview {
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
