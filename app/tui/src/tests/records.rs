//! Recorded runs: listed, put behind the curves, replayed; and the runs of a lesson compared.

use std::path::PathBuf;
use std::time::Duration;

use mlsys_lab::control::Command;
use mlsys_lab::device::DeviceInfo;
use mlsys_lab::report::{Report, RunData};
use mlsys_lab::value::Value;
use mlsys_run::outcome::Outcome;
use mlsys_run::record::RecordError;
use mlsys_view::attempts::FinishedRun;
use serde_json::json;

use super::{Bench, asked, point};
use crate::message::{Effect, Message};
use crate::records::{LoadRequest, LoadedRecord, Purpose, RecordEntry, Source};
use crate::state::RunStatus;

fn entry(source: Source, rate: f64) -> RecordEntry {
    RecordEntry {
        source,
        name: "2026-11-21T09-06-24.123Z-train-7".to_owned(),
        lab: "train".to_owned(),
        lesson: None,
        device: "cuda:0 (NVIDIA H100)".to_owned(),
        started: "2026-11-21 09:06".to_owned(),
        standing: "finished".to_owned(),
        seconds: Some(4.0),
        params: json!({ "learning_rate": rate }),
    }
}

fn own() -> Source {
    Source::Folder(PathBuf::from("/runs/2026-11-21T09-06-24.123Z-train-7"))
}

fn wanted(effects: &[Effect]) -> LoadRequest {
    let mut wanted = asked!(effects, Effect::ReadRecord(wanted) => (**wanted).clone());
    wanted.next().expect("a run is to be read")
}

fn data() -> RunData {
    let mut data = RunData::default();
    (1..=40).for_each(|step| data.apply(point("loss", step, 1.0 / step as f64)));
    data
}

impl Bench {
    fn listed(&mut self) -> Vec<Effect> {
        self.app.update(Message::Records(vec![entry(own(), 0.5)]))
    }

    fn fetched(&mut self, wanted: LoadRequest) -> Vec<Effect> {
        let (data, warnings) = (data(), Vec::new());
        let fetched = LoadedRecord { wanted, data, warnings };
        self.app.update(Message::LoadedRecord(Ok(Box::new(fetched))))
    }
}

#[test]
fn the_list_says_when_where_and_what_differs() {
    let mut bench = Bench::in_lesson((120, 40));
    bench.follow(&[("r", "reading the folder of runs | does: ListRecords")]);
    bench.listed();
    bench.follow(&[
        ("", "2026-11-21 09:06  cuda:0 (NVIDIA H100)  finished  learning_rate 0.5"),
        ("r", "no: Recorded runs of lab"),
    ]);
    bench.keys("r");
    bench.send(Message::Records(Vec::new()));
    bench.follow(&[("", "none yet"), ("\n ", "does nothing")]);
}

#[test]
fn recorded_runs_are_drawn_behind_curves() {
    let mut bench = Bench::in_lesson((120, 40));
    bench.keys("r");
    bench.listed();
    let wanted = wanted(&bench.keys("\n"));
    assert_eq!(wanted.purpose, Purpose::Overlay);
    assert!(bench.fetched(wanted).is_empty());
    let lab = bench.lab();
    assert_eq!(
        lab.others.earlier[0].label,
        "recorded on cuda:0 (NVIDIA H100), 2026-11-21 09:06: learning_rate 0.5"
    );
    assert_eq!(lab.run.state, RunStatus::Ready);
}

#[test]
fn replays_do_not_count() {
    let mut bench = Bench::in_lesson((120, 40));
    bench.keys("r");
    bench.listed();
    let wanted = wanted(&bench.keys(" "));
    assert_eq!(wanted.purpose, Purpose::Replay);
    let effects = bench.fetched(wanted);
    assert!(matches!(effects[..], [Effect::Replay(_), Effect::Order(Command::Pace(pace))]
        if pace == Duration::from_millis(150)));
    bench.follow(&[
        ("f", "does: Pace(100ms)"),
        ("f", "does: Pace(50ms)"),
        ("f", "does: Pace(10ms)"),
        ("f", "does: Pace(0ns)"),
        ("f", "does: Pace(150ms)"),
        ("«losses 1 20»", "recorded on cuda:0 (NVIDIA H100), 2026-11-21 09:06"),
        ("", "a recorded run, paced (f: other speeds) | loss-curve recorded"),
        (" ", "paused"),
        // A live knob is not heard, and the device key changes nothing about it.
        (" \t>", "does no: Set"),
        ("«end»", "recorded on cuda:0 | does nothing"),
        ("e", "does: learning_rate = 0.5 · recorded on cuda:0 (NVIDIA H100)"),
    ]);
    let lab = bench.lab();
    assert_eq!(lab.run.state, RunStatus::Finished);
    assert!(lab.others.reference.is_none());
    // The run after it is one of one's own again, and the replay stands behind it under its name.
    bench.keys("  ");
    let (replay, earlier) = (&bench.lab().run.replay, &bench.lab().others.earlier[0].name);
    assert!(replay.is_none() && earlier.starts_with("recorded on cuda:0"), "{earlier}");
}

#[test]
fn a_record_that_cannot_be_read_is_a_sentence() {
    let mut bench = Bench::in_lesson((120, 40));
    bench.keys("r");
    bench.listed();
    bench.keys(" ");
    let torn = RecordError::NoDescription(PathBuf::from("a-run"));
    bench.send(Message::LoadedRecord(Err(torn.into())));
    bench.shows("a-run is no whole record");
}

#[test]
fn recordings_replace_missing_devices() {
    let mut bench = Bench::in_lesson((120, 40));
    let page = bench.page();
    let (lesson, lab) = (page.lesson.front.id.to_string(), page.lab().unwrap().id.clone());
    let may_replay = page.lesson.lab(&lab).unwrap().may_replay();
    assert!(may_replay, "the lesson of the tests allows it");
    let mut shipped = entry(Source::Shipped(0), 0.1);
    shipped.lesson = Some((lesson, lab));
    bench.send(Message::Records(vec![entry(own(), 0.5), shipped.clone()]));
    bench.send(Message::Probed(Vec::<DeviceInfo>::new()));
    let effects = bench.keys("  ");
    let wanted = wanted(&effects);
    assert_eq!((wanted.entry.clone(), wanted.purpose), (shipped, Purpose::Replay));
    assert!(bench.app.session.active.is_none());
    bench.fetched(wanted);
    bench.report(vec![point("loss", 1, 0.5)], 100);
    bench.shows("recorded on cuda:0");
    assert!(bench.end(Outcome::Finished).is_empty());
}

const BOTH: &str = "+++\nformat = 1\nid = \"parallel/both\"\ntitle = \"Both\"\nminutes = 5\n+++\n# Both\n\n\
    ```{lab} dp\nkind = \"train-data-parallel\"\n[knob.workers]\nvalues = [2, 4]\ndefault = 4\n[[panel]]\nname = \"compare\"\n```\n\n\
    ```{lab} pp\nkind = \"train-pipeline-parallel\"\n[[panel]]\nname = \"compare\"\n```\n";

fn bench() -> Bench {
    let (bench, effects) = Bench::opening((120, 40), BOTH);
    assert!(recalls(&effects), "earlier sessions are asked");
    bench
}

fn recalls(effects: &[Effect]) -> bool {
    asked!(effects, Effect::Recall(_))
}

fn found(bytes: i64) -> Vec<Report> {
    let of = |name: &str, value: Value| Report::Scalar { name: name.into(), value };
    vec![
        of("bytes_sent_per_worker", Value::Int(bytes)),
        of("parameters", Value::Int(209_472)),
        of("step_seconds", Value::Float(0.25)),
        of("speedup", Value::Float(3.0)),
    ]
}

impl Bench {
    fn ran(&mut self, bytes: i64) {
        self.keys(" ");
        self.report(found(bytes), 500);
        self.end(Outcome::Finished);
    }
}

#[test]
fn finished_runs_of_a_lesson_share_a_table() {
    let mut bench = bench();
    bench.follow(&[("\t", "no run has ended here yet")]);
    bench.ran(1_256_832);
    bench.follow(&[("", "this run | one worker | 1256832")]);
    // A knob turned tells runs apart.
    bench.keys("<");
    bench.ran(777_777);
    bench.follow(&[
        ("", "1256832 | 777777"),
        // The other lab has them too.
        ("]", "777777 | no: this run"),
    ]);
    let page = bench.page().lesson.clone();
    bench.keys("\u{1b}");
    let effects = bench.app.open(page);
    assert!(!recalls(&effects), "they are read once");
    bench.shows("777777");
}

#[test]
fn recorded_runs_are_recalled_with_labels() {
    let mut bench = bench();
    bench.keys("\t");
    let lab = &bench.page().labs[0];
    let schema = lab.schema;
    let params = lab.params().unwrap();
    let params = params.iter().map(|(n, v)| (n.to_owned(), v.clone()));
    let mut params: std::collections::BTreeMap<String, Value> = params.collect();
    params.insert("workers".to_owned(), Value::Int(2));
    let mut data = RunData::default();
    found(424_242).into_iter().for_each(|report| data.apply(report));
    let lesson = Some("parallel/both".to_owned());
    let attempt = FinishedRun::new(schema, (lesson, "dp".to_owned()), params, Vec::new(), &data);
    bench.send(Message::Recalled(vec![attempt]));
    bench.follow(&[("", "dp: workers 2 | 424242")]);
}

#[test]
fn a_run_that_was_stopped_or_failed_is_no_attempt() {
    let mut bench = bench();
    bench.keys("\t ");
    bench.report(found(99_999), 500);
    bench.end(Outcome::Panicked("broken".to_owned()));
    bench.follow(&[("]", "no: 99999")]);
}
