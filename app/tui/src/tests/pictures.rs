//! Pictures that are looked at closely, stepped, played, and taken along as files; and weights that are saved.

use std::sync::Arc;

use mlsys_harness::reading::{parsed, well_formed};
use mlsys_harness::samples::{pipeline, ring};
use mlsys_lab::Artifact;
use mlsys_lab::frame::{Frame, FrameSequence, Pane, Table};
use mlsys_lab::report::Report;
use mlsys_nn::weights::WeightsError;
use mlsys_run::outcome::Outcome;
use mlsys_run::storage::Export;
use mlsys_view::panel::Tint;
use mlsys_view::theme::{Background, ColorDepth, Theme};

use super::{Bench, asked, point};
use crate::command::Place;
use crate::message::{Effect, Message};
use crate::update::Animation;

fn exported(effects: &[Effect]) -> Option<&Export> {
    asked!(effects, Effect::Export(export) => export.as_ref()).next()
}

#[test]
fn export_writes_the_view_as_svg_and_csv() {
    let mut bench = Bench::in_lesson((120, 60));
    assert!(exported(&bench.keys("e")).is_none());
    bench.shows("the picture 'loss-curve' has nothing to show yet: run the lab first");
    bench.keys("  ");
    bench.train(1.0);
    let effects = bench.keys("e");
    let export = exported(&effects).unwrap();
    assert_eq!(export.name, "systems/small-loss-curve");
    let texts = well_formed(&export.svg).join("\n");
    assert!(texts.contains("lesson systems/small"), "{texts}");
    assert!(texts.contains("seed 1 · on a cpu (cpu)"), "{texts}");
    assert_eq!(parsed(&export.csv).len(), 401);

    // Half of the steps, on a logarithmic axis.
    let effects = bench.keys("\t\t+le");
    let export = exported(&effects).unwrap();
    assert_eq!(parsed(&export.csv).len(), 201);
    assert!(well_formed(&export.svg).contains(&"0.01".to_owned()));
}

fn with_table() -> Bench {
    let mut bench = Bench::in_lesson((120, 60));
    bench.keys("  ");
    let norms = [("layer1", 0.5), ("layer2", 0.02), ("layer3", 3.0)];
    let norms = norms.map(|(name, x)| point(&format!("gradient_norm.{name}"), 1, x));
    bench.report(norms.to_vec(), 10);
    bench.train(1.0);
    bench
}

#[test]
fn arrows_mark_bars() {
    let mut bench = with_table();
    // To the picture, and on to the bars.
    bench.follow(&[
        ("\t\tv>", "layer1: 0.5"),
        ("__", "layer3: 3"),
        ("_", "layer3: 3"),
        ("z", "layer3: 3"),
        ("\u{1b}", "layer3: 3"),
        ("\u{1b}", "no: layer3: 3 | A small lesson"),
        // What is for tables and for charts says so.
        ("\n", "the chosen picture is no table: v goes to the next one"),
        ("+", "the chosen picture is no chart, graph or timeline: v goes to the next one"),
    ]);
}

/// The occupancy lab of the lesson, with a table in the panel that is chosen.
fn in_table() -> Bench {
    let mut bench = Bench::in_lesson((120, 60));
    bench.keys("\t]");
    let (schema, chosen) = (bench.lab().schema, bench.lab().chosen().unwrap());
    let row = |name: &str, memory: i64| vec![name.into(), memory.into()];
    let table = Table {
        columns: ["device", "memory (GB)"].map(str::to_owned).to_vec(),
        rows: vec![row("A100", 80), row("H200", 141), row("T4", 16)],
        ..Table::default()
    };
    let panel = schema.panels[chosen].name.as_str().into();
    bench.report(vec![Report::Frame { panel, step: 0, frame: Box::new(Frame::Table(table)) }], 1);
    bench.end(Outcome::Finished);
    bench.keys("\tz");
    bench
}

fn devices(bench: &Bench) -> Vec<&'static str> {
    let screen = bench.screen();
    let mut found: Vec<(usize, &str)> = ["A100 ", "H200 ", "T4 "]
        .into_iter()
        .filter_map(|name| Some((screen.find(name)?, name.trim())))
        .collect();
    found.sort_unstable();
    found.into_iter().map(|(_, name)| name).collect()
}

#[test]
fn a_table_is_sorted_by_its_marked_column() {
    let mut bench = in_table();
    assert_eq!(devices(&bench), ["A100", "H200", "T4"]);
    bench.follow(&[(">>\n", "sorted by memory (GB), smallest first")]);
    assert_eq!(devices(&bench), ["T4", "A100", "H200"]);
    bench.shows("memory (GB) ▲");
    bench.keys("\n");
    assert_eq!(devices(&bench), ["H200", "A100", "T4"]);
    bench.follow(&[("", "memory (GB) ▼"), ("\n", "rows stand as the lab sent them")]);
    assert_eq!(devices(&bench), ["A100", "H200", "T4"]);
}

#[test]
fn tables_filter_by_text_and_comparison() {
    let mut bench = in_table();
    bench.follow(&[
        ("/", "a text that a cell has, or column > 3; empty shows all"),
        ("memory % 20\n", "no row is like that"),
    ]);
    bench.keys("/");
    bench.keys(&"\x08".repeat(20));
    bench.follow(&[("speed = 20\n", "there is no column 'speed'; there are: device, memory (GB)")]);
    bench.keys(&"\x08".repeat(20));
    bench.keys("h2\n");
    assert_eq!(devices(&bench), ["H200"]);
    bench.shows("1 of 3 rows: h2");
    bench.keys("/\u{1b}");
    assert_eq!(devices(&bench), ["H200"]);
    // Sorted and filtered, the file still has every row.
    let effects = bench.keys("e");
    let export = exported(&effects).unwrap();
    assert_eq!(parsed(&export.csv).len(), 4);
    bench.follow(&[("w", "1 of 3 rows: h2: device H200, memory (GB) 141")]);
}

fn begun(reports: Vec<Report>) -> Bench {
    let mut bench = Bench::in_lesson((120, 60));
    bench.keys("  ");
    bench.report(reports, 10);
    bench
}

fn with_network() -> Bench {
    let network = Artifact {
        kind: "network".to_owned(),
        ending: "safetensors".to_owned(),
        about: "mlp".to_owned(),
        unfinished: None,
        bytes: vec![1, 2, 3],
    };
    begun(vec![point("loss", 1, 0.5), Report::Artifact(Arc::new(network))])
}

#[test]
fn weights_are_saved_under_a_typed_name() {
    let mut bench = with_network();
    bench.follow(&[("«end»\x13", "save as train.safetensors"), ("\x15\n", "the name of a file")]);
    let effects = bench.keys("mine.bpk\n");
    let save = asked!(effects, Effect::SaveWeights(save) => save).next().unwrap();
    assert_eq!(save.path.to_str(), Some("mine.bpk"));
    assert_eq!(save.left.bytes, [1, 2, 3]);
    bench.shows("saving mine.bpk");
    let failed = WeightsError::Exists(save.path.clone());
    bench.send(Message::WeightsSaved(Err(failed.into())));
    bench.follow(&[
        ("", "not saved: mine.bpk: there is such a file already"),
        // The name is there to be changed.
        ("\x13", "save as mine.bpk"),
        ("\u{1b}", "no: save as | does no: SaveWeights"),
    ]);
    // A stopped run has weights and a reset one none.
    with_network().follow(&[
        ("«stopped»\x13", "save as train.safetensors"),
        ("\u{1b}R\x13", "no run has left weights yet"),
    ]);
}

#[test]
fn why_there_is_nothing_to_save_is_said() {
    Bench::in_lesson((120, 60)).follow(&[("\x13", "no run has left weights yet")]);
    begun(vec![point("loss", 1, 0.5)]).follow(&[
        ("\x13", "when the run has ended"),
        ("«stopped»\x13", "no weights are kept of a run without steps"),
    ]);
    begun(Vec::new()).follow(&[("«diverged the loss grew»\x13", "the run diverged | no: save as")]);
}

const ROUNDS: &str = include_str!("rounds.md");

fn showing(size: (u16, u16), frame: Frame) -> Bench {
    let (mut bench, _) = Bench::opening(size, ROUNDS);
    let report = Report::Frame { panel: "graph".into(), step: 0, frame: Box::new(frame) };
    bench.report(vec![report], 10);
    bench.end(Outcome::Finished);
    bench.go_to(Place::Picture);
    bench
}

#[test]
fn rounds_step_both_ways_and_play() {
    let mut bench = showing((120, 40), Frame::MessageTrace(Box::new(ring(4))));
    bench.follow(&[("", "before the first of 6 rounds | space play")]);
    let before = bench.screen();
    bench.follow(&[("..", "round 2 of 6: reduce-scatter 2 of 3 | 418.9 kB over each of 4 links")]);
    bench.keys(",,");
    assert_eq!(bench.screen(), before);
    bench.follow(&[
        (" ", "space pause"),
        (&"«beat»".repeat(6), "round 6 of 6: all-gather 3 of 3 | space play"),
        // Once more from the beginning; a step by hand ends it.
        (" ", "before the first of 6 rounds | space pause"),
        (".", "round 1 of 6 | space play"),
    ]);
    // From the text a step is told in words.
    let mut bench = showing((80, 24), Frame::MessageTrace(Box::new(ring(4))));
    bench.follow(&[("\t.", "A sends chunk 0 to B, added, 209.5 kB")]);
}

#[test]
fn what_played_rests_when_one_comes_back_to_it() {
    let mut bench = showing((120, 40), Frame::MessageTrace(Box::new(ring(4))));
    for (away, back) in [("\t", "\t\t"), ("\t\t", "\t")] {
        bench.keys(" ");
        assert_eq!(bench.app.animation(), Some(Animation::Playing), "{away:?}");
        bench.keys(away);
        assert_eq!(bench.app.animation(), None, "{away:?}");
        bench.keys(back);
        bench.go_to(Place::Picture);
        assert_eq!(bench.app.animation(), None, "{away:?}");
    }
}

#[test]
fn frame_sequences_step_and_play() {
    let still = |name: &str| Pane {
        title: format!("after {name}"),
        frame: Frame::Text(format!("the state {name}")),
    };
    let film = FrameSequence { stills: ["one", "two", "three"].map(still).to_vec(), cover: 1 };
    showing((80, 24), Frame::FrameSequence(Box::new(film))).follow(&[
        ("", "1 of 3: after one | the state one"),
        (".", "2 of 3: after two | the state two"),
        (",", "the state one"),
        (" ", "space pause"),
        ("«beat»«beat»", "the state three | space play"),
        ("w", "3 of 3: after three: the state three"),
    ]);
}

#[test]
fn timelines_are_coloured_by_label() {
    let mut bench = showing((100, 30), Frame::Timeline(pipeline(4)));
    let tint = |bench: &Bench| {
        let lab = bench.lab();
        lab.pictures.views[lab.chosen().unwrap()].frame.tint
    };
    // Without colour there is nothing to colour by, which is said.
    bench.app.screen.look.theme = Theme::new(Background::Dark, ColorDepth::None);
    bench.keys("m");
    assert_eq!(tint(&bench), Tint::Class);
    bench.shows("this screen has no colour");
    bench.app.screen.look.theme = Theme::new(Background::Dark, ColorDepth::TrueColor);
    bench.keys("m");
    assert_eq!(tint(&bench), Tint::Label);
    bench.follow(&[("", "coloured by label | colour: label")]);
    bench.keys("m");
    assert_eq!(tint(&bench), Tint::Class);
    bench.shows("coloured by kind");
}
