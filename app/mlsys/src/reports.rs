//! Reports of a headless run: pure functions from its results to a text.

mod machine;
#[cfg(test)]
mod tests;

use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use mlsys_lab::nearest::nearest;
use mlsys_run::console::{Console, harmless};
use mlsys_run::process::Failure;
use mlsys_run::results::{Item, Kind, LessonResult, Results, Verdict};
use mlsys_view::text::cell;

/// A requested report, and where it goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    pub format: Format,
    /// None is standard output.
    pub file: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Junit,
    Json,
    Gradescope,
    Markdown,
}

impl Format {
    pub const ALL: [Self; 4] = [Self::Junit, Self::Json, Self::Gradescope, Self::Markdown];

    pub fn name(self) -> &'static str {
        match self {
            Self::Junit => "junit",
            Self::Json => "json",
            Self::Gradescope => "gradescope",
            Self::Markdown => "markdown",
        }
    }
}

/// Why `FORMAT=FILE` cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    #[error("write FORMAT=FILE, with one of {}", Format::ALL.map(Format::name).join(", "))]
    Shape,
    #[error("there is no report '{name}'; did you mean '{near}'?")]
    Misspelt { name: String, near: &'static str },
    #[error("there is no report '{name}'; there are {}", Format::ALL.map(Format::name).join(", "))]
    Unknown { name: String },
}

impl Target {
    /// Reads `format=file`.
    pub fn parse(text: &str) -> Result<Self, TargetError> {
        let Some((name, file)) = text.split_once('=').filter(|(_, file)| !file.is_empty()) else {
            return Err(TargetError::Shape);
        };
        let format = Format::ALL.into_iter().find(|format| format.name() == name);
        let format = format.ok_or_else(|| {
            let (name, names) = (name.to_owned(), Format::ALL.map(Format::name));
            match nearest(&name, names) {
                Some(near) => TargetError::Misspelt { name, near },
                None => TargetError::Unknown { name },
            }
        })?;
        Ok(Self { format, file: (file != "-").then(|| PathBuf::from(file)) })
    }
}

pub fn write(targets: &[Target], results: &Results, console: &mut Console) -> Result<(), Failure> {
    for target in targets {
        let text = text(target.format, results);
        match &target.file {
            None => console.raw(&text)?,
            Some(file) => fs::write(file, text).map_err(|error| {
                Failure::Usage(format!("report '{}' cannot be written: {error}", file.display()))
            })?,
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
    }
}

/// Longer remarks are cut: the reports hold them whole.
const LONGEST: usize = 200;

pub fn summary_lines(results: &Results) -> Vec<String> {
    results.lessons.iter().flat_map(lesson_lines).collect()
}

fn lesson_lines(lesson: &LessonResult) -> Vec<String> {
    let count = lesson.count();
    let (earned, points) = lesson.points();
    let counts = [
        (count.passed, "passed"),
        (count.failed, "failed"),
        (count.broken, "with errors"),
        (count.skipped, "skipped or unstable"),
    ];
    let mut parts: Vec<String> =
        counts.iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!("{n} {word}")).collect();
    if points > 0 {
        parts.push(format!("{earned} of {points} points"));
    }
    parts.push(format!("{:.1} s", lesson.elapsed().as_secs_f64()));
    let mut lines = vec![format!("{}: {}", lesson.id, parts.join(", "))];
    lines.extend(lesson.items.iter().filter_map(remark));
    for comparison in &lesson.comparisons {
        lines.push(format!("  {}", harmless(&comparison.panel)));
        let compared = comparison.lines.iter();
        lines.extend(compared.map(|line| format!("    {}", harmless(line))));
    }
    lines
}

fn remark(item: &Item) -> Option<String> {
    let reason = match &item.verdict {
        Verdict::Passed => return None,
        Verdict::Failed(reason) => format!("{} ({reason})", item.about),
        Verdict::Unstable(reason) | Verdict::Skipped(reason) | Verdict::Broken(reason, _) => {
            reason.clone()
        }
    };
    let reason = harmless(&cell(&reason, LONGEST));
    Some(format!("  {} {} {}: {reason}", item.kind.word(), item.id, item.verdict.word()))
}

pub fn markdown(results: &Results) -> String {
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
            plain(&markdown_remark(item)),
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

fn markdown_remark(item: &Item) -> String {
    let own = match &item.kind {
        Kind::Lab { device, .. } => {
            let place = device.as_ref().map_or_else(String::new, |device| format!(" on {device}"));
            format!("{:.1} s{place}", item.elapsed.as_secs_f64())
        }
        Kind::Predict { theory, target } => {
            let named = |name: &str, value: &Option<mlsys_lab::Value>| {
                value.as_ref().map(|value| format!("{name} {value}"))
            };
            let parts: Vec<String> = [named("theory", theory), named("measured", target)]
                .into_iter()
                .flatten()
                .collect();
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
