//! Reports of a headless run: pure functions from its results to a text.

mod machine;
mod target;

use std::fmt::Write;
use std::fs;

use mlsys_run::console::{Console, harmless};
use mlsys_run::process::Failure;
use mlsys_run::results::{Count, Item, Kind, LessonResult, Results, Verdict};
use mlsys_view::text::cell;

pub use target::{Format, Target};

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
    let mut lines: Vec<String> = results.lessons.iter().flat_map(lesson_lines).collect();
    if results.lessons.len() > 1 {
        lines.push(total_line(results));
    }
    lines
}

fn total_line(results: &Results) -> String {
    let (mut total, mut earned, mut points) = (Count::default(), 0, 0);
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
fn counted(count: &Count, (earned, points): (u32, u32)) -> Vec<String> {
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
    parts
}

fn lesson_lines(lesson: &LessonResult) -> Vec<String> {
    let mut parts = counted(&lesson.count(), lesson.points());
    parts.push(format!("{:.1} s", lesson.elapsed().as_secs_f64()));
    let mut lines = vec![format!("{}: {}", lesson.id, parts.join(", "))];
    lines.extend(lesson.items.iter().flat_map(|item| remark(lesson, item)));
    for comparison in &lesson.comparisons {
        lines.push(format!("  {}", harmless(&comparison.panel)));
        let compared = comparison.lines.iter();
        lines.extend(compared.map(|line| format!("    {}", harmless(line))));
    }
    lines
}

/// What came of an item that did not pass; where it failed, what that means and where it stands.
fn remark(lesson: &LessonResult, item: &Item) -> Vec<String> {
    let reason = match &item.verdict {
        Verdict::Passed => return Vec::new(),
        Verdict::Failed(reason) => format!("{} ({reason})", item.about),
        Verdict::Unstable(reason) | Verdict::Skipped(reason) | Verdict::Broken(reason, _) => {
            reason.clone()
        }
    };
    let reason = harmless(&cell(&reason, LONGEST));
    let told = format!("  {} {} {}: {reason}", item.kind.word(), item.id, item.verdict.word());
    let more = lesson.failure(item).into_iter().map(|line| format!("    {}", harmless(&line)));
    [told].into_iter().chain(more).collect()
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
            plain(&markdown_remark(lesson, item)),
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

fn markdown_remark(lesson: &LessonResult, item: &Item) -> String {
    let own = match &item.kind {
        Kind::Lab { device, .. } => {
            let place = device.as_ref().map_or_else(String::new, |device| format!(" on {device}"));
            format!("{:.1} s{place}", item.elapsed.as_secs_f64())
        }
        Kind::Predict { theory, target, .. } => {
            let parts = theory.iter().chain(target);
            let parts: Vec<_> = parts.map(|(label, value)| format!("{label} {value}")).collect();
            parts.join(", ")
        }
        Kind::Check { class } => class.to_string(),
        Kind::Question { points, earned } => format!("{earned} of {points} points"),
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
            c if c.is_control() => safe.push(' '),
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use mlsys_lab::schema::{Class, Label};
    use mlsys_lab::value::Value;
    use serde_json::Value as Json;

    use super::*;
    use mlsys_run::process::Exit;

    const NASTY: &str = "a < b && \"c\" > 'd' | `e` \u{1b}[2J\n]]> é";

    fn item(id: &str, kind: Kind, verdict: Verdict) -> Item {
        Item {
            id: id.to_owned(),
            about: NASTY.to_owned(),
            line: 40,
            why: Some("Training <failed>.".to_owned()),
            kind,
            verdict,
            elapsed: Duration::from_millis(1500),
        }
    }

    fn results() -> Results {
        let metrics = BTreeMap::from([
            ("accuracy".to_owned(), Value::Float(0.5)),
            ("parameters".to_owned(), Value::Int(1218)),
        ]);
        let lab = Kind::Lab { device: Some("cpu (a processor)".to_owned()), metrics };
        let predict = Kind::Predict {
            directive: "predict",
            theory: None,
            target: Some((Label::Measured, Value::Float(0.5))),
        };
        let check = |class| Kind::Check { class };
        let question = |earned| Kind::Question { points: 2, earned };
        let items = vec![
            item("run", lab, Verdict::Passed),
            item("p1", predict, Verdict::Passed),
            item(
                "c1",
                check(Class::Seeded),
                Verdict::Failed("run.accuracy = 0.5, wanted >= 0.95".to_owned()),
            ),
            item("c2", check(Class::Hardware), Verdict::Skipped("no device".to_owned())),
            item("c3", check(Class::Hardware), Verdict::Unstable("failed 3 times".to_owned())),
            item("q1", question(2), Verdict::Passed),
            item("q2", question(0), Verdict::Failed(NASTY.to_owned())),
            item("q3", question(0), Verdict::Broken("lost".to_owned(), Exit::RunFailed)),
        ];
        let lesson = LessonResult {
            comparisons: Vec::new(),
            file: "x.md".to_owned(),
            id: "systems/x".to_owned(),
            title: NASTY.to_owned(),
            seed: 7,
            items,
        };
        Results { lessons: vec![lesson] }
    }

    #[test]
    fn the_gravest_verdict_decides_the_exit_code() {
        assert_eq!(results().exit(), Exit::RunFailed);
        assert_eq!(Results::default().exit(), Exit::Passed);
    }

    #[test]
    fn junit_counts_and_escapes() {
        let xml = text(Format::Junit, &results());
        let start = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
        <testsuites name=\"mlsys\" tests=\"8\" failures=\"2\" errors=\"1\" time=\"12.000\">\n  \
        <testsuite name=\"systems/x\" tests=\"8\" failures=\"2\" errors=\"1\" time=\"12.000\" skipped=\"2\">\n    \
        <testcase classname=\"systems/x\" name=\"lab run\" time=\"1.500\"/>\n";
        assert!(xml.starts_with(start), "{xml}");
        let escaped = "a &lt; b &amp;&amp; &quot;c&quot; &gt; 'd' | `e` \u{fffd}[2J&#10;]]&gt; é";
        assert!(
            xml.contains(&format!("<failure message=\"{escaped}\" type=\"question\">")),
            "{xml}"
        );
        assert!(xml.contains("<skipped message=\"unstable: failed 3 times\"/>"), "{xml}");
        assert!(xml.contains("<error message=\"lost\" type=\"question\">"), "{xml}");
        assert!(xml.ends_with("  </testsuite>\n</testsuites>\n"), "{xml}");
        // Every element that opens is closed, and nothing but markup begins with the sign for it.
        let opened = xml.matches('<').count() - xml.matches("</").count() - 1;
        assert_eq!(opened, xml.matches("</").count() + xml.matches("/>").count());
    }

    #[test]
    fn every_report_says_what_a_failed_check_means_and_where_it_stands() {
        for format in Format::ALL {
            let told = text(format, &results());
            let place = if format == Format::Json { "\"line\":40" } else { "x.md:40" };
            assert!(told.contains("Training") && told.contains(place), "{told}");
        }
    }

    #[test]
    fn json_holds_everything() {
        let json: Json = serde_json::from_str(&text(Format::Json, &results())).unwrap();
        assert_eq!(json["exit"], 4);
        let lesson = &json["lessons"][0];
        assert_eq!((&lesson["score"], &lesson["points"]), (&Json::from(2), &Json::from(6)));
        assert_eq!(lesson["title"], NASTY);
        assert_eq!(lesson["items"][0]["metrics"]["parameters"], 1218);
        assert_eq!(
            lesson["items"][1]["target"],
            serde_json::json!({ "label": "measured", "value": 0.5 })
        );
        assert_eq!(lesson["items"][4]["verdict"], "unstable");
    }

    #[test]
    fn gradescope_counts_points_and_skips_cost_none() {
        let json: Json = serde_json::from_str(&text(Format::Gradescope, &results())).unwrap();
        assert_eq!(json["score"], 2);
        assert_eq!(json["execution_time"], 12);
        let tests = json["tests"].as_array().unwrap();
        let summary: Vec<_> = tests
            .iter()
            .map(|t| {
                (
                    t["name"].as_str().unwrap(),
                    t["score"].as_u64().unwrap(),
                    t["max_score"].as_u64().unwrap(),
                    t["status"].as_str().unwrap(),
                )
            })
            .collect();
        assert_eq!(
            summary,
            [
                ("systems/x lab run", 0, 0, "passed"),
                ("systems/x check c1", 0, 0, "failed"),
                ("systems/x check c2", 0, 0, "passed"),
                ("systems/x check c3", 0, 0, "passed"),
                ("systems/x question q1", 2, 2, "passed"),
                ("systems/x question q2", 0, 2, "failed"),
                ("systems/x question q3", 0, 2, "failed"),
            ]
        );
        let points: u64 = tests.iter().map(|t| t["score"].as_u64().unwrap()).sum();
        assert_eq!(json["score"], points);
    }

    #[test]
    fn markdown_keeps_text_in_its_cell() {
        let markdown = text(Format::Markdown, &results());
        assert!(markdown.contains("| systems/x | 3 | 2 | 1 | 2 | 2/6 | 12.0 |"), "{markdown}");
        let row = markdown.lines().find(|line| line.starts_with("| check c1")).unwrap();
        assert_eq!(row.replace("\\|", "").matches('|').count(), 5, "{row}");
        assert!(row.contains("a &lt; b &amp;&amp; \"c\" &gt; 'd' \\| \\`e\\`"), "{row}");
        assert!(!markdown.contains('\u{1b}'));
    }

    #[test]
    fn the_summary_names_what_did_not_pass() {
        let lines = summary_lines(&results());
        assert_eq!(
            lines[0],
            "systems/x: 3 passed, 2 failed, 1 with errors, 2 skipped or unstable, 2 of 6 points, 12.0 s"
        );
        let failed = lines.iter().position(|line| line.contains("check c1 failed")).unwrap();
        assert_eq!(lines[failed + 1..failed + 3], ["    Training <failed>.", "    x.md:40"]);
        // What was skipped is no failure, and needs no reason.
        assert_eq!(lines.len(), 6 + 2 * 4);
        assert!(lines.iter().all(|line| !line.contains(['\u{1b}', '\n'])), "{lines:?}");
    }
}
