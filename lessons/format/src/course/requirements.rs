//! What lessons require of each other: lessons that exist, stand before them, and do not require them in turn.

use mlsys_lab::nearest::nearest;

use crate::diagnostic::{Code, Diagnostic};
use crate::model::Lesson;

/// Errors between these lessons, each reported once; a second lesson with the same id is passed over.
pub fn between(lessons: &[Lesson]) -> Vec<Diagnostic> {
    between_also(&lessons.iter().collect::<Vec<_>>(), &[])
}

/// The same with lessons that could not be read: requiring one of them is no further error.
pub(super) fn between_also(lessons: &[&Lesson], unread: &[&str]) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    let mut distinct: Vec<&Lesson> = Vec::new();
    for &lesson in lessons {
        let id = &lesson.front.id;
        let Some(first) = distinct.iter().find(|other| other.front.id == *id) else {
            distinct.push(lesson);
            continue;
        };
        let message = format!("the lesson `{id}` is already in {}", first.source.file);
        let error = lesson.source.error(Code::DuplicateId, lesson.front.place, message);
        problems.push(error.help("give one of the two another id"));
    }
    problems.extend(unknown(&distinct, unread));
    problems.extend(cycles(&distinct));
    problems
}

/// Requirements that do not exist.
fn unknown(lessons: &[&Lesson], unread: &[&str]) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    for lesson in lessons {
        for required in &lesson.front.requires {
            if lessons.iter().any(|other| other.front.id == required.value)
                || unread.contains(&required.value.as_str())
            {
                continue;
            }
            let message = format!("there is no lesson `{}`", required.value);
            let ids = lessons.iter().map(|other| other.front.id.as_str());
            let help = match nearest(required.value.as_str(), ids) {
                Some(id) => format!("did you mean \"{id}\"?"),
                None => "`mlsys list` shows them all".to_owned(),
            };
            let error = lesson.source.error(Code::UnknownLesson, required.place, message);
            problems.push(error.help(help));
        }
    }
    problems
}

fn cycles(lessons: &[&Lesson]) -> Vec<Diagnostic> {
    let mut left: Vec<&Lesson> = lessons.to_vec();
    let mut problems = Vec::new();
    while let Some(&start) = left.first() {
        // Follow requirements among what is left until a lesson has none there, or comes again.
        let mut path = vec![start];
        while let Some(&at) = path.last() {
            let next = at.front.requires.iter().find_map(|required| {
                let lesson = left.iter().find(|other| other.front.id == required.value)?;
                Some((*lesson, required.place))
            });
            let Some((next, place)) = next else {
                left.retain(|lesson| lesson.front.id != at.front.id);
                break;
            };
            if let Some(first) = path.iter().position(|seen| seen.front.id == next.front.id) {
                let cycle = &path[first..];
                let names: Vec<_> =
                    cycle.iter().chain([&next]).map(|l| l.front.id.as_str()).collect();
                let message = format!("lessons require each other: {}", names.join(" -> "));
                let error = at.source.error(Code::Cycle, place, message);
                problems.push(error.help("remove one of these requirements"));
                left.retain(|lesson| !cycle.iter().any(|other| other.front.id == lesson.front.id));
                break;
            }
            path.push(next);
        }
    }
    problems
}

/// Lessons that stand before one they require.
pub(super) fn disorder(lessons: &[&Lesson]) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    for (index, lesson) in lessons.iter().enumerate() {
        let later = &lessons[index + 1..];
        for required in &lesson.front.requires {
            if later.iter().any(|other| other.front.id == required.value) {
                let message = format!(
                    "the course lists `{}` before `{}`, which it requires",
                    lesson.front.id, required.value
                );
                let warning = lesson.source.warning(Code::LessonOrder, required.place, message);
                problems.push(warning.help("list them the other way round in course.toml"));
            }
        }
    }
    problems
}
