//! The lesson format: model, parser with diagnostics, validation against the labs, grading, and progress.
//!
//! [`parse`] reads a file into a [`Lesson`] and reports all its errors at once; [`validate`] compares it with the labs
//! there are. A lesson is untrusted text: it declares and is never executed. This crate does no I/O and knows no
//! terminal; the screen and the headless runner both use it, so that they cannot disagree. Errors and help texts may name
//! a command of `mlsys` where that is the way out: authors and learners read them in a terminal.

mod check;
mod cohort;
mod course;
mod diagnostic;
mod env;
mod grade;
mod gradebook;
mod lint;
mod model;
mod parse;
mod progress;
mod range;
mod schema;
mod selftest;
mod template;
mod validate;
mod withhold;

pub use check::{CheckOutcome, Subexpression};
pub use cohort::{
    CheckReport, Cohort, Learner, LessonReport, PredictionReport, QuestionReport, Spread,
    WrongReport, cohort,
};
pub use course::{
    COURSE_FILE, Course, CourseFile, CourseFiles, ListedLesson, Module, Outline, ParsedCourse,
    between, read_course, salt,
};
pub use diagnostic::{Code, Diagnostic, Located, Place, Severity, Source};
pub use env::{DEVICE_FACTS, DeviceFacts, LessonEnv, label_of};
pub use grade::{
    Answer, Case, CaseResult, Comparison, Grade, Grader, GradingJob, KnownNames, Parts,
    PredictionError, ReadNumberError, Verdict, read_number,
};
pub use gradebook::{GradeOutcome, QuestionGrade, Received, grade_lesson};
pub use lint::{
    DrawnTexts, PROSE_COLUMNS, PanelTexts, distant_reveals, italic_products, numbered_starts,
    overflow, presumptions, spoilers, telling_lengths, unseen_metrics, variants,
};
pub use model::{
    Asked, Audience, Block, Bound, Bounds, Check, CourseId, CourseIdError, Credit, DeviceName,
    Disclosure, DrawnNumber, Expected, Formula, FrontMatter, Goal, GradingRules, Inclusion,
    KernelTask, KernelTest, Knob, LabDirective, LatePolicy, LearnerId, LearnerIdError, Lesson,
    LessonId, LessonIdError, LessonRules, Limit, ListedInclusion, ListedModule, ListedRules,
    ListedStart, Manifest, Match, Notes, Outcome, PanelRef, Predict, PredictKind, Prose, Question,
    QuestionKind, QuestionType, Setting, Sheet, Side, StartValue, Target, Term, Timestamp,
    TimestampError, Tolerance, Variants, Varied, Wrong, is_inside, translated,
};
pub use parse::translation::read_translation;
pub use parse::{FORMAT, MAX_DIRECTIVES, MAX_FILE_BYTES, Parsed, parse, parse_bytes, read};
pub use progress::answers::{Answers, AnswersError, Details, PredictionMade};
pub use progress::submission::{Submission, question_text};
pub use progress::{
    Answered, Attempt, Event, LOG_VERSION, LessonProgress, Progress, Record, Replay, State,
    Summary, Told,
};
pub use schema::json_schema;
pub use selftest::self_test;
pub use template::{new_lesson, skeleton};
pub use validate::validate;
pub use withhold::{Key, KeyError, withheld};
