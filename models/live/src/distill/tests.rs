use burn::tensor::{Device, Tensor, TensorData};
use mlsys_lab::frame::{Frame, Verdict};
use mlsys_lab::{DeviceId, RunData, Value};
use mlsys_nn::{data, flat_params};

use super::{Knobs, Setup, Student, TrainingSet, lab, only_images, shown, soft_loss};
use crate::trial::{Then, answered, number, params, run, turn};

fn distilled(set: &[&str]) -> RunData {
    run(&lab().unwrap(), set)
}

#[test]
fn soft_loss_gradient_matches_the_closed_form() {
    let (student, teacher) = ([0.5_f32, -1.0, 2.0], [3.0_f32, 1.0, -2.0]);
    for temperature in [1.0, 2.5, 8.0] {
        let device = Device::flex().autodiff();
        let row =
            |row: [f32; 3]| Tensor::<2>::from_data(TensorData::new(row.to_vec(), [1, 3]), &device);
        let z = row(student).require_grad();
        let gradients = soft_loss(z.clone(), row(teacher), temperature).backward();
        let slope: Vec<f64> = z.grad(&gradients).unwrap().into_data().iter().collect();
        let temperature_set = format!("temperature={temperature}");
        let logits = ["student_logits=[0.5, -1.0, 2.0]", "teacher_logits=[3.0, 1.0, -2.0]"];
        let set = [logits[0], logits[1], &temperature_set];
        let instant = run(&mlsys_analytic::lab("distill-loss").unwrap(), &set);
        let Some(Value::Array(theirs)) = instant.metric("gradient") else { panic!("no gradient") };
        for (own, their) in slope.iter().zip(&theirs) {
            let their = their.as_f64().unwrap() * temperature * temperature;
            assert!((own - their).abs() < 1e-5, "{own} {their}");
        }
    }
}

#[test]
fn without_a_soft_share_the_teacher_changes_no_bit() {
    let params = params(&lab().unwrap(), &["soft_weight=0", "student_width=4", "teacher_steps=1"]);
    let (setup, knobs): (Setup, Knobs) = (params.read().unwrap(), params.read().unwrap());
    let learned = data::load(&setup.teacher().unwrap().data).unwrap().train;
    let learned = only_images(learned).unwrap();
    let transfer = shown(&learned, None, 200);
    let labelled = shown(&learned, None, 100);
    let mut shown = TrainingSet { labelled, transfer, logits: Vec::new() };
    let mut trained = |soft: f64, answers: usize| {
        shown.logits = (0..200 * 10).map(|i| (i % answers) as f32).collect();
        let mut student = Student::new(&setup, &shown, DeviceId::CPU, &Device::flex());
        for _ in 0..5 {
            student.step(&shown, soft, &knobs);
        }
        flat_params::weights(&student.network()).unwrap()
    };
    let alone = trained(knobs.soft_weight, 7);
    assert_eq!(trained(knobs.soft_weight, 3), alone);
    assert_ne!(trained(0.5, 7), trained(0.5, 3));
    assert_ne!(trained(0.5, 7), alone);
}

#[test]
fn sizes_are_those_of_the_contract() {
    let data = distilled(&["teacher_steps=1", "steps=1"]);
    assert_eq!(data.metric("teacher_parameters"), Some(Value::Int(101_770)));
    assert_eq!(data.metric("student_parameters"), Some(Value::Int(12_730)));
    assert!((number(&data, "size_ratio") - 7.994_501_178_318_932).abs() < 1e-12);
    assert_eq!(data.metric("steps_done"), Some(Value::Int(1)));
    assert!(data.metric("missing_class_accuracy").is_none());
    assert!(
        matches!(&data.frames["missing"].1, Frame::Text(text) if text.contains("missing_class"))
    );
}

#[test]
fn soft_targets_teach_an_unseen_digit() {
    let set = ["missing_class=3", "student_width=32", "steps=300", "teacher_steps=300"];
    let soft = distilled(&set);
    let hard = distilled(&[&set[..], &["temperature=1"]].concat());
    let (of_soft, of_hard) =
        (number(&soft, "missing_class_accuracy"), number(&hard, "missing_class_accuracy"));
    assert!(of_soft > 0.3 && of_hard < 0.1, "{of_soft} {of_hard}");
    assert_eq!(number(&soft, "label_only_missing_class_accuracy"), 0.0);
    // Softer answers say more.
    assert!(number(&soft, "target_entropy") > 2.0 * number(&hard, "target_entropy"));
    let Frame::Panes(targets) = &soft.frames["soft-targets"].1 else { panic!("no targets") };
    let Some(Frame::Images(shown)) = targets.last().map(|pane| &pane.frame) else {
        panic!("no image")
    };
    assert_ne!(shown.images[0].label, "3", "students are not shown it");
    let Frame::Panes(panes) = &soft.frames["missing"].1 else { panic!("no images") };
    let right = |pane: usize| {
        let Frame::Images(images) = &panes[pane].frame else { panic!("no images") };
        images.images.iter().filter(|image| image.verdict == Verdict::Right).count()
    };
    assert!(right(0) > 0 && right(1) == 0);
}

#[test]
fn a_teacher_makes_up_for_labels_that_there_are_not() {
    let few = distilled(&["labelled_samples=50", "steps=200", "teacher_steps=300"]);
    let (taught, alone) = (number(&few, "student_accuracy"), number(&few, "label_only_accuracy"));
    assert!(taught > 0.85 && alone < 0.8, "{taught} {alone}");
}

#[test]
fn knobs_are_turned_while_it_learns() {
    let lab = lab().unwrap();
    let mut entropies = Vec::new();
    let (data, stopped) = answered(&lab, &["teacher_steps=20", "steps=40"], |report| {
        use mlsys_lab::report::Report;
        if let Report::Scalar { name, value } = report
            && name.as_ref() == "target_entropy"
        {
            entropies.push(value.as_f64().unwrap());
        }
        if let Report::Point { name, step, .. } = report
            && name.as_ref() == "student_accuracy"
        {
            match step {
                10 => return Then::Order(turn("temperature", 1.0)),
                20 => return Then::Order(turn("soft_weight", 0.0)),
                _ => {}
            }
        }
        Then::On
    });
    assert_eq!(stopped, None);
    assert_eq!(data.changes.len(), 2);
    assert_eq!(entropies.len(), 2);
    assert!(entropies[1] < entropies[0], "{entropies:?}");
    assert_eq!(data.metric("steps_done"), Some(Value::Int(40)));
}

#[test]
fn the_ends_of_every_knob_do_no_harm() {
    let of = |knob| distilled(&["teacher_steps=1", "steps=3", "student_width=1", knob]);
    for knob in ["temperature=0.1", "temperature=100", "learning_rate=0"] {
        assert_eq!(of(knob).metric("diverged"), Some(Value::Bool(false)), "{knob}");
    }
    assert!(of("learning_rate=1").metric("diverged").is_some());
    let few = ["transfer_samples=10", "labelled_samples=10", "missing_class=0"];
    let data = distilled(&[&few[..], &["teacher_steps=1", "steps=3"]].concat());
    assert_eq!(data.metric("steps_done"), Some(Value::Int(3)));
}
