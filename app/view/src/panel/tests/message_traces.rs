//! Messages between ranks and stacked lengths, with their styles, compared with the files in snapshots/.

use mlsys_harness::samples::{double_tree, halving, traffic, tree};
pub(crate) use mlsys_harness::samples::{memory, pipeline, ring, star};
use mlsys_harness::snapshot::rows;
use mlsys_lab::frame::message_trace::Message;
use mlsys_lab::frame::{Frame, MessageTrace};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::glyphs::GlyphSet;
use crate::panel::picture::kernel::Play;
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

#[test]
fn a_ring_half_way_with_the_chunks_that_came() {
    let frame = Frame::MessageTrace(Box::new(ring(4)));
    compare("exchange-ring", &frame, &view(2, None));
    compare("exchange-ring-done", &frame, &view(6, Some((2, 1))));
}

#[test]
fn small_and_odd_rings_close_as_well() {
    for ranks in [2, 3, 5] {
        let frame = Frame::MessageTrace(Box::new(ring(ranks)));
        compare(&format!("exchange-ring-of-{ranks}"), &frame, &view(1, None));
    }
}

/// In a ring of any number each link has a name of its own on the picture, both ways at once as well.
#[test]
fn every_message_of_a_round_is_on_a_link() {
    for ranks in 2..=9 {
        let mut exchange = ring(ranks);
        let count = exchange.chunks.len();
        for (place, chunk) in exchange.chunks.iter_mut().enumerate() {
            chunk.name = char::from(b'P' + place as u8).to_string();
        }
        exchange.rounds.truncate(1);
        if ranks > 2 {
            let back = exchange.rounds[0].messages.clone().into_iter();
            let back = back.map(|m| Message { from: m.to, to: m.from, ..m });
            exchange.rounds[0].messages.extend(back);
        }
        let frame = Frame::MessageTrace(Box::new(exchange));
        let mut buf = Buffer::empty(Rect::new(0, 0, 160, 50));
        let look = look(ColorDepth::None, GlyphSet::Ascii);
        draw_frame(buf.area, &mut buf, &frame, &view(1, None), Focus::Keys, &look);
        let above = rows(&buf)[1..9].join(" ");
        for place in 0..count {
            let name = char::from(b'P' + place as u8);
            let there = above.matches(&format!(" {name} ")).count();
            assert_eq!(there, if ranks > 2 { 2 } else { 1 }, "{ranks}: {name}\n{above}");
        }
    }
}

/// While an exchange plays, each rank stays at its place.
#[test]
fn no_row_moves_from_round_to_round() {
    let look = look(ColorDepth::None, GlyphSet::Ascii);
    let mut named = ring(4);
    named.note =
        "A sentence that needs more than one row where the panel is as narrow as this.".into();
    for exchange in [ring(2), ring(3), ring(12), star(4), tree(), double_tree(), halving(), named] {
        let rounds = exchange.rounds.len();
        let frame = Frame::MessageTrace(Box::new(exchange));
        for width in [40, 66, 100] {
            for height in (8..44).step_by(3) {
                let places = |round: usize| {
                    let mut buf = Buffer::empty(Rect::new(0, 0, width, height));
                    draw_frame(buf.area, &mut buf, &frame, &view(round, None), Focus::Keys, &look);
                    let is_fixed = |row: &String| {
                        row.contains("came in this")
                            || row.contains("chunk  ")
                            || row.contains("rank 0 ")
                    };
                    let rows = rows(&buf);
                    let fixed = (0..rows.len()).filter(|row| is_fixed(&rows[*row]));
                    fixed.collect::<Vec<_>>()
                };
                let first = places(0);
                for round in 1..=rounds {
                    assert_eq!(places(round), first, "{width}x{height}, round {round}");
                }
            }
        }
    }
}

#[test]
fn the_legend_says_what_came_before_it_says_what_is_plain() {
    let look = look(ColorDepth::None, GlyphSet::Ascii);
    let mut buf = Buffer::empty(Rect::new(0, 0, 65, 24));
    let frame = Frame::MessageTrace(Box::new(ring(4)));
    draw_frame(buf.area, &mut buf, &frame, &view(1, None), Focus::Keys, &look);
    assert!(rows(&buf).concat().contains("came in this round"));
}

#[test]
fn trees_stars_and_meshes_have_arrows_of_their_own() {
    compare("exchange-tree", &Frame::MessageTrace(Box::new(tree())), &view(2, None));
    compare("exchange-star", &Frame::MessageTrace(Box::new(star(4))), &view(1, None));
    compare("exchange-halving", &Frame::MessageTrace(Box::new(halving())), &view(1, None));
    compare("exchange-double-tree", &Frame::MessageTrace(Box::new(double_tree())), &view(2, None));
}

/// Whatever passes between two ranks has its line and its name, in each form that boxes can have.
#[test]
fn every_message_of_a_tree_a_star_and_a_mesh_is_named_beside_its_line() {
    let look = look(ColorDepth::None, GlyphSet::Ascii);
    for (what, exchange, rows_of_boxes) in [
        ("tree", tree(), 19),
        ("star", star(4), 9),
        ("double tree", double_tree(), 12),
        ("mesh", halving(), 9),
    ] {
        let rounds = exchange.rounds.clone();
        let names: Vec<String> = exchange.chunks.iter().map(|c| c.name.clone()).collect();
        let frame = Frame::MessageTrace(Box::new(exchange));
        for (round, sent) in (1..).zip(&rounds) {
            let mut buf = Buffer::empty(Rect::new(0, 0, 160, 60));
            draw_frame(buf.area, &mut buf, &frame, &view(round, None), Focus::Keys, &look);
            let above = rows(&buf)[1..=rows_of_boxes].join("\n");
            let heads = above.matches(['^', 'v']).count();
            assert!(heads >= 1, "{what}, round {round}:\n{above}");
            for message in &sent.messages {
                let chunks = message.chunks(names.len());
                let first = &names[chunks.start];
                assert!(above.contains(first.as_str()), "{what}, round {round}:\n{above}");
            }
        }
    }
}

#[test]
fn what_is_no_tree_and_what_has_no_room_keeps_its_arrows() {
    let look = look(ColorDepth::None, GlyphSet::Ascii);
    let drawn = |exchange: &MessageTrace, width: u16, height: u16| {
        let mut buf = Buffer::empty(Rect::new(0, 0, width, height));
        let frame = Frame::MessageTrace(Box::new(exchange.clone()));
        let view = view(1, None);
        draw_frame(buf.area, &mut buf, &frame, &view, Focus::Keys, &look);
        rows(&buf).join("\n")
    };
    // A rank with two parents for the same chunk.
    let mut torn = tree();
    let mut extra = torn.rounds[0].messages[0];
    extra.to = 4;
    torn.rounds[1].messages.push(extra);
    let has_boxes = |text: &str| text.contains("+ A ") || text.contains("+ B ");
    assert!(has_boxes(&drawn(&tree(), 120, 50)));
    assert!(!has_boxes(&drawn(&torn, 120, 50)));
    assert!(!has_boxes(&drawn(&tree(), 120, 14)));
    assert!(!has_boxes(&drawn(&halving(), 24, 50)));
}

#[test]
fn of_many_ranks_a_window_is_drawn_and_said() {
    let mut buf = Buffer::empty(Rect::new(0, 0, 80, 24));
    let look = look(ColorDepth::None, GlyphSet::Unicode);
    let frame = Frame::MessageTrace(Box::new(ring(10_000)));
    let view = view(2, Some((5_000, 4_999)));
    draw_frame(buf.area, &mut buf, &frame, &view, Focus::Keys, &look);
    let text = rows(&buf).concat();
    assert!(text.contains("round 2 of 19998"), "{text}");
    assert!(text.contains("of 10000"), "{text}");
    assert!(text.contains("rank 5000"), "{text}");
}

#[test]
fn memory_stacked_by_part_with_the_line_that_is_passed() {
    let frame = Frame::Stacks(memory());
    compare("stacks", &frame, &view(0, Some((1, 0))));
}

#[test]
fn what_is_played_stops_at_the_end_and_begins_anew_from_there() {
    let frame = Frame::MessageTrace(Box::new(ring(3)));
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
    // Another run's exchange may be shorter.
    view.round = 99;
    view.go(&frame, Way::Left);
    assert_eq!(view.round, 3);
}

#[test]
fn boxes_of_a_pipeline_bear_their_microbatch_and_are_coloured_by_it_if_asked() {
    let frame = Frame::Timeline(pipeline(8));
    compare("pipeline", &frame, &FrameView::default());
    let mut view = FrameView::default();
    view.inspect(&frame, Inspect::Smooth);
    view.inspect(&frame, Inspect::Closer);
    compare("pipeline-by-label", &frame, &view);
}

#[test]
fn traffic_has_its_bytes_with_a_prefix() {
    compare("traffic", &Frame::HeatMap(traffic()), &view(0, Some((1, 2))));
}
