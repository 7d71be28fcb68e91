//! Messages between ranks and pipelines, with their styles, compared with the files in snapshots/.

use mlsys_harness::samples::{pipeline, ring, star};
use mlsys_harness::snapshot::rows;
use mlsys_lab::frame::message_trace::Message;
use mlsys_lab::frame::{Frame, MessageTrace};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::glyphs::GlyphSet;
use crate::panel::picture::kernel::Play;
use crate::panel::tests::fixtures::picture;
use crate::panel::tests::structures::compare;
use crate::panel::tests::{draw_frame, look};
use crate::panel::view::{FrameView, Mark, Way};
use crate::panel::{Focus, Inspect};
use crate::theme::ColorDepth;

fn view(round: usize, mark: Option<(usize, usize)>) -> FrameView {
    FrameView {
        round,
        mark: mark.map(|(row, column)| Mark { column, row }),
        ..FrameView::default()
    }
}

/// A trace of `pictures.toml`.
fn listed(name: &str) -> MessageTrace {
    let Frame::MessageTrace(trace) = picture(name) else { panic!("{name} is no trace") };
    *trace
}

fn frame(trace: MessageTrace) -> Frame {
    Frame::MessageTrace(Box::new(trace))
}

/// The rows of a frame in ASCII after a number of rounds.
fn drawn(frame: &Frame, (width, height): (u16, u16), view: &FrameView) -> Vec<String> {
    let look = look(ColorDepth::None, GlyphSet::Ascii);
    let mut buf = Buffer::empty(Rect::new(0, 0, width, height));
    draw_frame(buf.area, &mut buf, frame, view, Focus::Keys, &look);
    rows(&buf)
}

#[test]
fn every_layout_looks_as_before() {
    for (name, trace, view) in [
        ("ring", ring(4), view(2, None)),
        ("ring-done", ring(4), view(6, Some((2, 1)))),
        ("ring-of-2", ring(2), view(1, None)),
        ("ring-of-3", ring(3), view(1, None)),
        ("ring-of-5", ring(5), view(1, None)),
        ("tree", listed("tree"), view(2, None)),
        ("star", star(4), view(1, None)),
        ("halving", listed("halving"), view(1, None)),
        ("double-tree", listed("double-tree"), view(2, None)),
    ] {
        compare(&format!("exchange-{name}"), &frame(trace), &view);
    }
}

#[test]
fn ring_messages_are_named_on_their_links() {
    for ranks in 2..=9 {
        let mut trace = ring(ranks);
        let name = |place: usize| char::from(b'P' + place as u8).to_string();
        for (place, chunk) in trace.chunks.iter_mut().enumerate() {
            chunk.name = name(place);
        }
        let count = trace.chunks.len();
        trace.rounds.truncate(1);
        if ranks > 2 {
            let back = trace.rounds[0].messages.clone().into_iter();
            let back = back.map(|m| Message { from: m.to, to: m.from, ..m });
            trace.rounds[0].messages.extend(back);
        }
        let above = drawn(&frame(trace), (160, 50), &view(1, None))[1..9].join(" ");
        for name in (0..count).map(name) {
            let found = above.matches(&format!(" {name} ")).count();
            assert_eq!(found, if ranks > 2 { 2 } else { 1 }, "{ranks}: {name}\n{above}");
        }
    }
}

#[test]
fn no_row_moves_from_round_to_round() {
    let mut notes_below = ring(4);
    notes_below.note =
        "A sentence that needs more than one row where the panel is as narrow as this.".into();
    for trace in [
        ring(2),
        ring(3),
        ring(12),
        star(4),
        listed("tree"),
        listed("double-tree"),
        listed("halving"),
        notes_below,
    ] {
        let rounds = trace.rounds.len();
        let frame = frame(trace);
        for size in [40, 66, 100].into_iter().flat_map(|w| (8..44).step_by(3).map(move |h| (w, h)))
        {
            let places = |round: usize| {
                let rows = drawn(&frame, size, &view(round, None));
                let is_fixed = |row: &usize| {
                    ["> new", "chunk  ", "rank 0 "].iter().any(|t| rows[*row].contains(t))
                };
                (0..rows.len()).filter(is_fixed).collect::<Vec<_>>()
            };
            let first = places(0);
            for round in 1..=rounds {
                assert_eq!(places(round), first, "{size:?}, round {round}");
            }
        }
    }
}

#[test]
fn the_legend_has_the_least_obvious_items_first() {
    for (wide, legend) in [(40, "> new   AB partial sum"), (65, "A one rank's   . none")] {
        let rows = drawn(&frame(ring(4)), (wide, 24), &view(1, None));
        assert!(rows.concat().contains(legend), "{rows:?}");
    }
}

#[test]
fn the_letters_of_the_legend_are_those_of_the_ranks() {
    for (ranks, all) in [(2, "AB complete"), (3, "ABC complete"), (8, "A-H complete")] {
        let legend = drawn(&frame(ring(ranks)), (120, 24), &view(0, None)).concat();
        assert!(legend.contains(all), "{legend}");
        assert_eq!(legend.contains("AB partial sum"), ranks > 2, "{legend}");
    }
    // Where cells have no room for letters, they have numbers of ranks, and so has the legend.
    let legend = drawn(&frame(ring(8)), (78, 24), &view(0, None)).concat();
    assert!(legend.contains("2-7 partial sum   8 complete   1 one rank's"), "{legend}");
    let legend = drawn(&frame(star(4)), (120, 24), &view(0, None)).concat();
    assert!(legend.contains("ABCD complete"), "{legend}");
}

#[test]
fn a_sum_of_all_but_one_is_not_drawn_as_complete() {
    let trace = ring(8);
    let full = |round: usize| {
        // Columns alone, without room for numbers.
        let rows = drawn(&frame(trace.clone()), (40, 24), &view(round, None));
        let ranks = rows.iter().filter(|row| row.contains(" rank "));
        ranks.map(|row| row.matches('#').count()).sum::<usize>()
    };
    // After six rounds each rank has a sum of seven, after the seventh one of all.
    assert_eq!([full(6), full(7)], [0, 8]);
}

#[test]
fn other_messages_are_named_near_their_lines() {
    for (what, trace, rows_of_boxes) in [
        ("tree", listed("tree"), 19),
        ("star", star(4), 9),
        ("double tree", listed("double-tree"), 12),
        ("mesh", listed("halving"), 9),
    ] {
        let frame = frame(trace.clone());
        for (round, sent) in (1..).zip(&trace.rounds) {
            let above = drawn(&frame, (160, 60), &view(round, None))[1..=rows_of_boxes].join("\n");
            assert!(above.contains(['^', 'v']), "{what}, round {round}:\n{above}");
            for message in &sent.messages {
                let first = &trace.chunks[message.chunk].name;
                assert!(above.contains(first.as_str()), "{what}, round {round}:\n{above}");
            }
        }
    }
}

#[test]
fn traces_without_room_keep_arrows() {
    // A rank with two parents for the same chunk.
    let mut torn = listed("tree");
    let mut extra = torn.rounds[0].messages[0];
    extra.to = 4;
    torn.rounds[1].messages.push(extra);
    for (trace, size, has_boxes) in [
        (listed("tree"), (120, 50), true),
        (torn, (120, 50), false),
        (listed("tree"), (120, 14), false),
        (listed("halving"), (24, 50), false),
    ] {
        let text = drawn(&frame(trace), size, &view(1, None)).join("\n");
        let found = text.contains("+ A ") || text.contains("+ B ");
        assert_eq!(found, has_boxes, "{text}");
    }
}

#[test]
fn of_many_ranks_a_window_is_drawn() {
    let rows = drawn(&frame(ring(10_000)), (80, 24), &view(2, Some((5_000, 4_999))));
    for text in ["round 2 of 19998", "of 10000", "rank 5000"] {
        assert!(rows.concat().contains(text), "{rows:#?}");
    }
}

#[test]
fn pipelines_look_as_before() {
    let frame = Frame::Timeline(pipeline(8));
    compare("pipeline", &frame, &FrameView::default());
    let mut view = FrameView::default();
    view.inspect(&frame, Inspect::Smooth);
    view.inspect(&frame, Inspect::Closer);
    compare("pipeline-by-label", &frame, &view);
}

#[test]
fn playing_stops_at_the_end_and_begins_anew_from_there() {
    let frame = frame(ring(3));
    let mut view = FrameView::default();
    view.beat(&frame);
    assert_eq!(view.round, 0);
    view.change_play(&frame);
    for round in [1, 2, 3, 4] {
        assert_eq!(view.play, Play::Going);
        view.beat(&frame);
        assert_eq!(view.round, round);
    }
    assert_eq!(view.play, Play::Still);
    view.change_play(&frame);
    assert_eq!((view.round, view.play), (0, Play::Going));
    // A step by hand is the end of playing.
    view.go(&frame, Way::Right);
    assert_eq!((view.round, view.play), (1, Play::Still));
    // Another run's trace may be shorter.
    view.round = 99;
    view.go(&frame, Way::Left);
    assert_eq!(view.round, 3);
}
