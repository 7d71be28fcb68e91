//! What a number can be: from metrics, units and the lesson itself.

use mlsys_lab::schema::Range;
use mlsys_lesson::{
    Answer, Grade, Lesson, LessonEnv, PredictKind, PredictionError, QuestionKind, Verdict, parse,
    read, self_test, withheld,
};

use crate::support::{registry, with_body};

const RUN: &str = "```{lab} run\nkind = \"train\"\n[knob.learning_rate]\n```\n\
                   ```{lab} occ\nkind = \"occupancy\"\n```\n";

/// A lesson with two labs, and a directive that begins on line 14.
fn lesson(directive: &str) -> Lesson {
    let text = with_body(&format!("{RUN}```{directive}\n```\n"));
    let parsed = read("t.md", text.as_bytes(), &registry());
    parsed.lesson.unwrap_or_else(|| panic!("{:?}", parsed.diagnostics))
}

fn predict(keys: &str) -> Lesson {
    lesson(&format!("{{predict}} p\ntype = \"numeric\"\nprompt = \"?\"\n{keys}"))
}

fn question(keys: &str) -> Lesson {
    lesson(&format!("{{question}} q\ntype = \"numeric\"\nprompt = \"?\"\n{keys}"))
}

fn range(lesson: &Lesson) -> Range {
    match &lesson.predictions().next().unwrap().kind {
        PredictKind::Numeric { bounds, .. } => bounds.range(),
        PredictKind::Choice { .. } => panic!("a choice"),
    }
}

#[test]
fn a_range_follows_from_the_metrics_of_an_expression() {
    let share = Range::SHARE;
    for (metric, range_of_it) in [
        ("run.hits", share),
        ("last(run.hits)", share),
        ("1 - run.hits", share),
        ("100 * run.hits", Range { min: 0.0, max: 100.0 }),
        ("-run.hits", Range { min: -1.0, max: 0.0 }),
        ("run.hits + occ.occupancy", Range { min: 0.0, max: 2.0 }),
        ("run.hits - occ.occupancy", Range { min: -1.0, max: 1.0 }),
        ("run.hits * occ.occupancy", share),
        ("run.hits / occ.occupancy", Range::AMOUNT),
        ("run.hits / 2", Range { min: 0.0, max: 0.5 }),
        ("run.hits^2", share),
        ("sqrt(occ.occupancy)", share),
        ("ln(occ.occupancy)", Range { min: f64::NEG_INFINITY, max: 0.0 }),
        ("abs(run.hits - 1)", share),
        ("min(run.hits, 0.5)", Range { min: 0.0, max: 0.5 }),
        ("max(run.hits, 0.5)", Range { min: 0.5, max: 1.0 }),
        ("run.hits > 0.5", share),
        ("round(run.parameters)", Range::AMOUNT),
        ("run.parameters - 7", Range { min: -7.0, max: f64::INFINITY }),
        ("run.seconds_per_step", Range::ALL),
        ("run.hits * run.seconds_per_step", Range::ALL),
        ("device.memory_bytes", Range::AMOUNT),
    ] {
        assert_eq!(range(&predict(&format!("metric = \"{metric}\""))), range_of_it, "{metric}");
    }
    // Of a difference the unit does not say the sign; of a number without metrics it does.
    let difference = "metric = \"run.seconds_per_step - 1\"\nunit = \"seconds\"";
    assert_eq!(range(&predict(difference)), Range::ALL);
    assert_eq!(range(&predict("answer = \"3 - 1\"\nunit = \"seconds\"")), Range::AMOUNT);
    // The one value of a constant expression is the answer.
    assert_eq!(range(&predict("answer = \"3 - 1\"")), Range::ALL);
    let stated = "metric = \"run.hits\"\nmin = 0.1\nmax = 2";
    assert_eq!(range(&predict(stated)), Range { min: 0.1, max: 2.0 });
}

#[test]
fn a_try_has_the_range_of_its_own_run() {
    let keys = "type = \"numeric\"\nprompt = \"?\"\nlab = \"run\"\nset = { learning_rate = 1.0 }";
    let attempt = lesson(&format!("{{try}} t\n{keys}\nmetric = \"1 - t.hits\""));
    assert_eq!(range(&attempt), Range::SHARE);
}

fn graded(lesson: &Lesson, given: &str) -> Grade {
    let question = lesson.question("q").unwrap();
    question.grade(&Answer::One(given.to_owned()), &LessonEnv::unrun(lesson), &registry())
}

#[test]
fn a_guess_outside_is_refused_in_a_sentence_and_a_percentage_is_a_share() {
    let (guess, named) = (predict("metric = \"run.hits\""), "unit = \"of all digits\"");
    let in_words = predict(&format!("metric = \"run.hits\"\n{named}"));
    for lesson in [&guess, &in_words] {
        let accepts = |given: &str| {
            let predict = lesson.predictions().next().unwrap();
            predict.accepts(&Answer::One(given.to_owned()))
        };
        for given in ["0", "1", "0.93", "93 %", "93%", "93 percent", "14/15"] {
            assert_eq!(accepts(given), Ok(()), "{given}");
        }
        for (given, told) in [
            ("93", "93 is outside of what this can be: 0 to 1; did you mean 93 %?"),
            ("-0.1", "-0.1 is outside of what this can be: 0 to 1"),
            ("130 %", "1.3 is outside of what this can be: 0 to 1; did you mean 1.3 %?"),
        ] {
            assert_eq!(accepts(given), Err(PredictionError::Malformed(told.to_owned())), "{given}");
        }
    }
}

#[test]
fn an_answer_outside_costs_nothing_unless_it_is_a_stated_mistake() {
    let wrong = "[[wrong]]\nvalue = 4\nsay = \"upside down\"";
    let asked = question(&format!("answer = 0.25\nmax = 1\nmin = 0\n{wrong}"));
    for (given, verdict, feedback) in [
        ("0.25", Verdict::Right, None),
        ("25 %", Verdict::Right, None),
        ("4", Verdict::Wrong, Some("upside down")),
        (
            "25",
            Verdict::Malformed,
            Some("25 is outside of what this can be: 0 to 1; did you mean 25 %?"),
        ),
        ("-1", Verdict::Malformed, Some("-1 is outside of what this can be: 0 to 1")),
    ] {
        let grade = graded(&asked, given);
        assert_eq!((grade.verdict, grade.feedback.as_deref()), (verdict, feedback), "{given}");
    }
    // What cannot be is told before the run is made that the answer depends on.
    let of_a_run = question("answer = \"run.hits\"");
    let feedback = |given: &str| graded(&of_a_run, given).feedback.unwrap();
    assert!(feedback("7").starts_with("7 is outside of what this can be: 0 to 1"));
    assert!(feedback("0.7").starts_with("this cannot be graded yet"));
    // The tolerance of a right answer at an end of the range holds.
    let whole = question("answer = 1\nmax = 1\ntolerance = { rel = 0.01 }");
    assert_eq!(graded(&whole, "1.005").verdict, Verdict::Right);
    assert_eq!(graded(&whole, "1.02").verdict, Verdict::Malformed);
}

#[test]
fn each_number_of_a_list_has_a_range_of_its_own() {
    let keys = "type = \"list\"\nprompt = \"?\"\nanswer = [\"occ.occupancy\", \"-7\"]";
    let asked = lesson(&format!("{{question}} q\n{keys}"));
    let QuestionKind::List { bounds, .. } = &asked.question("q").unwrap().kind else { panic!() };
    let ranges: Vec<Range> = bounds.iter().map(|bounds| bounds.range()).collect();
    assert_eq!(ranges, [Range::SHARE, Range::ALL]);
    assert!(graded(&asked, "2, -7").feedback.unwrap().starts_with("2 is outside"));
}

#[test]
fn a_drawn_number_bounds_an_answer_by_all_its_values() {
    let keys = "prompt = \"{n}\"\nvary = { n = [2, 5] }\nanswer = \"n * occ.occupancy\"";
    let asked = lesson(&format!("{{question}} q\ntype = \"numeric\"\n{keys}"));
    let QuestionKind::Numeric { bounds, .. } = &asked.question("q").unwrap().kind else { panic!() };
    assert_eq!(bounds.range(), Range { min: 0.0, max: 5.0 });
}

#[test]
fn an_answer_without_its_key_keeps_the_stated_range() {
    let asked = question("answer = 0.25\nmin = 0\nmax = 1");
    let given = parse("t.md", &withheld(&asked)).lesson.unwrap();
    assert_eq!(graded(&given, "0.3").verdict, Verdict::Recorded);
    assert!(graded(&given, "30").feedback.unwrap().starts_with("30 is outside"));
}

#[test]
fn a_truth_outside_is_an_error_with_its_place() {
    let told = |lesson: &Lesson| {
        let found = self_test(lesson, &LessonEnv::unrun(lesson), &registry());
        found.iter().map(|d| (d.code.name(), d.line, d.column)).collect::<Vec<_>>()
    };
    assert_eq!(told(&predict("answer = \"1.5\"\nunit = \"share\"")), [("out-of-range", 17, 11)]);
    assert_eq!(
        told(&predict("answer = 1\nunit = \"share\"\ntheory = \"2\"")),
        [("out-of-range", 19, 11)]
    );
    assert_eq!(told(&question("answer = \"-1\"\nunit = \"s\"")), [("out-of-range", 17, 11)]);
    assert_eq!(told(&question("answer = \"0.5\"\nunit = \"share\"")), []);
}
