//! A gradebook as a table for spreadsheets, as a page, and in a few lines.

use std::fmt::Write;

use mlsys_lab::value::{number, plural};
use mlsys_lesson::{Answer, GradeOutcome, QuestionGrade};
use mlsys_run::console::harmless;
use mlsys_run::submission::LessonGrades;
use mlsys_view::csv::cell;
use mlsys_view::xml::escaped;

use super::{Gradebook, Graded, Refused};
use crate::page::{Cell, Layout, Tone, document, table};

const COLUMNS: &str =
    "learner,lesson,question,result,points,of,attempts,hints,days_late,answer,remark,file";

/// A row for each question of each learner, and one for each file without grades.
pub fn csv(book: &Gradebook) -> String {
    let mut csv = format!("{COLUMNS}\n");
    let mut row = |cells: [&str; 12]| {
        csv.push_str(&cells.map(cell).join(","));
        csv.push('\n');
    };
    for Graded { file, submission, .. } in &book.learners {
        for lesson in &submission.lessons {
            for grade in &lesson.questions {
                row([
                    submission.learner.as_str(),
                    lesson.lesson.as_str(),
                    &grade.question,
                    grade.outcome.words(),
                    &number(grade.points),
                    &grade.of.to_string(),
                    &grade.attempts.to_string(),
                    &grade.hints.to_string(),
                    &grade.days_late.to_string(),
                    &grade.answer.as_ref().map_or_else(String::new, short),
                    grade.remark.as_deref().unwrap_or_default(),
                    file,
                ]);
            }
        }
    }
    let refused = book.refused.iter().map(|file| (GradeOutcome::NotGraded.words(), file));
    let replaced = book.replaced.iter().map(|file| ("replaced", file));
    for (words, Refused { file, reason }) in refused.chain(replaced) {
        row(["", "", "", words, "", "", "", "", "", "", reason, file]);
    }
    if book.interrupted {
        row(["", "", "", "", "", "", "", "", "", "", INTERRUPTED, ""]);
    }
    csv
}

const INTERRUPTED: &str = "grading was interrupted: files are missing";

/// A text of several lines, such as a kernel, is not for a cell; JSON and the page have it whole.
fn short(answer: &Answer) -> String {
    let text = answer.to_string();
    match text.lines().count() {
        0 | 1 => text,
        lines => format!("({lines} lines)"),
    }
}

pub fn summary(book: &Gradebook) -> Vec<String> {
    let line = |graded: &Graded| {
        let learner = harmless(graded.submission.learner.as_str());
        format!("{learner}: {} of {} points", number(graded.points), graded.of)
    };
    let mut lines: Vec<String> = book.learners.iter().map(line).collect();
    let (graded, refused) = (book.learners.len(), book.refused.len());
    let replaced = match book.replaced.len() {
        0 => String::new(),
        replaced => format!(", {replaced} replaced by later ones"),
    };
    lines.push(format!("{graded} graded, {refused} not graded{replaced}"));
    lines
}

pub fn html(book: &Gradebook) -> String {
    let mut body = String::new();
    if book.interrupted {
        let _ = writeln!(body, "<p class=\"bad\">{INTERRUPTED}</p>");
    }
    let lessons = book.learners.first().map_or(&[][..], |graded| &graded.submission.lessons);
    let lessons = lessons.iter().map(|lesson| format!("{} ({})", lesson.lesson, lesson.of()));
    let head: Vec<String> =
        ["Learner", "Points"].map(str::to_owned).into_iter().chain(lessons).collect();
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    let row = |(index, graded): (usize, &Graded)| {
        let Graded { points, of, submission, .. } = graded;
        let own = submission.lessons.iter().map(|lesson| match is_answered(lesson) {
            true => Cell::text(&number(lesson.points())),
            false => Cell::text(""),
        });
        let learner = Cell::link(&format!("l{index}"), submission.learner.as_str());
        let points = Cell::text(&format!("{} of {of}", number(*points)));
        [learner, points].into_iter().chain(own).collect()
    };
    let rows: Vec<Vec<Cell>> = book.learners.iter().enumerate().map(row).collect();
    table(&head, &rows, Layout::Scroll, &mut body);
    for (title, files) in [("Not graded", &book.refused), ("Replaced", &book.replaced)] {
        if files.is_empty() {
            continue;
        }
        let _ = writeln!(body, "<h2>{title}</h2>");
        let rows = files.iter().map(|file| [&file.file, &file.reason].map(|text| Cell::text(text)));
        let rows: Vec<Vec<Cell>> = rows.map(Vec::from).collect();
        table(&["File", "Why"], &rows, Layout::Facts, &mut body);
    }
    for (index, graded) in book.learners.iter().enumerate() {
        learner(index, graded, &mut body);
    }
    document(&book.title, &body)
}

fn learner(index: usize, Graded { file, points, of, submission }: &Graded, body: &mut String) {
    let _ = writeln!(
        body,
        "<h2 id=\"l{index}\">{}</h2>\n<p>{} of {of} points <span class=\"dim\">{}</span></p>",
        escaped(submission.learner.as_str()),
        number(*points),
        escaped(file)
    );
    for lesson in submission.lessons.iter().filter(|lesson| is_answered(lesson)) {
        let id = escaped(lesson.lesson.as_str());
        let points = number(lesson.points());
        let _ =
            writeln!(body, "<h3>{id} <span class=\"dim\">{points} of {}</span></h3>", lesson.of());
        let rows: Vec<Vec<Cell>> = lesson.questions.iter().map(question).collect();
        table(&["Question", "Result", "Answer", "Remark"], &rows, Layout::Facts, body);
    }
}

/// Whether a lesson has anything to say but that its questions have no answers.
fn is_answered(lesson: &LessonGrades) -> bool {
    lesson.questions.iter().any(|grade| grade.outcome != GradeOutcome::NoAnswer)
}

fn question(grade: &QuestionGrade) -> Vec<Cell> {
    let tone = match grade.outcome {
        GradeOutcome::Right => Tone::Good,
        GradeOutcome::Partial | GradeOutcome::NoAnswer | GradeOutcome::NotGraded => Tone::Dim,
        GradeOutcome::Wrong => Tone::Bad,
    };
    let result = format!("{}, {} of {}", grade.outcome.words(), number(grade.points), grade.of);
    let counts = [
        (grade.attempts, "answer", ""),
        (grade.hints, "hint", ""),
        (grade.days_late as usize, "day", " late"),
    ];
    let counts = counts.into_iter().filter(|(count, ..)| *count > 0);
    let counts = counts.map(|(count, noun, after)| plural(count, noun) + after);
    let answer = grade.answer.as_ref().map_or_else(String::new, Answer::to_string);
    vec![
        Cell::text(&grade.question).over(&Cell::markdown(&grade.prompt)),
        Cell::toned(tone, &result).over(&Cell::text(&counts.collect::<Vec<_>>().join(", "))),
        Cell::answer(&answer),
        Cell::text(grade.remark.as_deref().unwrap_or_default()),
    ]
}
