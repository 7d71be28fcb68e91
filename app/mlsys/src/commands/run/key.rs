//! `--key`: lessons with the answers that their learners were not given.

use std::path::Path;

use mlsys_lesson::{CourseId, Key, Lesson, Parsed};

use crate::commands::World;
use mlsys_run::exit::Failure;
use mlsys_run::library::{Library, bytes_of};

/// The largest key file, in bytes.
const MOST: u64 = 16 << 20;

/// What grades.
pub enum Grading {
    /// A course that has its answers.
    Course(Library),
    /// A course without them, and its key.
    Key(Library, Box<Key>),
}

impl Grading {
    /// The course that is worked on, or the one that the key is or belongs to.
    pub fn open(key: Option<&Path>, world: &World<'_>) -> Result<Self, Failure> {
        let Some(path) = key else {
            return world.library().map(Self::Course);
        };
        let failed =
            |reason: String| Failure::Usage(format!("the key '{}': {reason}", path.display()));
        let is_course = path.is_dir() || {
            let bytes = bytes_of(path, "key", MOST)?;
            bytes.starts_with(&[0x1f, 0x8b])
        };
        if is_course {
            let complete = Library::open(path)?;
            if world.course.is_some() {
                let (own, theirs) = (world.library()?.id(), complete.id());
                same_course(theirs.as_ref(), own.as_ref()).map_err(failed)?;
            }
            return Ok(Self::Course(complete));
        }
        let key =
            Key::parse(&bytes_of(path, "key", MOST)?).map_err(|error| failed(error.to_string()))?;
        let library = world.library()?;
        same_course(Some(&key.course), library.id().as_ref()).map_err(failed)?;
        Ok(Self::Key(library, Box::new(key)))
    }

    /// The course.
    pub fn library(&self) -> &Library {
        match self {
            Self::Course(library) | Self::Key(library, _) => library,
        }
    }

    /// Lessons of the course with the answers of the key.
    pub fn complete(&self, lessons: Vec<Lesson>) -> Result<Vec<Lesson>, Failure> {
        match self {
            Self::Course(_) => Ok(lessons),
            Self::Key(_, key) => lessons.into_iter().map(|lesson| completed(lesson, key)).collect(),
        }
    }
}

fn same_course(theirs: Option<&CourseId>, own: Option<&CourseId>) -> Result<(), String> {
    match (theirs, own) {
        (Some(theirs), Some(own)) if theirs != own => Err(format!(
            "it is of the course {theirs}, and the lessons are of the course {own}; name the right course with --course"
        )),
        (Some(_) | None, _) => Ok(()),
    }
}

fn completed(lesson: Lesson, key: &Key) -> Result<Lesson, Failure> {
    if !lesson.questions().any(|question| question.kind.is_withheld()) {
        return Ok(lesson);
    }
    let text = key.complete(&lesson).map_err(|error| Failure::Usage(error.to_string()))?;
    let file = &lesson.source.file;
    let Parsed { lesson: complete, diagnostics } =
        mlsys_lesson::read(file, text.as_bytes(), mlsys_registry::registry());
    complete.ok_or_else(|| {
        let first = diagnostics.first().map(ToString::to_string);
        Failure::Usage(format!(
            "the key's answers for {} do not read: {}",
            lesson.front.id,
            first.unwrap_or_default()
        ))
    })
}
