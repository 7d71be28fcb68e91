//! Message traces and a timeline to draw.

use mlsys_lab::frame::message_trace::{Action, Begins, Chunk, Layout, Message, Ranged, Round};
use mlsys_lab::frame::{MessageTrace, Span, Timeline};

/// A ring all-reduce of a gradient, with a number of each chunk.
pub fn ring(ranks: usize) -> MessageTrace {
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
    let mut trace =
        MessageTrace::ranged("gradient of step 10", Layout::Ring, ranks, elements, rounds);
    // With thousands of ranks, no rank has all numbers.
    let sampled = if ranks <= 64 { ranks } else { 0 };
    let own: Vec<Vec<f32>> = (0..sampled)
        .map(|rank| {
            let number = |i: usize| ((rank * 31 + i * 17) % 97) as f32 / 970.0 - 0.05;
            (0..elements).map(number).collect()
        })
        .collect();
    trace.sample_from(own.iter().map(Vec::as_slice), 2);
    trace
}

/// Every rank to a server and back.
pub fn star(workers: usize) -> MessageTrace {
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
    MessageTrace {
        what: "gradient".to_owned(),
        layout: Layout::Star,
        ranks: workers + 1,
        names: names.chain(["server".to_owned()]).collect(),
        chunks: vec![Chunk { name: "all".to_owned(), elements: 209_472 }],
        begins: Begins::Listed((0..workers).map(|_| vec![0]).collect()),
        rounds: vec![
            Round { phase: "push".to_owned(), messages: up.collect() },
            Round { phase: "pull".to_owned(), messages: down.collect() },
        ],
        note: "The server's link carries what all workers send.".to_owned(),
        ..MessageTrace::default()
    }
}

/// Four stages, all microbatches forward, then all back: a box each, with its number.
pub fn pipeline(microbatches: usize) -> Timeline {
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
            [span(stage, stage + number, 0, number), span(stage, back, 1, number)]
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
