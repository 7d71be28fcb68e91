//! Runs of a lesson compared: each finished run joins, from whichever lab, and stays.

use std::sync::Arc;

use mlsys_lab::report::Report;
use mlsys_lab::value::Value;

use super::Bench;
use crate::message::{Effect, Message};
use crate::records::RecallRequest;
use mlsys_run::outcome::Outcome;
use mlsys_view::attempts::FinishedRun;

const LESSON: &str = "+++\nformat = 1\nid = \"parallel/both\"\ntitle = \"Both\"\nminutes = 5\n+++\n# Both\n\n\
    ```{lab} dp\nkind = \"train-data-parallel\"\n[knob.workers]\nvalues = [2, 4]\ndefault = 4\n[[panel]]\nname = \"compare\"\n```\n\n\
    ```{lab} pp\nkind = \"train-pipeline-parallel\"\n[[panel]]\nname = \"compare\"\n```\n";

fn bench() -> Bench {
    let mut bench = Bench::new((120, 40));
    bench.probed();
    let registry = mlsys_registry::built_in();
    let read = mlsys_lesson::read("both.md", LESSON.as_bytes(), registry);
    let effects = bench.app.open(Arc::new(read.lesson.expect("a lesson")));
    assert!(recalls(&effects).is_some(), "earlier sessions are asked");
    bench
}

fn recalls(effects: &[Effect]) -> Option<&RecallRequest> {
    effects.iter().find_map(|effect| {
        if let Effect::Recall(wanted) = effect {
            return Some(wanted);
        }
        None
    })
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
    bench.keys("\t");
    bench.shows("no run has ended here yet");
    bench.ran(1_256_832);
    bench.shows("this run");
    bench.shows("one worker");
    bench.shows("1256832");
    // A knob turned tells runs apart.
    bench.keys("<");
    bench.ran(777_777);
    bench.shows("1256832");
    bench.shows("777777");
    // The other lab has them too.
    bench.keys("]");
    bench.shows("777777");
    bench.hides("this run");
    let page = bench.app.page.as_ref().unwrap().lesson.clone();
    bench.keys("\u{1b}");
    let effects = bench.app.open(page);
    assert!(recalls(&effects).is_none(), "they are read once");
    bench.shows("777777");
}

#[test]
fn recorded_runs_are_recalled_with_labels() {
    let mut bench = bench();
    bench.keys("\t");
    let lab = &bench.app.page.as_ref().unwrap().labs[0];
    let schema = lab.schema;
    let params = lab.params().unwrap();
    let params = params.iter().map(|(n, v)| (n.to_owned(), v.clone()));
    let mut params: std::collections::BTreeMap<String, Value> = params.collect();
    params.insert("workers".to_owned(), Value::Int(2));
    let mut data = mlsys_lab::report::RunData::default();
    found(424_242).into_iter().for_each(|report| data.apply(report));
    let lesson = Some("parallel/both".to_owned());
    let attempt = FinishedRun::new(schema, (lesson, "dp".to_owned()), params, Vec::new(), &data);
    bench.app.update(Message::Recalled(vec![attempt]));
    bench.shows("dp: workers 2");
    bench.shows("424242");
}

#[test]
fn a_run_that_was_stopped_or_failed_is_no_attempt() {
    let mut bench = bench();
    bench.keys("\t ");
    bench.report(found(99_999), 500);
    bench.end(Outcome::Panicked("broken".to_owned()));
    bench.keys("]");
    bench.hides("99999");
}
