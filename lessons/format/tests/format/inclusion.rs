//! Built-in lessons in a course of one's own.

use mlsys_lab::params::Given;
use mlsys_lesson::{
    CourseFile, CourseFiles, Diagnostic, LatePolicy, LessonId, ParsedCourse, Timestamp,
    question_text, read_course,
};

use crate::support::registry;

fn files(folder: &str, files: &[(&str, &str)]) -> CourseFiles {
    let file = |(path, text): &(&str, &str)| {
        let bytes = text.as_bytes().to_vec().into();
        ((*path).to_owned(), CourseFile { name: format!("{folder}{path}"), bytes })
    };
    files.iter().map(file).collect()
}

const LOOP: &str = r#"+++
format = 1
id = "systems/loop"
title = "The loop"
minutes = 1
requires = ["systems/first"]
+++
```{lab} run
kind = "train"
set = { steps = 20 }
[knob.learning_rate]
values = [0.01, 0.1, 1]
default = 0.1
[knob.width]
min = 2
max = 64
default = 16
[knob.dataset]
```
```{question} q
type = "numeric"
prompt = "Two times five?"
answer = 10
```
```{check} twenty
assert = "run.loss < 1"
class = "seeded"
```
"#;

const OWN: &str =
    "+++\nformat = 1\nid = \"own/start\"\ntitle = \"t\"\nminutes = 1\nrequires = []\n+++\n";

const FIRST: &str = "+++\nformat = 1\nid = \"systems/first\"\ntitle = \"t\"\nminutes = 1\n+++\n";

const COURSE: &str = r#"format = 1
id = "mine"
title = "Mine"
about = "a"
[[module]]
id = "m"
title = "M"
due = 2027-03-01T23:59:00Z
lessons = ["own/start", "systems/loop"]
[[lesson]]
built_in = "systems/loop"
requires = ["own/start"]
due = 2027-03-08T23:59:00Z
late = { percent_per_day = 20 }
attempts = 2
[lesson.set.run]
learning_rate = 1
width = 8
"#;

fn course(toml: &str) -> ParsedCourse {
    let built_in = files("", &[("systems/loop.md", LOOP), ("systems/first.md", FIRST)]);
    let own = files("c/", &[("course.toml", toml), ("own/start.md", OWN)]);
    read_course(&own, &built_in, &registry())
}

fn told<'d>(problems: impl Iterator<Item = &'d Diagnostic>) -> Vec<String> {
    let line = |d: &Diagnostic| {
        let help = d.help.as_deref().unwrap_or("-");
        format!("{}:{}:{}: {} ({help})", d.file, d.line, d.column, d.message)
    };
    problems.map(line).collect()
}

#[test]
fn a_course_includes_a_built_in_lesson_with_knobs_dates_and_requirements_of_its_own() {
    let parsed = course(COURSE);
    assert_eq!(told(parsed.all_diagnostics()), [""; 0]);
    let course = parsed.into_course().unwrap();
    let id: LessonId = "systems/loop".parse().unwrap();
    let lesson = course.find(&id).unwrap();
    assert_eq!(lesson.front.requires[0].value.as_str(), "own/start");
    let settings = lesson.lab("run").unwrap().settings();
    for (knob, value) in [("learning_rate", 1.0), ("width", 8.0), ("steps", 20.0)] {
        let given = settings.iter().find(|(name, _)| *name == knob).map(|(_, given)| given);
        let Some(Given::Value(given)) = given else { panic!("{knob} is not set") };
        assert_eq!(given.as_f64(), Some(value), "{knob}");
    }
    // It holds for the lesson's own values.
    assert_eq!(lesson.checks().count(), 0);
    let rules = course.grading.of(&id);
    assert_eq!(rules.due, Some("2027-03-08T23:59:00Z".parse::<Timestamp>().unwrap()));
    assert_eq!(rules.late, Some(LatePolicy { percent_per_day: 20.0, last_day: None }));
    assert_eq!(rules.attempts, Some(2));
    let own = course.grading.of(&"own/start".parse().unwrap());
    assert_eq!((own.due.is_some(), own.late, own.attempts), (true, None, None));
    // What is asked depends on where the knobs stand.
    let plain = self::course(&COURSE.replace("width = 8\n", "")).into_course().unwrap();
    assert_ne!(question_text(lesson), question_text(plain.find(&id).unwrap()));
}

#[test]
fn mistakes_in_what_is_included_have_places() {
    for (from, to, error) in [
        (
            "built_in = \"systems/loop\"",
            "built_in = \"systems/lop\"",
            "9:25: there is no lesson file systems/loop.md (to include the built-in lesson, add [[lesson]] with built_in = \"systems/loop\")\n\
            11:12: mlsys has no built-in lesson `systems/lop` (did you mean \"systems/loop\"?)",
        ),
        (
            "built_in =",
            "builtin =",
            "10:1: this `lesson` has no `built_in` (add built_in = \"systems/training-loop\")",
        ),
        (
            ", \"systems/loop\"]",
            ", \"systems/look\"]",
            "9:25: there is no lesson file systems/look.md",
        ),
        (
            "width = 8",
            "widht = 8",
            "18:1: lab `run` of systems/loop has no knob `widht` (did you mean `width`?)",
        ),
        (
            "width = 8",
            "steps = 8",
            "18:1: lab `run` of systems/loop has no knob `steps` (its knobs are: learning_rate, width, dataset)",
        ),
        (
            "width = 8",
            "width = 65",
            "18:9: the knob `width` of systems/loop cannot stand at 65 (in lab `run` it goes from 2 to 64)",
        ),
        ("width = 8", "width = 8192", "18:9: `width`: "),
        (
            "width = 8",
            "dataset = \"mons\"",
            "18:11: `dataset` cannot be \"mons\" (did you mean \"moons\"?)",
        ),
        (
            "rate = 1",
            "rate = 2",
            "17:17: the knob `learning_rate` of systems/loop cannot stand at 2 (in lab `run` it takes one of: 0.01, 0.1, 1)",
        ),
        (
            "set.run",
            "set.rum",
            "16:13: the lesson systems/loop has no lab `rum` (did you mean `run`?)",
        ),
        (
            "requires = [\"own/start\"]",
            "requires = [\"own/stat\"]",
            "12:13: there is no lesson `own/stat` (did you mean \"own/start\"?)",
        ),
        (
            "requires = [\"own/start\"]",
            "requires = [\"systems/first\"]",
            "12:13: there is no lesson `systems/first` (to include the built-in lesson, add [[lesson]] with",
        ),
        (
            "requires = [\"own/start\"]",
            "requires = [\"systems/loop\"]",
            "12:13: lessons require each other: systems/loop -> systems/loop (remove one of these requirements)",
        ),
        (
            "requires = [\"own/start\"]\n",
            "",
            "11:12: the built-in lesson `systems/loop` requires `systems/first`, which this course lacks (include that one too, or say what comes before this one: requires = [])",
        ),
        (
            "\"own/start\", \"systems/loop\"]",
            "\"systems/loop\", \"own/start\"]",
            "12:13: the course lists `systems/loop` before `own/start`, which it requires",
        ),
        (
            ", \"systems/loop\"]",
            "]",
            "11:12: no module lists the built-in lesson `systems/loop` (add its id to the lessons of a [[module]], or remove this [[lesson]])",
        ),
        (
            "[[lesson]]",
            "[[lesson]]\nbuilt_in = \"systems/loop\"\n[[lesson]]",
            "13:12: the built-in lesson `systems/loop` is included twice (make one table of the two)",
        ),
        (
            "[[lesson]]",
            "[grading.due]\n\"systems/loop\" = 2027-03-09T00:00:00Z\n[[lesson]]",
            "13:12: [grading.due] says another date for `systems/loop` (keep one of the two dates)",
        ),
        (
            "attempts = 2",
            "attempt = 2",
            "15:1: `attempt` means nothing in this `lesson` (did you mean `attempts`?)",
        ),
    ] {
        let parsed = course(&COURSE.replacen(from, to, 1));
        let problems = told(parsed.all_diagnostics());
        for error in error.lines() {
            let found = problems.iter().any(|told| told.contains(error.trim()));
            assert!(found, "{to}: {problems:#?}");
        }
    }
    let late = COURSE.replace("due = 2027", "# due = 2027");
    let problems = told(course(&late).all_diagnostics());
    assert!(
        problems[0].contains("11:12: `late` has no effect: `systems/loop` is not due"),
        "{problems:?}"
    );
}

#[test]
fn a_lesson_that_includes_wrongly_is_left_out_and_the_others_stay() {
    let parsed = course(&COURSE.replace("width = 8", "width = 65"));
    let course = parsed.into_course().unwrap();
    let ids: Vec<_> = course.lessons().iter().map(|lesson| lesson.front.id.as_str()).collect();
    assert_eq!(ids, ["own/start"]);
}

#[test]
fn a_file_and_a_built_in_lesson_of_one_id_are_an_error() {
    let built_in = files("", &[("systems/first.md", FIRST)]);
    let toml = "format = 1\nid = \"mine\"\ntitle = \"M\"\nabout = \"a\"\nmodule = [{ id = \"m\", title = \"M\", \
        lessons = [\"systems/first\"] }]\nlesson = [{ built_in = \"systems/first\" }]\n";
    let own = files("c/", &[("course.toml", toml), ("systems/first.md", FIRST)]);
    let parsed = read_course(&own, &built_in, &registry());
    assert_eq!(
        told(parsed.all_diagnostics()),
        [
            "c/course.toml:6:24: the course has a file systems/first.md of its own, and includes the built-in lesson \
          (remove this [[lesson]], or give your lesson another id)"
        ]
    );
    // Inline tables include just as well.
    let own = files("c/", &[("course.toml", toml)]);
    assert!(read_course(&own, &built_in, &registry()).all_diagnostics().next().is_none());
}

#[test]
fn a_setting_that_learners_draw_has_no_start_value_in_a_course() {
    let drawn =
        LOOP.replace("set = { steps = 20 }", "set = { steps = 20 }\nvary = { width = [8, 16] }");
    let drawn = drawn.replace("max = 64\ndefault = 16", "max = 64");
    let built_in = files("", &[("systems/loop.md", &drawn), ("systems/first.md", FIRST)]);
    let own = files("c/", &[("course.toml", COURSE), ("own/start.md", OWN)]);
    let parsed = read_course(&own, &built_in, &registry());
    assert_eq!(
        told(parsed.all_diagnostics()),
        ["c/course.toml:18:1: lab `run` of systems/loop draws `width` by learner \
             (leave it out: its questions ask about the learner's number)"]
    );
}
