//! Answers to questions of every type.

use crate::support::{everything, json, lesson, registry};
use mlsys_lesson::{Answer, LessonEnv, Verdict, read_number};

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
        ("numeric", "134217728", Wrong, Some("A multiply-add is two operations.")),
        ("numeric", "\"1.34e8\"", Wrong, Some("A multiply-add is two operations.")),
        ("numeric", "\"many\"", Malformed, Some("write a number")),
        ("numeric", "\"run.accuracy\"", Malformed, Some("`run.accuracy` is a name")),
        ("numeric", "\"1/0\"", Malformed, Some("division by zero")),
        ("numeric", "\"\"", Malformed, Some("write a number")),
        ("numeric", "{\"a\": 1}", Malformed, Some("a number")),
        ("choice", "\"Backward  adds\"", Right, None),
        ("choice", "\"memory would run out\"", Wrong, Some("Gradients are reused.")),
        ("choice", "\"because\"", Malformed, Some("one of the choices")),
        ("multiple", "[\"4\", \"2\"]", Right, None),
        ("multiple", "[2, 4, 2]", Right, None),
        ("multiple", "\"2, 4\"", Right, None),
        ("multiple", "[\"2\"]", Wrong, Some("one more is")),
        ("multiple", "[\"2\", \"3\", \"4\"]", Wrong, Some("3 is odd.")),
        ("multiple", "[\"5\"]", Malformed, Some("all choices")),
        ("multiple", "[]", Malformed, Some("all choices")),
        ("match", "{\"TPU\": \"Google\", \"H100\": \"NVIDIA\"}", Right, None),
        ("match", "{\"TPU\": \"Intel\", \"H100\": \"NVIDIA\"}", Wrong, Some("1 of 2")),
        ("match", "{\"TPU\": \"Google\"}", Malformed, Some("each left side")),
        ("match", "{\"TPU\": \"AMD\", \"H100\": \"NVIDIA\"}", Malformed, Some("each left side")),
        ("order", "[\"forward\", \"backward\", \"update\"]", Right, None),
        ("order", "[\"backward\", \"forward\", \"update\"]", Wrong, Some("Backward needs")),
        (
            "order",
            "[\"forward\", \"update\", \"backward\"]",
            Wrong,
            Some("the first 1 are in place"),
        ),
        ("order", "[\"update\", \"forward\", \"backward\"]", Wrong, None),
        ("order", "[\"forward\"]", Malformed, Some("each once")),
        ("order", "[\"forward\", \"forward\", \"update\"]", Malformed, Some("each once")),
        ("list", "[2, 4, 8]", Right, None),
        ("list", "\"2, 2^2, 2^3\"", Right, None),
        ("list", "[2.4, 4, 8]", Right, None),
        ("list", "[1, 2, 4]", Wrong, Some("Begin with two.")),
        ("list", "[2, 4, 9]", Wrong, Some("the first 2 are right")),
        ("list", "[2, 4]", Malformed, Some("3 numbers are asked for, and these are 2")),
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
        question.grade(&Answer::One(given.into()), &LessonEnv::new(), &registry()).verdict
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
        let wanted = if right { Verdict::Right } else { Verdict::Wrong };
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
    for text in ["", "_1", "1_", "1__0", "x", "\"a\"", "1 < 2", "nan", "1e999", "1,000", "2x"] {
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
    assert_eq!([count("choice"), count("multiple"), count("match"), count("order")], [3, 3, 3, 3]);
    let mut firsts = std::collections::BTreeSet::new();
    for name in 0..40 {
        let text = format!(
            "{{question}} q{name}\ntype = \"order\"\nprompt = \"?\"\nanswer = [\"a\", \"b\"]"
        );
        let lesson = self::lesson(&text);
        let shown = lesson.questions().next().unwrap().shown_choices(&lesson.front.id);
        assert_eq!(shown, ["b", "a"]);
        let text = format!(
            "{{question}} q{name}\ntype = \"choice\"\nprompt = \"?\"\nanswer = \"a\"\nwrong = [{{ value = \"b\", say = \"n\" }}]"
        );
        let lesson = self::lesson(&text);
        firsts.insert(
            lesson.questions().next().unwrap().shown_choices(&lesson.front.id)[0].to_owned(),
        );
    }
    assert_eq!(firsts.len(), 2, "the right choice is not always at one place");
}
