//! What a learner has done, as an append-only log of events; the program reads and writes the file.

pub(crate) mod answers;
mod event;
pub(crate) mod submission;

use std::collections::{BTreeMap, BTreeSet};

use mlsys_lab::value::plural;
use serde::{Deserialize, Serialize};

pub use event::{Event, LOG_VERSION, Record, Told};

use crate::grade::Answer;
use crate::model::{CourseId, Lesson, LessonId, Question, Timestamp};

/// What all events of a log come to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    course: CourseId,
    lessons: BTreeMap<LessonId, LessonProgress>,
}

/// What a learner has done in one lesson.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LessonProgress {
    pub completed: bool,
    /// Locked predictions by id.
    pub predictions: BTreeMap<String, Answer>,
    /// Predictions that were made and may still be changed, by id.
    pub guesses: BTreeMap<String, Answer>,
    /// What came out for predictions, by id.
    pub outcomes: BTreeMap<String, Answer>,
    /// What was told of it, by id; older programs kept none.
    pub told: BTreeMap<String, Told>,
    /// Answers by question id.
    pub answers: BTreeMap<String, Answered>,
    /// Every answer that was given, first to last, by question id.
    pub attempts: BTreeMap<String, Vec<Attempt>>,
    /// Hints shown, by question id.
    pub hints: BTreeMap<String, usize>,
    /// Checks that have held.
    pub checks: BTreeSet<String>,
    /// Checks that could not be tried, and have not held since.
    pub skipped: BTreeSet<String>,
    /// Runs that have ended.
    pub runs: usize,
    /// The labs that have run with the lesson's own values.
    pub labs: BTreeSet<String>,
}

/// The answer to a question that counts: the first right one, else the last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answered {
    pub given: Answer,
    pub right: bool,
    pub points: u32,
    /// How often the question was answered.
    pub attempts: usize,
}

/// One answer to a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    pub given: Answer,
    /// Unknown where the right answer is kept elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub right: Option<bool>,
    pub points: u32,
    /// When it was given, by the learner's clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
}

/// What reading a log gave.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replay {
    /// What its events come to.
    pub progress: Progress,
    /// Whether the last line was cut off, as by a kill or a full disk, and dropped.
    pub torn: bool,
    /// Lines that are no events this version knows.
    pub skipped: usize,
    /// Those of them that a later version has written.
    pub newer: usize,
}

/// One lesson of the course page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// How far it is.
    pub state: State,
    pub points: u32,
    /// Points there are.
    pub of: u32,
    /// Questions answered right.
    pub right: usize,
    pub questions: usize,
    /// Questions with a right answer that is kept elsewhere, and those of them that are answered.
    pub withheld: usize,
    pub recorded: usize,
}

/// How far a learner is with a lesson.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    New,
    Started,
    Completed,
}

impl Summary {
    /// How many questions are answered, and what is known of the answers.
    pub fn words(&self) -> String {
        let Self { right, recorded, questions, withheld, .. } = self;
        let right = format!("{right} of {} questions right", questions - withheld);
        let recorded = format!("{recorded} of {withheld} answers recorded");
        match (questions - withheld, withheld) {
            (_, 0) => right,
            (0, _) => recorded,
            (_, _) => format!("{right}, {recorded}"),
        }
    }

    /// The points there are, and those that are known to be earned.
    pub fn points_words(&self) -> String {
        match self.withheld {
            0 => format!("{} of {} points", self.points, self.of),
            _ => format!("{}, graded later", plural(self.of as usize, "point")),
        }
    }
}

impl Replay {
    /// What was left out, if anything was; a last line torn by a kill is not worth a word.
    pub fn warning(&self) -> Option<String> {
        let Self { skipped, newer, .. } = *self;
        let unread = skipped - newer;
        let unread =
            (unread > 0).then(|| format!("{} that cannot be read", plural(unread, "line")));
        let newer = (newer > 0)
            .then(|| format!("{} of a newer mlsys, which an update reads", plural(newer, "line")));
        let all: Vec<String> = unread.into_iter().chain(newer).collect();
        (!all.is_empty()).then(|| format!("left out {}", all.join(", and ")))
    }
}

impl Progress {
    /// Nothing done yet in a course.
    pub fn of_course(course: CourseId) -> Self {
        Self { course, lessons: BTreeMap::new() }
    }

    /// Reads what a log says of the built-in course; see [`Self::replay_course`].
    pub fn replay(log: &[u8]) -> Replay {
        Self::replay_course(log, &CourseId::built_in())
    }

    /// Reads what a log says of one course. A last line that was cut off is dropped; other lines that do not read are passed over, so that
    /// one bad line, or one of a later version, costs nothing else.
    pub fn replay_course(log: &[u8], course: &CourseId) -> Replay {
        let mut replay = Replay { progress: Self::of_course(course.clone()), ..Replay::default() };
        let mut lines = log.split(|&byte| byte == b'\n').peekable();
        while let Some(line) = lines.next() {
            if line.trim_ascii().is_empty() {
                continue;
            }
            let is_last = lines.peek().is_none();
            match serde_json::from_slice::<Record>(line) {
                Ok(record) if record.v <= LOG_VERSION => {
                    if record.course == *course {
                        replay.progress.apply_at(Some(Timestamp(record.at)), record.event);
                    }
                }
                Ok(_) => {
                    replay.skipped += 1;
                    replay.newer += 1;
                }
                Err(_) if is_last => replay.torn = true,
                Err(_) => replay.skipped += 1,
            }
        }
        replay
    }

    /// Takes an event in that happens now.
    pub fn apply(&mut self, event: Event) {
        self.apply_at(None, event);
    }

    /// Takes an event of the log in.
    pub fn apply_at(&mut self, at: Option<Timestamp>, event: Event) {
        let lesson = self.lessons.entry(event.lesson().clone()).or_default();
        match event {
            Event::LessonOpened { .. } => {}
            Event::PredictionMade { prediction, given, .. } => {
                lesson.guesses.insert(prediction, given);
            }
            Event::PredictionLocked { prediction, given, .. } => {
                lesson.guesses.remove(&prediction);
                lesson.predictions.entry(prediction).or_insert(given);
            }
            Event::PredictionCompared { prediction, actual, told, .. } => {
                match told {
                    Some(told) => lesson.told.insert(prediction.clone(), told),
                    None => lesson.told.remove(&prediction),
                };
                lesson.outcomes.insert(prediction, actual);
            }
            Event::AnswerGiven { question, given, right, points, .. } => {
                lesson.answer(question, Attempt { given, right: Some(right), points, at });
            }
            Event::HintShown { question, hint, .. } => {
                let shown = lesson.hints.entry(question).or_default();
                *shown = (*shown).max(hint.saturating_add(1));
            }
            Event::RunFinished { lab, .. } => {
                lesson.runs += 1;
                lesson.labs.insert(lab);
            }
            Event::CheckPassed { check, .. } => {
                lesson.skipped.remove(&check);
                lesson.checks.insert(check);
            }
            Event::CheckSkipped { check, .. } => {
                if !lesson.checks.contains(&check) {
                    lesson.skipped.insert(check);
                }
            }
            Event::LessonCompleted { .. } => lesson.completed = true,
            // Answers that count only so often are not won back by a new start.
            Event::LessonReset { .. } => {
                let attempts = std::mem::take(&mut lesson.attempts);
                *lesson = LessonProgress { attempts, ..LessonProgress::default() };
            }
        }
    }

    /// What was done in a lesson, if it was ever opened.
    pub fn lesson(&self, id: &LessonId) -> Option<&LessonProgress> {
        self.lessons.get(id)
    }

    /// The lessons that were opened, with what was done in each.
    pub fn lessons(&self) -> impl Iterator<Item = (&LessonId, &LessonProgress)> {
        self.lessons.iter()
    }

    /// How far the learner is with a lesson.
    pub fn state(&self, lesson: &LessonId) -> State {
        match self.lessons.get(lesson) {
            None => State::New,
            Some(progress) if progress.completed => State::Completed,
            Some(_) => State::Started,
        }
    }

    /// How far a lesson is.
    pub fn summary(&self, lesson: &Lesson) -> Summary {
        let progress = self.lessons.get(&lesson.front.id);
        let answered: Vec<&Answered> = progress.map_or_else(Vec::new, |progress| {
            lesson.questions().filter_map(|question| progress.answers.get(&question.id)).collect()
        });
        let withheld = || lesson.questions().filter(|question| question.kind.is_withheld());
        let is_answered = |question: &&Question| {
            progress.is_some_and(|progress| progress.answers.contains_key(&question.id))
        };
        Summary {
            state: self.state(&lesson.front.id),
            points: answered.iter().map(|answered| answered.points).sum(),
            of: lesson.points(),
            right: answered.iter().filter(|answered| answered.right).count(),
            questions: lesson.questions().count(),
            withheld: withheld().count(),
            recorded: withheld().filter(is_answered).count(),
        }
    }
}

impl LessonProgress {
    fn answer(&mut self, question: String, attempt: Attempt) {
        self.attempts.entry(question.clone()).or_default().push(attempt.clone());
        let Attempt { given, right, points, at: _ } = attempt;
        let right = right == Some(true);
        let attempts = self.answers.get(&question).map_or(0, |before| before.attempts) + 1;
        match self.answers.get_mut(&question) {
            Some(before) if before.right => before.attempts = attempts,
            Some(_) | None => {
                let answered = Answered { given, right, points, attempts };
                self.answers.insert(question, answered);
            }
        }
    }

    /// Whether every question of the lesson is answered right and every prediction was made.
    pub fn covers(&self, lesson: &Lesson) -> bool {
        // What is graded elsewhere is done once it is answered.
        let done = |question: &Question| {
            let answered = self.answers.get(&question.id);
            answered.is_some_and(|answered| answered.right || question.kind.is_withheld())
        };
        lesson.questions().all(done)
            && lesson.predictions().all(|predict| self.predictions.contains_key(&predict.id))
    }
}
