//! What a lesson says, in the order of its file.

mod answer;
mod drawn;
mod fill;
mod id;
mod inclusion;
mod instance;
mod kernel;
mod lab;
mod manifest;
mod predict;
mod question;
mod rules;
mod sheet;
mod variants;
mod vary;

use mlsys_lab::schema::Class;

use crate::diagnostic::{Located, Place, Source};

pub use answer::{Bounds, Formula, Tolerance, Wrong};
pub use drawn::Variants;
pub use drawn::{DrawnNumber, Varied};
pub use id::{
    CourseId, CourseIdError, LearnerId, LearnerIdError, LessonId, LessonIdError, is_inside,
    translated,
};
pub use inclusion::{Inclusion, ListedInclusion, ListedStart, StartValue};
pub use kernel::{Audience, Bound, Expected, KernelTask, KernelTest, Limit, Side};
pub use lab::{DeviceName, Disclosure, Goal, Knob, LabDirective, PanelRef, Setting};
pub use manifest::{ListedModule, Manifest};
pub(crate) use predict::Theory;
pub use predict::{Outcome, Predict, PredictKind, Target};
pub(crate) use question::AskedKernel;
pub use question::{Asked, Match, Question, QuestionKind, QuestionType};
pub use rules::{
    Credit, GradingRules, LatePolicy, LessonRules, ListedRules, Timestamp, TimestampError,
};
pub use sheet::Sheet;

pub(crate) use drawn::drawn_value;
pub(crate) use fill::Drawn;
pub(crate) use lab::settings;
pub(crate) use variants::Varying;
pub(crate) use vary::MOST_LAB_DRAWS;

/// A lesson: front matter, and prose and directives in file order.
#[derive(Clone, Debug, PartialEq)]
pub struct Lesson {
    /// Its text, for messages about it.
    pub source: Source,
    pub front: FrontMatter,
    /// What it says and asks.
    pub blocks: Vec<Block>,
    /// The learner that its numbers are drawn for; none for the printed ones.
    pub(crate) sheet: Option<Sheet>,
    /// How a course includes it, if it is a built-in lesson of another course.
    pub included: Option<Inclusion>,
    /// Ids of directives that could not be read: names that begin with them are not unknown.
    pub(crate) unread: Vec<String>,
}

/// What a lesson is, between `+++` lines at the top of its file.
#[derive(Clone, Debug, PartialEq)]
pub struct FrontMatter {
    /// Version of the lesson format.
    pub format: u32,
    pub id: LessonId,
    pub title: String,
    /// The language it was translated into; none for the original.
    pub lang: Option<String>,
    /// How long a learner takes.
    pub minutes: u32,
    /// Lessons that come before it: recommended, not enforced.
    pub requires: Vec<Located<LessonId>>,
    /// Ideas that it teaches.
    pub teaches: Vec<String>,
    /// Terms that it adds to the glossary.
    pub terms: Vec<Term>,
    /// Seed of all its runs.
    pub seed: u64,
    /// Where it stands, fences included.
    pub place: Place,
}

/// A term that a lesson explains in its glossary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    pub name: String,
    /// Other names and spellings.
    pub aliases: Vec<String>,
    pub about: String,
}

/// One part of a lesson.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    Prose(Prose),
    Lab(LabDirective),
    /// A guess to be made before a run.
    Predict(Predict),
    /// A question that is graded.
    Question(Question),
    /// What a headless run asserts.
    Check(Check),
    /// Text for instructors, not shown to learners.
    Notes(Notes),
}

/// Markdown to read, without control characters.
#[derive(Clone, Debug, PartialEq)]
pub struct Prose {
    pub markdown: String,
    /// The line it begins on, from 1.
    pub line: usize,
}

/// Markdown for instructors.
#[derive(Clone, Debug, PartialEq)]
pub struct Notes {
    pub markdown: String,
    /// Where it stands, fences included.
    pub place: Place,
}

/// What must hold after the lesson's labs have run.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// Its name in this lesson.
    pub id: String,
    pub assert: Formula,
    /// How far what it compares can be trusted to repeat.
    pub class: Class,
    /// What it means if it fails.
    pub why: Option<String>,
    /// The drawn numbers that it names, if any; everything else here has them.
    pub variants: Option<Box<Variants<Self>>>,
    /// Where it stands, fences included.
    pub place: Place,
}

impl Lesson {
    /// The experiments, in file order.
    pub fn labs(&self) -> impl Iterator<Item = &LabDirective> {
        self.blocks.iter().filter_map(Block::as_lab)
    }

    /// The goals of pictures of this name, which all labs that have one share.
    pub fn goals(&self, panel: &str) -> &[Goal] {
        let panels = self.labs().flat_map(|lab| &lab.panels);
        let mut goals = panels.filter(|one| one.name == panel).map(|one| &one.goals);
        goals.find(|goals| !goals.is_empty()).map_or(&[], Vec::as_slice)
    }

    /// The experiment of an id.
    pub fn lab(&self, id: &str) -> Option<&LabDirective> {
        self.labs().find(|lab| lab.id == id)
    }

    /// The predictions, in file order.
    pub fn predictions(&self) -> impl Iterator<Item = &Predict> {
        self.blocks.iter().filter_map(Block::as_predict)
    }

    /// What a panel may wait for, in file order: questions, predictions and tries.
    pub fn tasks(&self) -> impl Iterator<Item = &Block> {
        self.blocks.iter().filter(|block| matches!(block, Block::Predict(_) | Block::Question(_)))
    }

    /// The labs whose runs reveal a prediction: the one it names, else those that its target names, else the next one in
    /// the file, else the last; none in a lesson without labs.
    pub fn labs_of<'l>(&'l self, predict: &'l Predict) -> Vec<&'l str> {
        if let Some(lab) = &predict.lab {
            return vec![&lab.value];
        }
        let formula = match &predict.target {
            Target::Metric(formula) | Target::Answer(formula) => Some(formula),
            Target::Choice(_) => None,
        };
        let named = formula.into_iter().flat_map(|formula| formula.expr.names());
        let mut labs: Vec<&str> = named.filter_map(|(name, _)| name.parts().next()).collect();
        labs.retain(|id| self.lab(id).is_some());
        labs.dedup();
        if labs.is_empty() {
            let next = self.labs().find(|lab| lab.place.start > predict.place.start);
            labs.extend(next.or_else(|| self.labs().last()).map(|lab| lab.id.as_str()));
        }
        labs
    }

    /// The lab of a try, and what its knobs are turned to.
    pub fn turned<'a>(&'a self, attempt: &'a Predict) -> Option<(&'a LabDirective, &'a [Setting])> {
        let turn = attempt.turn.as_ref()?;
        Some((self.lab(&attempt.lab.as_ref()?.value)?, turn))
    }

    /// The questions, in file order.
    pub fn questions(&self) -> impl Iterator<Item = &Question> {
        self.blocks.iter().filter_map(Block::as_question)
    }

    /// The question of an id.
    pub fn question(&self, id: &str) -> Option<&Question> {
        self.questions().find(|question| question.id == id)
    }

    /// The checks, in file order.
    pub fn checks(&self) -> impl Iterator<Item = &Check> {
        self.blocks.iter().filter_map(Block::as_check)
    }

    /// The lesson with a learner's numbers.
    pub fn drawn(&self, sheet: &Sheet) -> Self {
        let mut lesson = Self { sheet: Some(sheet.clone()), ..self.clone() };
        let draw = |varied: &Varied, directive: &str| sheet.draw(&self.front.id, directive, varied);
        lesson.blocks.iter_mut().for_each(|block| block.draw(draw));
        lesson
    }

    /// The points of all its questions.
    pub fn points(&self) -> u32 {
        self.questions().map(|question| question.points).sum()
    }
}

impl Block {
    /// Its id, if it has one.
    pub fn id(&self) -> Option<&str> {
        self.head().1
    }

    /// The name of its directive; empty for prose.
    pub fn directive(&self) -> &'static str {
        self.head().0
    }

    /// Where its directive stands, fences included; prose knows its line alone.
    pub fn place(&self) -> Option<Place> {
        self.head().2
    }

    /// Its directive, id and place.
    fn head(&self) -> (&'static str, Option<&str>, Option<Place>) {
        match self {
            Self::Lab(lab) => ("lab", Some(&lab.id), Some(lab.place)),
            Self::Predict(predict) => (predict.directive(), Some(&predict.id), Some(predict.place)),
            Self::Question(question) => ("question", Some(&question.id), Some(question.place)),
            Self::Check(check) => ("check", Some(&check.id), Some(check.place)),
            Self::Notes(notes) => ("notes", None, Some(notes.place)),
            Self::Prose(_) => ("", None, None),
        }
    }

    /// The experiment, if it is one.
    pub fn as_lab(&self) -> Option<&LabDirective> {
        if let Self::Lab(lab) = self { Some(lab) } else { None }
    }

    pub(crate) fn as_lab_mut(&mut self) -> Option<&mut LabDirective> {
        if let Self::Lab(lab) = self { Some(lab) } else { None }
    }

    /// The prediction, if it is one.
    pub fn as_predict(&self) -> Option<&Predict> {
        if let Self::Predict(predict) = self { Some(predict) } else { None }
    }

    /// The question, if it is one.
    pub fn as_question(&self) -> Option<&Question> {
        if let Self::Question(question) = self { Some(question) } else { None }
    }

    pub(crate) fn as_question_mut(&mut self) -> Option<&mut Question> {
        if let Self::Question(question) = self { Some(question) } else { None }
    }

    /// The check, if it is one.
    pub fn as_check(&self) -> Option<&Check> {
        if let Self::Check(check) = self { Some(check) } else { None }
    }
}
