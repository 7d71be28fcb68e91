//! Questions with numbers of the learner's own: their draws, their instances, and what is wrong with them.

use std::collections::BTreeSet;

use mlsys_lesson::{
    Answer, Key, Lesson, LessonEnv, QuestionKind, Sheet, Verdict, parse, question_text,
    read_translation, skeleton, spoilers, variants, withheld,
};

use mlsys_view::panel::texts;

use crate::support::{course, found, lesson, registry, with_body};

fn sheet(salt: &str, learner: &str) -> Sheet {
    Sheet { salt: salt.to_owned(), learner: learner.parse().unwrap() }
}

const SIZE: &str = r#"{question} size
type = "numeric"
prompt = "Bytes of {n} by {n} numbers of {bits} bits, in {{brackets}}?"
vary = { n = [512, 768, 1024, 1536], bits = [32, 16] }
answer = "n^2 * bits / 8"
unit = "bytes"
hints = ["{n} * {n} numbers of {bits / 8} bytes."]
explain = "{n^2 * bits / 8} bytes."
[[wrong]]
value = "n^2 * bits"
say = "{n^2 * bits} are bits.""#;

fn verdict(lesson: &Lesson, question: &str, given: &str) -> (Verdict, Option<String>) {
    let question = lesson.question(question).unwrap();
    let grade = question.grade(&Answer::One(given.to_owned()), &LessonEnv::new(), &registry());
    (grade.verdict, grade.feedback)
}

#[test]
fn the_draw_is_the_same_in_every_version() {
    let lesson = lesson(SIZE);
    let drawn = |salt: &str, learner: &str| {
        let own = lesson.drawn(&sheet(salt, learner));
        own.question("size").unwrap().variants.as_ref().unwrap().drawn.clone()
    };
    let pinned = [
        ("", "ann@example.org", [1536.0, 32.0]),
        ("", "ben@example.org", [1536.0, 32.0]),
        ("2027", "ann@example.org", [1536.0, 32.0]),
        ("2027", "ben@example.org", [1536.0, 16.0]),
        ("2027", "Zoë", [512.0, 32.0]),
    ];
    for (salt, learner, values) in pinned {
        assert_eq!(drawn(salt, learner), values, "{salt} {learner}");
    }
    // Every value is drawn about as often as the others.
    let mut counts = [0; 4];
    for learner in 0..4000 {
        let values = drawn("s", &format!("student{learner}"));
        counts[[512.0, 768.0, 1024.0, 1536.0].iter().position(|x| *x == values[0]).unwrap()] += 1;
    }
    assert!(counts.iter().all(|count| (850..1150).contains(count)), "{counts:?}");
}

#[test]
fn texts_and_answers_have_the_drawn_numbers() {
    let printed = lesson(SIZE);
    let question = printed.question("size").unwrap();
    assert_eq!(question.prompt, "Bytes of 512 by 512 numbers of 32 bits, in {brackets}?");
    assert_eq!(question.hints, ["512 * 512 numbers of 4 bytes."]);
    assert_eq!(question.explain.as_deref(), Some("1048576 bytes."));
    assert_eq!(verdict(&printed, "size", "1048576").0, Verdict::Right);
    let told = (Verdict::Wrong, Some("8388608 are bits.".to_owned()));
    assert_eq!(verdict(&printed, "size", "8388608"), told);
    for learner in 0..20 {
        let own = printed.drawn(&sheet("", &learner.to_string()));
        let question = own.question("size").unwrap();
        let [n, bits] = question.variants.as_ref().unwrap().drawn[..] else { panic!() };
        assert_eq!(
            question.prompt,
            format!("Bytes of {n} by {n} numbers of {bits} bits, in {{brackets}}?")
        );
        let right = n * n * bits / 8.0;
        assert_eq!(verdict(&own, "size", &right.to_string()).0, Verdict::Right);
        let others = verdict(&own, "size", "1048576").0 == Verdict::Right;
        assert_eq!(others, right == 1_048_576.0);
        let told = (Verdict::Wrong, Some(format!("{} are bits.", n * n * bits)));
        assert_eq!(verdict(&own, "size", &(n * n * bits).to_string()), told);
        // A drawn lesson is drawn anew, and nothing else in it changes.
        assert_eq!(own.drawn(&sheet("", "x")), printed.drawn(&sheet("", "x")));
        assert_eq!(own.fingerprint(), printed.fingerprint());
        assert_eq!(question_text(&own), question_text(&printed));
        assert_eq!(withheld(&own), withheld(&printed));
    }
}

#[test]
fn choices_and_settings_have_the_drawn_numbers() {
    let lesson = lesson(
        "{question} pick\ntype = \"choice\"\nprompt = \"Twice {n}?\"\nvary = { n = [3, 5] }\n\
         answer = \"{2 * n}\"\n[[wrong]]\nvalue = \"{n^2}\"\nsay = \"{n} * {n}\"\n```\n\
         ```{question} slope\ntype = \"expression\"\nprompt = \"{n} at x = {at}\"\nlab = \"graph\"\n\
         vary = { n = [6, 10], at = [2, 2.5] }\nset = { x = \"{at}\" }\naccept = \"answer.value == n\"\n\
         answer = \"{n / at} * x\"",
    );
    for learner in 0..10 {
        let own = lesson.drawn(&sheet("", &learner.to_string()));
        let pick = own.question("pick").unwrap();
        let n = pick.variants.as_ref().unwrap().drawn[0];
        assert_eq!(verdict(&own, "pick", &(2.0 * n).to_string()).0, Verdict::Right);
        let told = (Verdict::Wrong, Some(format!("{n} * {n}")));
        assert_eq!(verdict(&own, "pick", &(n * n).to_string()), told);
        let slope = own.question("slope").unwrap();
        let [n, at] = slope.variants.as_ref().unwrap().drawn[..] else { panic!() };
        assert_eq!(verdict(&own, "slope", &format!("{n} + 0*x")).0, Verdict::Right);
        assert_eq!(verdict(&own, "slope", &format!("{} * x", n / at)).0, Verdict::Right);
        assert_eq!(verdict(&own, "slope", &format!("{n} * x")).0, Verdict::Wrong);
    }
    assert_eq!(variants(&lesson, &registry(), &texts), []);
}

#[test]
fn a_lesson_without_answers_has_the_same_numbers() {
    let whole = lesson(SIZE);
    let text = withheld(&whole);
    let given = parse("t.md", &text).lesson.unwrap();
    assert!(!text.contains("n^2"), "{text}");
    let key = Key::new(mlsys_lesson::CourseId::built_in(), [&whole]);
    for learner in ["ann", "ben", "cy"] {
        let (own, theirs) = (whole.drawn(&sheet("s", learner)), given.drawn(&sheet("s", learner)));
        let (own, theirs) = (own.question("size").unwrap(), theirs.question("size").unwrap());
        assert_eq!((&own.prompt, &own.hints), (&theirs.prompt, &theirs.hints));
        assert!(theirs.kind.is_withheld());
    }
    let complete = parse("t.md", &key.complete(&given).unwrap()).lesson.unwrap();
    assert_eq!(complete.question("size"), whole.question("size"));
    let drawn = given.drawn(&sheet("s", "ann"));
    assert_eq!(key.complete(&drawn).unwrap(), complete.source.text);
}

#[test]
fn translations_show_the_drawn_numbers() {
    let original = lesson(SIZE);
    let text = skeleton(&original, "fr").replace("Bytes of {n} by", "Octets de {n} sur");
    let own = original.drawn(&sheet("", "ann"));
    let read = read_translation("t.fr.md", text.as_bytes(), &own);
    assert_eq!(read.diagnostics, []);
    let (own, translated) = (own.question("size").unwrap(), read.lesson.unwrap());
    let translated = translated.question("size").unwrap();
    assert_eq!(
        translated.prompt,
        own.prompt.replace("Bytes of", "Octets de").replace(" by ", " sur ")
    );
    assert_eq!(translated.kind, own.kind);
    let text = text.replace("{n} sur", "{m} sur");
    let read = read_translation("t.fr.md", text.as_bytes(), &original);
    let told: Vec<_> = read.diagnostics.iter().map(|d| d.message.as_str()).collect();
    assert_eq!(told, ["`{m}`: nothing is called `m`"]);
}

#[test]
fn mistakes_have_their_places() {
    let question = |lines: &str| {
        let head = "```{question} q\ntype = \"numeric\"\nprompt = \"{n} or {n + 1}?\"\n";
        with_body(&format!("{head}{lines}\n```\n"))
    };
    for (lines, expected) in [
        ("vary = { n = [3, 5] }\nanswer = \"n\"", vec![]),
        ("vary = { n = [3] }\nanswer = \"n\"", vec![("bad-value", 10, 10)]),
        ("vary = { n = [3, 5, 3] }\nanswer = \"n\"", vec![("bad-value", 10, 10)]),
        ("vary = { n = [3, 5], m = [1, 2] }\nanswer = \"n\"", vec![("bad-value", 10, 22)]),
        ("vary = { i = [3, 5] }\nanswer = \"1\"", vec![("bad-value", 10, 10)]),
        ("vary = { n = [3, 5] }\nanswer = \"2 * m\"", vec![("unknown-name", 11, 15)]),
        // A wrong entry is told at its place alone, not where its name is used.
        ("vary = { n = 3 }\nanswer = \"n\"", vec![("wrong-type", 10, 14)]),
        ("vary = { n = [3, 5], m = [] }\nanswer = \"n * m\"", vec![("wrong-type", 10, 26)]),
        ("vary = 7\nanswer = \"n\"", vec![("wrong-type", 10, 8)]),
        ("vary = { n = [3, 5] }\nanswer = \"n\"\nhints = [\"{m}\"]", vec![("expression", 12, 11)]),
        (
            "vary = { n = [3, 5] }\nanswer = \"n\"\nhints = [\"two {n\"]",
            vec![("expression", 12, 15)],
        ),
        (
            "vary = { n = [3, 5] }\nanswer = \"n\"\nexplain = \"a } b\"",
            vec![("expression", 12, 14)],
        ),
    ] {
        assert_eq!(found(&question(lines)), expected, "{lines}");
    }
}

#[test]
fn every_draw_is_a_good_question() {
    let told = |lines: &str| {
        let text = format!("{{question}} q\ntype = \"numeric\"\n{lines}");
        let lesson = lesson(&text);
        let problems = variants(&lesson, &registry(), &texts).into_iter();
        let problems = problems.chain(spoilers(&lesson, &registry(), &texts));
        problems.map(|d| (d.line, d.column, d.message)).collect::<Vec<_>>()
    };
    let one = |line, column, message: &str| vec![(line, column, message.to_owned())];
    assert_eq!(told("prompt = \"{n}\"\nvary = { n = [3, 5, 7] }\nanswer = \"n\""), []);
    assert_eq!(
        told("prompt = \"{n}\"\nvary = { n = [3, 5, 1] }\nanswer = \"1 / (n - 1)\""),
        one(11, 11, "with n = 1, `1 / (1 - 1)` has no value: division by zero, in `(1 - 1)`")
    );
    let mistaken = "prompt = \"{n}\"\nvary = { n = [3, 5, 2] }\nanswer = \"n^2\"\n\
                    [[wrong]]\nvalue = \"2 * n\"\nsay = \"no\"";
    assert_eq!(
        told(mistaken),
        one(13, 10, "with n = 2, this wrong answer of `q`, 4.0, is accepted as right")
    );
    let near = "prompt = \"{n}\"\nvary = { n = [100, 101, 102, 300] }\nanswer = \"n\"\n\
                tolerance = { rel = 0.05 }";
    assert_eq!(
        told(near),
        one(
            10,
            10,
            "the printed answer of `q` is right for 2 of 3 other draws, such as with n = 101"
        )
    );
    let after = "prompt = \"{n}\"\nvary = { n = [111, 444, 777] }\nanswer = \"2 * n\"\n```\n\
                 666 comes next.\n```{question} r\ntype = \"numeric\"\nprompt = \"{n}\"\n\
                 vary = { n = [10, 333, 111] }\nanswer = \"2 * n\"";
    assert_eq!(
        told(after),
        one(
            13,
            1,
            "`666` in the text gives the answer of `r` with n = 333, which is asked for in line 14"
        )
    );
    let asked = "prompt = \"{n}\"\nvary = { n = [111, 222, 333] }\nanswer = \"2 * n\"\n```\n\
                 ```{question} r\ntype = \"numeric\"\nprompt = \"{n}\"\n\
                 vary = { n = [10, 111, 20, 30] }\nanswer = \"2 * n\"";
    let found = told(asked);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].2.contains("gives the answer of `r` with n = 111"), "{found:?}");
}

#[test]
fn the_course_has_a_sheet_for_each_learner() {
    let course = course();
    let mut sheets = BTreeSet::new();
    for learner in 0..200 {
        let sheet = sheet("", &format!("s{learner:05}@example.org"));
        let own: Vec<Lesson> = course.iter().map(|lesson| lesson.drawn(&sheet)).collect();
        let prompts =
            own.iter().flat_map(|lesson| lesson.questions().map(|one| one.prompt.clone()));
        assert!(sheets.insert(prompts.collect::<Vec<_>>()), "learner {learner}");
    }
}

#[test]
fn at_least_half_of_the_course_s_numbers_vary() {
    let course = course();
    let numeric = || {
        let questions = course.iter().flat_map(Lesson::questions);
        questions.filter(|question| matches!(question.kind, QuestionKind::Numeric { .. }))
    };
    let vary = numeric().filter(|question| question.variants.is_some()).count();
    assert!(2 * vary >= numeric().count(), "{vary} of {}", numeric().count());
}

#[test]
fn every_draw_of_the_course_is_a_good_question() {
    let registry = mlsys_lab::Registry::on_demand(mlsys_analytic::labs());
    let mut told = Vec::new();
    for lesson in course() {
        let problems = variants(&lesson, &registry, &texts)
            .into_iter()
            .chain(spoilers(&lesson, &registry, &texts));
        told.extend(problems.map(|problem| problem.to_string()));
    }
    assert!(told.is_empty(), "{}", told.join("\n"));
}
