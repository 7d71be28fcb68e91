//! Reports of a headless run: pure functions from its results to a text.

mod machine;
mod target;

use std::collections::BTreeMap;
use std::fmt::Write;

use mlsys_lab::schema::Label;
use mlsys_lab::value::number;
use mlsys_run::console::{Console, harmless};
use mlsys_run::files;
use mlsys_run::process::Failure;
use mlsys_run::results::{Count, Item, Kind, LessonResult, Results, Verdict};
use mlsys_view::text::cell;

pub use target::{Format, Target};

pub fn write(targets: &[Target], results: &Results, console: &mut Console) -> Result<(), Failure> {
    for target in targets {
        let text = text(target.format, results);
        match &target.file {
            None => console.raw(&text)?,
            Some(file) => files::write_output(file, text.as_bytes())?,
        }
    }
    Ok(())
}

fn text(format: Format, results: &Results) -> String {
    match format {
        Format::Junit => machine::junit(results),
        Format::Json => machine::json_text(results),
        Format::Gradescope => machine::gradescope(results),
        Format::Markdown => markdown(results),
        Format::Github => machine::annotations(results),
    }
}

/// Longer remarks are cut: the reports hold them whole.
const LONGEST: usize = 200;

pub fn summary_lines(results: &Results) -> Vec<String> {
    let mut lines: Vec<String> = results.lessons.iter().flat_map(lesson_lines).collect();
    if results.lessons.len() > 1 {
        lines.push(total_line(results));
    }
    lines.extend(results.ending.sentence());
    lines
}

fn total_line(results: &Results) -> String {
    let (mut total, mut earned, mut points) = (Count::default(), 0.0, 0);
    for lesson in &results.lessons {
        let count = lesson.count();
        total.passed += count.passed;
        total.failed += count.failed;
        total.broken += count.broken;
        total.skipped += count.skipped;
        let (own, of) = lesson.points();
        (earned, points) = (earned + own, points + of);
    }
    format!("{} lessons: {}", results.lessons.len(), counted(&total, (earned, points)).join(", "))
}

/// How many items came out in which way, and the points.
fn counted(count: &Count, (earned, points): (f64, u32)) -> Vec<String> {
    let counts = [
        (count.passed, "passed"),
        (count.failed, "failed"),
        (count.broken, "with errors"),
        (count.skipped, "skipped or unstable"),
    ];
    let mut parts: Vec<String> =
        counts.iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!("{n} {word}")).collect();
    if points > 0 {
        parts.push(format!("{} of {points} points", number(earned)));
    }
    parts
}

fn lesson_lines(lesson: &LessonResult) -> Vec<String> {
    let mut parts = counted(&lesson.count(), lesson.points());
    parts.push(format!("{:.1} s", lesson.elapsed().as_secs_f64()));
    let mut lines = vec![format!("{}: {}", lesson.id, parts.join(", "))];
    let mut told = BTreeMap::new();
    lines.extend(lesson.items.iter().flat_map(|item| remark(lesson, item, &mut told)));
    for comparison in &lesson.comparisons {
        lines.push(format!("  {}", harmless(&comparison.panel)));
        let compared = comparison.lines.iter();
        lines.extend(compared.map(|line| format!("    {}", harmless(line))));
    }
    lines
}

/// What came of an item that did not pass; where it failed, what that means and where it stands. A long reason
/// that was `told` of an earlier item is not told again.
fn remark<'a>(
    lesson: &LessonResult,
    item: &'a Item,
    told: &mut BTreeMap<String, &'a Item>,
) -> Vec<String> {
    const SHORT: usize = 60;
    let reason = match &item.verdict {
        Verdict::Passed => return Vec::new(),
        Verdict::Failed(reason) => format!("{} ({reason})", item.about),
        Verdict::Unstable(reason) | Verdict::Skipped(reason) | Verdict::Broken(reason, _) => {
            reason.clone()
        }
    };
    let first = *told.entry(reason.clone()).or_insert(item);
    let reason = if first.id == item.id || reason.len() <= SHORT {
        harmless(&cell(&reason, LONGEST))
    } else {
        format!("as {} {}", first.kind.word(), first.id)
    };
    let told = format!("  {} {} {}: {reason}", item.kind.word(), item.id, item.verdict.word());
    let more = lesson.failure(item).into_iter().map(|line| format!("    {}", harmless(&line)));
    [told].into_iter().chain(more).collect()
}

pub fn markdown(results: &Results) -> String {
    let mut text = String::from("# mlsys run\n\n");
    if let Some(sentence) = results.ending.sentence() {
        let _ = writeln!(text, "**{}**\n", plain(&sentence));
    }
    text.push_str("| lesson | passed | failed | errors | skipped | points | seconds |\n");
    text.push_str("| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n");
    for lesson in &results.lessons {
        let count = lesson.count();
        let (earned, points) = lesson.points();
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {}/{points} | {:.1} |",
            plain(&lesson.id),
            count.passed,
            count.failed,
            count.broken,
            count.skipped,
            number(earned),
            lesson.elapsed().as_secs_f64(),
        );
    }
    for lesson in &results.lessons {
        markdown_section(lesson, &mut text);
    }
    text
}

fn markdown_section(lesson: &LessonResult, text: &mut String) {
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
            plain(&markdown_remark(lesson, item)),
        );
    }
    for comparison in &lesson.comparisons {
        let _ = writeln!(text, "\n{}\n", plain(&comparison.panel));
        for line in &comparison.lines {
            let line: String = line.chars().filter(|c| !mlsys_expr::steers_terminal(*c)).collect();
            let _ = writeln!(text, "    {line}");
        }
    }
}

fn markdown_remark(lesson: &LessonResult, item: &Item) -> String {
    let own = match &item.kind {
        Kind::Lab { device, .. } => {
            let place = device.as_ref().map_or_else(String::new, |device| format!(" on {device}"));
            format!("{:.1} s{place}", item.elapsed.as_secs_f64())
        }
        Kind::Predict { theory, target, .. } => {
            let of_target = target.as_ref().map(|(label, _)| *label);
            let theory = theory.iter().map(|(label, value)| match Some(*label) == of_target {
                true if *label == Label::Measured => format!("baseline {value}"),
                true => format!("theory {value}"),
                false => format!("{label} {value}"),
            });
            let target = target.iter().map(|(label, value)| format!("{label} {value}"));
            theory.chain(target).collect::<Vec<_>>().join(", ")
        }
        Kind::Check { class } => class.to_string(),
        Kind::Question { points, earned, answer } => {
            let answer = answer
                .as_ref()
                .map_or_else(String::new, |answer| format!("answered {}; ", cell(answer, LONGEST)));
            format!("{answer}{} of {points} points", number(*earned))
        }
    };
    match item.verdict.reason() {
        None => own,
        Some(reason) => {
            let more = lesson.failure(item).into_iter().map(|line| format!("; {line}"));
            format!("{own}: {reason}{}", more.collect::<String>())
        }
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
            c if mlsys_expr::steers_terminal(c) => safe.push(' '),
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests;
