//! Data that no lab should send and that must be drawn all the same.

use mlsys_harness::samples::{ring, star};
use mlsys_lab::frame::message_trace::{Begins, Message, Round};
use mlsys_lab::frame::{
    Bar, Bars, BoxPlot, CellRow, Cells, Distribution, Frame, FrameSequence, Graph, HeatMap,
    Histogram, Image, Images, Level, Limit, MessageTrace, Pane, Paragraph, Scatter, ScatterPoint,
    Span, SpanKind, Stack, Stacks, StyledSpan, StyledText, Table, Timeline, Tone, Total,
    ValueSpread, Verdict,
};
use mlsys_lab::report::RunData;
use mlsys_lab::schema::Scale;
use mlsys_lab::value::Value;

use crate::panel::tests::fixtures::{self, boundary, diverging, learning, picture, point, steered};
use crate::panel::tests::structures::{heads, lifetimes, warps};

/// Runs that try the edges: nothing, one point, NaN alone, huge, tiny, negative, constant, unordered.
pub(crate) fn odd_runs() -> Vec<RunData> {
    let values: [&[f64]; 9] = [
        &[],
        &[0.5],
        &[f64::NAN, f64::INFINITY, f64::NAN],
        &[f64::MAX, f64::MIN, 0.0],
        &[1e-320, 5e-324, -0.0],
        &[-3.0, -2.0, 0.0, -1.0],
        &[2.0, 2.0, 2.0, 2.0],
        &[1.0, f64::NAN, 3.0, f64::NEG_INFINITY, 5.0],
        &[1e-9, 1e9, 1e-9],
    ];
    let mut runs = vec![learning(400), steered(300), diverging(60)];
    for values in values {
        let mut data = RunData::default();
        for name in ["loss", "validation_loss", "seconds_per_step", "gradient_norm.layer1"] {
            for (step, value) in values.iter().enumerate() {
                point(&mut data, name, step as u64 * 7, *value);
            }
        }
        runs.push(data);
    }
    let mut far = RunData::default();
    for step in [u64::MAX, 0, 5, u64::MAX - 1, 3] {
        point(&mut far, "loss", step, step as f64);
        point(&mut far, "loss", step, f64::NAN);
    }
    runs.push(far);
    runs
}

/// Frames that contradict themselves or hold nothing.
pub(crate) fn odd_frames() -> Vec<Frame> {
    let map = boundary();
    let labels = |count: usize| vec!["a long label".to_owned(); count];
    let bar =
        |value| Bar { label: "wide 漢字 label".to_owned(), value, remark: "modelled".to_owned() };
    let image = |pixels: usize| Image {
        pixels: vec![200; pixels],
        label: String::new(),
        verdict: Verdict::Wrong,
    };
    let images = |width, height, images| {
        Frame::Images(Images { width, height, images, blank: None, together: 1 })
    };
    let placed =
        |x, y| ScatterPoint { x, y, label: "\u{1b}[2J漢字 ".repeat(30), series: usize::MAX };
    let spread = |label: &str| ValueSpread::new(label, &[0.0, 1.0, 2.0, 400.0]).unwrap();
    let values = [None, Some(f64::NAN), Some(f64::INFINITY), Some(-1e308), Some(1e308), Some(0.0)];
    let bars = |scale| Bars {
        quantity: String::new(),
        unit: String::new(),
        scale,
        bars: values.map(bar).to_vec(),
    };
    let Frame::Stacks(stacks) = picture("stacks") else { panic!("stacks") };
    vec![
        Frame::HeatMap(HeatMap { cells: vec![], ..map.clone() }),
        Frame::HeatMap(HeatMap { columns: usize::MAX, rows: 2, ..map.clone() }),
        Frame::HeatMap(HeatMap {
            cells: vec![f32::NAN; 48 * 48],
            x: (0.0, 0.0),
            y: (f32::NAN, 1.0),
            ..map.clone()
        }),
        Frame::HeatMap(HeatMap { low: 1.0, high: 1.0, x: (3.0, -3.0), ..map.clone() }),
        Frame::HeatMap(HeatMap {
            row_labels: labels(70_000),
            column_labels: labels(3),
            columns: 3,
            rows: 70_000,
            ..map.clone()
        }),
        Frame::HeatMap(HeatMap {
            row_labels: labels(3),
            column_labels: labels(3),
            columns: usize::MAX,
            rows: 3,
            ..map
        }),
        Frame::Bars(bars(Scale::Linear)),
        Frame::Bars(bars(Scale::Log)),
        Frame::Bars(Bars {
            quantity: String::new(),
            unit: "bytes".to_owned(),
            scale: Scale::Log,
            bars: vec![],
        }),
        sourced(),
        Frame::Table(Table {
            columns: vec![],
            rows: vec![vec![Value::Int(1)]; 3],
            ..Table::default()
        }),
        Frame::Table(Table {
            columns: labels(40),
            rows: vec![vec![Value::from("\u{1b}[31mred\t\n"); 50], vec![]],
            ..Table::default()
        }),
        images(0, 28, vec![image(0)]),
        images(28, 28, vec![image(3); 500]),
        images(9000, 1, vec![image(9000)]),
        Frame::BoxPlot(BoxPlot::default()),
        Frame::BoxPlot(BoxPlot { boxes: vec![spread("\u{1b}[2J漢字"); 9], ..BoxPlot::default() }),
        Frame::Histogram(Histogram::default()),
        Frame::Histogram(Histogram { edges: vec![f64::NAN; 9], ..fixtures::weights() }),
        Frame::Histogram(Histogram {
            edges: vec![-f64::MAX, 0.0, f64::MAX],
            scale: Scale::Log,
            ..fixtures::weights()
        }),
        Frame::Histogram(Histogram {
            edges: (0..70_000).map(f64::from).collect(),
            first: Distribution {
                name: "漢字\u{1b}[31m".repeat(50),
                counts: vec![u64::MAX; 99_000],
            },
            levels: vec![Level { at: f64::NAN, label: "x".repeat(400) }; 3],
            ..fixtures::weights()
        }),
        Frame::Scatter(Scatter::default()),
        Frame::Scatter(Scatter {
            series: vec![],
            points: values.map(|x| placed(x, x)).to_vec(),
            ..fixtures::compression()
        }),
        Frame::Scatter(Scatter {
            points: vec![placed(Some(-1.0), Some(2.0)); 5],
            ..fixtures::compression()
        }),
        Frame::Scatter(Scatter {
            series: vec!["\u{1b}]0;漢字".repeat(90); 300],
            points: (0..2000).map(|i| placed(Some(f64::from(i)), Some(1.0))).collect(),
            ..fixtures::compression()
        }),
        Frame::Text("\u{1b}[2J 漢字漢字漢字 \u{200d}\n\n\n".to_owned()),
        Frame::Graph(fixtures::expression()),
        Frame::Graph(fixtures::twelve()),
        Frame::Graph(fixtures::network(3)),
        Frame::Graph(fixtures::long(700)),
        Frame::Graph(Graph::default()),
        Frame::Graph(steering(fixtures::network(9))),
        Frame::Graph(steering(fixtures::long(50))),
        Frame::Timeline(Timeline::default()),
        Frame::Timeline(lifetimes()),
        Frame::Timeline(Timeline {
            lanes: labels(300),
            spans: (0..900).map(|i| odd_span(i, values)).collect(),
            total: Some(Total {
                points: vec![(f64::NAN, 1.0), (2.0, f64::NEG_INFINITY), (1.0, -5.0)],
                ..Total::default()
            }),
            ..lifetimes()
        }),
        Frame::MessageTrace(Box::default()),
        Frame::MessageTrace(Box::new(ring(1))),
        Frame::MessageTrace(Box::new(ring(4))),
        Frame::MessageTrace(Box::new(ring(300))),
        Frame::MessageTrace(Box::new(star(40))),
        Frame::MessageTrace(Box::new(MessageTrace {
            what: "漢字".repeat(20_000),
            names: vec!["\u{1b}[31m漢字\n".repeat(30); 3],
            note: "漢字\n".repeat(90),
            all_rounds: usize::MAX,
            sampled: usize::MAX,
            samples: vec![f32::NAN; 7],
            begins: Begins::Listed(vec![vec![usize::MAX]]),
            rounds: vec![Round {
                phase: "\u{1b}[2J漢字".to_owned(),
                messages: vec![
                    Message {
                        from: usize::MAX,
                        to: 2,
                        chunk: usize::MAX,
                        count: usize::MAX,
                        bytes: u64::MAX,
                        ..Message::default()
                    };
                    40
                ],
            }],
            ..ring(5)
        })),
        Frame::MessageTrace(Box::new(MessageTrace { ranks: usize::MAX, ..ring(3) })),
        Frame::FrameSequence(Box::default()),
        Frame::FrameSequence(Box::new(FrameSequence {
            stills: vec![
                Pane {
                    title: "\u{1b}[2J漢字\n".repeat(40), frame: Frame::Cells(warps("漢字"))
                },
                Pane {
                    title: String::new(),
                    frame: Frame::FrameSequence(Box::new(FrameSequence {
                        stills: Vec::new(),
                        cover: usize::MAX,
                    })),
                },
            ],
            cover: usize::MAX,
        })),
        Frame::StyledText(StyledText::default()),
        Frame::StyledText(StyledText {
            standings: vec![SpanKind {
                name: "\u{1b}[2J漢字".repeat(9),
                tone: Tone::Bad,
                marks: ["\u{1b}[2J", "漢字"].map(str::to_owned),
            }],
            paragraphs: vec![
                Paragraph {
                    label: "漢字\n".repeat(20),
                    stretches: [0, usize::MAX]
                        .map(|standing| StyledSpan {
                            standing,
                            text: "a\tb\n\u{1b}[31m漢字 ".repeat(9),
                        })
                        .to_vec(),
                };
                30
            ],
            note: "漢字 ".repeat(200),
        }),
        Frame::Stacks(Stacks::default()),
        picture("stacks"),
        Frame::Stacks(Stacks {
            parts: labels(9),
            stacks: (0..500)
                .map(|i| Stack {
                    label: "\u{1b}[2J漢字".repeat(i % 9),
                    values: values.iter().copied().cycle().take(i % 13).collect(),
                    remark: "漢字\n".repeat(i % 4),
                })
                .collect(),
            limit: Some(Limit { at: f64::NAN, label: "漢字\n".repeat(40) }),
            ..stacks
        }),
        Frame::Cells(Cells::default()),
        Frame::Cells(warps("\u{1b}[2J漢字")),
        Frame::Cells(Cells {
            kinds: vec![],
            group: usize::MAX,
            first: usize::MAX,
            note: "漢字 ".repeat(200),
            ..warps("")
        }),
        Frame::Cells(Cells {
            across: String::new(),
            rows: vec![CellRow::default(); 3000],
            ..warps("")
        }),
        Frame::Cells(Cells {
            rows: vec![CellRow {
                label: "\u{1b}[31m漢字".repeat(40),
                cells: vec![None; 5000],
                remark: "漢字\n".repeat(40),
            }],
            group: 1,
            ..warps("")
        }),
        Frame::Panes(vec![]),
        Frame::Panes(heads(4)),
        Frame::Panes(vec![
            Pane { title: "\u{1b}[31m漢字\n".repeat(30), frame: Frame::Panes(heads(2)) },
            Pane { title: String::new(), frame: Frame::Graph(fixtures::expression()) },
            Pane { title: "lifetimes".to_owned(), frame: Frame::Timeline(lifetimes()) },
        ]),
        Frame::Text("x".repeat(100_000)),
    ]
}

/// A graph with names that would steer the terminal, in wide letters and with marks over them.
fn steering(mut graph: Graph) -> Graph {
    for node in &mut graph.nodes {
        node.label = "漢\u{1b}[2J字e\u{301}\t".to_owned();
        node.operation.push_str("漢字\u{7}\r\n");
    }
    for group in &mut graph.groups {
        group.name = "\u{1b}]0;漢\u{200d}字".to_owned();
    }
    graph
}

/// A bar that may end before it begins, nowhere, or in a lane or a class there is none of.
fn odd_span(place: usize, values: [Option<f64>; 6]) -> Span {
    let value = |at: usize| values[at % values.len()].unwrap_or(f64::NAN);
    Span {
        lane: place * 7 % 400,
        start: value(place),
        end: value(place / 2 + 1),
        class: place % 5,
        label: "\u{1b}[2J漢字".repeat(place % 3),
        amount: values[place % values.len()],
    }
}

/// A table that says more of its cells than there is room for, and of some that are not there.
fn sourced() -> Frame {
    let mut table = Table::new(
        vec!["a".to_owned(), "b".to_owned()],
        vec![vec![Value::Int(1), Value::from("")]; 2],
    );
    table.notes.put(0, 0, &"a long source ".repeat(60));
    table.notes.put(9, 9, "no row");
    Frame::Table(table)
}
