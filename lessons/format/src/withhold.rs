//! Lessons without their answers, and answers without their lessons: what learners are given and what graders keep.

use std::collections::BTreeMap;

use mlsys_lab::value::toml_string;
use serde::{Deserialize, Serialize};

use crate::diagnostic::{Place, Source};
use crate::model::{
    Asked, Block, Bounds, CourseId, DrawnNumber, KernelTest, Lesson, LessonId, Question, Tolerance,
    Varied, Varying,
};

/// The version of key files that this program reads and writes.
const FORMAT: u32 = 1;

/// What was taken out of the questions of a course.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Key {
    /// The version of the file.
    pub format: u32,
    pub course: CourseId,
    /// The whole directives of its questions, by question id, by lesson.
    pub lessons: BTreeMap<LessonId, BTreeMap<String, String>>,
}

/// A key that does not open anything.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// It is no key.
    #[error("this is no key: {0}; `mlsys course pack --key FILE` writes one")]
    NotOurs(serde_json::Error),
    /// A later program wrote it.
    #[error("this key is of format {0}, and this version of mlsys reads format {FORMAT}")]
    Newer(u32),
    /// It belongs to another lesson or another version of it.
    #[error("the key does not fit the lesson {lesson}: {reason}")]
    Misfit { lesson: LessonId, reason: String },
}

/// The text of a lesson without answers, wrong answers, explanations and notes: what its learners are given.
pub fn withheld(lesson: &Lesson) -> String {
    replaced(&lesson.source, &lesson.blocks, |block| match block {
        Block::Question(question) => Some(asked(question, lesson)),
        Block::Notes(_) => Some(String::new()),
        Block::Prose(_) | Block::Lab(_) | Block::Predict(_) | Block::Check(_) => None,
    })
}

impl Key {
    /// The key of these lessons.
    pub fn new<'l>(course: CourseId, lessons: impl IntoIterator<Item = &'l Lesson>) -> Self {
        let questions = |lesson: &Lesson| {
            let text = |question: &Question| {
                let text = lesson.source.slice(question.place).to_owned();
                (question.id.clone(), text)
            };
            lesson.questions().map(text).collect()
        };
        let lessons = lessons.into_iter();
        Self {
            format: FORMAT,
            course,
            lessons: lessons.map(|lesson| (lesson.front.id.clone(), questions(lesson))).collect(),
        }
    }

    /// Reads a key file.
    ///
    /// # Errors
    /// Invalid JSON or another format.
    pub fn parse(bytes: &[u8]) -> Result<Self, KeyError> {
        /// Read first, so that a file of a later version is reported as one.
        #[derive(Deserialize)]
        struct Head {
            format: u32,
        }
        let Head { format } = serde_json::from_slice(bytes).map_err(KeyError::NotOurs)?;
        if format != FORMAT {
            return Err(KeyError::Newer(format));
        }
        serde_json::from_slice(bytes).map_err(KeyError::NotOurs)
    }

    /// The file's text.
    ///
    /// # Errors
    /// None that the key's own types can cause.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string_pretty(self).map(|json| json + "\n")
    }

    /// The text of a lesson without answers, with the answers of this key put in; notes are left out.
    ///
    /// # Errors
    /// A lesson that the key does not know, or knows otherwise.
    pub fn complete(&self, lesson: &Lesson) -> Result<String, KeyError> {
        let misfit = |reason: &str| KeyError::Misfit {
            lesson: lesson.front.id.clone(),
            reason: reason.to_owned(),
        };
        let questions =
            self.lessons.get(&lesson.front.id).ok_or_else(|| misfit("it has no answers for it"))?;
        if let Some(stranger) =
            lesson.questions().find(|question| !questions.contains_key(&question.id))
        {
            return Err(misfit(&format!("it has no question {}", stranger.id)));
        }
        let text = replaced(&lesson.source, &lesson.blocks, |block| {
            let question = block.as_question()?;
            questions.get(&question.id).cloned()
        });
        let whole = crate::parse(&lesson.source.file, &text);
        match whole.lesson {
            Some(whole) if withheld(&whole) == lesson.source.text => Ok(text),
            Some(_) | None => Err(misfit("its questions are of another version")),
        }
    }
}

/// A lesson's text with some of its directives replaced.
fn replaced(source: &Source, blocks: &[Block], with: impl Fn(&Block) -> Option<String>) -> String {
    let mut text = String::with_capacity(source.text.len());
    let mut at = 0;
    for block in blocks {
        let Some(replacement) = with(block) else { continue };
        let Some(place) = block.place() else { continue };
        text.push_str(source.slice(Place::new(at, place.start)));
        text.push_str(&replacement);
        at = place.end;
    }
    text.push_str(source.slice(Place::new(at, source.text.len())));
    text
}

/// The directive of a question without its answer, between its own fences.
pub(crate) fn asked(question: &Question, lesson: &Lesson) -> String {
    let original = lesson.source.slice(question.place);
    let variants = question.variants.as_deref();
    let question = question.written();
    let mut lines = original.lines();
    // A directive that was read has both of its fences.
    let (opening, closing) = (lines.next().unwrap_or("```"), lines.next_back().unwrap_or("```"));
    let mut keys = vec![
        format!("type = {}", toml_string(question.kind.ty().name())),
        "withheld = true".to_owned(),
        format!("prompt = {}", toml_string(&question.prompt)),
        format!("points = {}", question.points),
    ];
    if !question.hints.is_empty() {
        keys.push(list("hints", question.hints.iter().map(String::as_str)));
    }
    match question.kind.asked() {
        Asked::Numeric { unit, bounds: Bounds { min, max, .. } } => {
            keys.extend(unit.map(|unit| format!("unit = {}", toml_string(&unit))));
            keys.extend(min.map(|min| format!("min = {min:?}")));
            keys.extend(max.map(|max| format!("max = {max:?}")));
        }
        Asked::Kernel { starter, samples, tolerance } => {
            keys.extend(starter.map(|starter| format!("starter = {}", toml_string(&starter))));
            if !samples.is_empty() {
                keys.extend(written(tolerance));
            }
            keys.extend(samples.iter().map(sample));
        }
        Asked::List | Asked::Expression | Asked::Text => {}
        Asked::Choice { choices } | Asked::Multiple { choices } | Asked::Order { choices } => {
            keys.push(list("choices", sorted(&choices)));
        }
        Asked::Match { left, choices } => {
            keys.push(list("left", left.iter().map(String::as_str)));
            keys.push(list("choices", sorted(&choices)));
        }
    }
    if let Some(variants) = variants {
        // Above the tables of samples, which would take it in.
        keys.insert(4, format!("vary = {{ {} }}", varied(&variants.names)));
    }
    let end = if original.ends_with('\n') { "\n" } else { "" };
    format!("{opening}\n{}\n{closing}{end}", keys.join("\n"))
}

fn written(tolerance: Tolerance) -> Option<String> {
    match tolerance {
        Tolerance::Exact => None,
        Tolerance::Relative(share) => Some(format!("tolerance = {{ rel = {share:?} }}")),
        Tolerance::Absolute(most) => Some(format!("tolerance = {{ abs = {most:?} }}")),
    }
}

/// Names with their values, as the table `vary` has them.
fn varied(names: &[Varied]) -> String {
    let values = |one: &Varied| match &one.shared {
        Some(DrawnNumber { directive, name }) => toml_string(&format!("{directive}.{name}")),
        None => format!("{:?}", one.values),
    };
    let entry = |one: &Varied| format!("{} = {}", toml_string(&one.name.value), values(one));
    names.iter().map(entry).collect::<Vec<_>>().join(", ")
}

/// A test that learners may try.
fn sample(test: &KernelTest) -> String {
    let table = |key: &str, entries: Vec<String>| match entries.len() {
        0 => String::new(),
        _ => format!("\n{key} = {{ {} }}", entries.join(", ")),
    };
    let entry = |name: &str, value: String| format!("{} = {value}", toml_string(name));
    let set = test.set.iter().map(|setting| entry(&setting.name, setting.value.to_toml()));
    let expect = test.expect.iter();
    let expect = expect.map(|one| entry(&one.buffer.value, toml_string(&one.value.source)));
    [
        format!("[[test]]\nname = {}\nsample = true", toml_string(&test.name)),
        if test.vary.is_empty() {
            String::new()
        } else {
            format!("\nvary = {{ {} }}", varied(&test.vary))
        },
        table("set", set.collect()),
        table("expect", expect.collect()),
    ]
    .concat()
}

/// Texts in an order that does not show which is right.
fn sorted(texts: &[String]) -> impl Iterator<Item = &str> {
    let mut sorted: Vec<&str> = texts.iter().map(String::as_str).collect();
    sorted.sort_unstable();
    sorted.dedup();
    sorted.into_iter()
}

fn list<'t>(key: &str, texts: impl Iterator<Item = &'t str>) -> String {
    let texts: Vec<String> = texts.map(toml_string).collect();
    format!("{key} = [{}]", texts.join(", "))
}
