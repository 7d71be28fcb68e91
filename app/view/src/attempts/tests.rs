use mlsys_lab::frame::Frame;
use mlsys_lab::params::Settings;
use mlsys_lab::report::Report;
use mlsys_lab::tables::Tables;
use mlsys_lesson::Place;

use crate::attempts::*;

/// Two labs that make something smaller: one tells all, the other by other names.
pub(crate) fn schemas() -> [&'static Schema; 2] {
    schemas_whose_ledger_says("")
}

fn schemas_whose_ledger_says(also: &str) -> [&'static Schema; 2] {
    let schema = |kind: &str, values: &str, reference: &str| {
        let parts = [("KIND", kind), ("ALSO", also), ("VALUES", values), ("REFERENCE", reference)];
        let text = include_str!("tests/ledger.toml").to_owned();
        let text = parts.iter().fold(text, |text, (name, part)| text.replace(name, part));
        let schema = Schema::parse(&text).unwrap();
        &*Box::leak(Box::new(schema))
    };
    [
        schema("round", "['bytes','right']", "['whole','1.0']"),
        schema("cut", "['4 * bytes','right']", "['whole','1.0']"),
    ]
}

pub(crate) fn found(bytes: i64, right: f64) -> RunData {
    let mut data = RunData::default();
    let scalar = |name: &str, value: Value| Report::Scalar { name: name.into(), value };
    data.apply(scalar("bytes", Value::Int(bytes)));
    data.apply(scalar("whole", Value::Int(400_000)));
    for (step, right) in [(1, 0.5), (2, right)] {
        data.apply(Report::Point { name: "right".into(), step, value: right });
    }
    data
}

fn ran(schema: &'static Schema, lab: &str, bits: i64, data: &RunData) -> Arc<FinishedRun> {
    let set = Params::resolve(schema, &Settings::new(), Tables::builtin(), None).unwrap();
    let params = BTreeMap::from([("bits".to_owned(), Value::Int(bits))]);
    let of = (Some("a/b".to_owned()), lab.to_owned());
    let mut attempt = FinishedRun::new(schema, of, params, Vec::new(), data);
    attempt.tell_apart(&set);
    Arc::new(attempt)
}

fn goal(name: &str, ratio: f64, loss: f64) -> Goal {
    Goal { name: name.to_owned(), ratio, loss, place: Place::default() }
}

fn scatter(frame: Option<Frame>) -> mlsys_lab::frame::Scatter {
    match frame {
        Some(Frame::Scatter(scatter)) => scatter,
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_a_table_supplies_is_not_told_with_the_name_of_its_entry() {
    const SUPPLIED: &str = "
[[param]]
name='gpu'
type='enum'
values_from='gpu'
default='v100-sxm2-16gb'
about=''
[[param]]
name='sms'
type='int'
from='gpu.sms'
about=''
[[metric]]";
    let text = include_str!("tests/ledger.toml").replacen("[[metric]]", SUPPLIED, 1);
    let parts = [("ALSO", ""), ("VALUES", "['bytes','right']"), ("REFERENCE", "['whole','1.0']")];
    let text = parts.iter().fold(text, |text, (name, part)| text.replace(name, part));
    let schema: &Schema = Box::leak(Box::new(Schema::parse(&text).unwrap()));
    let set = Params::resolve(schema, &Settings::new(), Tables::builtin(), None).unwrap();
    let told = |gpu: &str, sms: i64| {
        let params = [("gpu", Value::Text(gpu.to_owned())), ("sms", Value::Int(sms))];
        let params = params.map(|(name, value)| (name.to_owned(), value)).into();
        let of = (None, "a".to_owned());
        let mut run = FinishedRun::new(schema, of, params, Vec::new(), &RunData::default());
        run.tell_apart(&set);
        run.label()
    };
    assert_eq!(told("h100-sxm5-80gb", 132), "a: gpu h100-sxm5-80gb");
    assert_eq!(told("v100-sxm2-16gb", 40), "a: sms 40");
    assert_eq!(told("v100-sxm2-16gb", 80), "a");
}

#[test]
fn runs_of_several_labs_share_axes() {
    let [round, cut] = schemas();
    let all = [
        ran(round, "q8", 8, &found(100_000, 0.99)),
        ran(cut, "half", 4, &found(5_000, 0.95)),
        // The same run again is the same point.
        ran(round, "q8", 8, &found(100_000, 0.99)),
    ];
    let company = RunComparison { all: &all, ..RunComparison::default() };
    let panel = round.panel("ledger").unwrap();
    let drawn = scatter(picture(round, panel, &RunData::default(), &company));
    assert_eq!(drawn.series, ["round", "cut", "dense"]);
    let told: Vec<_> = drawn
        .points
        .iter()
        .map(|point| (point.label.as_str(), point.place().unwrap(), point.series))
        .collect();
    assert_eq!(
        told,
        [
            ("half: bits 4", (20_000.0, 0.95), 1),
            ("q8", (100_000.0, 0.99), 0),
            ("dense", (400_000.0, 1.0), 2),
        ]
    );
    assert_eq!(drawn.front(), [0, 1, 2]);
}

#[test]
fn runs_that_differ_in_a_fixed_parameter_are_left_out() {
    let [round, cut] = schemas_whose_ledger_says("same='bits'");
    let panel = round.panel("ledger").unwrap();
    let all = [
        ran(cut, "half", 4, &found(5_000, 0.95)),
        ran(round, "q8", 8, &found(100_000, 0.99)),
        ran(round, "q4", 4, &found(50_000, 0.98)),
    ];
    let sizes = |own| -> Vec<f64> {
        let company = RunComparison { all: &all, own, ..RunComparison::default() };
        let drawn = scatter(picture(round, panel, &RunData::default(), &company));
        let places = drawn.points.iter().map(|point| point.place().unwrap());
        places.map(|(size, _)| size).collect()
    };
    // Without a run on the screen the first one tells.
    assert_eq!(sizes(None), [20_000.0, 50_000.0, 400_000.0]);
    let params = Params::resolve(round, &Settings::new(), Tables::builtin(), None).unwrap();
    let own = Own { lab: "mine", params: &params, turned: &[], left: None };
    // This one has 8 bits, and has found nothing yet, not even what it is compared with.
    assert_eq!(sizes(Some(own)), [100_000.0]);
    // Before it runs, the lesson says which are like it.
    let set = RunComparison { all: &all, set: Some(&params), ..RunComparison::default() };
    let drawn = scatter(picture(round, panel, &RunData::default(), &set));
    assert_eq!(drawn.points[0].place(), Some((100_000.0, 0.99)));
    assert_eq!(drawn.points.len(), 2, "with what both are compared with");
}

#[test]
fn the_current_run_is_a_point_when_complete() {
    let [round, _] = schemas();
    let params = Params::resolve(round, &Settings::new(), Tables::builtin(), None).unwrap();
    let turned = [("bits".to_owned(), Value::Int(4))];
    let mut data = found(50_000, 0.98);
    let left = ran(round, "q", 4, &data);
    let all = [ran(round, "q8", 8, &found(100_000, 0.99)), Arc::clone(&left)];
    let own = Own { lab: "q", params: &params, turned: &turned, left: Some(&left) };
    let company = RunComparison { all: &all, own: Some(own), ..RunComparison::default() };
    let panel = round.panel("ledger").unwrap();
    let drawn = scatter(picture(round, panel, &data, &company));
    assert_eq!(drawn.series, ["this run", "round", "dense"]);
    assert_eq!(drawn.points.len(), 3, "it is not told twice");
    assert_eq!(drawn.points[1].label, "q: bits 4");
    // While it runs its accuracy is unknown, and it has no place.
    data.series.clear();
    let drawn = scatter(picture(round, panel, &data, &company));
    assert_eq!(drawn.points.len(), 2);
    // A knob turned in its course is told with its last value.
    data.apply(Report::Change(Change { step: 3, name: "bits".to_owned(), value: Value::Int(2) }));
    assert_eq!(label("q", &turned, &data.changes), "q: bits 2");
    let all = round.panel("all").unwrap();
    let Some(Frame::Table(table)) = picture(round, all, &data, &company) else { panic!("a table") };
    assert_eq!(table.columns, ["", "this run", "q8"]);
    let row = |name: &str, own: Value, other: Value| vec![Value::from(name), own, other];
    assert_eq!(
        table.rows,
        [
            row("bits", Value::Int(2), Value::Int(8)),
            row("right", Value::from("no value"), Value::Float(0.99)),
        ]
    );
}

#[test]
fn a_goal_is_relative_to_the_baseline() {
    let [round, _] = schemas();
    let goals = [goal("bronze", 4.0, 0.01), goal("gold", 10.0, 0.02)];
    let all = [
        ran(round, "exact", 8, &found(100_000, 0.99)),
        ran(round, "small", 2, &found(40_000, 0.9)),
        ran(round, "broken", 1, &found(20_000, f64::NAN)),
    ];
    let company = RunComparison { all: &all, goals: &goals, ..RunComparison::default() };
    let panel = round.panel("ledger").unwrap();
    let drawn = scatter(picture(round, panel, &RunData::default(), &company));
    let names: Vec<&str> = drawn.lines.iter().map(|line| line.name.as_str()).collect();
    assert_eq!(names, ["bronze 4x: exact", "gold 10x: open"]);
    assert_eq!(drawn.lines[0].points[1], (100_000.0, 0.99));
    assert_eq!(drawn.lines[1].points[1], (40_000.0, 0.98));
    let said = lines(round, panel, &company);
    assert_eq!(
        said,
        [
            "run             lab    stored  right     reaches",
            "dense                  400 kB  1",
            "broken: bits 1  round  20 kB   no value",
            "small: bits 2   round  40 kB   0.9",
            "exact           round  100 kB  0.99      bronze",
        ]
    );
}

#[test]
fn no_picture_before_a_run_of_this_lesson() {
    let [round, _] = schemas();
    let panel = round.panel("ledger").unwrap();
    let company = RunComparison::default();
    assert_eq!(picture(round, panel, &RunData::default(), &company), None);
    assert!(lines(round, panel, &company).is_empty());
}

#[test]
fn curves_are_kept_only_where_they_stand_behind_others() {
    let [round, _] = schemas();
    let mut data = found(1, 0.7);
    data.apply(Report::Point { name: "loss".into(), step: 1, value: 2.0 });
    let left = ran(round, "q", 8, &data);
    assert_eq!(left.data.series.keys().map(AsRef::as_ref).collect::<Vec<&str>>(), ["right"]);
    assert_eq!(left.data.metric("loss"), Some(Value::Float(2.0)));
    data.apply(Report::Point { name: "loss".into(), step: 2, value: f64::NAN });
    assert_eq!(ran(round, "q", 8, &data).data.metric("loss"), None);
    let company = RunComparison { all: &[Arc::clone(&left)], ..RunComparison::default() };
    assert_eq!(company.behind(round, "growth").len(), 1);
}
