//! Messages between ranks and stacked lengths, with their styles, compared with files beside this one.

use mlsys_lab::frame::exchange::{Action, Begins, Chunk, Layout, Message, Ranged, Round};
use mlsys_lab::frame::{Exchange, Frame, HeatMap, Limit, Span, Stack, Stacks, Timeline};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::super::view::{FrameView, Mark, Way};
use super::super::{Focus, draw_frame};
use super::look;
use super::structures::compare;
use crate::figure::kernel::Play;
use crate::ui::command::Inspect;
use crate::ui::glyphs::GlyphSet;
use crate::ui::snapshot::rows;
use crate::ui::theme::ColorDepth;

/// A ring all-reduce of a gradient, with a number of each chunk.
pub(crate) fn ring(ranks: usize) -> Exchange {
    let elements = 4 * ranks;
    let rounds = (0..2 * ranks.saturating_sub(1)).map(|round| {
        let (phase, action) = if round + 1 < ranks {
            ("reduce-scatter", Action::Add)
        } else {
            ("all-gather", Action::Replace)
        };
        let messages = (0..ranks).map(|from| {
            let chunk = (from + 2 * ranks - round) % ranks;
            Ranged {
                from,
                to: (from + 1) % ranks,
                elements: 4 * chunk..4 * chunk + 4,
                action,
                bytes: 209_472,
            }
        });
        (phase.to_owned(), messages.collect())
    });
    let mut exchange =
        Exchange::ranged("gradient of step 10", Layout::Ring, ranks, elements, rounds);
    // Of thousands of ranks nobody has all numbers.
    let told = if ranks <= 64 { ranks } else { 0 };
    let own: Vec<Vec<f32>> = (0..told)
        .map(|rank| {
            let number = |i: usize| ((rank * 31 + i * 17) % 97) as f32 / 970.0 - 0.05;
            (0..elements).map(number).collect()
        })
        .collect();
    exchange.sample_from(own.iter().map(Vec::as_slice), 2);
    exchange
}

/// Every rank to a server and back.
pub(crate) fn star(workers: usize) -> Exchange {
    let message = |from: usize, to: usize, action| Message {
        from,
        to,
        chunk: 0,
        count: 1,
        bytes: 837_888,
        action,
    };
    let up = (0..workers).map(|rank| message(rank, workers, Action::Add));
    let down = (0..workers).map(|rank| message(workers, rank, Action::Replace));
    let names = (0..workers).map(|rank| format!("worker {rank}"));
    Exchange {
        what: "gradient".to_owned(),
        layout: Layout::Star,
        ranks: workers + 1,
        names: names.chain(["server".to_owned()]).collect(),
        chunks: vec![Chunk {
            name: "all".to_owned(),
            elements: 209_472,
        }],
        begins: Begins::Listed((0..workers).map(|_| vec![0]).collect()),
        rounds: vec![
            Round {
                phase: "push".to_owned(),
                messages: up.collect(),
            },
            Round {
                phase: "pull".to_owned(),
                messages: down.collect(),
            },
        ],
        note: "The server's link carries what all workers send.".to_owned(),
        ..Exchange::default()
    }
}

/// Up a binary tree of eight and down again.
fn tree() -> Exchange {
    let message = |from: usize, to: usize, action| Ranged {
        from,
        to,
        elements: 0..100,
        action,
        bytes: 400,
    };
    let up = [1, 2, 4].map(|step| {
        let messages = (0..8).step_by(2 * step);
        let messages = messages.map(|to| message(to + step, to, Action::Add));
        ("reduce".to_owned(), messages.collect::<Vec<_>>())
    });
    let down = [4, 2, 1].map(|step| {
        let messages = (0..8).step_by(2 * step);
        let messages = messages.map(|from| message(from, from + step, Action::Replace));
        ("broadcast".to_owned(), messages.collect())
    });
    Exchange::ranged("gradient", Layout::Tree, 8, 100, up.into_iter().chain(down))
}

/// Halves, quarters and eighths between partners further and further away.
fn halving() -> Exchange {
    let rounds = [4, 2, 1].map(|step| {
        let messages = (0..8_usize).map(|from| {
            let to = from ^ step;
            let first = to / step * step * 4;
            Ranged {
                from,
                to,
                elements: first..first + 4 * step,
                action: Action::Add,
                bytes: 16 * step as u64,
            }
        });
        ("reduce-scatter".to_owned(), messages.collect())
    });
    Exchange::ranged("gradient", Layout::Mesh, 8, 32, rounds)
}

/// Memory by part and worker.
pub(crate) fn memory() -> Stacks {
    let stack = |label: &str, values: [f64; 4], remark: &str| Stack {
        label: label.to_owned(),
        values: values.map(Some).to_vec(),
        remark: remark.to_owned(),
    };
    Stacks {
        unit: "bytes".to_owned(),
        parts: ["weights", "gradients", "optimizer", "activations"]
            .map(str::to_owned)
            .to_vec(),
        stacks: vec![
            stack(
                "one worker",
                [837_888.0, 837_888.0, 1_675_776.0, 2e6],
                "alone",
            ),
            stack("worker 0", [837_888.0, 837_888.0, 1_675_776.0, 5e5], ""),
            stack("worker 1", [837_888.0, 837_888.0, 1_675_776.0, 5e5], ""),
            stack(
                "worker 2",
                [209_472.0, 209_472.0, 418_944.0, 5e5],
                "sharded",
            ),
        ],
        limit: Some(Limit {
            at: 4e6,
            label: "4 MB there are".to_owned(),
        }),
        note: "Data parallelism holds everything on every worker.".to_owned(),
    }
}

/// Four stages, so many microbatches forward, then all back: a box each, with its number.
pub(crate) fn pipeline(microbatches: usize) -> Timeline {
    let stages = 4;
    let span = |stage: usize, start: usize, class: usize, number: usize| Span {
        lane: stage,
        start: start as f64,
        end: (start + 1 + class) as f64,
        class,
        label: (number + 1).to_string(),
        ..Span::default()
    };
    let forward = stages + microbatches - 1;
    let spans = (0..stages).flat_map(|stage| {
        (0..microbatches).flat_map(move |number| {
            let back = forward + 2 * (stages - 1 - stage + number);
            [
                span(stage, stage + number, 0, number),
                span(stage, back, 1, number),
            ]
        })
    });
    Timeline {
        unit: "ticks".to_owned(),
        lanes: (0..stages).map(|stage| format!("stage {stage}")).collect(),
        classes: ["forward", "backward"].map(str::to_owned).to_vec(),
        spans: spans.collect(),
        ..Timeline::default()
    }
}

/// Who sends how many bytes to whom round a ring.
fn traffic() -> HeatMap {
    let names = |ranks: usize| (0..ranks).map(|rank| format!("worker {rank}")).collect();
    let sends = |cell: usize| (cell / 4 + 1) % 4 == cell % 4;
    let bytes = |cell: usize| if sends(cell) { 1_256_832.0 } else { 0.0 };
    HeatMap {
        columns: 4,
        rows: 4,
        cells: (0..16).map(bytes).collect(),
        low: 0.0,
        high: 1_256_832.0,
        x: (0.0, 4.0),
        y: (0.0, 4.0),
        column_labels: names(4),
        row_labels: names(4),
        points: Vec::new(),
        legend: "bytes from the row to the column".to_owned(),
    }
}

fn view(round: usize, mark: Option<(usize, usize)>) -> FrameView {
    FrameView {
        round,
        mark: mark.map(|(row, column)| Mark { column, row }),
        ..FrameView::default()
    }
}

#[test]
fn a_ring_half_way_with_the_chunks_that_came() {
    let frame = Frame::Exchange(Box::new(ring(4)));
    compare("exchange-ring", &frame, &view(2, None));
    compare("exchange-ring-done", &frame, &view(6, Some((2, 1))));
}

#[test]
fn small_and_odd_rings_close_as_well() {
    for ranks in [2, 3, 5] {
        let frame = Frame::Exchange(Box::new(ring(ranks)));
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
            let back = back.map(|m| Message {
                from: m.to,
                to: m.from,
                ..m
            });
            exchange.rounds[0].messages.extend(back);
        }
        let frame = Frame::Exchange(Box::new(exchange));
        let mut buf = Buffer::empty(Rect::new(0, 0, 160, 50));
        let look = look(ColorDepth::None, GlyphSet::Ascii);
        draw_frame(
            buf.area,
            &mut buf,
            &frame,
            &view(1, None),
            Focus::Keys,
            &look,
        );
        let above = rows(&buf)[1..9].join(" ");
        for place in 0..count {
            let name = char::from(b'P' + place as u8);
            let there = above.matches(&format!(" {name} ")).count();
            assert_eq!(
                there,
                if ranks > 2 { 2 } else { 1 },
                "{ranks}: {name}\n{above}"
            );
        }
    }
}

/// Whoever plays an exchange looks at one rank, which has to stay where it is.
#[test]
fn no_row_moves_from_round_to_round() {
    let look = look(ColorDepth::None, GlyphSet::Ascii);
    let mut named = ring(4);
    named.note =
        "A sentence that needs more than one row where the panel is as narrow as this.".into();
    for exchange in [
        ring(2),
        ring(3),
        ring(12),
        star(4),
        tree(),
        halving(),
        named,
    ] {
        let rounds = exchange.rounds.len();
        let frame = Frame::Exchange(Box::new(exchange));
        for width in [40, 66, 100] {
            for height in (8..44).step_by(3) {
                let places = |round: usize| {
                    let mut buf = Buffer::empty(Rect::new(0, 0, width, height));
                    draw_frame(
                        buf.area,
                        &mut buf,
                        &frame,
                        &view(round, None),
                        Focus::Keys,
                        &look,
                    );
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
    let frame = Frame::Exchange(Box::new(ring(4)));
    draw_frame(
        buf.area,
        &mut buf,
        &frame,
        &view(1, None),
        Focus::Keys,
        &look,
    );
    assert!(rows(&buf).concat().contains("came in this round"));
}

#[test]
fn trees_stars_and_meshes_have_arrows_of_their_own() {
    compare(
        "exchange-tree",
        &Frame::Exchange(Box::new(tree())),
        &view(2, None),
    );
    compare(
        "exchange-star",
        &Frame::Exchange(Box::new(star(4))),
        &view(1, None),
    );
    compare(
        "exchange-halving",
        &Frame::Exchange(Box::new(halving())),
        &view(1, None),
    );
}

#[test]
fn of_many_ranks_a_window_is_drawn_and_said() {
    let mut buf = Buffer::empty(Rect::new(0, 0, 80, 24));
    let look = look(ColorDepth::None, GlyphSet::Unicode);
    let frame = Frame::Exchange(Box::new(ring(10_000)));
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
    let frame = Frame::Exchange(Box::new(ring(3)));
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
    compare(
        "traffic",
        &Frame::HeatMap(traffic()),
        &view(0, Some((1, 2))),
    );
}
