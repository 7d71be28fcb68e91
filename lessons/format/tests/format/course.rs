//! Courses, their order, and the JSON Schema of its lessons.

use mlsys_lesson::{
    CourseFile, CourseFiles, Credit, Diagnostic, LatePolicy, Lesson, Module, ParsedCourse, between,
    is_inside, json_schema, parse, read_course, translated,
};

use crate::support::registry;

fn lesson(id: &str, requires: &[&str]) -> Lesson {
    let text = format!(
        "+++\nformat = 1\nid = \"{id}\"\ntitle = \"t\"\nminutes = 1\nrequires = {requires:?}\n+++\n"
    );
    parse(&format!("{id}.md"), &text).lesson.unwrap()
}

fn told(problems: &[Diagnostic]) -> Vec<String> {
    let line = |d: &Diagnostic| format!("{}:{}:{}: {}", d.file, d.line, d.column, d.message);
    problems.iter().map(line).collect()
}

#[test]
fn cycles_and_unknown_lessons_are_reported_once() {
    let problems = between(&[
        lesson("gpu/a", &["gpu/c"]),
        lesson("gpu/b", &["gpu/a"]),
        lesson("gpu/c", &["gpu/b"]),
        lesson("gpu/self", &["gpu/self"]),
        lesson("gpu/late", &["gpu/a", "gpu/slef"]),
        lesson("gpu/a", &[]),
    ]);
    assert_eq!(
        told(&problems),
        [
            "gpu/a.md:1:1: the lesson `gpu/a` is already in gpu/a.md",
            "gpu/late.md:6:22: there is no lesson `gpu/slef`",
            "gpu/b.md:6:13: lessons require each other: gpu/a -> gpu/c -> gpu/b -> gpu/a",
            "gpu/self.md:6:13: lessons require each other: gpu/self -> gpu/self",
        ]
    );
    assert_eq!(problems[1].help.as_deref(), Some("did you mean \"gpu/self\"?"));
}

const COURSE: &str = include_str!("../lessons/course.toml");

fn text(id: &str, requires: &[&str]) -> String {
    lesson(id, requires).source.text
}

fn course(files: &[(&str, &str)]) -> ParsedCourse {
    let file = |(path, text): &(&str, &str)| {
        let file = CourseFile { name: format!("c/{path}"), bytes: text.as_bytes().to_vec().into() };
        ((*path).to_owned(), file)
    };
    read_course(&files.iter().map(file).collect(), &CourseFiles::new(), &registry())
}

#[test]
fn a_course_has_its_lessons_in_the_order_it_lists_them() {
    let [a, b, start] = [text("gpu/a", &["gpu/b"]), text("gpu/b", &[]), text("intro/start", &[])];
    let parsed = course(&[
        ("course.toml", COURSE),
        ("gpu/a.md", &a),
        ("gpu/b.md", &b),
        ("01-start.md", &start),
        ("gpu/b.fr.md", &b),
        ("README.md", "# Mine"),
    ]);
    assert_eq!(told(&parsed.diagnostics), [""; 0]);
    let course = parsed.into_course().unwrap();
    assert_eq!(
        (course.id.as_str(), course.title.as_str(), course.authors.len()),
        ("mine-2027", "Mine", 2)
    );
    let ids = |module: &Module| -> Vec<String> {
        let lessons = course.lessons_of(module).iter();
        lessons.map(|lesson| lesson.front.id.to_string()).collect()
    };
    let modules: Vec<_> = course.modules().iter().map(ids).collect();
    assert_eq!(modules, [vec!["gpu/b", "intro/start"], vec!["gpu/a"]]);
    assert_eq!(course.nearest("gpu/bb").unwrap().as_str(), "gpu/b");
    assert_eq!(course.find(&"gpu/a".parse().unwrap()).unwrap().front.title, "t");
}

const GRADED: &str = r#"format = 1
id = "mine"
title = "Mine"
about = "a"
[[module]]
id = "m"
title = "M"
due = 2027-03-01T23:59:00+01:00
lessons = ["gpu/a", "01-start.md"]
[grading]
attempts = 3
partial_credit = true
late = { percent_per_day = 12.5, last_day = 7 }
[grading.due]
"gpu/a" = "2027-03-08T00:00:00Z"
"#;

#[test]
fn a_course_says_when_answers_are_due_and_what_they_earn() {
    let [a, start] = [text("gpu/a", &[]), text("intro/start", &[])];
    let graded =
        |toml: &str| course(&[("course.toml", toml), ("gpu/a.md", &a), ("01-start.md", &start)]);
    let parsed = graded(GRADED);
    assert_eq!(told(&parsed.diagnostics), [""; 0]);
    let rules = parsed.into_course().unwrap().grading;
    let late = LatePolicy { percent_per_day: 12.5, last_day: Some(7) };
    let general = rules.others;
    assert_eq!(
        (general.due, general.attempts, general.late, general.credit),
        (None, Some(3), Some(late), Credit::Partial)
    );
    let due = |id: &str| rules.of(&id.parse().unwrap()).due.unwrap().0;
    let due: Vec<_> = ["gpu/a", "intro/start"].map(|id| (id, due(id))).into();
    assert_eq!(due, [("gpu/a", 1_804_464_000), ("intro/start", 1_803_941_940)]);
    for (from, to, error) in [
        ("+01:00", "", "8:7: `due` is no complete point in time"),
        ("attempts = 3", "attempts = 0", "11:12: `attempts` is 0"),
        ("attempts", "attempt", "11:1: `attempt` means nothing in `grading`"),
        ("= true", "= 0.5", "12:18: `partial_credit` is a number"),
        ("12.5", "101", "13:28: `percent_per_day` is 101"),
        ("last_day = 7", "last_day = -1", "13:45: `last_day` is -1"),
        ("percent_per_day = 12.5, last_day = 7", "", "13:8: `late` says nothing"),
        ("\"gpu/a\" =", "\"gpu/b\" =", "15:1: there is no lesson `gpu/b` in this course"),
        ("\"gpu/a\" =", "gpua =", "15:1: this is not a lesson id"),
        ("\"2027-03-08T00:00:00Z\"", "8", "15:11: `gpu/a` is a whole number"),
    ] {
        let problems = graded(&GRADED.replacen(from, to, 1)).diagnostics;
        assert_eq!(told(&problems), [format!("c/course.toml:{error}")]);
        assert!(problems[0].is_error() && problems[0].help.is_some());
    }
    let nothing_due = GRADED.split("[grading.due]").next().unwrap().replace("due = ", "# ");
    let problems = graded(&nothing_due).diagnostics;
    assert_eq!(
        told(&problems),
        ["c/course.toml:10:2: `grading.late` has no effect: nothing in this course is due"]
    );
    assert!(!problems[0].is_error());
}

#[test]
fn all_errors_of_a_course_are_reported_with_places() {
    let toml = include_str!("../lessons/broken-course.toml");
    let [a, lone, x, extra] = [
        text("gpu/a", &["gpu/nothing"]),
        text("gpu/other", &[]),
        text("gpu/a", &[]),
        text("gpu/extra", &[]),
    ];
    let parsed = course(&[
        ("course.toml", toml),
        ("gpu/a.md", &a),
        ("gpu/lone.md", &lone),
        ("x.md", &x),
        ("gpu/extra.md", &extra),
    ]);
    assert!(parsed.id().is_none());
    let problems: Vec<Diagnostic> = parsed.all_diagnostics().cloned().collect();
    assert_eq!(
        told(&problems),
        [
            "c/course.toml:1:1: the course has no `about`",
            "c/course.toml:2:6: this is not a course id",
            "c/course.toml:4:1: `colour` means nothing in the course",
            "c/course.toml:8:45: this path leads out of the course's folder",
            "c/course.toml:8:57: this is neither a lesson id nor the path of a lesson file",
            "c/course.toml:9:1: this `module` has no `title`",
            "c/course.toml:10:6: the module `m` is there twice",
            "c/course.toml:11:1: `titel` means nothing in this `module`",
            "c/course.toml:8:21: there is no lesson file gpu/missing.md",
            "c/course.toml:8:36: `gpu/a` is listed twice",
            "c/course.toml:12:12: the lesson in x.md has the id of one above",
            "c/course.toml:13:1: the lesson file gpu/extra.md is not listed, and is no part of the course",
            "c/gpu/a.md:6:13: there is no lesson `gpu/nothing`",
            "c/gpu/lone.md:3:6: this lesson is listed as `gpu/lone`",
        ]
    );
}

#[test]
fn a_lesson_before_one_it_requires_is_worth_a_warning() {
    let [a, b, start] = [text("gpu/a", &[]), text("gpu/b", &["gpu/a"]), text("intro/start", &[])];
    let parsed = course(&[
        ("course.toml", COURSE),
        ("gpu/a.md", &a),
        ("gpu/b.md", &b),
        ("01-start.md", &start),
    ]);
    assert!(parsed.id().is_some());
    assert_eq!(
        told(&parsed.diagnostics),
        ["c/gpu/b.md:6:13: the course lists `gpu/b` before `gpu/a`, which it requires"]
    );
}

#[test]
fn an_invalid_course_toml_is_reported() {
    for (toml, said) in [
        (
            "title = \n[[module\n",
            "c/course.toml:1:9: string values must be quoted, expected literal string",
        ),
        ("", "c/course.toml:1:1: the course has no `format`"),
        ("format = 9", "c/course.toml:1:10: the course is written in format 9"),
        ("a\0b", "c/course.toml:1:1: this is a binary file, not a course.toml"),
        ("module = 3", "c/course.toml:1:10: `module` is a whole number"),
    ] {
        let parsed = course(&[("course.toml", toml)]);
        assert!(parsed.id().is_none(), "{toml}");
        let problems = told(&parsed.diagnostics);
        assert!(problems.iter().any(|told| told == said), "{toml}: {problems:?}");
    }
    assert_eq!(told(&course(&[]).diagnostics), ["course.toml:1:1: there is no course.toml"]);
}

#[test]
fn paths_that_lead_out_are_known() {
    for inside in ["a.md", "gpu/a.md", "x/..y/z", "ü/a.md"] {
        assert!(is_inside(inside), "{inside}");
    }
    for outside in "|/a|../a|a/../../b|a/..|./a|a//b|a/|C:/a|C:a|a\\b|..\\a|a\nb".split('|') {
        assert!(!is_inside(outside), "{outside}");
    }
    assert_eq!(translated("gpu/a.fr.md"), Some(("gpu/a.md".to_owned(), "fr")));
    assert_eq!(translated("a.pt-BR.md"), Some(("a.md".to_owned(), "pt-BR")));
    for lesson in ["gpu/a.md", "a.b.md", "a.v2.md", "x.fr", "a.long.md"] {
        assert_eq!(translated(lesson), None, "{lesson}");
    }
}

#[test]
fn the_json_schema_knows_the_labs() {
    let schema = json_schema(&registry());
    assert_eq!(
        schema["$defs"]["lab"]["properties"]["kind"]["enum"],
        serde_json::json!(["train", "occupancy", "prune-model", "graph"])
    );
    assert_eq!(
        schema["$defs"]["question"]["properties"]["lab"]["enum"],
        serde_json::json!(["occupancy", "graph"])
    );
    // Every reference leads somewhere.
    fn references<'v>(value: &'v serde_json::Value, found: &mut Vec<&'v str>) {
        match value {
            serde_json::Value::Object(map) => {
                found.extend(map.get("$ref").and_then(serde_json::Value::as_str));
                map.values().for_each(|value| references(value, found));
            }
            serde_json::Value::Array(items) => {
                items.iter().for_each(|item| references(item, found))
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    references(&schema, &mut found);
    assert!(found.len() > 20);
    for reference in found {
        assert!(schema.pointer(&reference[1..]).is_some(), "{reference}");
    }
}
