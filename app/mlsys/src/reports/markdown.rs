//! A report for people, as code-hosting pages draw it.

use std::fmt::Write;

use mlsys_run::results::{Item, Kind, LessonResult, Results};

/// The results as Markdown.
pub fn report(results: &Results) -> String {
    let mut text = String::from(
        "# mlsys run\n\n| lesson | passed | failed | errors | skipped | points | seconds |\n",
    );
    text.push_str("| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n");
    for lesson in &results.lessons {
        let count = lesson.count();
        let (earned, points) = lesson.points();
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {earned}/{points} | {:.1} |",
            plain(&lesson.id),
            count.passed,
            count.failed,
            count.broken,
            count.skipped,
            lesson.elapsed().as_secs_f64(),
        );
    }
    for lesson in &results.lessons {
        section(lesson, &mut text);
    }
    text
}

fn section(lesson: &LessonResult, text: &mut String) {
    let _ = writeln!(
        text,
        "\n## {}\n\n{}, seed {}\n",
        plain(&lesson.title),
        plain(&lesson.id),
        lesson.seed
    );
    text.push_str("| what | about | result | remark |\n| --- | --- | --- | --- |\n");
    for item in &lesson.items {
        let _ = writeln!(
            text,
            "| {} {} | {} | {} | {} |",
            item.kind.word(),
            plain(&item.id),
            plain(&item.about),
            item.verdict.word(),
            plain(&remark(item)),
        );
    }
    for comparison in &lesson.comparisons {
        let _ = writeln!(text, "\n{}\n", plain(&comparison.panel));
        for line in &comparison.lines {
            let line: String = line.chars().filter(|c| !c.is_control()).collect();
            let _ = writeln!(text, "    {line}");
        }
    }
}

fn remark(item: &Item) -> String {
    let own = match &item.kind {
        Kind::Lab { device, .. } => {
            let place = device.as_ref().map_or_else(String::new, |device| format!(" on {device}"));
            format!("{:.1} s{place}", item.elapsed.as_secs_f64())
        }
        Kind::Predict { theory, target } => {
            let said = |name: &str, value: &Option<mlsys_lab::Value>| {
                value.as_ref().map(|value| format!("{name} {value}"))
            };
            let parts: Vec<String> =
                [said("theory", theory), said("measured", target)].into_iter().flatten().collect();
            parts.join(", ")
        }
        Kind::Check { class } => class.to_string(),
        Kind::Question { points, earned } => format!("{earned} of {points} points"),
    };
    match item.verdict.reason() {
        None => own,
        Some(reason) => format!("{own}: {reason}"),
    }
}

/// Text that others wrote, so that it stays in its cell and is neither markup nor HTML.
fn plain(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '#' | '|' | '!' | '~' => {
                safe.push('\\');
                safe.push(c);
            }
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '&' => safe.push_str("&amp;"),
            c if c.is_control() => safe.push(' '),
            c => safe.push(c),
        }
    }
    safe
}
