//! The lab's panels.

use burn::tensor::{Device, Tensor};
use mlsys_lab::frame::{Bar, Bars, Better, Dimension, Pane, Scatter, ScatterLine, ScatterPoint};
use mlsys_lab::schema::Scale;
use mlsys_lab::value::significant;
use mlsys_lab::{Frame, Run};

use super::tiles::Exact;
use super::ways::{Drawn, Goes, Hidden, Inputs, Look};
use super::{Knobs, Setup, film};
use crate::roof::logarithmic;

/// What pictures are made of.
pub(super) struct PanelData<'a> {
    pub(super) setup: &'a Setup,
    pub(super) knobs: &'a Knobs,
    pub(super) drawn: &'a Drawn,
    pub(super) compared: &'a Compared,
    pub(super) swept: &'a Swept,
}

type Picture = fn(&PanelData<'_>) -> Option<Frame>;

/// Every panel.
pub(super) const ALL: [(&str, Picture); 4] = [
    ("scores", |of| Some(film::film(of.setup, of.knobs, of.drawn))),
    ("traffic", |of| Some(traffic(of))),
    ("growth", |of| {
        let timed = !of.swept.points.is_empty();
        timed.then(|| growth(of.setup, of.knobs, of.swept))
    }),
    ("output", |of| Some(output(of.compared))),
];

/// What one head moves to and from slow memory.
fn traffic(of: &PanelData<'_>) -> Frame {
    let (setup, knobs) = (of.setup, of.knobs);
    let naive = setup.naive_accesses();
    let bar = |label: &str, elements: u64, what: &str| Bar {
        label: label.to_owned(),
        value: Some(elements as f64),
        remark: match what {
            "" => String::new(),
            what => format!("{:.2}, {what}", elements as f64 / naive as f64),
        },
    };
    let tiled = setup.tiled_accesses(knobs.tiling);
    Frame::Bars(Bars {
        unit: "elements".to_owned(),
        scale: Scale::Linear,
        bars: vec![
            bar("naive", naive, ""),
            bar("tiled", tiled, "same function"),
            bar("window", setup.window_accesses(knobs), "another one"),
            bar("linear", setup.linear_accesses(), "another one"),
        ],
    })
}

/// Time and memory against the length of the sequence.
pub(super) fn growth(setup: &Setup, knobs: &Knobs, swept: &Swept) -> Frame {
    let seconds = curves(swept, |point, way| point.seconds[way]);
    let bytes = curves(swept, |point, way| point.bytes[way].map(|x| x as f64));
    let mut lines = joined(&seconds);
    lines.extend(slopes(swept));
    let mut panes =
        vec![Pane { title: "time".to_owned(), frame: scatter("time", "seconds", seconds, lines) }];
    let lengths = || swept.points.iter().map(|point| point.sequence);
    let line = |name: &str, bytes: &dyn Fn(usize) -> u64| ScatterLine {
        name: name.to_owned(),
        points: lengths().map(|n| (n as f64, bytes(n) as f64)).collect(),
    };
    let mut lines = joined(&bytes);
    lines.extend([
        line("all scores, slope 2", &|n| setup.naive_score_bytes(n)),
        line("a tile", &|_| knobs.tiled_score_bytes()),
        line("linear sums", &|_| setup.linear_state_bytes()),
    ]);
    panes.push(Pane {
        title: "most memory at once".to_owned(),
        frame: scatter("memory", "bytes", bytes, lines),
    });
    Frame::Panes(panes)
}

/// The points of each way.
fn curves(swept: &Swept, value: impl Fn(&Point, usize) -> Option<f64>) -> Vec<ScatterPoint> {
    let ways = 0..TIMED.len();
    let points = ways.flat_map(|way| {
        let value = &value;
        swept.points.iter().map(move |point| ScatterPoint {
            x: Some(point.sequence as f64),
            // A logarithmic axis has no place for nothing.
            y: value(point, way).filter(|y| *y > 0.0),
            label: String::new(),
            series: way,
        })
    });
    points.collect()
}

/// A line through the points of each way.
fn joined(points: &[ScatterPoint]) -> Vec<ScatterLine> {
    let of = |(way, name): (usize, &&str)| {
        let own = points.iter().filter(|point| point.series == way);
        ScatterLine {
            name: (*name).to_owned(),
            points: own.filter_map(ScatterPoint::place).collect(),
        }
    };
    TIMED.iter().enumerate().map(of).collect()
}

/// Lines of slope 2 and 1 through the last points of the naive and the linear way.
fn slopes(swept: &Swept) -> Vec<ScatterLine> {
    let (Some(first), Some(last)) = (swept.points.first(), swept.points.last()) else {
        return Vec::new();
    };
    let [from, to] = [first, last].map(|point| point.sequence as f64);
    let through = |name: &str, way: usize, slope: i32| {
        let end = last.seconds[way]?;
        Some(ScatterLine {
            name: name.to_owned(),
            points: vec![(from, end * (from / to).powi(slope)), (to, end)],
        })
    };
    let lines = [through("slope 2", 0, 2), through("slope 1", 2, 1)];
    lines.into_iter().flatten().collect()
}

fn scatter(name: &str, unit: &str, points: Vec<ScatterPoint>, lines: Vec<ScatterLine>) -> Frame {
    Frame::Scatter(Scatter {
        x: logarithmic("tokens", ""),
        y: logarithmic(name, unit),
        series: TIMED.map(str::to_owned).to_vec(),
        points,
        lines,
    })
}

/// What the last query of the first head finds by each way, number by number, and how far off all are.
fn output(compared: &Compared) -> Frame {
    let place = |place: usize| place as f64;
    let exact = compared.exact.iter().enumerate();
    let exact = exact.map(|(at, y)| (place(at), *y)).collect();
    let mut points = Vec::new();
    for (way, found) in compared.last.iter().enumerate() {
        points.extend(found.iter().enumerate().map(|(at, y)| ScatterPoint {
            x: Some(place(at)),
            y: Some(f64::from(*y)).filter(|y| y.is_finite()),
            label: String::new(),
            series: way,
        }));
    }
    let found = Scatter {
        x: plain("output"),
        y: plain("value"),
        series: WAYS.map(str::to_owned).to_vec(),
        points,
        lines: vec![ScatterLine { name: "double precision".to_owned(), points: exact }],
    };
    let bars = WAYS.iter().zip(compared.differences).map(|(way, off)| Bar {
        label: (*way).to_owned(),
        value: Some(significant(off, 3)).filter(|off| *off > 0.0 && *off < f64::MAX),
        remark: match off {
            off if off <= 1e-4 => "same".to_owned(),
            off if off == f64::MAX => "no numbers".to_owned(),
            _ => "another".to_owned(),
        },
    });
    let off_by = match compared.non_finite {
        0 => "off by, over the largest".to_owned(),
        count => format!("off by; without m {count} NaN"),
    };
    let off = Bars { unit: String::new(), scale: Scale::Log, bars: bars.collect() };
    Frame::Panes(vec![
        Pane { title: "what the last query finds".to_owned(), frame: Frame::Scatter(found) },
        Pane { title: off_by, frame: Frame::Bars(off) },
    ])
}

fn plain(name: &str) -> Dimension {
    Dimension { name: name.to_owned(), better: Better::Neither, ..Dimension::default() }
}

// Timings so far.

/// The four ways, in the order in which they are told.
pub(super) const WAYS: [&str; 4] = ["naive", "tiled", "window", "linear"];

/// The result of every way, held against double precision.
pub(super) struct Compared {
    /// The largest difference of each way over the largest output.
    pub(super) differences: [f64; 4],
    /// Outputs that are no numbers if the maximum is not subtracted.
    pub(super) non_finite: u64,
    /// What the last query of the first head finds by each way.
    pub(super) last: [Vec<f32>; 4],
    /// What it should find.
    pub(super) exact: Vec<f64>,
}

impl Compared {
    /// Computes all ways. `look` is told after each tile of those that have tiles; nothing if it ends them.
    pub(super) fn new(
        setup: &Setup,
        knobs: &Knobs,
        drawn: &Drawn,
        device: &Device,
        look: Look<'_>,
    ) -> Option<Self> {
        let (mask_of, windowed) = (setup.mask_of(), setup.windowed(knobs));
        let inputs: Inputs = drawn.on(device, knobs.logit_scale);
        let hidden = Hidden::of(setup.sequence, mask_of, device);
        let results = [
            inputs.naive(hidden.as_ref(), &mut || Goes::On),
            inputs.tiled(knobs.tiling, mask_of, look)?.output,
            inputs.tiled(knobs.tiling, windowed, look)?.output,
            inputs.linear(setup.ahead, &mut || Goes::On),
        ]
        .map(numbers);
        let forgetful = numbers(inputs.without_max(hidden.as_ref()));
        let exact = Exact::of(drawn, mask_of, knobs.logit_scale);
        let end = setup.sequence * setup.width;
        let last = |result: &Vec<f32>| {
            let row = result.get(end - setup.width..end);
            row.unwrap_or_default().to_vec()
        };
        Some(Self {
            differences: results.each_ref().map(|result| exact.difference(result)),
            non_finite: forgetful.iter().filter(|x| !x.is_finite()).count() as u64,
            last: results.each_ref().map(last),
            exact: exact.last().to_vec(),
        })
    }

    pub(super) fn report(&self, run: &mut Run<'_>) {
        for (way, difference) in WAYS.iter().zip(self.differences) {
            run.scalar(&format!("{way}_difference"), difference);
        }
        run.scalar("non_finite_without_max", self.non_finite as i64);
    }
}

/// What a tensor holds, in order.
pub(super) fn numbers(tensor: Tensor<3>) -> Vec<f32> {
    tensor.into_data().iter::<f32>().collect()
}

/// What the lengths of the sweep took.
#[derive(Default)]
pub(super) struct Swept {
    pub(super) points: Vec<Point>,
}

/// One length.
#[derive(Clone, Debug, Default)]
pub(super) struct Point {
    pub(super) sequence: usize,
    /// Median seconds, and most bytes beyond what was there before, of the naive, the tiled and the linear way.
    pub(super) seconds: [Option<f64>; 3],
    pub(super) bytes: [Option<u64>; 3],
}

/// The ways that are timed.
pub(super) const TIMED: [&str; 3] = ["naive", "tiled", "linear"];
