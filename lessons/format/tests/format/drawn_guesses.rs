//! Predictions, tries and checks that name the numbers of labs and questions above them.

use mlsys_lab::RunData;
use mlsys_lesson::{
    Answer, CheckOutcome, Lesson, LessonEnv, PredictKind, Sheet, read_translation, skeleton,
    variants,
};
use mlsys_view::panel::texts;

use crate::support::{found, lesson, registry, with_body};

fn sheet(learner: &str) -> Sheet {
    Sheet { salt: "s".to_owned(), learner: learner.parse().unwrap() }
}

const LESSON: &str = r#"{question} size
type = "numeric"
prompt = "{n} squared?"
vary = { n = [3, 5, 7] }
answer = "n^2"
```
```{lab} run
kind = "graph"
set = { expression = "x^2" }
vary = { x = "size.n" }
[knob.x]
min = 1
max = 99
```
```{predict} guess
type = "numeric"
prompt = "What is the square of {x}, in {{braces}}?"
vary = { x = "run.x" }
metric = "run.value"
theory = "x^2"
explain = "It is {x} times {x}, {x^2}."
[[outcome]]
when = "run.value == x^2"
say = "{x^2}, as it should."
```
```{predict} pick
type = "choice"
prompt = "Which?"
vary = { x = "run.x" }
choices = ["{x}", "{x + 1}"]
answer = "{x + 1}"
```
```{check} holds
assert = "run.value == n^2"
vary = { n = "size.n" }
why = "The square of {n}.""#;

fn told(text: &str) -> Vec<(usize, usize, String)> {
    let problems = variants(&lesson(text), &registry(), &texts).into_iter();
    problems.map(|one| (one.line, one.column, one.message)).collect()
}

/// What each learner sees of the prediction, its options and the check.
fn shown(lesson: &Lesson) -> [String; 4] {
    let predict = lesson.predictions().next().unwrap();
    let PredictKind::Choice { choices } = &lesson.predictions().nth(1).unwrap().kind else {
        panic!()
    };
    let check = lesson.checks().next().unwrap();
    [
        predict.prompt.clone(),
        predict.explain.clone().unwrap(),
        choices.join(" "),
        format!("{}: {}", check.assert.source, check.why.clone().unwrap()),
    ]
}

#[test]
fn texts_and_expressions_have_the_learner_s_numbers() {
    let printed = lesson(LESSON);
    let expected = |n: i64| {
        [
            format!("What is the square of {n}, in {{braces}}?"),
            format!("It is {n} times {n}, {}.", n * n),
            format!("{n} {}", n + 1),
            format!("run.value == {n}^2: The square of {n}."),
        ]
    };
    assert_eq!(shown(&printed), expected(3));
    let mut seen = Vec::new();
    for learner in 0..30 {
        let own = printed.drawn(&sheet(&learner.to_string()));
        let n = own.question("size").unwrap().variants.as_ref().unwrap().drawn[0];
        assert_eq!(shown(&own), expected(n as i64));
        let pick = own.predictions().nth(1).unwrap();
        let right = pick.compare(&Answer::One(format!("{}", n + 1.0)), &LessonEnv::new());
        assert!(right.unwrap().statement.starts_with("Right"));
        seen.push(n as i64);
    }
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen, [3, 5, 7]);
    for draw in printed.lab_draws(&["run"].into()).unwrap() {
        let x = draw.lab("run").unwrap().set.iter().find(|one| one.name == "x").unwrap();
        assert_eq!(shown(&draw), expected(x.value.as_f64().unwrap() as i64));
    }
    assert_eq!(told(LESSON), []);
}

#[test]
fn every_draw_is_looked_at() {
    let message = |text: &str| {
        told(text)
            .into_iter()
            .next()
            .map(|(line, column, message)| format!("{line}:{column} {message}"))
    };
    // The lab runs with the number that the check and the prediction name.
    let wrong = LESSON.replace("run.value == n^2\"\nvary", "run.value == n^2 and n < 6\"\nvary");
    let fails = message(&wrong).unwrap();
    assert!(fails.contains("with run.x = 7, the check `holds` fails"), "{fails}");
    let bounded = LESSON.replace("theory = \"x^2\"", "theory = \"x^2\"\nmax = 30");
    let outside = message(&bounded).unwrap();
    assert!(outside.contains("with run.x = 7, what `guess` is held against is 49"), "{outside}");
    let empty = LESSON.replace("{x^2}, as it should", "{1 / (x - 5)}, as it should");
    let unshown = message(&empty).unwrap();
    assert!(unshown.contains("with x = 5, `{1 / (x - 5)}`: division by zero"), "{unshown}");
    // A question's number alone, without a lab.
    let alone = "{question} size\ntype = \"numeric\"\nprompt = \"{n} squared?\"\nvary = { n = [3, 5] }\nanswer = \"n^2\"\n```\n\
        ```{predict} guess\ntype = \"numeric\"\nprompt = \"{n}\"\nvary = { n = \"size.n\" }\nanswer = \"n\"\nmax = 4";
    assert!(message(alone).unwrap().contains("with n = 5, what `guess` is held against is 5"));
}

#[test]
fn a_translation_has_the_numbers_too() {
    let whole = lesson(LESSON);
    let text = skeleton(&whole, "fr").replace("What is the square of {x}", "Le carré de {x}");
    assert!(text.contains("{x^2}") && text.contains("The square of {n}."), "{text}");
    let own = whole.drawn(&sheet("ann"));
    let read = read_translation("t.fr.md", text.as_bytes(), &own).lesson.unwrap();
    let n = own.question("size").unwrap().variants.as_ref().unwrap().drawn[0];
    assert_eq!(shown(&read)[0], format!("Le carré de {n}, in {{braces}}?"));
    assert_eq!(shown(&read)[3], shown(&own)[3]);
    let bad = text.replace("Le carré de {x}", "Le carré de {y}");
    let told = read_translation("t.fr.md", bad.as_bytes(), &own).diagnostics;
    assert!(told.iter().any(|one| one.message.contains("`{y}`")), "{told:?}");
}

#[test]
fn a_number_that_is_not_named_is_told_where_it_stands() {
    let of = |directive: &str| {
        found(&with_body(&format!(
            "```{{question}} size\ntype = \"numeric\"\nprompt = \"{{n}}?\"\nvary = {{ n = [3, 5] }}\nanswer = \"n\"\n```\n\
             ```{{lab}} run\nkind = \"graph\"\n```\n```{directive}\n```\n"
        )))
    };
    let guess =
        |lines: &str| format!("{{predict}} p\ntype = \"numeric\"\nmetric = \"run.value\"\n{lines}");
    for (directive, expected) in [
        (guess("prompt = \"And {n}?\""), vec![("unknown-name", 19, 15)]),
        (guess("prompt = \"And {2 * n}?\""), vec![("unknown-name", 19, 15)]),
        (guess("prompt = \"And {n}?\"\nvary = { n = \"size.n\" }"), vec![]),
        // Braces around anything else are braces.
        (guess("prompt = \"And {m}, {} and { 1 }?\""), vec![]),
        (guess("prompt = \"?\"\nvary = { n = \"size.n\" }"), vec![("bad-value", 20, 10)]),
        (
            guess("prompt = \"{m}\"\nvary = { n = \"size.n\" }"),
            vec![("expression", 19, 11), ("bad-value", 20, 10)],
        ),
        (guess("prompt = \"{n}\"\nvary = { n = \"sise.n\" }"), vec![("unknown-name", 20, 14)]),
        (guess("prompt = \"{n}\"\nvary = { n = \"size.m\" }"), vec![("unknown-name", 20, 14)]),
        (
            "{check} c\nassert = \"run.value > 0\"\nwhy = \"More than {n}.\"".to_owned(),
            vec![("unknown-name", 18, 18)],
        ),
        ("{check} c\nassert = \"run.value > n\"".to_owned(), vec![("unknown-name", 17, 23)]),
        ("{check} c\nassert = \"run.value > n\"\nvary = { n = \"size.n\" }".to_owned(), vec![]),
        (
            "{check} c\nassert = \"run.value > n + m\"\nvary = { n = \"size.n\" }".to_owned(),
            vec![("unknown-name", 17, 27)],
        ),
        (
            "{question} q\ntype = \"numeric\"\nprompt = \"{n}?\"\nanswer = 1".to_owned(),
            vec![("unknown-name", 18, 11)],
        ),
    ] {
        assert_eq!(of(&directive), expected, "{directive}");
    }
}

#[test]
fn a_check_is_decided_with_the_learner_s_number() {
    let printed = lesson(LESSON);
    let registry = registry();
    let schema = registry.find("graph").unwrap().schema();
    for learner in 0..10 {
        let own = printed.drawn(&sheet(&learner.to_string()));
        let n = own.question("size").unwrap().variants.as_ref().unwrap().drawn[0];
        let mut data = RunData::default();
        data.apply(mlsys_lab::Report::Scalar { name: "value".into(), value: (n * n).into() });
        let env = LessonEnv::new().with_run("run", schema, &data);
        assert_eq!(own.checks().next().unwrap().evaluate(&env), CheckOutcome::Passed);
    }
}
