//! Answers, predictions, checks and a lesson's own test.

mod support;

use mlsys_lab::report::{Report, RunData};
use mlsys_lesson::{
    Answer, CheckOutcome, DeviceFacts, Lesson, LessonEnv, Verdict, new_lesson, overflow, parse,
    read, read_number, self_test,
};
use support::{folder, registry};

fn everything() -> Lesson {
    let bytes = std::fs::read(folder("valid").join("everything.md")).unwrap();
    read("everything.md", &bytes, &registry()).lesson.unwrap()
}

fn json(text: &str) -> Answer {
    serde_json::from_str(text).unwrap()
}

/// A lesson that is this directive alone.
fn lesson(directive: &str) -> Lesson {
    let front = "+++\nformat = 1\nid = \"a/b\"\ntitle = \"t\"\nminutes = 1\n+++\n";
    let text = format!("{front}```{directive}\n```\n");
    let parsed = parse("t.md", &text);
    let told: Vec<_> = parsed.diagnostics.iter().map(ToString::to_string).collect();
    parsed
        .lesson
        .unwrap_or_else(|| panic!("{}", told.join("\n")))
}

#[test]
fn answers_are_graded_by_their_type() {
    use Verdict::{Malformed, Right, Wrong};
    let lesson = everything();
    for (question, given, verdict, feedback) in [
        ("numeric", "268435456", Right, None),
        ("numeric", "\"2*512^3\"", Right, None),
        ("numeric", "\" 2.7e8 \"", Right, None),
        ("numeric", "\"268_435_456\"", Right, None),
        ("numeric", "2.8e8", Wrong, None),
        (
            "numeric",
            "134217728",
            Wrong,
            Some("A multiply-add is two operations."),
        ),
        (
            "numeric",
            "\"1.34e8\"",
            Wrong,
            Some("A multiply-add is two operations."),
        ),
        ("numeric", "\"many\"", Malformed, Some("write a number")),
        (
            "numeric",
            "\"run.accuracy\"",
            Malformed,
            Some("`run.accuracy` is a name"),
        ),
        ("numeric", "\"1/0\"", Malformed, Some("division by zero")),
        ("numeric", "\"\"", Malformed, Some("write a number")),
        ("numeric", "{\"a\": 1}", Malformed, Some("a number")),
        ("choice", "\"Backward  adds\"", Right, None),
        (
            "choice",
            "\"memory would run out\"",
            Wrong,
            Some("Gradients are reused."),
        ),
        (
            "choice",
            "\"because\"",
            Malformed,
            Some("one of the choices"),
        ),
        ("multiple", "[\"4\", \"2\"]", Right, None),
        ("multiple", "[2, 4, 2]", Right, None),
        ("multiple", "\"2, 4\"", Right, None),
        ("multiple", "[\"2\"]", Wrong, Some("one more is")),
        (
            "multiple",
            "[\"2\", \"3\", \"4\"]",
            Wrong,
            Some("3 is odd."),
        ),
        ("multiple", "[\"5\"]", Malformed, Some("all choices")),
        ("multiple", "[]", Malformed, Some("all choices")),
        (
            "match",
            "{\"TPU\": \"Google\", \"H100\": \"NVIDIA\"}",
            Right,
            None,
        ),
        (
            "match",
            "{\"TPU\": \"Intel\", \"H100\": \"NVIDIA\"}",
            Wrong,
            Some("1 of 2"),
        ),
        (
            "match",
            "{\"TPU\": \"Google\"}",
            Malformed,
            Some("each left side"),
        ),
        (
            "match",
            "{\"TPU\": \"AMD\", \"H100\": \"NVIDIA\"}",
            Malformed,
            Some("each left side"),
        ),
        (
            "order",
            "[\"forward\", \"backward\", \"update\"]",
            Right,
            None,
        ),
        (
            "order",
            "[\"backward\", \"forward\", \"update\"]",
            Wrong,
            Some("Backward needs"),
        ),
        (
            "order",
            "[\"forward\", \"update\", \"backward\"]",
            Wrong,
            Some("the first 1 are in place"),
        ),
        (
            "order",
            "[\"update\", \"forward\", \"backward\"]",
            Wrong,
            None,
        ),
        ("order", "[\"forward\"]", Malformed, Some("each once")),
        (
            "order",
            "[\"forward\", \"forward\", \"update\"]",
            Malformed,
            Some("each once"),
        ),
        ("list", "[2, 4, 8]", Right, None),
        ("list", "\"2, 2^2, 2^3\"", Right, None),
        ("list", "[2.4, 4, 8]", Right, None),
        ("list", "[1, 2, 4]", Wrong, Some("Begin with two.")),
        ("list", "[2, 4, 9]", Wrong, Some("the first 2 are right")),
        (
            "list",
            "[2, 4]",
            Malformed,
            Some("3 numbers are asked for, and these are 2"),
        ),
        ("expression", "\"2*x\"", Right, None),
        ("expression", "\"x + 3\"", Right, None),
        ("expression", "\"x ^ 2\"", Wrong, Some("That is 9.")),
        ("expression", "\"x + 1\"", Wrong, None),
        ("expression", "\"x +\"", Malformed, Some("expression")),
        ("text", "\" ADAM \"", Right, None),
        ("text", "\"adamW\"", Right, None),
        ("text", "\"SGD\"", Wrong, Some("Plain, no.")),
        ("text", "\"lion\"", Wrong, None),
    ] {
        let question = lesson.question(question).unwrap();
        let grade = question.grade(&json(given), &LessonEnv::unrun(&lesson), &registry());
        assert_eq!(grade.verdict, verdict, "{} {given} {grade:?}", question.id);
        match (feedback, &grade.feedback) {
            (Some(wanted), Some(said)) => assert!(said.contains(wanted), "{given}: {said}"),
            (wanted, said) => assert_eq!(wanted, said.as_deref(), "{given}"),
        }
        let points = if verdict == Right { question.points } else { 0 };
        assert_eq!(grade.points, points);
    }
}

#[test]
fn tolerances_hold_at_their_edges() {
    let verdict = |tolerance: &str, given: &str| {
        let text = format!(
            "{{question}} q\ntype = \"numeric\"\nprompt = \"?\"\nanswer = 0.3\n{tolerance}"
        );
        let lesson = lesson(&text);
        let question = lesson.question("q").unwrap();
        question
            .grade(&Answer::One(given.into()), &LessonEnv::new(), &registry())
            .verdict
    };
    for (tolerance, given, right) in [
        ("", "0.3", true),
        ("", "0.1 + 0.2", true),
        ("", "0.3000001", false),
        ("tolerance = { rel = 0.1 }", "0.33", true),
        ("tolerance = { rel = 0.1 }", "0.27", true),
        ("tolerance = { rel = 0.1 }", "0.3301", false),
        ("tolerance = { abs = 0.1 }", "0.4", true),
        ("tolerance = { abs = 0.1 }", "0.41", false),
        ("tolerance = { abs = 0.1 }", "-0.3", false),
    ] {
        let wanted = if right {
            Verdict::Right
        } else {
            Verdict::Wrong
        };
        assert_eq!(verdict(tolerance, given), wanted, "{tolerance} {given}");
    }
}

#[test]
fn numbers_are_read_as_people_write_them() {
    for (text, value) in [
        ("1_000", 1000.0),
        ("1e9", 1e9),
        ("-3", -3.0),
        ("2*512^3/(3*512^2*4)", 512.0 / 6.0),
        ("  7 ", 7.0),
        ("log2(8)", 3.0),
    ] {
        assert_eq!(read_number(text), Ok(value), "{text}");
    }
    for text in [
        "", "_1", "1_", "1__0", "x", "\"a\"", "1 < 2", "nan", "1e999", "1,000", "2x",
    ] {
        assert!(read_number(text).is_err(), "{text}");
    }
}

#[test]
fn choices_are_mixed_the_same_way_each_time_and_orders_never_given_away() {
    let lesson = everything();
    let id = &lesson.front.id;
    for question in lesson.questions() {
        let shown = question.shown_choices(id);
        assert_eq!(shown, question.shown_choices(id));
        let distinct: std::collections::BTreeSet<_> = shown.iter().collect();
        assert_eq!(distinct.len(), shown.len());
    }
    let count = |name: &str| lesson.question(name).unwrap().shown_choices(id).len();
    assert_eq!(
        [
            count("choice"),
            count("multiple"),
            count("match"),
            count("order")
        ],
        [3, 3, 3, 3]
    );
    let mut firsts = std::collections::BTreeSet::new();
    for name in 0..40 {
        let text = format!(
            "{{question}} q{name}\ntype = \"order\"\nprompt = \"?\"\nanswer = [\"a\", \"b\"]"
        );
        let lesson = self::lesson(&text);
        let shown = lesson
            .questions()
            .next()
            .unwrap()
            .shown_choices(&lesson.front.id);
        assert_eq!(shown, ["b", "a"]);
        let text = format!(
            "{{question}} q{name}\ntype = \"choice\"\nprompt = \"?\"\nanswer = \"a\"\nwrong = [{{ value = \"b\", say = \"n\" }}]"
        );
        let lesson = self::lesson(&text);
        firsts.insert(
            lesson
                .questions()
                .next()
                .unwrap()
                .shown_choices(&lesson.front.id)[0]
                .to_owned(),
        );
    }
    assert_eq!(
        firsts.len(),
        2,
        "the right choice is not always at one place"
    );
}

/// A finished run with a series of accuracies and a count.
fn run(accuracies: &[f64]) -> RunData {
    let mut data = RunData::default();
    for (step, &value) in (1..).zip(accuracies) {
        data.apply(Report::Point {
            name: "accuracy".into(),
            step,
            value,
        });
    }
    data.apply(Report::Scalar {
        name: "parameters".into(),
        value: 1218_i64.into(),
    });
    data
}

#[test]
fn checks_say_what_stood_and_what_was_wanted() {
    let (registry, run) = (registry(), run(&[0.5, 0.61]));
    let schema = |kind: &str| registry.find(kind).unwrap().schema();
    let mut sizes = RunData::default();
    for (name, value) in [
        (
            "limiters",
            mlsys_lab::Value::Array(vec!["warps".into(), "blocks".into()]),
        ),
        (
            "sizes",
            mlsys_lab::Value::Array(vec![4_i64.into(), 8_i64.into()]),
        ),
    ] {
        sizes.apply(Report::Scalar {
            name: name.into(),
            value,
        });
    }
    let device = DeviceFacts {
        name: "flex".into(),
        backend: "cpu".into(),
        ..DeviceFacts::default()
    };
    let env = LessonEnv::new()
        .with_run("run", schema("train"), &run)
        .with_run("chip", schema("occupancy"), &sizes)
        .without_run("big", "no CUDA device was found")
        .on(&device);
    let failed = |text: &str| CheckOutcome::Failed(text.to_owned());
    for (assert, class, outcome) in [
        ("run.accuracy > 0.6", "seeded", CheckOutcome::Passed),
        ("run.parameters", "exact", CheckOutcome::Passed),
        (
            "chip.limiters == \\\"warps, blocks\\\"",
            "exact",
            CheckOutcome::Passed,
        ),
        (
            "at(chip.sizes, 1) == 8 and len(chip.sizes) == 2",
            "exact",
            CheckOutcome::Passed,
        ),
        (
            "device.backend == \\\"cpu\\\"",
            "exact",
            CheckOutcome::Passed,
        ),
        (
            "run.accuracy >= 0.95",
            "seeded",
            failed("run.accuracy = 0.61, wanted >= 0.95"),
        ),
        (
            "0.95 <= run.accuracy",
            "seeded",
            failed("run.accuracy = 0.61, wanted >= 0.95"),
        ),
        (
            "run.parameters == 1218 and run.accuracy > 0.9",
            "seeded",
            failed("run.accuracy = 0.61, wanted > 0.9"),
        ),
        (
            "last(run.accuracy) < first(run.accuracy)",
            "seeded",
            failed("last(run.accuracy) = 0.61, wanted < first(run.accuracy) = 0.5"),
        ),
        (
            "close(run.accuracy, 0.7, 0.01)",
            "seeded",
            failed("run.accuracy = 0.61, wanted 0.7 within 1 %"),
        ),
        (
            "not run.accuracy > 0.5",
            "seeded",
            failed("`not run.accuracy > 0.5` is false: run.accuracy = 0.61"),
        ),
        (
            "run.accuracy > 0.9 or run.parameters < 9",
            "seeded",
            failed(
                "`run.accuracy > 0.9 or run.parameters < 9` is false: run.accuracy = 0.61, run.parameters = 1218",
            ),
        ),
        (
            "big.accuracy > 0.1",
            "hardware",
            CheckOutcome::Skipped("no CUDA device was found".into()),
        ),
        (
            "device.memory_bytes > 1",
            "hardware",
            CheckOutcome::Skipped("the driver does not tell how much memory the device has".into()),
        ),
        (
            "big.accuracy > 0.1",
            "seeded",
            CheckOutcome::Error(
                "`big.accuracy` has no value here: no CUDA device was found".into(),
            ),
        ),
        (
            "run.loss_floor > 0",
            "exact",
            CheckOutcome::Error(
                "`run.loss_floor` has no value here: it is there only when dataset = chain".into(),
            ),
        ),
        (
            "run.acuracy > 0",
            "hardware",
            CheckOutcome::Error(
                "nothing is called `run.acuracy` (did you mean `run.accuracy`?)".into(),
            ),
        ),
        (
            "1 / (run.parameters - 1218) > 0",
            "exact",
            CheckOutcome::Error("division by zero, in `(run.parameters - 1218)`".into()),
        ),
        (
            "device.name",
            "exact",
            CheckOutcome::Error("the check is no condition; compare it with something".into()),
        ),
    ] {
        let lesson = lesson(&format!(
            "{{check}} c\nassert = \"{assert}\"\nclass = \"{class}\""
        ));
        assert_eq!(
            lesson.checks().next().unwrap().evaluate(&env),
            outcome,
            "{assert}"
        );
    }
}

#[test]
fn a_prediction_stands_beside_theory_and_measurement() {
    let lesson = everything();
    let registry = registry();
    let statement = |accuracies: &[f64], given: &str| {
        let run = run(accuracies);
        let env = LessonEnv::new().with_run("run", registry.find("train").unwrap().schema(), &run);
        let predict = lesson.predictions().next().unwrap();
        predict
            .compare(&json(given), &env)
            .map(|comparison| comparison.statement)
    };
    for (measured, given, wanted) in [
        (
            1.0,
            "0.6",
            "You said 0.6 of 1; measured 1 of 1; theory says 0.5 of 1; off by a factor of 1.7.",
        ),
        (
            0.5,
            "0.5",
            "You said 0.5 of 1; measured 0.5 of 1; theory says 0.5 of 1; exactly right.",
        ),
        (
            0.8,
            "1.0",
            "You said 1 of 1; measured 0.8 of 1; theory says 0.5 of 1; off by 25 %.",
        ),
        (
            0.8,
            "0.79",
            "You said 0.79 of 1; measured 0.8 of 1; theory says 0.5 of 1; close to the mark.",
        ),
        (
            0.0,
            "0.5",
            "You said 0.5 of 1; measured 0 of 1; theory says 0.5 of 1; off by 0.5.",
        ),
        (
            1.0,
            "1e4",
            "You said 10000 of 1; measured 1 of 1; theory says 0.5 of 1; off by 4 orders of magnitude.",
        ),
    ] {
        assert_eq!(statement(&[measured], given).unwrap(), wanted);
    }
    assert!(
        statement(&[1.0], "\"much\"")
            .unwrap_err()
            .to_string()
            .contains("write a number")
    );
    assert!(
        statement(&[], "1")
            .unwrap_err()
            .to_string()
            .contains("did not report it")
    );
    let choice = lesson.predictions().nth(1).unwrap();
    let said = |given: &str| {
        choice
            .compare(&json(given), &LessonEnv::new())
            .map(|c| c.statement)
    };
    assert_eq!(
        said("\"Warps\"").unwrap(),
        "You said \"warps\"; the answer is \"warps\"; just so."
    );
    assert!(
        said("\"registers\"")
            .unwrap()
            .ends_with("it came out otherwise.")
    );
    assert!(
        said("\"blocks\"")
            .unwrap_err()
            .to_string()
            .contains("registers, warps")
    );
}

#[test]
fn stated_answers_are_tried() {
    let registry = registry();
    let good = everything();
    assert_eq!(self_test(&good, &LessonEnv::unrun(&good), &registry), []);
    for (question, expected) in [
        (
            "type = \"numeric\"\nanswer = 10\ntolerance = { rel = 0.5 }\n[[wrong]]\nvalue = 12\nsay = \"x\"",
            vec!["wrong-accepted"],
        ),
        (
            "type = \"numeric\"\nanswer = 10\n[[wrong]]\nvalue = 2\nsay = \"x\"\n[[wrong]]\nvalue = \"1 + 1\"\nsay = \"y\"",
            vec!["wrong-accepted"],
        ),
        ("type = \"numeric\"\nanswer = \"1/0\"", vec!["no-value"]),
        ("type = \"numeric\"\nanswer = \"1 < 2\"", vec!["no-value"]),
        (
            "type = \"numeric\"\nanswer = 1\n[[wrong]]\nvalue = \"log(-1)\"\nsay = \"x\"",
            vec!["no-value"],
        ),
        (
            "type = \"list\"\nanswer = [1, 2]\n[[wrong]]\nvalue = [1]\nsay = \"x\"",
            vec!["wrong-accepted"],
        ),
        (
            "type = \"text\"\nanswer = \"a\"\n[[wrong]]\nvalue = \"A\"\nsay = \"x\"",
            vec!["wrong-accepted"],
        ),
        (
            "type = \"expression\"\nlab = \"graph\"\naccept = \"answer.value > 5\"\nanswer = \"x\"\n[[wrong]]\nvalue = \"x^3\"\nsay = \"x\"",
            vec!["answer-rejected", "wrong-accepted"],
        ),
        (
            "type = \"expression\"\nlab = \"graph\"\naccept = \"answer.value > 1\"\nanswer = \"x +\"",
            vec!["answer-rejected"],
        ),
    ] {
        let lesson = lesson(&format!("{{question}} q\nprompt = \"?\"\n{question}"));
        let found = self_test(&lesson, &LessonEnv::unrun(&lesson), &registry);
        let codes: Vec<_> = found.iter().map(|d| d.code.name()).collect();
        assert_eq!(codes, expected, "{question}");
    }
}

#[test]
fn the_lesson_to_start_from_is_sound() {
    let registry = registry();
    for title in ["My \"first\" \\ lesson", "Übung #1"] {
        let text = new_lesson(&"mine/first".parse().unwrap(), title);
        let parsed = read("new.md", text.as_bytes(), &registry);
        let told: Vec<_> = parsed.diagnostics.iter().map(ToString::to_string).collect();
        let lesson = parsed
            .lesson
            .unwrap_or_else(|| panic!("{}", told.join("\n")));
        assert_eq!(told, [""; 0]);
        assert_eq!(lesson.front.title, title);
        assert_eq!(
            self_test(&lesson, &LessonEnv::unrun(&lesson), &registry),
            []
        );
        assert_eq!(overflow(&lesson), []);
        let kinds = [
            lesson.labs().count(),
            lesson.predictions().count(),
            lesson.questions().count(),
            lesson.checks().count(),
        ];
        assert_eq!(kinds, [2, 1, 1, 2]);
    }
}

#[test]
fn code_and_tables_too_wide_for_a_small_terminal_are_told() {
    let wide = "x".repeat(77);
    let front = "+++\nformat = 1\nid = \"a/b\"\ntitle = \"t\"\nminutes = 1\n+++\n\n";
    let text = format!("{front}{wide}\n\n```\nok\n{wide}\n```\n\n| {wide} |\n");
    let lesson = parse("t.md", &text).lesson.unwrap();
    let found: Vec<_> = overflow(&lesson)
        .iter()
        .map(|d| (d.code.name(), d.line, d.is_error()))
        .collect();
    assert_eq!(found, [("overflow", 12, false), ("overflow", 15, false)]);
}
