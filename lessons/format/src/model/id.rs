//! The names of lessons and courses.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The text of an id, and the conversions that serde uses.
macro_rules! text_id {
    ($id:ident, $error:ident) => {
        impl $id {
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $id {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl TryFrom<String> for $id {
            type Error = $error;

            fn try_from(text: String) -> Result<Self, $error> {
                text.parse()
            }
        }

        impl From<$id> for String {
            fn from(id: $id) -> Self {
                id.0
            }
        }
    };
}

text_id!(LessonId, LessonIdError);
text_id!(CourseId, CourseIdError);
text_id!(LearnerId, LearnerIdError);

/// A lesson's name, `module/name`, each part of lower-case letters, digits and hyphens.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct LessonId(String);

/// A text that names no lesson.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{}' is not a lesson id: write module/name, in lower-case letters, digits and hyphens, such as systems/training-loop", .text.escape_debug())]
pub struct LessonIdError {
    text: String,
}

impl LessonId {
    /// The id of a lesson with an unreadable one; such a lesson never leaves the parser.
    pub(crate) fn unread() -> Self {
        Self("unread/unread".to_owned())
    }

    /// The part before the slash.
    pub fn module(&self) -> &str {
        self.0.split_once('/').map_or("", |(module, _)| module)
    }

    /// The part after the slash.
    pub fn name(&self) -> &str {
        self.0.split_once('/').map_or("", |(_, name)| name)
    }
}

impl FromStr for LessonId {
    type Err = LessonIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let part = |part: &str| {
            part.starts_with(|c: char| c.is_ascii_lowercase())
                && part.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
        };
        match text.split_once('/') {
            Some((module, name)) if part(module) && part(name) && text.len() <= 80 => {
                Ok(Self(text.to_owned()))
            }
            Some(_) | None => Err(LessonIdError { text: text.chars().take(80).collect() }),
        }
    }
}

/// A course's name, of lower-case letters, digits and hyphens; progress is kept under it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CourseId(String);

/// A text that names no course.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{}' is not a course id: write lower-case letters, digits and hyphens, such as ml-systems-2027", .text.escape_debug())]
pub struct CourseIdError {
    text: String,
}

impl CourseId {
    /// The course that is part of the program.
    pub fn built_in() -> Self {
        Self("mlsys".to_owned())
    }
}

impl Default for CourseId {
    fn default() -> Self {
        Self::built_in()
    }
}

impl FromStr for CourseId {
    type Err = CourseIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if text.starts_with(|c: char| c.is_ascii_lowercase())
            && text.chars().all(plain)
            && text.len() <= 60
        {
            Ok(Self(text.to_owned()))
        } else {
            Err(CourseIdError { text: text.chars().take(60).collect() })
        }
    }
}

/// The name under which a course knows a learner: one line of at most 100 characters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct LearnerId(String);

/// Text that names no learner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a learner's id is one line of 1 to 100 characters, such as a student number or an address"
)]
pub struct LearnerIdError;

impl FromStr for LearnerId {
    type Err = LearnerIdError;

    fn from_str(text: &str) -> Result<Self, LearnerIdError> {
        let text = text.trim();
        let is_plain = !text.chars().any(mlsys_expr::steers_terminal);
        let fits = (1..=100).contains(&text.chars().count());
        if is_plain && fits { Ok(Self(text.to_owned())) } else { Err(LearnerIdError) }
    }
}

/// The lesson's path and the language of a translation, such as `gpu/warps.fr.md`.
pub fn translated(path: &str) -> Option<(String, &str)> {
    let (base, language) = path.strip_suffix(".md")?.rsplit_once('.')?;
    let main = language.split_once('-').map_or(language, |(main, _)| main);
    let is_language = (2..=3).contains(&main.len())
        && main.chars().all(|c| c.is_ascii_lowercase())
        && language.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    is_language.then(|| (format!("{base}.md"), language))
}

/// Whether a path stays inside the folder it is meant for, on every system.
pub fn is_inside(path: &str) -> bool {
    !path.is_empty()
        && path.len() <= 200
        && !path.contains(['\\', ':'])
        && !path.chars().any(mlsys_expr::steers_terminal)
        && path.split('/').all(|part| !part.is_empty() && part != "." && part != "..")
}
