//! Message traces, stacks, a timeline and a heat map to draw.

use mlsys_lab::frame::message_trace::{Action, Begins, Chunk, Layout, Message, Ranged, Round};
use mlsys_lab::frame::{HeatMap, Limit, MessageTrace, Span, Stack, Stacks, Timeline};

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

/// Up a binary tree of eight and down again.
pub fn tree() -> MessageTrace {
    let message =
        |from: usize, to: usize, action| Ranged { from, to, elements: 0..100, action, bytes: 400 };
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
    MessageTrace::ranged("gradient", Layout::Tree, 8, 100, up.into_iter().chain(down))
}

/// Two trees over six ranks, each for one half: a rank with children in one has none in the other.
pub fn double_tree() -> MessageTrace {
    let trees: [&[(usize, usize)]; 2] =
        [&[(0, 1), (2, 1), (1, 3), (5, 3), (4, 5)], &[(1, 2), (3, 2), (5, 4), (2, 4), (0, 5)]];
    let message = |half: usize, (from, to): (usize, usize), action| Ranged {
        from,
        to,
        elements: 50 * half..50 * half + 50,
        action,
        bytes: 200,
    };
    let messages = |pick: &[usize], back: bool| {
        let halves = trees.iter().enumerate();
        let sent = halves.flat_map(|(half, links)| {
            pick.iter().map(move |place| {
                let (child, parent) = links[*place];
                match back {
                    false => message(half, (child, parent), Action::Add),
                    true => message(half, (parent, child), Action::Replace),
                }
            })
        });
        sent.collect::<Vec<_>>()
    };
    let rounds = [
        ("reduce", messages(&[0, 1, 4], false)),
        ("reduce", messages(&[2, 3], false)),
        ("broadcast", messages(&[2, 3], true)),
        ("broadcast", messages(&[0, 1, 4], true)),
    ];
    let rounds = rounds.map(|(phase, messages)| (phase.to_owned(), messages));
    MessageTrace::ranged("gradient", Layout::Tree, 6, 100, rounds)
}

/// Halves, quarters and eighths between partners further and further away.
pub fn halving() -> MessageTrace {
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
    MessageTrace::ranged("gradient", Layout::Mesh, 8, 32, rounds)
}

/// Memory by part and worker.
pub fn memory() -> Stacks {
    let stack = |label: &str, values: [f64; 4], remark: &str| Stack {
        label: label.to_owned(),
        values: values.map(Some).to_vec(),
        remark: remark.to_owned(),
    };
    Stacks {
        unit: "bytes".to_owned(),
        parts: ["weights", "gradients", "optimizer", "activations"].map(str::to_owned).to_vec(),
        stacks: vec![
            stack("one worker", [837_888.0, 837_888.0, 1_675_776.0, 2e6], "alone"),
            stack("worker 0", [837_888.0, 837_888.0, 1_675_776.0, 5e5], ""),
            stack("worker 1", [837_888.0, 837_888.0, 1_675_776.0, 5e5], ""),
            stack("worker 2", [209_472.0, 209_472.0, 418_944.0, 5e5], "sharded"),
        ],
        limit: Some(Limit { at: 4e6, label: "4 MB there are".to_owned() }),
        note: "Data parallelism holds everything on every worker.".to_owned(),
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

/// Bytes from each worker to each other along a ring.
pub fn traffic() -> HeatMap {
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
