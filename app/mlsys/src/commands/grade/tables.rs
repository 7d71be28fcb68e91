//! A gradebook as a table for spreadsheets, as a page, and in a few lines.

use std::fmt::Write;

use mlsys_lab::value::number;
use mlsys_lesson::{Answer, GradeOutcome, QuestionGrade};
use mlsys_run::console::harmless;
use mlsys_view::xml::escaped;

use super::{Gradebook, Graded, Refused};
use crate::commands::report::document;
use crate::commands::runs::export::cell;

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
                    &remark(grade),
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

pub fn remark(grade: &QuestionGrade) -> String {
    let failed = grade.failed.iter().filter(|test| {
        // The remark is the first of them, unless the lesson has words of its own.
        grade.remark.as_ref().is_none_or(|remark| !remark.contains(test.as_str()))
    });
    grade.remark.iter().chain(failed).cloned().collect::<Vec<_>>().join("; ")
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
    body.push_str("<table>\n<tr><th>Learner</th><th>Points</th>");
    for lesson in lessons {
        let _ = write!(body, "<th>{} ({})</th>", escaped(lesson.lesson.as_str()), lesson.of());
    }
    body.push_str("</tr>\n");
    for (index, Graded { points, of, submission, .. }) in book.learners.iter().enumerate() {
        let learner = escaped(submission.learner.as_str());
        let _ = write!(
            body,
            "<tr><td><a href=\"#l{index}\">{learner}</a></td><td>{} of {of}</td>",
            number(*points)
        );
        for lesson in &submission.lessons {
            let _ = write!(body, "<td>{}</td>", number(lesson.points()));
        }
        body.push_str("</tr>\n");
    }
    body.push_str("</table>\n");
    for (title, files) in [("Not graded", &book.refused), ("Replaced", &book.replaced)] {
        if files.is_empty() {
            continue;
        }
        let _ = writeln!(body, "<h2>{title}</h2>\n<table>");
        for Refused { file, reason } in files {
            let _ =
                writeln!(body, "<tr><td>{}</td><td>{}</td></tr>", escaped(file), escaped(reason));
        }
        body.push_str("</table>\n");
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
    for lesson in &submission.lessons {
        let id = escaped(lesson.lesson.as_str());
        let _ = writeln!(body, "<h3>{id}</h3>\n<table>\n{HEAD}");
        for grade in &lesson.questions {
            question(grade, body);
        }
        body.push_str("</table>\n");
    }
}

const HEAD: &str = "<tr><th>Question</th><th>Result</th><th>Points</th><th>Attempts</th><th>Hints</th>\
                    <th>Days late</th><th>Answer</th><th></th></tr>";

fn question(grade: &QuestionGrade, body: &mut String) {
    let class = match grade.outcome {
        GradeOutcome::Right => "good",
        GradeOutcome::Partial | GradeOutcome::NoAnswer | GradeOutcome::NotGraded => "dim",
        GradeOutcome::Wrong => "bad",
    };
    let _ = write!(
        body,
        "<tr><td>{}</td><td class=\"{class}\">{}</td><td>{} of {}</td><td>{}</td><td>{}</td><td>{}</td>",
        escaped(&grade.question),
        grade.outcome.words(),
        number(grade.points),
        grade.of,
        grade.attempts,
        grade.hints,
        grade.days_late
    );
    let answer = grade.answer.as_ref().map(|answer| match short(answer) {
        short if short == answer.to_string() => escaped(&short),
        short => format!(
            "<details><summary>{short}</summary><pre>{}</pre></details>",
            escaped(&answer.to_string())
        ),
    });
    let _ = writeln!(
        body,
        "<td>{}</td><td>{}</td></tr>",
        answer.unwrap_or_default(),
        escaped(&remark(grade))
    );
}
