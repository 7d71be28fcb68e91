use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use mlsys_lab::control::{Control, Limits};
use mlsys_lab::params::Settings;
use mlsys_lab::tables::Tables;
use mlsys_lab::{DeviceId, RunData, StopReason};

use super::*;
use crate::session::{Outcome, guarded};

/// A lab that leaves a word, and counts its runs.
struct Leaves {
    schema: Schema,
    runs: AtomicU64,
}

/// A lab that says what it was given.
struct Takes(Schema);

fn schema(kind: &str, more: &str) -> Schema {
    Schema::parse(&format!(
        "kind='{kind}'\ntitle='t'\nmodule='t'\nabout='t'\nsource='t'\nbudget=1.0\n{more}"
    ))
    .unwrap()
}

impl Lab for Leaves {
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

impl Lab for Takes {
    fn schema(&self) -> &Schema {
        &self.0
    }

    fn run(&self, run: &mut Run<'_>) -> Result<(), LabError> {
        let given = run.params.artifact("from").map(|given| given.about.clone());
        run.scalar("given", given.unwrap_or_default());
        Ok(())
    }
}

fn leaves(kind: &str) -> &'static Leaves {
    Box::leak(Box::new(Leaves {
        schema: schema(
            kind,
            "yields='word'\n[[param]]\nname='steps'\ntype='int'\ndefault=5\nabout='t'\n\
             [[param]]\nname='how'\ntype='string'\ndefault='ends'\nabout='t'",
        ),
        runs: AtomicU64::new(0),
    }))
}

fn takes() -> &'static Takes {
    let param = "[[param]]\nname='from'\ntype='string'\noptional=true\nartifact='word'\nabout='t'";
    Box::leak(Box::new(Takes(schema("takes", param))))
}

fn params(lab: &dyn Lab, set: &[&str]) -> Params {
    let settings = Settings::from_pairs(set.iter().copied()).unwrap();
    Params::resolve(lab.schema(), &settings, Tables::builtin(), None).unwrap()
}

fn earlier(id: &str, lab: &'static dyn Lab, set: &[&str]) -> Earlier {
    Earlier { id: id.to_owned(), lab, params: params(lab, set) }
}

/// Everything that was said to wait for.
#[derive(Default)]
struct Heard {
    data: RunData,
    waits: Vec<String>,
    stop: Option<Arc<AtomicBool>>,
}

impl Sink for Heard {
    fn report(&mut self, report: Report) {
        if let Report::Status(status) = &report {
            self.waits.push(status.clone());
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

/// A run of a lab that takes what `name` has left.
fn taken(sources: &Sources, name: &str, mut heard: Heard) -> (Heard, Outcome) {
    let stop = heard.stop.clone().unwrap_or_default();
    let lab = takes();
    let mut run = Run {
        params: params(lab, &[&format!("from={name}")]),
        device: DeviceId::CPU,
        sink: &mut heard,
        control: Control::free(Limits::default(), stop),
    };
    let outcome = guarded(&WithArtifacts::new(lab, sources.clone()), &mut run);
    (heard, outcome)
}

fn refusal(sources: &Sources, name: &str) -> String {
    let (_, outcome) = taken(sources, name, Heard::default());
    let Outcome::Failed(error) = outcome else { panic!("{outcome:?}") };
    assert!(error.is_usage(), "{error}");
    error.to_string()
}

#[test]
fn an_earlier_lab_runs_first_and_once() {
    let source = leaves("once");
    let sources =
        Sources { earlier: vec![earlier("base", source, &["steps=41"])], ..Sources::default() };
    for _ in 0..3 {
        let (heard, outcome) = taken(&sources, "base", Heard::default());
        assert!(matches!(outcome, Outcome::Finished), "{outcome:?}");
        let given = heard.data.metric("given");
        assert_eq!(given, Some(Value::from("a word of 41 steps")));
        assert_eq!(source.runs.load(Ordering::Relaxed), 1);
    }
    let longer = Sources { earlier: vec![earlier("base", source, &["steps=42"])], ..sources };
    let (heard, _) = taken(&longer, "base", Heard::default());
    assert_eq!(source.runs.load(Ordering::Relaxed), 2);
    assert_eq!(
        heard.waits,
        [
            "running 'base' first: step 0 of 42",
            "running 'base' first: step 20 of 42",
            "running 'base' first: step 40 of 42",
            ""
        ]
    );
    // Nothing of its own series is taken for the later lab's.
    assert!(heard.data.series.is_empty());
}

#[test]
fn a_run_of_its_own_is_kept_unless_it_was_stopped() {
    let source = leaves("own");
    let sources =
        Sources { earlier: vec![earlier("base", source, &["steps=7"])], ..Sources::default() };
    let run_it = |stop: bool| {
        let mut data = RunData::default();
        let mut run = Run {
            params: params(source, &["steps=7"]),
            device: DeviceId::CPU,
            sink: &mut data,
            control: Control::free(Limits::default(), Arc::new(AtomicBool::new(stop))),
        };
        guarded(&WithArtifacts::new(source, sources.clone()), &mut run)
    };
    assert!(matches!(run_it(true), Outcome::Stopped(_)));
    let kept = || {
        let params = params(source, &["steps=7"]);
        sources.left.find("own", &params, DeviceId::CPU)
    };
    assert!(kept().is_none());
    assert!(matches!(run_it(false), Outcome::Finished));
    assert!(kept().is_some());
    taken(&sources, "base", Heard::default());
    assert_eq!(source.runs.load(Ordering::Relaxed), 2);
}

#[test]
fn of_many_the_oldest_is_forgotten() {
    let source = leaves("many");
    let store = Store::default();
    let run = |steps: usize| {
        let sources = Sources {
            earlier: vec![earlier("base", source, &[&format!("steps={steps}")])],
            left: store.clone(),
            ..Sources::default()
        };
        taken(&sources, "base", Heard::default());
        source.runs.load(Ordering::Relaxed)
    };
    assert_eq!((1..=17).map(run).last(), Some(17));
    // The last sixteen are there; the first runs again.
    assert_eq!((2..=17).map(run).last(), Some(17));
    assert_eq!(run(1), 18);
}

#[test]
fn what_cannot_be_started_from_is_told() {
    let sources = Sources {
        earlier: vec![
            earlier("base", leaves("fine"), &[]),
            earlier("wild", leaves("wild"), &["how=diverges"]),
            earlier("plain", takes(), &[]),
        ],
        others: vec!["half".to_owned()],
        ..Sources::default()
    };
    let said = refusal(&sources, "half");
    assert_eq!(
        said,
        "from: 'half' comes no earlier than this lab; only what comes before can be started from"
    );
    let said = refusal(&sources, "plain");
    assert_eq!(said, "from: 'plain' is a lab takes, which leaves no word");
    let said = refusal(&sources, "wild");
    assert_eq!(said, "from: 'wild' diverged, and left nothing: the loss grew");
    let said = refusal(&sources, "bass");
    assert!(said.contains("did you mean 'base'?"), "{said}");
    let said = refusal(&sources, "none.safetensors");
    assert!(said.contains("none.safetensors: "), "{said}");
    let said = refusal(&sources, "none.bpk");
    assert!(said.contains("none.bpk: "), "{said}");
}

#[test]
fn a_stop_is_heard_while_another_lab_runs_first() {
    let sources =
        Sources { earlier: vec![earlier("base", leaves("stopped"), &[])], ..Sources::default() };
    let heard = Heard { stop: Some(Arc::default()), ..Heard::default() };
    let (heard, outcome) = taken(&sources, "base", heard);
    assert!(matches!(outcome, Outcome::Stopped(StopReason::Asked)), "{outcome:?}");
    assert_eq!(heard.data.status, "");
    assert_eq!(heard.data.metric("given"), None);
}
