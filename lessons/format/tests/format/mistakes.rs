//! Misconceptions behind wrong numbers: the answers of the whole course, changed by small mistakes.

use mlsys_expr::{Dialect, Value, evaluate};
use mlsys_lesson::{Answer, Grade, LessonEnv, Question, QuestionKind, Verdict};

use crate::support::{course, registry};

/// The parts of a formula between this operator outside all parentheses.
fn parts(source: &str, operator: char) -> Vec<&str> {
    let mut depth = 0;
    source
        .split(|c| {
            depth += i32::from(c == '(') - i32::from(c == ')');
            c == operator && depth == 0
        })
        .collect()
}

/// Formulas with one mistake each, and words that stand in what is said to it.
fn mistaken(source: &str, unit: Option<&str>) -> Vec<(String, &'static str)> {
    let mut all = vec![
        (format!("2*({source})"), "factor of 2"),
        (format!("({source})/2"), "factor of 2"),
        (format!("1/({source})"), "upside down"),
    ];
    // Of units that have no prefixes it is the power of ten.
    let thousand = if unit.is_some() { "another unit|power of ten" } else { "power of ten" };
    all.extend([(format!("1000*({source})"), thousand), (format!("({source})/1e6"), thousand)]);
    if unit.is_some_and(|unit| unit.contains("byte") || unit.contains('B'))
        && !unit.is_some_and(|u| u.contains("/byte"))
    {
        all.push((format!("8*({source})"), "bits and bytes"));
    }
    for (operator, said) in [('+', "term"), ('*', "factor")] {
        let parts = parts(source, operator);
        for left_out in 0..parts.len() {
            let mut kept = parts.clone();
            kept.remove(left_out);
            if !kept.is_empty() {
                all.push((kept.join(&operator.to_string()), said));
            }
        }
    }
    let numbers = source.match_indices(|c: char| c.is_ascii_digit());
    for (at, _) in numbers {
        let number: String = source[at..].chars().take_while(char::is_ascii_digit).collect();
        let before = source[..at].chars().next_back().unwrap_or(' ');
        let after = source[at + number.len()..].chars().next().unwrap_or(' ');
        let is_whole =
            !before.is_ascii_alphanumeric() && before != '.' && !matches!(after, '.' | 'e');
        if let (true, Ok(counted @ 0..=4096)) = (is_whole, number.parse::<u32>()) {
            let rest = &source[at + number.len()..];
            all.push((format!("{}{}{rest}", &source[..at], counted + 1), "one too large"));
        }
    }
    all
}

fn value(source: &str) -> Option<f64> {
    let expr = mlsys_expr::parse(source, Dialect::Lesson).ok()?;
    match evaluate(&expr, &LessonEnv::new()) {
        Ok(Value::Number(x)) => Some(x),
        _ => None,
    }
}

fn graded(question: &Question, given: f64) -> Grade {
    // As learners write them: whole counts in full, other numbers with four digits.
    let text = if given.fract() == 0.0 && given.abs() < 1e15 {
        format!("{given}")
    } else {
        format!("{given:.3e}")
    };
    question.grade(&Answer::One(text), &LessonEnv::new(), &registry())
}

/// The mistake that is named, which is not how far off the number is.
fn named_mistake(grade: &Grade) -> Option<&str> {
    grade.feedback.as_deref().filter(|said| !said.starts_with("No common mistake"))
}

#[test]
fn mistakes_with_the_answers_of_the_course_are_named_and_rarely_wrongly() {
    let (mut tried, mut named, mut wrongly) = (0, 0, 0);
    let (mut invented, mut made_up, mut silent) = (0, 0, 0);
    let mut told = Vec::new();
    for lesson in course() {
        for question in lesson.questions() {
            let QuestionKind::Numeric { answer, wrong, unit, .. } = &question.kind else {
                continue;
            };
            let Some(right) = value(&answer.source) else { continue };
            let stated: Vec<&str> = wrong.iter().map(|wrong| wrong.say.as_str()).collect();
            let mistaken = mistaken(&answer.source, unit.as_deref());
            for (source, said) in &mistaken {
                let Some(given) = value(source).filter(|given| given.is_finite()) else { continue };
                let grade = graded(question, given);
                let feedback = named_mistake(&grade).unwrap_or_default();
                if grade.verdict != Verdict::Wrong || stated.contains(&feedback) {
                    continue;
                }
                tried += 1;
                let same = mistaken.iter().filter(|(other, _)| {
                    value(other).is_some_and(|other| (other - given).abs() <= 1e-9 * given.abs())
                });
                let is_said = |said: &str| said.split('|').any(|said| feedback.contains(said));
                let is_named =
                    same.chain([&(source.clone(), *said)]).any(|(_, said)| is_said(said));
                named += usize::from(is_named);
                if !is_named && !feedback.is_empty() {
                    wrongly += 1;
                    told.push(format!(
                        "{} {}: {source} is told: {feedback}",
                        lesson.front.id, question.id
                    ));
                }
            }
            // Numbers that no small mistake gives.
            for step in 1..40 {
                let given = right * (0.137 + 0.0731 * f64::from(step * step));
                let grade = graded(question, given);
                made_up += 1;
                let is_wrong = grade.verdict == Verdict::Wrong;
                invented += usize::from(is_wrong && named_mistake(&grade).is_some());
                silent += usize::from(is_wrong && grade.feedback.is_none());
            }
        }
    }
    let told = told.join("\n");
    println!(
        "{named} of {tried} named, {wrongly} wrongly; {invented} of {made_up} invented\n{told}"
    );
    assert_eq!(silent, 0, "wrong numbers without a word");
    assert!(tried > 500 && named * 10 >= tried * 7, "{named} of {tried} are named");
    assert!(wrongly * 50 < tried, "{wrongly} of {tried} are named wrongly:\n{told}");
    assert!(
        invented * 50 < made_up,
        "{invented} of {made_up} numbers get a reason that they have not"
    );
}

#[test]
fn a_wrong_number_that_no_mistake_gives_is_told_how_far_off_it_is() {
    // A rate is never negative; what is a number alone may be.
    let asked = |unit: &str| {
        crate::support::lesson(&format!(
            "{{question}} q\ntype = \"numeric\"\nprompt = \"?\"\nanswer = \"80 * 8 * 64 * 2 * 1.38e9\"\ntolerance = {{ rel = 0.01 }}\n{unit}"
        ))
    };
    let (rate, number) = (asked("unit = \"FLOP/s\""), asked(""));
    for (lesson, given, said) in [
        (&rate, "12e13", "within 10 %"),
        (&rate, "2.4e14", "order of magnitude is right"),
        (&rate, "7", "more than a factor of 3"),
        (&number, "-3", "sign"),
        (&rate, "0", "0"),
    ] {
        let given = Answer::One(given.to_owned());
        let question = lesson.questions().next().unwrap();
        let grade = question.grade(&given, &LessonEnv::new(), &registry());
        let feedback = grade.feedback.unwrap_or_default();
        assert!(feedback.starts_with("No common mistake") && feedback.contains(said), "{feedback}");
    }
}

#[test]
fn signs_are_named_only_where_nothing_simpler_gives_the_number() {
    for (answer, given, said) in [
        ("7*5 + 4", "31", Some("plus and a minus")),
        ("(12 - 3)*6", "90", Some("plus and a minus")),
        // The terms cancel: both are missing.
        ("5*6 + 30 + 8", "8", Some("term")),
        ("40*3 + 120", "0", None),
        // With the other sign, and without a term.
        ("8 + 4 - 1", "3", Some("term")),
    ] {
        let lesson = crate::support::lesson(&format!(
            "{{question}} q\ntype = \"numeric\"\nprompt = \"?\"\nanswer = \"{answer}\"\ntolerance = {{ rel = 1e-9 }}\n"
        ));
        let question = lesson.questions().next().unwrap();
        let grade = question.grade(&Answer::One(given.to_owned()), &LessonEnv::new(), &registry());
        let named = named_mistake(&grade);
        match said {
            Some(said) => {
                let is_alone =
                    named.is_some_and(|named| named.contains(said) && !named.contains("Or:"));
                assert!(is_alone, "{answer}: {grade:?}");
            }
            None => assert_eq!(named, None, "{answer}"),
        }
    }
}
