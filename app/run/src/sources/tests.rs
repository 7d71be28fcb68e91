use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use mlsys_lab::control::{Control, Limits};
use mlsys_lab::params::Settings;
use mlsys_lab::tables::Tables;
use mlsys_lab::{DeviceId, RunData, StopReason};

use super::*;
use crate::outcome::{Outcome, guarded};

/// A lab that leaves a word, and counts its runs.
struct Producer {
    schema: Schema,
    runs: AtomicU64,
}

/// A lab that reports the artifact it was given.
struct Consumer(Schema);

fn schema(kind: &str, more: &str) -> Schema {
    Schema::parse(&format!(
        "kind='{kind}'\ntitle='t'\nmodule='t'\nabout='t'\nsource='t'\nbudget=1.0\n{more}"
    ))
    .unwrap()
}

impl Lab for Producer {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn run(&self, run: &mut Run<'_>) -> Result<(), LabError> {
        self.runs.fetch_add(1, Ordering::Relaxed);
        let steps = run.params.int("steps")?.unsigned_abs();
        let mut step = 0;
        while step < steps {
            match run.control.next_step(step) {
                mlsys_lab::NextStep::Go(_) | mlsys_lab::NextStep::Redraw(_) => step += 1,
                mlsys_lab::NextStep::Stop(_) => break,
            }
            run.sink.report(Report::Point { name: "loss".into(), step, value: 1.0 });
        }
        if run.params.text("how")? == "diverges" {
            run.sink.report(Report::Diverged { step, reason: "the loss grew".to_owned() });
            return Ok(());
        }
        run.sink.report(Report::Artifact(Arc::new(Artifact {
            kind: "word".to_owned(),
            ending: "txt".to_owned(),
            about: format!("a word of {steps} steps"),
            unfinished: (step < steps).then(|| "stopped".to_owned()),
            bytes: Vec::new(),
        })));
        Ok(())
    }
}

impl Lab for Consumer {
    fn schema(&self) -> &Schema {
        &self.0
    }

    fn run(&self, run: &mut Run<'_>) -> Result<(), LabError> {
        let given = run.params.artifact("from").map(|given| given.about.clone());
        run.scalar("given", given.unwrap_or_default());
        Ok(())
    }
}

fn producer(kind: &str) -> &'static Producer {
    Box::leak(Box::new(Producer {
        schema: schema(
            kind,
            "yields='word'\n[[param]]\nname='steps'\ntype='int'\ndefault=5\nabout='t'\n\
             [[param]]\nname='how'\ntype='string'\ndefault='ends'\nabout='t'",
        ),
        runs: AtomicU64::new(0),
    }))
}

fn consumer() -> &'static Consumer {
    let param = "[[param]]\nname='from'\ntype='string'\noptional=true\nartifact='word'\nabout='t'";
    Box::leak(Box::new(Consumer(schema("takes", param))))
}

fn params(lab: &dyn Lab, set: &[&str]) -> Params {
    let settings = Settings::from_pairs(set.iter().copied()).unwrap();
    Params::resolve(lab.schema(), &settings, Tables::builtin(), None).unwrap()
}

fn sources() -> Sources {
    Sources::new(mlsys_registry::built_in())
}

fn earlier(id: &str, lab: &'static dyn Lab, set: &[&str]) -> Earlier {
    Earlier { id: id.to_owned(), lab, params: params(lab, set) }
}

#[derive(Default)]
struct Collector {
    data: RunData,
    statuses: Vec<String>,
    stop: Option<Arc<AtomicBool>>,
}

impl Sink for Collector {
    fn report(&mut self, report: Report) {
        if let Report::Status(status) = &report {
            self.statuses.push(status.clone());
            if let Some(stop) = &self.stop {
                stop.store(true, Ordering::Relaxed);
            }
        }
        self.data.report(report);
    }

    fn wants_frame(&mut self, _: &str, _: FrameTrigger) -> bool {
        false
    }
}

/// A run of the consumer with the artifact of `name`.
fn consume(sources: &Sources, name: &str, mut collected: Collector) -> (Collector, Outcome) {
    let stop = collected.stop.clone().unwrap_or_default();
    let lab = consumer();
    let run = Run {
        params: params(lab, &[&format!("from={name}")]),
        device: DeviceId::CPU,
        sink: &mut collected,
        control: Control::free(Limits::default(), stop),
    };
    let outcome = guarded(&WithArtifacts::new(lab, sources.clone()), run);
    (collected, outcome)
}

fn refusal(sources: &Sources, name: &str) -> String {
    let (_, outcome) = consume(sources, name, Collector::default());
    let Outcome::Failed(error) = outcome else { panic!("{outcome:?}") };
    assert!(error.is_usage(), "{error}");
    error.to_string()
}

#[test]
fn an_earlier_lab_runs_first_and_once() {
    let source = producer("once");
    let sources = Sources { earlier: vec![earlier("base", source, &["steps=41"])], ..sources() };
    for _ in 0..3 {
        let (collected, outcome) = consume(&sources, "base", Collector::default());
        assert!(matches!(outcome, Outcome::Finished), "{outcome:?}");
        let given = collected.data.metric("given");
        assert_eq!(given, Some(Value::from("a word of 41 steps")));
        assert_eq!(source.runs.load(Ordering::Relaxed), 1);
    }
    let longer = Sources { earlier: vec![earlier("base", source, &["steps=42"])], ..sources };
    let (collected, _) = consume(&longer, "base", Collector::default());
    assert_eq!(source.runs.load(Ordering::Relaxed), 2);
    assert_eq!(
        collected.statuses,
        [
            "running 'base' first: step 0 of 42",
            "running 'base' first: step 20 of 42",
            "running 'base' first: step 40 of 42",
            ""
        ]
    );
    // Its own series are not the later lab's.
    assert!(collected.data.series.is_empty());
}

#[test]
fn a_run_of_its_own_is_kept_unless_it_was_stopped() {
    let source = producer("own");
    let sources = Sources { earlier: vec![earlier("base", source, &["steps=7"])], ..sources() };
    let run_it = |stop: bool| {
        let mut data = RunData::default();
        let run = Run {
            params: params(source, &["steps=7"]),
            device: DeviceId::CPU,
            sink: &mut data,
            control: Control::free(Limits::default(), Arc::new(AtomicBool::new(stop))),
        };
        guarded(&WithArtifacts::new(source, sources.clone()), run)
    };
    assert!(matches!(run_it(true), Outcome::Stopped(_)));
    let kept = || {
        let params = params(source, &["steps=7"]);
        sources.store.find("own", &params, DeviceId::CPU)
    };
    assert!(kept().is_none());
    assert!(matches!(run_it(false), Outcome::Finished));
    assert!(kept().is_some());
    consume(&sources, "base", Collector::default());
    assert_eq!(source.runs.load(Ordering::Relaxed), 2);
}

#[test]
fn the_oldest_artifact_is_dropped_first() {
    let source = producer("many");
    let store = Store::default();
    let run = |steps: usize| {
        let sources = Sources {
            earlier: vec![earlier("base", source, &[&format!("steps={steps}")])],
            store: store.clone(),
            ..sources()
        };
        consume(&sources, "base", Collector::default());
        source.runs.load(Ordering::Relaxed)
    };
    assert_eq!((1..=17).map(run).last(), Some(17));
    // The last sixteen are there; the first runs again.
    assert_eq!((2..=17).map(run).last(), Some(17));
    assert_eq!(run(1), 18);
}

#[test]
fn unusable_sources_are_refused_with_the_reason() {
    let sources = Sources {
        earlier: vec![
            earlier("base", producer("fine"), &[]),
            earlier("wild", producer("wild"), &["how=diverges"]),
            earlier("plain", consumer(), &[]),
        ],
        others: vec!["half".to_owned()],
        ..sources()
    };
    for (name, reason) in [
        ("half", "from: 'half' comes no earlier than this lab; only what comes before can be"),
        ("plain", "from: 'plain' is a lab takes, which leaves no word"),
        ("wild", "from: 'wild' diverged, and left nothing: the loss grew"),
        ("bass", "did you mean 'base'?"),
        ("none.safetensors", "none.safetensors: "),
        ("none.bpk", "none.bpk: "),
    ] {
        let error = refusal(&sources, name);
        assert!(error.contains(reason), "{error}");
    }
}

#[test]
fn a_stop_is_obeyed_while_another_lab_runs_first() {
    let sources = Sources { earlier: vec![earlier("base", producer("stopped"), &[])], ..sources() };
    let collected = Collector { stop: Some(Arc::default()), ..Collector::default() };
    let (collected, outcome) = consume(&sources, "base", collected);
    assert!(matches!(outcome, Outcome::Stopped(StopReason::Asked)), "{outcome:?}");
    assert_eq!(collected.data.status, "");
    assert_eq!(collected.data.metric("given"), None);
}
