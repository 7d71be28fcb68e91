//! What lessons require of each other: lessons that exist, stand before them, and do not require them in turn.

use mlsys_lab::nearest::nearest;

use super::{CourseFiles, including};
use crate::diagnostic::{Code, Diagnostic, Source};
use crate::model::{Lesson, LessonId, ListedModule};

/// Errors between these lessons, each reported once; a second lesson with the same id is passed over.
pub fn between(lessons: &[Lesson]) -> Vec<Diagnostic> {
    let lessons = lessons.iter().map(|lesson| Requiring { lesson, source: &lesson.source });
    between_also(&lessons.collect::<Vec<_>>(), &[], &CourseFiles::new())
}

/// A lesson, and the text that says what it requires.
#[derive(Clone, Copy)]
pub(super) struct Requiring<'a> {
    pub(super) lesson: &'a Lesson,
    pub(super) source: &'a Source,
}

impl<'a> Requiring<'a> {
    fn id(&self) -> &'a LessonId {
        &self.lesson.front.id
    }
}

/// The same with lessons that could not be read: requiring one of them is no further error.
pub(super) fn between_also(
    lessons: &[Requiring<'_>],
    unread: &[&str],
    built_in: &CourseFiles,
) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    let mut distinct: Vec<Requiring<'_>> = Vec::new();
    for &requiring in lessons {
        let lesson = requiring.lesson;
        let id = &lesson.front.id;
        let first = distinct.iter().map(|other| other.lesson).find(|other| other.front.id == *id);
        let Some(first) = first else {
            distinct.push(requiring);
            continue;
        };
        let message = format!("the lesson `{id}` is already in {}", first.source.file);
        let error = lesson.source.error(Code::DuplicateId, lesson.front.place, message);
        problems.push(error.help("give one of the two another id"));
    }
    problems.extend(unknown(&distinct, unread, built_in));
    problems.extend(cycles(&distinct));
    problems
}

/// Requirements that do not exist.
fn unknown(lessons: &[Requiring<'_>], unread: &[&str], built_in: &CourseFiles) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    for Requiring { lesson, source } in lessons {
        for required in &lesson.front.requires {
            if lessons.iter().any(|other| other.lesson.front.id == required.value)
                || unread.contains(&required.value.as_str())
            {
                continue;
            }
            let message = format!("there is no lesson `{}`", required.value);
            let ids = lessons.iter().map(|other| other.lesson.front.id.as_str());
            let is_built_in =
                built_in.contains_key(&ListedModule::path_of(required.value.as_str()));
            let help = match nearest(required.value.as_str(), ids) {
                _ if is_built_in => including(required.value.as_str()),
                Some(id) => format!("did you mean \"{id}\"?"),
                None => "`mlsys list` shows them all".to_owned(),
            };
            let error = source.error(Code::UnknownLesson, required.place, message);
            problems.push(error.help(help));
        }
    }
    problems
}

fn cycles(lessons: &[Requiring<'_>]) -> Vec<Diagnostic> {
    let mut left: Vec<Requiring<'_>> = lessons.to_vec();
    let mut problems = Vec::new();
    while let Some(&start) = left.first() {
        // Follow requirements among what is left until a lesson has none there, or comes again.
        let mut path = vec![start];
        while let Some(&at) = path.last() {
            let next = at.lesson.front.requires.iter().find_map(|required| {
                let next = left.iter().find(|other| *other.id() == required.value)?;
                Some((*next, required.place))
            });
            let Some((next, place)) = next else {
                left.retain(|lesson| lesson.id() != at.id());
                break;
            };
            if let Some(first) = path.iter().position(|seen| seen.id() == next.id()) {
                let cycle = &path[first..];
                let names: Vec<_> =
                    cycle.iter().chain([&next]).map(|one| one.id().as_str()).collect();
                let message = format!("lessons require each other: {}", names.join(" -> "));
                let error = at.source.error(Code::Cycle, place, message);
                problems.push(error.help("remove one of these requirements"));
                left.retain(|lesson| !cycle.iter().any(|other| other.id() == lesson.id()));
                break;
            }
            path.push(next);
        }
    }
    problems
}

/// Lessons that stand before one they require.
pub(super) fn disorder(lessons: &[Requiring<'_>]) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    for (index, Requiring { lesson, source }) in lessons.iter().enumerate() {
        let later = &lessons[index + 1..];
        for required in &lesson.front.requires {
            if later.iter().any(|other| other.lesson.front.id == required.value) {
                let message = format!(
                    "the course lists `{}` before `{}`, which it requires",
                    lesson.front.id, required.value
                );
                let warning = source.warning(Code::LessonOrder, required.place, message);
                problems.push(warning.help("list them the other way round in course.toml"));
            }
        }
    }
    problems
}
