//! Submissions: exported answers with a learner's id, the versions of the questions, and a seal over all of it.
//!
//! The seal shows that a file was changed after it was exported. It is no secret: it does not show who exported it. That is
//! why grading believes no points, and every answer is graded anew.

use mlsys_lab::Registry;
use mlsys_lesson::{
    Answers, AnswersError, Course, CourseId, GradeOutcome, Grader, GradingRules, KnownNames,
    LearnerId, Lesson, LessonId, QuestionGrade, Received, Sheet, Submission, Timestamp,
    grade_lesson, question_text,
};
use serde::{Deserialize, Serialize};

use crate::archive::sha256;
use crate::time;

/// A file that is no submission to a course.
#[derive(Debug, thiserror::Error)]
pub enum SubmissionError {
    #[error(transparent)]
    Answers(#[from] AnswersError),
    #[error("it names no learner; `mlsys progress export FILE --learner ID` writes a submission")]
    NoLearner,
    #[error(
        "it was changed after it was exported: its seal does not fit its contents; have it exported again"
    )]
    BrokenSeal,
    #[error("it cannot be written as JSON: {0}")]
    Json(serde_json::Error),
}

/// The hash that stands for what a lesson asks.
pub fn version_of(lesson: &Lesson) -> String {
    sha256(question_text(lesson).as_bytes())
}

/// The answers, handed in by a learner now.
///
/// # Errors
/// None that the answers' own types can cause.
pub fn sign(
    answers: Answers,
    learner: LearnerId,
    course: &Course,
) -> Result<Answers, SubmissionError> {
    let at = time::now();
    let opened = course.lessons().iter().filter(|lesson| {
        let id = &lesson.front.id;
        answers.lessons.contains_key(id) || answers.details.contains_key(id)
    });
    let versions = opened.map(|lesson| (lesson.front.id.clone(), version_of(lesson))).collect();
    let unsealed = Submission { learner, at, versions, seal: String::new() };
    let seal = seal(&answers.clone().submitted(unsealed.clone()))?;
    Ok(answers.submitted(Submission { seal, ..unsealed }))
}

/// Reads a submission to a course.
///
/// # Errors
/// The sentence that a report says of the file.
pub fn read(bytes: &[u8], course: &CourseId) -> Result<(Answers, Submission), SubmissionError> {
    let answers = Answers::parse(bytes)?;
    answers.refuse_other_course(Some(course))?;
    let submission = answers.submission.clone().ok_or(SubmissionError::NoLearner)?;
    let unsealed = Submission { seal: String::new(), ..submission.clone() };
    if seal(&answers.clone().submitted(unsealed))? != submission.seal {
        return Err(SubmissionError::BrokenSeal);
    }
    Ok((answers, submission))
}

fn seal(unsealed: &Answers) -> Result<String, SubmissionError> {
    serde_json::to_vec(unsealed).map(|bytes| sha256(&bytes)).map_err(SubmissionError::Json)
}

/// What a submission is graded by, for another process.
#[derive(Debug, Serialize, Deserialize)]
pub struct SubmissionJob {
    pub course: CourseId,
    /// What learners' numbers depend on, together with their ids.
    pub salt: String,
    pub rules: GradingRules,
    /// When the files came in, unless the learners' clocks are believed.
    pub received: Option<Timestamp>,
    pub lessons: Vec<LessonJob>,
}

/// A lesson with its answers, and the values of its labs that they name: for each draw of these labs.
#[derive(Debug, Serialize, Deserialize)]
pub struct LessonJob {
    pub text: String,
    pub version: String,
    pub known: Vec<KnownNames>,
    /// Questions with answers that are executed.
    pub executed: usize,
}

/// What came of a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GradedFile {
    Graded(GradedSubmission),
    Refused(String),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GradedSubmission {
    pub learner: LearnerId,
    pub exported: Timestamp,
    /// In the order of the course.
    pub lessons: Vec<LessonGrades>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LessonGrades {
    pub lesson: LessonId,
    pub questions: Vec<QuestionGrade>,
}

impl LessonGrades {
    pub fn points(&self) -> f64 {
        self.questions.iter().map(|question| question.points).sum()
    }

    pub fn of(&self) -> u32 {
        self.questions.iter().map(|question| question.of).sum()
    }
}

impl GradedSubmission {
    pub fn points(&self) -> f64 {
        self.lessons.iter().map(LessonGrades::points).sum()
    }

    pub fn of(&self) -> u32 {
        self.lessons.iter().map(LessonGrades::of).sum()
    }
}

/// The remark on the questions of a lesson that has changed since.
const OTHER_VERSION: &str = "answered in another version of this lesson, which asks something else; \
    have it answered and exported again with the present course";

/// The remark where no run of the lesson's labs had the learner's numbers.
const OTHER_NUMBERS: &str = "the labs of this lesson were not run with the learner's numbers; grade again with the present course";

impl SubmissionJob {
    /// Grades a file's bytes; `registry` knows the course's labs.
    pub fn run(&self, bytes: &[u8], grader: &dyn Grader, registry: &Registry) -> GradedFile {
        let (answers, submission) = match read(bytes, &self.course) {
            Ok(read) => read,
            Err(error) => return GradedFile::Refused(error.to_string()),
        };
        let received = match self.received {
            Some(at) => Received::At(at),
            None => Received::Exported(submission.at),
        };
        let sheet = Sheet { salt: self.salt.clone(), learner: submission.learner.clone() };
        let mut lessons = Vec::new();
        for LessonJob { text, version, known, .. } in &self.lessons {
            let Some(mut lesson) = mlsys_lesson::parse("lesson.md", text).lesson else { continue };
            lesson.derive_ranges(registry);
            let lesson = lesson.drawn(&sheet);
            let theirs = submission.versions.get(&lesson.front.id);
            let ungraded = |remark: &str| {
                let remark = || Some(remark.to_owned());
                let ungraded =
                    |question| QuestionGrade::without(question, GradeOutcome::NotGraded, remark());
                lesson.questions().map(ungraded).collect()
            };
            let questions = if theirs.is_some_and(|theirs| theirs != version) {
                ungraded(OTHER_VERSION)
            } else if let Some(known) = known.iter().find(|known| known.fits(&lesson)) {
                grade_lesson(&lesson, &answers, received, &self.rules, (grader, known))
            } else {
                ungraded(OTHER_NUMBERS)
            };
            lessons.push(LessonGrades { lesson: lesson.front.id.clone(), questions });
        }
        let Submission { learner, at: exported, .. } = submission;
        GradedFile::Graded(GradedSubmission { learner, exported, lessons })
    }
}
