//! An exchange of messages on the screen: its rounds are stepped and played as a kernel's steps are.

use std::sync::Arc;

use mlsys_lab::Report;
use mlsys_lab::frame::{Frame, FrameSequence, Pane};

use super::Bench;
use crate::message::Message;
use crate::update::Animation;
use mlsys_harness::samples::{pipeline, ring};
use mlsys_run::outcome::Outcome;
use mlsys_view::panel::Tint;
use mlsys_view::theme::{Background, ColorDepth, Theme};

/// A lab with a picture sent by the test.
const LESSON: &str = r#"+++
format = 1
id = "tests/rounds"
title = "Rounds"
minutes = 1
+++
# Rounds

```{lab} g
kind = "graph"
[[panel]]
name = "graph"
```
"#;

fn showing(size: (u16, u16), frame: Frame) -> Bench {
    let mut bench = Bench::new(size);
    bench.probed();
    let registry = mlsys_registry::built_in();
    let read = mlsys_lesson::read("rounds.md", LESSON.as_bytes(), registry);
    assert!(read.diagnostics.is_empty(), "{:?}", read.diagnostics);
    bench.app.open(Arc::new(read.lesson.unwrap()));
    let report = Report::Frame { panel: "graph".into(), step: 0, frame: Box::new(frame) };
    bench.report(vec![report], 10);
    bench.end(Outcome::Finished);
    while bench.app.place() != crate::command::Place::Picture {
        bench.keys("\t");
    }
    bench
}

#[test]
fn rounds_step_both_ways_and_play() {
    let mut bench = showing((120, 40), Frame::MessageTrace(Box::new(ring(4))));
    bench.shows("before the first of 6 rounds");
    bench.shows("space play");
    let before = bench.screen();
    bench.keys("..");
    bench.shows("round 2 of 6: reduce-scatter 2 of 3");
    bench.shows("418.9 kB over each of 4 links");
    bench.keys(",,");
    assert_eq!(bench.screen(), before);
    bench.keys(" ");
    assert_eq!(bench.app.animation(), Some(Animation::Playing));
    for _ in 0..6 {
        bench.app.update(Message::Beat);
    }
    bench.shows("round 6 of 6: all-gather 3 of 3");
    assert_eq!(bench.app.animation(), None);
    // Once more from the beginning; a step by hand ends it.
    bench.keys(" ");
    bench.shows("before the first of 6 rounds");
    bench.keys(".");
    assert_eq!(bench.app.animation(), None);
    bench.shows("round 1 of 6");
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
        while bench.app.place() != crate::command::Place::Picture {
            bench.keys("\t");
        }
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
    let mut bench = showing((80, 24), Frame::FrameSequence(Box::new(film)));
    bench.shows("1 of 3: after one");
    bench.shows("the state one");
    bench.keys(".");
    bench.shows("2 of 3: after two");
    bench.shows("the state two");
    bench.keys(",");
    bench.shows("the state one");
    bench.keys(" ");
    assert_eq!(bench.app.animation(), Some(Animation::Playing));
    for _ in 0..2 {
        bench.app.update(Message::Beat);
    }
    bench.shows("the state three");
    assert_eq!(bench.app.animation(), None);
    bench.keys("w");
    bench.shows("3 of 3: after three: the state three");
}

#[test]
fn from_the_text_a_step_is_told_in_words() {
    let mut bench = showing((80, 24), Frame::MessageTrace(Box::new(ring(4))));
    bench.keys("\t");
    bench.keys(".");
    bench.shows("A sends chunk 0 to B, added, 209.5 kB");
}

#[test]
fn timelines_are_coloured_by_label() {
    let mut bench = showing((100, 30), Frame::Timeline(pipeline(4)));
    let tint = |bench: &Bench| {
        let lab = bench.app.page.as_ref().unwrap().lab().unwrap();
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
    bench.shows("coloured by label");
    bench.shows("colour: label");
    bench.keys("m");
    assert_eq!(tint(&bench), Tint::Class);
    bench.shows("coloured by kind");
}
