//! What a learner has done, as a log of events that is only ever appended to. Reading and writing the file is the
//! program's business.

mod answers;
mod event;

use std::collections::{BTreeMap, BTreeSet};

use crate::grade::Answer;
use crate::model::{Lesson, LessonId};

pub use answers::{Answers, AnswersError};
pub use event::{Event, LOG_VERSION, Record};

/// What all events of a log come to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    lessons: BTreeMap<LessonId, LessonProgress>,
}

/// What a learner has done in one lesson.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LessonProgress {
    /// Whether it is done.
    pub completed: bool,
    /// Locked predictions by id.
    pub predictions: BTreeMap<String, Answer>,
    /// Answers by question id.
    pub answers: BTreeMap<String, Answered>,
    /// Hints shown, by question id.
    pub hints: BTreeMap<String, usize>,
    /// Checks that have held.
    pub checks: BTreeSet<String>,
    /// Runs that have ended.
    pub runs: usize,
}

/// The answer to a question that counts: the first right one, else the last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answered {
    /// The answer.
    pub given: Answer,
    /// Whether it is right.
    pub right: bool,
    /// What it earned.
    pub points: u32,
    /// How often the question was answered.
    pub attempts: usize,
}

/// What reading a log gave.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replay {
    /// What its events come to.
    pub progress: Progress,
    /// Whether the last line was cut off, as by a kill or a full disk, and dropped.
    pub torn: bool,
    /// Whether the log ends inside a line: whoever appends writes a newline first.
    pub needs_newline: bool,
    /// Lines that are no events this version knows.
    pub skipped: usize,
}

/// One lesson of the course page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// How far it is.
    pub state: State,
    /// Points earned.
    pub points: u32,
    /// Points there are.
    pub of: u32,
    /// Questions answered right.
    pub right: usize,
    /// Questions there are.
    pub questions: usize,
}

/// How far a learner is with a lesson.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Never opened.
    New,
    /// Opened.
    Started,
    /// Done.
    Completed,
}

impl Progress {
    /// Reads a log. A last line that was cut off is dropped; other lines that do not read are passed over, so that
    /// one bad line, or one of a later version, costs nothing else.
    pub fn replay(log: &[u8]) -> Replay {
        let mut replay = Replay {
            needs_newline: log.last().is_some_and(|&byte| byte != b'\n'),
            ..Replay::default()
        };
        let mut lines = log.split(|&byte| byte == b'\n').peekable();
        while let Some(line) = lines.next() {
            if line.trim_ascii().is_empty() {
                continue;
            }
            let is_last = lines.peek().is_none();
            match serde_json::from_slice::<Record>(line) {
                Ok(record) if record.v <= LOG_VERSION => replay.progress.apply(record.event),
                Ok(_) => replay.skipped += 1,
                Err(_) if is_last => replay.torn = true,
                Err(_) => replay.skipped += 1,
            }
        }
        replay
    }

    /// Takes one event in.
    pub fn apply(&mut self, event: Event) {
        let lesson = self.lessons.entry(event.lesson().clone()).or_default();
        match event {
            Event::LessonOpened { .. } => {}
            Event::PredictionLocked {
                prediction, given, ..
            } => {
                lesson.predictions.entry(prediction).or_insert(given);
            }
            Event::AnswerGiven {
                question,
                given,
                right,
                points,
                ..
            } => {
                lesson.answer(question, given, right, points);
            }
            Event::HintShown { question, hint, .. } => {
                let shown = lesson.hints.entry(question).or_default();
                *shown = (*shown).max(hint.saturating_add(1));
            }
            Event::RunFinished { .. } => lesson.runs += 1,
            Event::CheckPassed { check, .. } => {
                lesson.checks.insert(check);
            }
            Event::LessonCompleted { .. } => lesson.completed = true,
            Event::LessonReset { .. } => *lesson = LessonProgress::default(),
        }
    }

    /// What was done in a lesson, if it was ever opened.
    pub fn lesson(&self, id: &LessonId) -> Option<&LessonProgress> {
        self.lessons.get(id)
    }

    /// The answers that count, as `mlsys run --answers` reads them.
    pub fn answers(&self) -> Answers {
        let answered = |progress: &LessonProgress| {
            let answers = progress.answers.iter();
            answers
                .map(|(id, answered)| (id.clone(), answered.given.clone()))
                .collect()
        };
        Answers {
            lessons: self
                .lessons
                .iter()
                .filter(|(_, progress)| !progress.answers.is_empty())
                .map(|(id, progress)| (id.clone(), answered(progress)))
                .collect(),
        }
    }

    /// How far a lesson is.
    pub fn summary(&self, lesson: &Lesson) -> Summary {
        let progress = self.lessons.get(&lesson.front.id);
        let answered: Vec<&Answered> = progress.map_or_else(Vec::new, |progress| {
            lesson
                .questions()
                .filter_map(|question| progress.answers.get(&question.id))
                .collect()
        });
        Summary {
            state: match progress {
                None => State::New,
                Some(progress) if progress.completed => State::Completed,
                Some(_) => State::Started,
            },
            points: answered.iter().map(|answered| answered.points).sum(),
            of: lesson.points(),
            right: answered.iter().filter(|answered| answered.right).count(),
            questions: lesson.questions().count(),
        }
    }
}

impl LessonProgress {
    fn answer(&mut self, question: String, given: Answer, right: bool, points: u32) {
        let attempts = self
            .answers
            .get(&question)
            .map_or(0, |before| before.attempts)
            + 1;
        match self.answers.get_mut(&question) {
            Some(before) if before.right => before.attempts = attempts,
            Some(_) | None => {
                let answered = Answered {
                    given,
                    right,
                    points,
                    attempts,
                };
                self.answers.insert(question, answered);
            }
        }
    }

    /// Whether every question of the lesson is answered right and every prediction was made.
    pub fn covers(&self, lesson: &Lesson) -> bool {
        let right = |id: &str| self.answers.get(id).is_some_and(|answered| answered.right);
        lesson.questions().all(|question| right(&question.id))
            && lesson
                .predictions()
                .all(|predict| self.predictions.contains_key(&predict.id))
    }
}
