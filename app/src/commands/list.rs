//! `mlsys list`: the course.

use mlsys_lesson::{Course, Lesson, MODULES};
use serde_json::{Value as Json, json};

use crate::cli::Listing;
use crate::console::Console;
use crate::exit::{Exit, Failure};
use crate::library;
use crate::table::aligned;

/// Prints the modules with their lessons.
pub fn run(listing: Listing, console: &mut Console) -> Result<Exit, Failure> {
    let course = library::course(console);
    if listing.json {
        let lessons: Vec<Json> = course.lessons().iter().map(object).collect();
        console.line(json!({ "lessons": lessons }))?;
        return Ok(Exit::Passed);
    }
    for line in lines(&course) {
        console.line(line)?;
    }
    Ok(Exit::Passed)
}

/// The course as lines: a heading a module, a line a lesson.
pub fn lines(course: &Course) -> Vec<String> {
    let rows = aligned(&course.lessons().iter().map(row).collect::<Vec<_>>());
    let mut lines = Vec::new();
    let mut heading = None;
    for (lesson, line) in course.lessons().iter().zip(rows) {
        let module = lesson.front.id.module();
        if heading != Some(module) {
            if heading.is_some() {
                lines.push(String::new());
            }
            let known = MODULES.iter().find(|known| known.name == module);
            lines.push(known.map_or_else(
                || module.to_owned(),
                |known| format!("{}: {}", known.title, known.about),
            ));
            heading = Some(module);
        }
        lines.push(format!("  {line}"));
    }
    lines
}

fn row(lesson: &Lesson) -> Vec<String> {
    let front = &lesson.front;
    let requires: Vec<&str> = front
        .requires
        .iter()
        .map(|required| required.value.as_str())
        .collect();
    let after = if requires.is_empty() {
        String::new()
    } else {
        format!("after {}", requires.join(", "))
    };
    vec![
        front.id.to_string(),
        front.title.clone(),
        format!("{} min", front.minutes),
        after,
    ]
}

fn object(lesson: &Lesson) -> Json {
    let front = &lesson.front;
    json!({
        "id": front.id.as_str(),
        "title": front.title,
        "module": front.id.module(),
        "minutes": front.minutes,
        "requires": front.requires.iter().map(|required| required.value.as_str()).collect::<Vec<_>>(),
        "teaches": front.teaches,
        "labs": lesson.labs().map(|lab| lab.kind.value.as_str()).collect::<Vec<_>>(),
        "questions": lesson.questions().count(),
        "points": lesson.points(),
    })
}
