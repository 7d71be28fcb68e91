//! `mlsys list`: the course.

use mlsys_lesson::{Course, Lesson, Module, Progress, State};
use serde_json::{Value as Json, json};

use super::World;
use crate::cli::Listing;
use mlsys_run::exit::{Exit, Failure};
use mlsys_view::table::aligned;

/// Prints the modules with their lessons.
pub fn run(listing: Listing, world: &mut World<'_>) -> Result<Exit, Failure> {
    let course = world.library()?.course_in(&world.languages, world.console)?;
    // Without a log that can be read, the course is listed all the same.
    let progress = world.progress(&course.id).ok();
    if listing.json {
        let lessons: Vec<Json> = course
            .modules()
            .iter()
            .flat_map(|module| {
                let lessons = course.lessons_of(module).iter();
                lessons.map(|lesson| object(lesson, module, progress.as_ref()))
            })
            .collect();
        world.console.line(json!({
            "course": {
                "id": course.id.as_str(),
                "title": course.title,
                "about": course.about,
                "license": course.license,
                "authors": course.authors,
                "minutes": minutes(course.lessons()),
            },
            "modules": course.modules().iter().map(|module| about(module, &course, progress.as_ref())).collect::<Vec<_>>(),
            "lessons": lessons,
        }))?;
        return Ok(Exit::Passed);
    }
    for line in lines(&course, progress.as_ref()) {
        world.console.line(line)?;
    }
    Ok(Exit::Passed)
}

/// The course as lines: a heading a module, a line a lesson.
pub fn lines(course: &Course, progress: Option<&Progress>) -> Vec<String> {
    let rows = aligned(&course.lessons().iter().map(row).collect::<Vec<_>>());
    let total = facts(course.lessons(), progress);
    let mut lines = vec![format!("{}: {} ({total})", course.title, course.about)];
    for module in course.modules() {
        let lessons = course.lessons_of(module);
        if lessons.is_empty() {
            continue;
        }
        let about =
            if module.about.is_empty() { String::new() } else { format!(": {}", module.about) };
        lines.push(String::new());
        let facts = facts(lessons, progress);
        lines.push(format!("{}{about} ({facts})", module.title));
        let rows = rows.get(module.lessons.clone()).unwrap_or_default();
        lines.extend(rows.iter().map(|row| format!("  {row}")));
    }
    lines
}

/// How many lessons, how long they take, and how many of them are done.
fn facts(lessons: &[Lesson], progress: Option<&Progress>) -> String {
    let count = match lessons.len() {
        1 => "1 lesson".to_owned(),
        count => format!("{count} lessons"),
    };
    let done = match progress.map_or(0, |progress| done(lessons, progress)) {
        0 => String::new(),
        done => format!(", {done} done"),
    };
    format!("{count}, {} min{done}", minutes(lessons))
}

fn minutes(lessons: &[Lesson]) -> u32 {
    lessons.iter().map(|lesson| lesson.front.minutes).sum()
}

fn done(lessons: &[Lesson], progress: &Progress) -> usize {
    let is_done = |lesson: &&Lesson| progress.summary(lesson).state == State::Completed;
    lessons.iter().filter(is_done).count()
}

fn row(lesson: &Lesson) -> Vec<String> {
    let front = &lesson.front;
    let requires: Vec<&str> =
        front.requires.iter().map(|required| required.value.as_str()).collect();
    let after =
        if requires.is_empty() { String::new() } else { format!("after {}", requires.join(", ")) };
    vec![front.id.to_string(), front.title.clone(), format!("{} min", front.minutes), after]
}

fn about(module: &Module, course: &Course, progress: Option<&Progress>) -> Json {
    let lessons = course.lessons_of(module);
    json!({
        "id": module.id,
        "title": module.title,
        "about": module.about,
        "lessons": lessons.iter().map(|lesson| lesson.front.id.as_str()).collect::<Vec<_>>(),
        "minutes": minutes(lessons),
        "completed": progress.map(|progress| done(lessons, progress)),
    })
}

fn object(lesson: &Lesson, module: &Module, progress: Option<&Progress>) -> Json {
    let front = &lesson.front;
    json!({
        "id": front.id.as_str(),
        "title": front.title,
        "module": module.id,
        "minutes": front.minutes,
        "requires": front.requires.iter().map(|required| required.value.as_str()).collect::<Vec<_>>(),
        "teaches": front.teaches,
        "labs": lesson.labs().map(|lab| lab.kind.value.as_str()).collect::<Vec<_>>(),
        "questions": lesson.questions().count(),
        "points": lesson.points(),
        "completed": progress.map(|progress| progress.summary(lesson).state == State::Completed),
    })
}
