//! Labs with settings of the learner's own, and questions that follow them.

use std::collections::BTreeSet;

use mlsys_lab::params::Given;
use mlsys_lesson::{
    Key, KnownNames, Lesson, LessonEnv, Sheet, parse, read_translation, skeleton, spoilers,
    variants, withheld,
};
use mlsys_view::panel::texts;

use crate::support::{found, lesson, registry, with_body};

fn sheet(learner: &str) -> Sheet {
    Sheet { salt: "s".to_owned(), learner: learner.parse().unwrap() }
}

const LESSON: &str = r#"{lab} run
kind = "graph"
set = { expression = "x^2" }
vary = { x = [3, 5, 8.5] }
[knob.x]
min = 1
max = 9
```
```{lab} other
kind = "graph"
set = { expression = "2 * x" }
vary = { x = "run.x" }
```
```{question} twice
type = "numeric"
prompt = "Twice {n} plus {k}?"
vary = { n = "run.x", k = [1, 2] }
answer = "2 * n + k"
```
```{question} square
type = "numeric"
prompt = "What does `run` give?"
answer = "run.value"
```
```{check} holds
assert = "run.value > other.value""#;

fn setting(lesson: &Lesson, lab: &str, param: &str) -> f64 {
    let settings = lesson.lab(lab).unwrap().settings();
    let given = settings.iter().find(|(name, _)| *name == param).map(|(_, given)| given);
    let Some(Given::Value(value)) = given else { panic!("{param} is not set") };
    value.as_f64().unwrap()
}

fn drawn(lesson: &Lesson, question: &str) -> Vec<f64> {
    lesson.question(question).unwrap().variants.as_ref().unwrap().drawn.clone()
}

fn told(text: &str) -> Vec<(usize, usize, String)> {
    let problems = variants(&lesson(text), &registry(), &texts).into_iter();
    problems.map(|one| (one.line, one.column, one.message)).collect()
}

#[test]
fn labs_and_questions_share_a_draw() {
    let printed = lesson(LESSON);
    assert_eq!((setting(&printed, "run", "x"), setting(&printed, "other", "x")), (3.0, 3.0));
    assert_eq!(printed.question("twice").unwrap().prompt, "Twice 3 plus 1?");
    let mut seen = Vec::new();
    for learner in 0..40 {
        let own = printed.drawn(&sheet(&learner.to_string()));
        let x = setting(&own, "run", "x");
        let numbers = drawn(&own, "twice");
        assert_eq!((setting(&own, "other", "x"), numbers[0]), (x, x));
        assert_eq!(own.drawn(&sheet("a")), printed.drawn(&sheet("a")));
        if !seen.contains(&numbers) {
            seen.push(numbers);
        }
    }
    assert_eq!(seen.len(), 6, "{seen:?}");
    assert_eq!(told(LESSON), []);
    // The number does not depend on what else the lesson draws.
    let alone = LESSON.replace("{ n = \"run.x\", k = [1, 2] }", "{ k = [1, 2], n = \"run.x\" }");
    assert_eq!(setting(&lesson(&alone).drawn(&sheet("ann")), "run", "x"), {
        setting(&printed.drawn(&sheet("ann")), "run", "x")
    });
}

#[test]
fn a_lab_shows_the_number_of_the_question_above_it() {
    let asked = "{question} q\ntype = \"numeric\"\nprompt = \"{n} squared?\"\nvary = { n = [3, 5, 7] }\n\
                 answer = \"n^2\"\n```\n```{lab} run\nkind = \"graph\"\n\
                 set = { expression = \"x^2\" }\nvary = { x = \"q.n\" }\n```\n\
                 ```{check} same\nassert = \"run.value < 50\"";
    let printed = lesson(asked);
    assert_eq!(setting(&printed, "run", "x"), 3.0);
    let numbers = (0..30).map(|learner| {
        let own = printed.drawn(&sheet(&learner.to_string()));
        assert_eq!(drawn(&own, "q"), [setting(&own, "run", "x")]);
        setting(&own, "run", "x")
    });
    let numbers: BTreeSet<u64> = numbers.map(|x| x as u64).collect();
    assert_eq!(numbers.into_iter().collect::<Vec<_>>(), [3, 5, 7]);
    assert_eq!(told(asked), []);
    let fails =
        (19, 11, "with run.x = 7, the check `same` fails: run.value = 49 computed, wanted < 40");
    let (line, column, message) = fails;
    assert_eq!(told(&asked.replace("< 50", "< 40")), [(line, column, message.to_owned())]);
}

#[test]
fn the_first_lab_is_on_the_screen_before_the_questions_above_it() {
    let asked = "{question} q\ntype = \"numeric\"\nprompt = \"{n} squared?\"\nvary = { n = [15, 25, 35] }\n\
                 answer = \"n^2\"\n```\n```{lab} run\nkind = \"graph\"\n\
                 set = { expression = \"x^2\" }\nvary = { x = \"q.n\" }\nmetrics = [\"value\"]";
    let found = spoilers(&lesson(asked), &registry(), &texts);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].message.contains("answer of `q`"), "{found:?}");
    // Another lab above is the one on the screen.
    let above = format!("{{lab}} other\nkind = \"graph\"\n```\n```{asked}");
    assert_eq!(spoilers(&lesson(&above), &registry(), &texts), []);
}

#[test]
fn a_lesson_without_answers_and_a_translation_follow_the_lab() {
    let whole = lesson(LESSON);
    let text = withheld(&whole);
    assert!(text.contains("\"n\" = \"run.x\""), "{text}");
    let given = parse("t.md", &text).lesson.unwrap();
    let key = Key::new(mlsys_lesson::CourseId::built_in(), [&whole]);
    let translation = skeleton(&whole, "fr").replace("Twice {n}", "Deux fois {n}");
    for learner in ["ann", "ben", "cy"] {
        let (own, theirs) = (whole.drawn(&sheet(learner)), given.drawn(&sheet(learner)));
        assert_eq!(own.lab("run"), whole.drawn(&sheet(learner)).lab("run"));
        assert_eq!(setting(&own, "run", "x"), setting(&theirs, "run", "x"));
        assert_eq!(own.question("twice").unwrap().prompt, theirs.question("twice").unwrap().prompt);
        assert_eq!(key.complete(&theirs).unwrap(), whole.source.text);
        let read = read_translation("t.fr.md", translation.as_bytes(), &own).lesson.unwrap();
        let prompt = own.question("twice").unwrap().prompt.replace("Twice", "Deux fois");
        assert_eq!(read.question("twice").unwrap().prompt, prompt);
        assert_eq!(setting(&read, "run", "x"), setting(&own, "run", "x"));
    }
}

#[test]
fn values_of_labs_are_those_of_the_learner_s_numbers() {
    let printed = lesson(LESSON);
    let known = KnownNames::for_lesson(&printed, &LessonEnv::unrun(&printed));
    assert_eq!(known.labs().into_iter().collect::<Vec<_>>(), ["run"]);
    let draws = printed.lab_draws(&known.labs()).unwrap();
    let xs: Vec<f64> = draws.iter().map(|draw| setting(draw, "run", "x")).collect();
    assert_eq!(xs, [3.0, 5.0, 8.5]);
    for (at, draw) in draws.iter().enumerate() {
        assert_eq!(drawn(draw, "twice")[0], xs[at]);
        let known = KnownNames::for_lesson(draw, &LessonEnv::unrun(draw));
        let fitting = draws.iter().filter(|one| known.fits(one)).count();
        assert!(known.fits(draw) && fitting == 1, "{at}");
    }
    let covering = printed.covering_lab_draws();
    let xs: Vec<f64> = covering.iter().map(|draw| setting(draw, "other", "x")).collect();
    assert_eq!(xs, [5.0, 8.5]);
}

#[test]
fn mistakes_have_their_places() {
    let lab = |lines: &str| with_body(&format!("```{{lab}} run\nkind = \"train\"\n{lines}\n```\n"));
    for (lines, expected) in [
        ("vary = { width = [8, 16] }", vec![]),
        ("vary = { width = [8, 16] }\n[knob.width]", vec![]),
        ("vary = { wdith = [8, 16] }", vec![("unknown-param", 9, 10)]),
        ("vary = { width = [8, 100000] }", vec![("bad-param", 9, 18)]),
        ("vary = { width = [0, 8] }", vec![("bad-param", 9, 18)]),
        ("vary = { width = [8, 8.5] }", vec![("bad-param", 9, 18)]),
        ("vary = { width = [] }", vec![("wrong-type", 9, 18)]),
        ("vary = { width = [8] }", vec![("bad-value", 9, 10)]),
        ("vary = { width = [8, 8] }", vec![("bad-value", 9, 10)]),
        ("vary = { width = 8 }", vec![("wrong-type", 9, 18)]),
        ("vary = { width = \"n\" }", vec![("unknown-name", 9, 18)]),
        ("vary = { width = [8, 16] }\nset = { width = 8 }", vec![("contradiction", 9, 10)]),
        ("vary = { width = [8, 16] }\n[knob.width]\ndefault = 8", vec![("contradiction", 9, 10)]),
    ] {
        assert_eq!(found(&lab(lines)), expected, "{lines}");
    }
    let question = |vary: &str| {
        with_body(&format!(
            "```{{lab}} run\nkind = \"graph\"\nvary = {{ x = [2, 3] }}\n```\n```{{lab}} fixed\nkind = \"graph\"\n```\n\
             ```{{question}} q\ntype = \"numeric\"\nprompt = \"{{n}}\"\nvary = {{ n = {vary} }}\nanswer = \"n\"\n```\n"
        ))
    };
    for (vary, expected) in [
        ("\"run.x\"", vec![]),
        ("\"run\"", vec![("unknown-name", 17, 14)]),
        ("\"run.y\"", vec![("unknown-name", 17, 14)]),
        ("\"rnu.x\"", vec![("unknown-name", 17, 14)]),
        ("\"fixed.x\"", vec![("unknown-name", 17, 14)]),
    ] {
        assert_eq!(found(&question(vary)), expected, "{vary}");
    }
    let told = |text: &str| {
        let parsed = parse("t.md", text).diagnostics;
        parsed.into_iter().map(|one| (one.message, one.help.unwrap())).collect::<Vec<_>>()
    };
    let one = |message: &str, help: &str| vec![(message.to_owned(), help.to_owned())];
    assert_eq!(
        told(&question("\"rnu.x\"")),
        one("no lab or question above is called `rnu`", "did you mean \"run.x\"?")
    );
    assert_eq!(told(&question("\"run.y\"")), one("`run` draws no `y`", "write \"run.x\""));
    assert_eq!(
        told(&question("\"fixed.x\"")),
        one("`fixed` draws no `x`", "give `fixed` numbers: vary = { x = [16, 64] }")
    );
}

#[test]
fn every_draw_is_a_good_lesson() {
    let lab = |set: &str, vary: &str, rest: &str| {
        format!(
            "{{lab}} run\nkind = \"graph\"\nset = {{ expression = \"{set}\" }}\nvary = {{ x = {vary} }}{rest}"
        )
    };
    let one = |line, column, message: &str| vec![(line, column, message.to_owned())];
    assert_eq!(told(&lab("x", "[2, 3]", "")), []);
    assert_eq!(
        told(&lab("1 / (x - 1)", "[2, 3, 1]", "")),
        one(
            10,
            10,
            "with run.x = 1, lab `run` does not run: parameter 'expression': division by zero"
        )
    );
    assert_eq!(
        told(&lab("x", "[2, 3, 7]", "\n[knob.x]\nmax = 5")),
        one(11, 7, "with run.x = 7, the knob `x` cannot stand at 7, a number of `vary`")
    );
    let check = "\n```\n```{check} low\nassert = \"run.value < 5\"";
    assert_eq!(
        told(&lab("x", "[2, 3, 7]", check)),
        one(13, 11, "with run.x = 7, the check `low` fails: run.value = 7 computed, wanted < 5")
    );
    let wrong = "\n```\n```{question} q\ntype = \"numeric\"\nprompt = \"The square?\"\nanswer = \"run.value\"\n\
                 [[wrong]]\nvalue = 49\nsay = \"no\"";
    assert_eq!(
        told(&lab("x^2", "[2, 3, 7]", wrong)),
        one(17, 9, "with run.x = 7, this wrong answer of `q`, 49.0, is accepted as right")
    );
    let near = "\n```\n```{question} q\ntype = \"numeric\"\nprompt = \"It?\"\nanswer = \"run.value\"\n\
                tolerance = { rel = 0.2 }\nshown = \"it is read off\"";
    assert_eq!(
        told(&lab("3 * x", "[100, 101, 102]", near)),
        one(
            12,
            1,
            "the printed answer of `q` is right for 2 of 2 other draws of the labs, such as with run.x = 101"
        )
    );
    let many: Vec<String> = (1..=101).map(|x| x.to_string()).collect();
    let asked =
        "\n```\n```{question} q\ntype = \"numeric\"\nprompt = \"It?\"\nanswer = \"run.value\"";
    assert_eq!(
        told(&lab("x", &format!("[{}]", many.join(", ")), asked)),
        one(
            15,
            11,
            "answers name metrics of labs that learners draw in more than 100 ways, each of which is a run"
        )
    );
}
