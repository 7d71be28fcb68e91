//! What a lesson says of itself: its own answers, its width, and the lesson that authors start from.

use mlsys_lesson::{LessonEnv, new_lesson, overflow, parse, read, self_test};

use crate::support::{everything, lesson, registry};

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
        let lesson = parsed.lesson.unwrap_or_else(|| panic!("{}", told.join("\n")));
        assert_eq!(told, [""; 0]);
        assert_eq!(lesson.front.title, title);
        assert_eq!(self_test(&lesson, &LessonEnv::unrun(&lesson), &registry), []);
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
fn too_wide_code_and_tables_are_reported() {
    let wide = "x".repeat(77);
    let front = "+++\nformat = 1\nid = \"a/b\"\ntitle = \"t\"\nminutes = 1\n+++\n\n";
    let text = format!("{front}{wide}\n\n```\nok\n{wide}\n```\n\n| {wide} |\n");
    let lesson = parse("t.md", &text).lesson.unwrap();
    let found: Vec<_> =
        overflow(&lesson).iter().map(|d| (d.code.name(), d.line, d.is_error())).collect();
    assert_eq!(found, [("overflow", 12, false), ("overflow", 15, false)]);
}

#[test]
fn a_lesson_adds_terms_to_the_glossary_and_gives_each_name_once() {
    let lesson = |terms: &str| {
        format!(
            "+++\nformat = 1\nid = \"m/l\"\ntitle = \"T\"\nminutes = 1\n{terms}\n+++\n# T\n\nText.\n"
        )
    };
    let term =
        |name: &str, about: &str| format!("[[term]]\nname = \"{name}\"\nabout = \"{about}\"\n");
    let registry = registry();
    let read = |text: String| read("l.md", text.as_bytes(), &registry);
    let good = read(lesson(&format!("{}aliases = [\"b\"]\n", term("a", "First."))));
    let front = good.lesson.unwrap().front;
    assert_eq!((front.terms[0].name.as_str(), front.terms[0].aliases.len()), ("a", 1));
    let codes = |text: String| {
        let parsed = read(text);
        parsed.diagnostics.iter().map(|d| d.code.name()).collect::<Vec<_>>()
    };
    assert_eq!(codes(lesson(&(term("a", "One.") + &term("A", "Two.")))), ["duplicate-id"]);
    assert_eq!(codes(lesson(&term("a", &"x".repeat(301)))), ["bad-value"]);
    assert_eq!(codes(lesson("[[term]]\nname = \"a\"\n")), ["missing-key"]);
}
