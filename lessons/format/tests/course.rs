//! The course, its order, and a learner's progress through it.

mod support;

use mlsys_lesson::{
    Answer, Answers, Course, Event, Lesson, LessonId, MODULES, Progress, Record, State,
    json_schema, parse,
};
use support::{folder, registry};

fn lesson(id: &str, requires: &[&str]) -> Lesson {
    let text = format!(
        "+++\nformat = 1\nid = \"{id}\"\ntitle = \"t\"\nminutes = 1\nrequires = {requires:?}\n+++\n"
    );
    parse(&format!("{id}.md"), &text).lesson.unwrap()
}

fn order(lessons: Vec<Lesson>) -> (Vec<String>, Vec<String>) {
    let (course, problems) = Course::new(lessons);
    let ids = course
        .lessons()
        .iter()
        .map(|lesson| lesson.front.id.to_string())
        .collect();
    let told = problems
        .iter()
        .map(|d| format!("{}:{}: {}", d.line, d.column, d.message))
        .collect();
    (ids, told)
}

#[test]
fn lessons_come_by_module_and_after_what_they_require() {
    assert_eq!(
        MODULES.map(|module| module.name),
        [
            "systems",
            "graphs",
            "gpu",
            "roofline",
            "parallel",
            "efficiency"
        ]
    );
    let (ids, problems) = order(vec![
        lesson("mine/own", &["gpu/b"]),
        lesson("gpu/b", &["gpu/a", "systems/one"]),
        lesson("gpu/a", &[]),
        lesson("gpu/c", &[]),
        lesson("systems/one", &[]),
    ]);
    assert_eq!(ids, ["systems/one", "gpu/a", "gpu/b", "gpu/c", "mine/own"]);
    assert_eq!(problems, [""; 0]);
}

#[test]
fn cycles_unknown_and_double_lessons_are_told_once() {
    let (ids, problems) = order(vec![
        lesson("gpu/a", &["gpu/c"]),
        lesson("gpu/b", &["gpu/a"]),
        lesson("gpu/c", &["gpu/b"]),
        lesson("gpu/self", &["gpu/self"]),
        lesson("gpu/late", &["gpu/a", "gpu/slef"]),
        lesson("gpu/a", &[]),
    ]);
    assert_eq!(ids.len(), 5);
    assert_eq!(
        problems,
        [
            "1:1: the lesson `gpu/a` is already in gpu/a.md",
            "6:22: there is no lesson `gpu/slef`",
            "6:13: lessons require each other: gpu/a -> gpu/c -> gpu/b -> gpu/a",
            "6:13: lessons require each other: gpu/self -> gpu/self",
        ]
    );
}

#[test]
fn an_authors_own_lesson_is_compared_with_the_course() {
    let (course, _) = Course::new(vec![lesson("gpu/a", &[]), lesson("gpu/b", &["gpu/a"])]);
    assert_eq!(course.check(&lesson("mine/x", &["gpu/a"])), []);
    let problems = course.check(&lesson("mine/x", &["gpu/aa"]));
    assert_eq!(problems[0].help.as_deref(), Some("did you mean \"gpu/a\"?"));
    assert_eq!(course.nearest("gpu/bb").unwrap().as_str(), "gpu/b");
}

fn id() -> LessonId {
    "systems/everything".parse().unwrap()
}

fn events() -> Vec<Event> {
    let one = |text: &str| Answer::One(text.to_owned());
    let answer = |question: &str, given: &str, right: bool, points: u32| Event::AnswerGiven {
        lesson: id(),
        question: question.into(),
        given: one(given),
        right,
        points,
    };
    vec![
        Event::LessonOpened { lesson: id() },
        Event::PredictionLocked {
            lesson: id(),
            prediction: "p1".into(),
            given: one("0.6"),
        },
        Event::RunFinished {
            lesson: id(),
            lab: "run".into(),
            record: Some("runs/ü1".into()),
        },
        answer("numeric", "1", false, 0),
        Event::HintShown {
            lesson: id(),
            question: "numeric".into(),
            hint: 0,
        },
        answer("numeric", "2*512^3", true, 3),
        answer("numeric", "7", false, 0),
        Event::CheckPassed {
            lesson: id(),
            check: "c1".into(),
        },
        Event::PredictionLocked {
            lesson: id(),
            prediction: "p1".into(),
            given: one("0.9"),
        },
        Event::AnswerGiven {
            lesson: id(),
            question: "match".into(),
            given: Answer::Pairs([("TPU".to_owned(), "Intel".to_owned())].into()),
            right: false,
            points: 0,
        },
        Event::LessonCompleted { lesson: id() },
    ]
}

fn log() -> String {
    let line = |(at, event)| Record::new(at, event).line().unwrap();
    (0..).zip(events()).map(line).collect()
}

#[test]
fn a_log_replays_to_what_was_done() {
    let replay = Progress::replay(log().as_bytes());
    assert_eq!(
        (replay.torn, replay.needs_newline, replay.skipped),
        (false, false, 0)
    );
    let progress = replay.progress.lesson(&id()).unwrap();
    assert!(progress.completed);
    assert_eq!(
        progress.predictions["p1"],
        Answer::One("0.6".into()),
        "a locked prediction stays"
    );
    let answered = &progress.answers["numeric"];
    assert_eq!(
        (answered.right, answered.points, answered.attempts),
        (true, 3, 3)
    );
    assert_eq!(progress.hints["numeric"], 1);
    let bytes = std::fs::read(folder("valid").join("everything.md")).unwrap();
    let lesson = mlsys_lesson::read("e", &bytes, &registry()).lesson.unwrap();
    let summary = replay.progress.summary(&lesson);
    assert_eq!(summary.state, State::Completed);
    assert_eq!(
        (summary.points, summary.of, summary.right, summary.questions),
        (3, 10, 1, 8)
    );
    let mut afresh = replay.progress;
    afresh.apply(Event::LessonReset { lesson: id() });
    assert_eq!(afresh.summary(&lesson).points, 0);
}

#[test]
fn a_log_torn_at_any_byte_loses_at_most_its_last_event() {
    let log = log();
    for cut in 0..=log.len() {
        let whole_lines = log.as_bytes()[..cut]
            .iter()
            .filter(|&&byte| byte == b'\n')
            .count();
        let replay = Progress::replay(&log.as_bytes()[..cut]);
        let mut expected = Progress::default();
        // A line that only lacks its newline is whole.
        let kept = whole_lines + usize::from(log.as_bytes().get(cut) == Some(&b'\n'));
        events()
            .into_iter()
            .take(kept)
            .for_each(|event| expected.apply(event));
        assert_eq!(replay.progress, expected, "cut at {cut}");
        assert_eq!(replay.skipped, 0);
        let inside = cut > 0 && log.as_bytes()[cut - 1] != b'\n';
        assert_eq!(replay.needs_newline, inside);
        assert_eq!(replay.torn, inside && kept == whole_lines);
        // Whoever goes on writes a newline first; then only the torn event is missing.
        let mut repaired = log.as_bytes()[..cut].to_vec();
        if replay.needs_newline {
            repaired.push(b'\n');
        }
        repaired.extend_from_slice(log.lines().last().unwrap().as_bytes());
        assert!(
            Progress::replay(&repaired)
                .progress
                .lesson(&id())
                .unwrap()
                .completed
        );
    }
}

#[test]
fn lines_of_a_later_version_and_damaged_ones_cost_nothing_else() {
    let mut lines: Vec<String> = log().lines().map(str::to_owned).collect();
    lines.insert(
        1,
        "{\"v\":2,\"at\":1,\"event\":\"lesson-completed\",\"lesson\":\"a/b\"}".into(),
    );
    lines.insert(2, "{\"v\":1,\"at\":1,\"event\":\"from-the-future\"}".into());
    lines.insert(3, "\u{0}\u{0}garbage".into());
    let replay = Progress::replay((lines.join("\n") + "\n").as_bytes());
    assert_eq!(replay.skipped, 3);
    assert_eq!(replay.progress, Progress::replay(log().as_bytes()).progress);
}

#[test]
fn answers_go_out_and_come_back() {
    let answers = Progress::replay(log().as_bytes()).progress.answers();
    let text = answers.to_json().unwrap();
    assert_eq!(Answers::parse(text.as_bytes()).unwrap(), answers);
    assert_eq!(
        answers.get(&id(), "numeric"),
        Some(&Answer::One("2*512^3".into()))
    );
    let by_hand = br#"{"lessons": {"systems/everything": {"numeric": 1218, "multiple": ["2", 4], "numerc": 1}}}"#;
    let answers = Answers::parse(by_hand).unwrap();
    assert_eq!(
        answers.get(&id(), "multiple"),
        Some(&Answer::Many(vec!["2".into(), "4".into()]))
    );
    let bytes = std::fs::read(folder("valid").join("everything.md")).unwrap();
    let lesson = mlsys_lesson::read("e", &bytes, &registry()).lesson.unwrap();
    assert_eq!(
        answers.strays(&lesson),
        ["lesson systems/everything has no question 'numerc'; did you mean 'numeric'?"]
    );
    for bad in [
        "",
        "[]",
        "{\"lessons\": {\"x\": {}}}",
        "{\"lessons\": {\"a/b\": {\"q\": null}}}",
        "{\"lesson\": {}}",
    ] {
        let error = Answers::parse(bad.as_bytes()).unwrap_err().to_string();
        assert!(
            error.contains("line 1") && error.contains("mlsys progress export"),
            "{error}"
        );
    }
}

#[test]
fn the_json_schema_knows_the_labs() {
    let schema = json_schema(&registry());
    assert_eq!(
        schema["$defs"]["lab"]["properties"]["kind"]["enum"],
        serde_json::json!(["train", "occupancy", "graph"])
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
