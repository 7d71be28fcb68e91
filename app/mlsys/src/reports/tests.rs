//! Every report of one run that has everything.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use mlsys_lab::schema::{Class, Label};
use mlsys_lab::value::Value;
use serde_json::Value as Json;

use super::*;
use mlsys_run::process::Exit;
use mlsys_run::results::Ending;

const NASTY: &str = "a < b && \"c\" > 'd' | `e` \u{1b}[2J\n]]> é";

fn item(id: &str, kind: Kind, verdict: Verdict) -> Item {
    Item {
        id: id.to_owned(),
        about: NASTY.to_owned(),
        column: 1,
        line: 40,
        why: Some("Training <failed>.".to_owned()),
        kind,
        verdict,
        elapsed: Duration::from_millis(1500),
    }
}

fn results() -> Results {
    let metrics = BTreeMap::from([
        ("accuracy".to_owned(), (Label::Measured, Value::Float(0.5))),
        ("parameters".to_owned(), (Label::Computed, Value::Int(1218))),
    ]);
    let lab = Kind::Lab { device: Some("cpu (a processor)".to_owned()), metrics };
    let predict = Kind::Predict {
        directive: "predict",
        theory: None,
        target: Some((Label::Measured, Value::Float(0.5))),
    };
    let check = |class| Kind::Check { class };
    let answer = || Some(NASTY.to_owned());
    let question = |earned| Kind::Question { points: 2, earned, answer: answer() };
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
        item("q1", question(2.0), Verdict::Passed),
        item("q2", question(0.0), Verdict::Failed(NASTY.to_owned())),
        item("q3", question(0.0), Verdict::Broken("lost".to_owned(), Exit::RunFailed)),
    ];
    let lesson = LessonResult {
        comparisons: Vec::new(),
        file: "x.md".to_owned(),
        id: "systems/x".to_owned(),
        title: NASTY.to_owned(),
        seed: 7,
        items,
    };
    let started = Some(SystemTime::UNIX_EPOCH + Duration::from_secs(951_825_600));
    Results { lessons: vec![lesson], started, ..Results::default() }
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
    <testsuite name=\"systems/x\" tests=\"8\" failures=\"2\" errors=\"1\" time=\"12.000\" skipped=\"2\" \
    file=\"x.md\" timestamp=\"2000-02-29T12:00:00\">\n    \
    <properties>\n      <property name=\"mlsys\"";
    assert!(xml.starts_with(start), "{xml}");
    let escaped = "a &lt; b &amp;&amp; &quot;c&quot; &gt; 'd' | `e` \u{fffd}[2J&#10;]]&gt; é";
    assert!(xml.contains(&format!("<failure message=\"{escaped}\" type=\"question\">")), "{xml}");
    assert!(xml.contains("<skipped message=\"unstable: failed 3 times\"/>"), "{xml}");
    assert!(xml.contains("<error message=\"lost\" type=\"question\">"), "{xml}");
    assert!(xml.ends_with("  </testsuite>\n</testsuites>\n"), "{xml}");
    assert!(xml.contains(&format!("<system-out>answer: {escaped}</system-out>")), "{xml}");
    // Every element that opens is closed, and nothing but markup begins with the sign for it.
    let opened = xml.matches('<').count() - xml.matches("</").count() - 1;
    assert_eq!(opened, xml.matches("</").count() + xml.matches("/>").count());
}

#[test]
fn every_report_says_what_a_failed_check_means_and_where_it_stands() {
    for format in Format::ALL {
        let told = text(format, &results());
        let place = match format {
            Format::Json => "\"line\":40",
            Format::Github => "file=x.md,line=40,",
            Format::Junit | Format::Gradescope | Format::Markdown => "x.md:40",
        };
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
    assert_eq!(lesson["items"][0]["labels"]["accuracy"], "measured");
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

#[test]
fn every_report_has_the_answer_and_says_that_a_run_was_interrupted() {
    let whole = results();
    let missing = vec!["systems/y".to_owned()];
    let cut = Results { ending: Ending::Interrupted { missing }, ..results() };
    assert_eq!(cut.exit(), Exit::Interrupted);
    for format in Format::ALL {
        let (told, not) = (text(format, &cut), text(format, &whole));
        assert!(told.contains("interrupted: results are missing, also all of systems/y"), "{told}");
        assert!(!not.contains("interrupted: "), "{not}");
        assert_eq!(told.contains("answer"), format != Format::Github, "{told}");
    }
    let xml = text(Format::Junit, &cut);
    assert!(xml.contains("tests=\"9\" failures=\"2\" errors=\"2\""), "{xml}");
    assert!(xml.contains("<error message=\"interrupted: "), "{xml}");
}

#[test]
fn annotations_are_one_line_each_and_give_the_points() {
    let half = || Kind::Question { points: 2, earned: 1.5, answer: None };
    let mut results = results();
    results.lessons[0].items.push(item("q4", half(), Verdict::Failed("50 % late".to_owned())));
    let told = text(Format::Github, &results);
    let lines: Vec<&str> = told.lines().collect();
    let levels: Vec<&str> = lines.iter().map(|line| line.split(' ').next().unwrap()).collect();
    let (error, notice) = ("::error", "::notice");
    assert_eq!(levels, [error, "::warning", error, error, error, notice, notice]);
    assert!(lines[4].starts_with("::error file=x.md,line=40,title=systems/x question q4::a < b"));
    assert!(lines[4].ends_with("%0A50 %25 late%0ATraining <failed>."), "{}", lines[4]);
    assert_eq!(lines[5], "::notice title=Autograding complete::Points 3.5/8");
    let report = lines[6].strip_prefix("::notice title=Autograding report::").unwrap();
    let report: Json = serde_json::from_str(report).unwrap();
    assert_eq!(report, serde_json::json!({ "totalPoints": 3.5, "maxPoints": 8 }));
    assert!(!told.contains('\u{1b}'));
}
