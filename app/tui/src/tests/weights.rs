//! Saving what a run has learned.

use std::sync::Arc;

use mlsys_lab::Artifact;
use mlsys_lab::control::StopReason;
use mlsys_lab::report::Report;

use super::{Bench, point};
use crate::key::Key;
use crate::message::{Effect, Message, SaveWeights};
use mlsys_nn::weights::WeightsError;
use mlsys_run::outcome::Outcome;

const SAVE: Message = Message::Key(Key::Ctrl('s'));

fn network() -> Report {
    Report::Artifact(Arc::new(Artifact {
        kind: "network".to_owned(),
        ending: "safetensors".to_owned(),
        about: "mlp".to_owned(),
        unfinished: None,
        bytes: vec![1, 2, 3],
    }))
}

fn begun() -> Bench {
    let mut bench = Bench::in_lesson((120, 60));
    bench.keys("  ");
    bench
}

fn saves(effects: &[Effect]) -> Option<&SaveWeights> {
    effects.iter().find_map(
        |effect| {
            if let Effect::SaveWeights(save) = effect { Some(save) } else { None }
        },
    )
}

#[test]
fn weights_are_saved_under_a_typed_name() {
    let mut bench = begun();
    bench.report(vec![point("loss", 1, 0.5), network()], 10);
    bench.end(Outcome::Finished);
    bench.app.update(SAVE);
    bench.shows("save as train.safetensors");
    bench.app.update(Message::Key(Key::Ctrl('u')));
    bench.keys("\n");
    bench.shows("the name of a file");
    let effects = bench.keys("mine.bpk\n");
    let save = saves(&effects).unwrap();
    assert_eq!(save.path.to_str(), Some("mine.bpk"));
    assert_eq!(save.left.bytes, [1, 2, 3]);
    bench.shows("saving mine.bpk");
    let failed = WeightsError::Exists(save.path.clone());
    bench.app.update(Message::WeightsSaved(Err(failed.into())));
    bench.shows("not saved: mine.bpk: there is such a file already");
    // The name is there to be changed.
    bench.app.update(SAVE);
    bench.shows("save as mine.bpk");
    let effects = bench.keys("\u{1b}");
    assert!(saves(&effects).is_none());
    bench.hides("save as");
}

#[test]
fn why_there_is_nothing_to_save_is_said() {
    let mut bench = Bench::in_lesson((120, 60));
    bench.app.update(SAVE);
    bench.shows("no run has left weights yet");
    let mut bench = begun();
    bench.report(vec![point("loss", 1, 0.5)], 10);
    bench.app.update(SAVE);
    bench.shows("when the run has ended");
    bench.end(Outcome::Stopped(StopReason::Asked));
    bench.app.update(SAVE);
    bench.shows("no weights are kept of a run without steps");
    let mut bench = begun();
    let diverged = Report::Diverged { step: 1, reason: "the loss grew".to_owned() };
    bench.report(vec![diverged], 10);
    bench.end(Outcome::Finished);
    bench.app.update(SAVE);
    bench.shows("the run diverged");
    bench.hides("save as");
}

#[test]
fn a_stopped_run_has_weights_and_a_reset_one_none() {
    let mut bench = begun();
    bench.report(vec![point("loss", 1, 0.5), network()], 10);
    bench.end(Outcome::Stopped(StopReason::Asked));
    bench.app.update(SAVE);
    bench.shows("save as train.safetensors");
    bench.keys("\u{1b}R");
    bench.app.update(SAVE);
    bench.shows("no run has left weights yet");
}
