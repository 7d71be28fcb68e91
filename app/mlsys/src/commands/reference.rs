//! Listings: `mlsys list` (lessons), `glossary`, `keys` and `theme`.

use std::path::PathBuf;

use mlsys_lab::value::plural;
use mlsys_lesson::{Course, Lesson, Module, Progress, State};
use mlsys_run::console::Console;
use mlsys_run::glossary::{Glossary, Term};
use mlsys_run::process::{Exit, Failure};
use mlsys_run::time::utc;
use mlsys_tui::command::table;
use mlsys_view::text::wrapped;
use mlsys_view::theme::color;
use mlsys_view::theme::file::{self, NoTheme};
use serde_json::{Value as Json, json};

use crate::cli::{self, AskGlossary, Keys, Listing};
use crate::context::Context;
use crate::table::Width;

pub fn list(listing: Listing, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let course = context.library()?.course_in(&context.languages, context.console)?;
    // Without a log that can be read, the course is listed all the same.
    let progress = context.progress(&course.id).ok();
    if listing.json {
        let lessons: Vec<Json> = course
            .modules()
            .iter()
            .flat_map(|module| {
                let lessons = course.lessons_of(module).iter();
                lessons.map(|lesson| object(lesson, (module, &course), progress.as_ref()))
            })
            .collect();
        context.console.line(json!({
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
    context.console.lines(lines(&course, progress.as_ref(), Width::of_output()))?;
    Ok(Exit::Passed)
}

/// The course as lines: a heading a module, a row a lesson.
pub fn lines(course: &Course, progress: Option<&Progress>, width: Width) -> Vec<String> {
    let rows = course.lessons().iter().map(|lesson| row(lesson, course));
    let rows = width.rows(&rows.collect::<Vec<_>>(), "  ");
    let total = facts(course.lessons(), progress);
    let mut lines = width.sentence(&format!("{}: {} ({total})", course.title, course.about));
    for module in course.modules() {
        let lessons = course.lessons_of(module);
        if lessons.is_empty() {
            continue;
        }
        let about =
            if module.about.is_empty() { String::new() } else { format!(": {}", module.about) };
        lines.push(String::new());
        let facts = facts(lessons, progress);
        lines.extend(width.sentence(&format!("{}{about} ({facts})", module.title)));
        lines.extend(rows.iter().skip(module.lessons.start).take(lessons.len()).flatten().cloned());
    }
    lines
}

/// How many lessons, how long they take, and how many of them are done.
fn facts(lessons: &[Lesson], progress: Option<&Progress>) -> String {
    let count = plural(lessons.len(), "lesson");
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

/// When answers to a lesson are due, in UTC.
fn due(lesson: &Lesson, course: &Course) -> Option<String> {
    course.grading.of(&lesson.front.id).due.map(utc)
}

fn row(lesson: &Lesson, course: &Course) -> Vec<String> {
    let front = &lesson.front;
    let requires: Vec<&str> =
        front.requires.iter().map(|required| required.value.as_str()).collect();
    let after =
        if requires.is_empty() { String::new() } else { format!("after {}", requires.join(", ")) };
    let due = due(lesson, course).map(|due| format!("due {due}"));
    let cells =
        [front.id.to_string(), front.title.clone(), format!("{} min", front.minutes), after];
    cells.into_iter().chain(due).collect()
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

fn object(
    lesson: &Lesson,
    (module, course): (&Module, &Course),
    progress: Option<&Progress>,
) -> Json {
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
        "due": due(lesson, course),
        "completed": progress.map(|progress| progress.summary(lesson).state == State::Completed),
    })
}

/// Columns of a definition, easy to read and whole on a narrow screen.
const WIDTH: usize = 76;

pub fn glossary(asked: &AskGlossary, console: &mut Console) -> Result<Exit, Failure> {
    let glossary = Glossary::builtin();
    let shown = match &asked.term {
        None => (0..glossary.terms().len()).collect(),
        Some(name) => chosen(glossary, name)?,
    };
    let terms = shown.iter().filter_map(|&index| glossary.terms().get(index));
    if asked.listing.json {
        let terms: Vec<Json> = terms.map(term_object).collect();
        console.line(json!({ "terms": terms }))?;
        return Ok(Exit::Passed);
    }
    for (index, term) in terms.enumerate() {
        if index > 0 {
            console.line("")?;
        }
        console.lines(term_lines(term, Width::of_output()))?;
    }
    Ok(Exit::Passed)
}

/// The term of that name, else all terms with the text in their names.
fn chosen(glossary: &Glossary, name: &str) -> Result<Vec<usize>, Failure> {
    if let Some(index) = glossary.named(name) {
        return Ok(vec![index]);
    }
    let found = glossary.searched(name);
    if !found.is_empty() && !name.trim().is_empty() {
        return Ok(found);
    }
    let shown = name.escape_debug();
    Err(Failure::Usage(match glossary.nearest(name) {
        Some(near) => format!("the glossary has no term '{shown}'; did you mean '{near}'?"),
        None => format!("the glossary has no term '{shown}'; `mlsys glossary` prints them all"),
    }))
}

fn term_lines(term: &Term, width: Width) -> Vec<String> {
    let prose = width.prose(WIDTH + 2).saturating_sub(2);
    let mut head = term.name.clone();
    if !term.aliases.is_empty() {
        head.push_str(&format!("  (also: {})", term.aliases.join(", ")));
    }
    let mut lines = width.sentence(&head);
    lines.extend(wrapped(&term.about, prose, "  "));
    let mut more = format!("lesson {}", term.lesson);
    if !term.see.is_empty() {
        more.push_str(&format!("; see {}", term.see.join(", ")));
    }
    if let Some(source) = &term.source {
        more.push_str(&format!("; {source}"));
    }
    lines.extend(wrapped(&more, prose, "  "));
    lines
}

fn term_object(term: &Term) -> Json {
    json!({
        "name": term.name,
        "aliases": term.aliases,
        "about": term.about,
        "lesson": term.lesson,
        "see": term.see,
        "source": term.source,
    })
}

pub fn keys(options: Keys, console: &mut Console) -> Result<Exit, Failure> {
    if options.markdown {
        console.raw(&table::markdown())?;
        return Ok(Exit::Passed);
    }
    for (index, section) in table::sections().iter().enumerate() {
        if index > 0 {
            console.line("")?;
        }
        console.line(&section.title)?;
        let rows = section.rows.iter();
        let rows: Vec<Vec<String>> = rows
            .map(|row| vec![row.keys_text(), row.label.to_owned(), row.help.to_owned()])
            .collect();
        console.lines(Width::of_output().table(&rows, "  "))?;
    }
    Ok(Exit::Passed)
}

pub fn theme(asked: &cli::Theme, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let folder = context.paths.as_ref().ok().map(|paths| paths.themes());
    match asked {
        cli::Theme::List => {
            for name in file::names(folder.as_deref()) {
                context.console.line(name)?;
            }
            if let Some(folder) = folder {
                context.console.note(format_args!(
                    "your own themes are the .toml files in {}",
                    folder.display()
                ));
            }
            Ok(Exit::Passed)
        }
        cli::Theme::Show { name } => {
            let palette = file::find(name, folder.as_deref())
                .map_err(|error| Failure::usage(error.to_string()))?;
            context.console.raw(&file::to_toml(&palette))?;
            Ok(Exit::Passed)
        }
        cli::Theme::Check { files } => check(files, context),
    }
}

fn check(files: &[PathBuf], context: &mut Context<'_>) -> Result<Exit, Failure> {
    let mut exit = Exit::Passed;
    for path in files {
        match file::read_file(path) {
            Ok(palette) => {
                let faint = color::low_contrast(&palette);
                for faint in &faint {
                    let file = path.display();
                    context.console.note(format_args!("warning: {file}: {faint}"));
                }
                let verdict = match faint.len() {
                    0 => "can be used".to_owned(),
                    1 => "can be used; one role is hard to see".to_owned(),
                    count => format!("can be used; {count} roles are hard to see"),
                };
                context.console.line(format_args!("{}: {verdict}", path.display()))?;
            }
            Err(NoTheme::Wrong(wrong)) => {
                for diagnostic in &wrong {
                    context.console.note(format_args!("{diagnostic}\n"));
                }
                exit = exit.and(Exit::Usage);
            }
            Err(error @ (NoTheme::Unknown { .. } | NoTheme::Unreadable { .. })) => {
                exit = context.failed(exit.and(Exit::Usage), &error.to_string());
            }
        }
    }
    Ok(exit)
}
