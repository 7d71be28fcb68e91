//! Checks and predictions against what runs have shown.

use mlsys_lab::report::{Report, RunData};
use mlsys_lesson::{DeviceFacts, LessonEnv};

use crate::support::{cases, everything, json, lesson, registry};

fn run(accuracies: &[f64]) -> RunData {
    let mut data = RunData::default();
    for (step, &value) in (1..).zip(accuracies) {
        data.apply(Report::Point { name: "accuracy".into(), step, value });
    }
    data.apply(Report::Scalar { name: "parameters".into(), value: 1218_i64.into() });
    data
}

#[test]
fn checks_report_actual_and_expected_values() {
    let (registry, run) = (registry(), run(&[0.5, 0.61]));
    let schema = |kind: &str| registry.find(kind).unwrap().schema();
    let mut sizes = RunData::default();
    for (name, value) in [
        ("limiters", mlsys_lab::Value::Array(vec!["warps".into(), "blocks".into()])),
        ("sizes", mlsys_lab::Value::Array(vec![4_i64.into(), 8_i64.into()])),
    ] {
        sizes.apply(Report::Scalar { name: name.into(), value });
    }
    let device =
        DeviceFacts { name: "flex".into(), backend: "cpu".into(), ..DeviceFacts::default() };
    let env = LessonEnv::new()
        .with_run("run", schema("train"), &run)
        .with_run("chip", schema("occupancy"), &sizes)
        .without_run("big", "no CUDA device was found")
        .on(&device);
    for (expected, assert) in cases(include_str!("../cases/checks.txt")) {
        let (class, outcome) = expected.split_once(' ').unwrap();
        let lesson = lesson(&format!("{{check}} c\nassert = \"{assert}\"\nclass = \"{class}\""));
        let found = lesson.checks().next().unwrap().evaluate(&env);
        assert_eq!(format!("{found:?}"), outcome, "{assert}");
    }
}

#[test]
fn a_prediction_is_compared_with_theory_and_measurement() {
    let lesson = everything();
    let registry = registry();
    let statement = |accuracies: &[f64], given: &str| {
        let run = run(accuracies);
        let env = LessonEnv::new().with_run("run", registry.find("train").unwrap().schema(), &run);
        let predict = lesson.predictions().next().unwrap();
        predict.compare(&json(given), &env).map(|comparison| comparison.statement)
    };
    for (numbers, wanted) in cases(include_str!("../cases/predictions.txt")) {
        let (measured, given) = numbers.split_once(' ').unwrap();
        assert_eq!(statement(&[measured.parse().unwrap()], given).unwrap(), wanted);
    }
    assert!(statement(&[1.0], "\"much\"").unwrap_err().to_string().contains("write a number"));
    assert!(statement(&[], "1").unwrap_err().to_string().contains("did not report it"));
    let choice = lesson.predictions().nth(1).unwrap();
    let said = |given: &str| choice.compare(&json(given), &LessonEnv::new()).map(|c| c.statement);
    assert_eq!(said("\"Warps\"").unwrap(), "You said \"warps\"; the answer is \"warps\"; just so.");
    assert!(said("\"registers\"").unwrap().ends_with("it came out otherwise."));
    assert!(said("\"blocks\"").unwrap_err().to_string().contains("registers, warps"));
}

#[test]
fn parts_of_a_check_have_values() {
    let (registry, run) = (registry(), run(&[0.5, 0.61]));
    let schema = registry.find("train").unwrap().schema();
    let env = LessonEnv::new()
        .with_run("run", schema, &run)
        .without_run("big", "no CUDA device was found");
    let parts = |assert: &str| -> Vec<String> {
        let lesson = lesson(&format!("{{check}} c\nassert = \"{assert}\""));
        let check = lesson.checks().next().unwrap().clone();
        let parts = check.assert.parts(&env).into_iter();
        parts.map(|part| format!("{}: {}", part.source, part.value)).collect()
    };
    assert_eq!(
        parts("run.accuracy > 0.6 and 2*run.parameters == run.parameters"),
        [
            "run.accuracy > 0.6: true",
            "run.accuracy: 0.61",
            "2*run.parameters == run.parameters: false",
            "2*run.parameters: 2436",
            "run.parameters: 1218",
        ]
    );
    assert_eq!(
        parts("close(run.accuracy, big.accuracy, 0.1)"),
        [
            "close(run.accuracy, big.accuracy, 0.1): no value yet: no CUDA device was found",
            "run.accuracy: 0.61",
            "big.accuracy: no value yet: no CUDA device was found",
        ]
    );
}
