//! A learner's answers as a file that is graded.

use std::collections::{BTreeMap, BTreeSet};

use mlsys_lab::nearest::nearest;
use serde::{Deserialize, Serialize};

use crate::course::Course;
use crate::grade::Answer;
use crate::model::{CourseId, Lesson, LessonId};
use crate::progress::submission::Submission;
use crate::progress::{Attempt, LessonProgress, Progress};

/// The newest version of the file that this program reads: that of a submission.
const FORMAT: u32 = 2;

/// The version of exported answers that name no learner.
const PLAIN: u32 = 1;

/// Answers by lesson and question: `{"lessons": {"systems/training-loop": {"q1": 4096}}}`. An exported file also says
/// how the learner came to them, for reports; grading looks at `lessons` alone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answers {
    /// The version of the file; one written by hand has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<u32>,
    /// The course they were given in, if the file says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub course: Option<CourseId>,
    /// Answers by question id, by lesson.
    pub lessons: BTreeMap<LessonId, BTreeMap<String, Answer>>,
    /// How the learner came to them, by lesson.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub details: BTreeMap<LessonId, Details>,
    /// The learner and the versions of the questions, if they are handed in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub submission: Option<Submission>,
}

/// What a learner did in one lesson.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Details {
    /// Whether the lesson is done.
    pub completed: bool,
    /// Runs that ended.
    pub runs: usize,
    /// Every answer, first to last, by question id.
    pub attempts: BTreeMap<String, Vec<Attempt>>,
    /// Hints shown, by question id.
    pub hints: BTreeMap<String, usize>,
    /// Predictions by id.
    pub predictions: BTreeMap<String, PredictionMade>,
    /// Checks that held.
    pub checks: BTreeSet<String>,
    /// Checks that could not be tried.
    pub skipped: BTreeSet<String>,
}

/// A prediction and, where it was compared, what came out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PredictionMade {
    pub given: Answer,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actual: Option<Answer>,
}

/// A file that holds no answers.
#[derive(Debug, thiserror::Error)]
pub enum AnswersError {
    /// It says something else, or nothing that can be read.
    #[error(
        "this is no answers file: {0}; it is JSON such as {{\"lessons\": {{\"systems/training-loop\": {{\"q1\": 4096}}}}}}, and `mlsys progress export` writes one"
    )]
    NotOurs(serde_json::Error),
    /// It ends in the middle.
    #[error(
        "this answers file is cut off: {0}; have it exported again with `mlsys progress export`"
    )]
    CutOff(serde_json::Error),
    /// A later program wrote it.
    #[error(
        "a newer mlsys has written this answers file (format {0}; this one reads up to {FORMAT}): an update reads it"
    )]
    Newer(u32),
    /// They were given in another course.
    #[error(
        "these answers are of the course {theirs}, and the lessons are of the course {own}; --course names another"
    )]
    OtherCourse {
        theirs: CourseId,
        /// The course of the lessons.
        own: CourseId,
    },
}

impl Progress {
    /// All answers that count and how they came about, as `mlsys run --answers` and `mlsys progress cohort` read them.
    pub fn answers(&self) -> Answers {
        Answers::new(self)
    }
}

impl Answers {
    /// What a learner's progress holds.
    fn new(progress: &Progress) -> Self {
        let mut answers =
            Self { format: Some(PLAIN), course: Some(progress.course.clone()), ..Self::default() };
        for (id, lesson) in progress.lessons() {
            let given = lesson.answers.iter();
            let given: BTreeMap<_, _> = given
                .map(|(question, answered)| (question.clone(), answered.given.clone()))
                .collect();
            if !given.is_empty() {
                answers.lessons.insert(id.clone(), given);
            }
            answers.details.insert(id.clone(), Details::new(lesson));
        }
        answers
    }

    /// The same answers; one to a withheld question is neither right nor wrong.
    pub fn recorded_in(mut self, course: &Course) -> Self {
        for lesson in course.lessons() {
            let Some(details) = self.details.get_mut(&lesson.front.id) else { continue };
            for question in lesson.questions().filter(|question| question.kind.is_withheld()) {
                let attempts = details.attempts.get_mut(&question.id).into_iter().flatten();
                attempts.for_each(|attempt| attempt.right = None);
                self.format = Some(FORMAT);
            }
        }
        self
    }

    /// The same answers, handed in.
    pub fn submitted(self, submission: Submission) -> Self {
        Self { format: Some(FORMAT), submission: Some(submission), ..self }
    }

    /// Reads a file's bytes.
    ///
    /// # Errors
    /// Invalid JSON or another format, with line and column.
    pub fn parse(bytes: &[u8]) -> Result<Self, AnswersError> {
        /// Read first, so that a file of a later version is reported as one.
        #[derive(Deserialize)]
        struct Head {
            format: Option<u32>,
        }
        if let Ok(Head { format: Some(format) }) = serde_json::from_slice(bytes)
            && format > FORMAT
        {
            return Err(AnswersError::Newer(format));
        }
        serde_json::from_slice(bytes).map_err(|error| {
            if error.is_eof() && !bytes.trim_ascii().is_empty() {
                AnswersError::CutOff(error)
            } else {
                AnswersError::NotOurs(error)
            }
        })
    }

    /// Refuses answers that were given in another course; a file written by hand names none.
    ///
    /// # Errors
    /// Which course they are of.
    pub fn refuse_other_course(&self, own: Option<&CourseId>) -> Result<(), AnswersError> {
        match (&self.course, own) {
            (Some(theirs), Some(own)) if theirs != own => {
                Err(AnswersError::OtherCourse { theirs: theirs.clone(), own: own.clone() })
            }
            (Some(_) | None, _) => Ok(()),
        }
    }

    /// The file's text.
    ///
    /// # Errors
    /// None that the answers' own types can cause.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string_pretty(self).map(|json| json + "\n")
    }

    /// The answer to a question.
    pub fn get(&self, lesson: &LessonId, question: &str) -> Option<&Answer> {
        self.lessons.get(lesson)?.get(question)
    }

    /// A sentence for each answer that belongs to no question of a lesson.
    pub fn strays(&self, lesson: &Lesson) -> Vec<String> {
        let Some(answers) = self.lessons.get(&lesson.front.id) else { return Vec::new() };
        let stray = answers.keys().filter(|id| lesson.question(id).is_none());
        let sentence = |id: &String| {
            let known = lesson.questions().map(|question| question.id.as_str());
            let hint =
                nearest(id, known).map_or_else(String::new, |id| format!("; did you mean '{id}'?"));
            format!("lesson {} has no question '{}'{hint}", lesson.front.id, id.escape_debug())
        };
        stray.map(sentence).collect()
    }
}

impl Details {
    fn new(lesson: &LessonProgress) -> Self {
        let prediction = |(id, given): (&String, &Answer)| {
            let made =
                PredictionMade { given: given.clone(), actual: lesson.outcomes.get(id).cloned() };
            (id.clone(), made)
        };
        Self {
            completed: lesson.completed,
            runs: lesson.runs,
            attempts: lesson.attempts.clone(),
            hints: lesson.hints.clone(),
            predictions: lesson.predictions.iter().map(prediction).collect(),
            checks: lesson.checks.clone(),
            skipped: lesson.skipped.clone(),
        }
    }
}
