//! The lab's panels.

use mlsys_lab::frame::{
    Bar, Bars, Frame, FrameSequence, HeatMap, Image, Images, Pane, Scatter, ScatterLine,
    ScatterPoint, Verdict,
};
use mlsys_lab::schema::Scale;
use mlsys_nn::networks::{Filter, FilterShape, Network, ReceptiveField};

use super::forms::Form;
use super::measure::Times;
use super::{Setup, forms};
use crate::roof::{self, Roof, logarithmic, short};

/// What pictures are made of.
pub(super) struct PanelData<'a> {
    pub(super) setup: &'a Setup,
    pub(super) times: &'a Times,
    /// The networks as they are now; read only where they are drawn.
    pub(super) networks: &'a dyn Fn() -> Vec<(Form, Network)>,
}

/// Makes one panel's picture.
pub(super) type Picture = fn(&PanelData<'_>) -> Frame;

/// Every panel that the lab draws itself.
pub(super) const ALL: [(&str, Picture); 4] =
    [("bars", bars), ("field", fields), ("roofline", roofline), ("filters", filters)];

/// A chip drawn in outline, at its printed peaks.
const OUTLINED: &str = "h100-sxm5-80gb";

/// Filters of one layer that are drawn; more would be too small.
const MOST_FILTERS: usize = 32;

/// Weights, operations and time over those of the standard block. The first two have one bar, for they go together: each
/// weight is used once at each pixel of the map.
fn bars(pictured: &PanelData<'_>) -> Frame {
    let sizes = &pictured.setup.sizes;
    let times = pictured.times;
    let whole = Form::Standard.weights(sizes) as f64;
    let standard = times.block(Form::Standard);
    let bars = pictured.setup.forms.iter().flat_map(|&form| {
        let seconds = times.block(form);
        let bar = |what: &str, value: Option<f64>, remark: String| Bar {
            label: format!("{}: {what}", form.name()),
            value,
            remark,
        };
        let (own, work) = (form.weights(sizes), form.flops(sizes));
        let share = seconds.zip(standard).map(|(own, all)| own / all);
        let took = match (seconds, standard) {
            (Some(seconds), Some(_)) => format!("{} ms a batch", thousandths(seconds)),
            (Some(seconds), None) => {
                format!("{} ms, no standard", thousandths(seconds))
            }
            (None, _) => "not timed".to_owned(),
        };
        let counted = format!("{own}, {:.2} Mflop", work as f64 / 1e6);
        [bar("weights", Some(own as f64 / whole), counted), bar("time", share, took)]
    });
    Frame::Bars(Bars { unit: "of standard".to_owned(), scale: Scale::Linear, bars: bars.collect() })
}

/// Seconds as thousandths of one, to three digits.
fn thousandths(seconds: f64) -> String {
    let shown = 1e3 * seconds;
    let digits = (2.0 - shown.log10().floor()).clamp(0.0, 9.0);
    format!("{shown:.0$}", digits as usize)
}

/// What one output of each block sees, from its own pixel back through the layers.
fn fields(pictured: &PanelData<'_>) -> Frame {
    let setup = pictured.setup;
    // A margin around what the standard block sees.
    let edge = setup.sizes.kernel + 2;
    let places = || {
        let middle = (edge / 2) as i64;
        let edge = edge as i64;
        (0..edge).map(|place| (place - middle).to_string()).collect::<Vec<String>>()
    };
    let stills = setup.forms.iter().flat_map(|form| {
        let layers = form.layers(&setup.sizes);
        let depth = layers.len();
        let still = move |through: usize| {
            let seen = &layers[depth - through..];
            let ways = forms::ways(seen, edge);
            let most = ways.iter().copied().max().unwrap_or(1);
            let title = match seen.first() {
                None => format!("{}: one output", form.name()),
                Some(first) => {
                    let [high, wide] = extent(seen);
                    let layers = match (through, depth) {
                        (1, 1) => String::new(),
                        (through, depth) if through == depth => format!(", all {depth} layers"),
                        (1, depth) => format!(", last of {depth} layers"),
                        (through, depth) => format!(", last {through} of {depth} layers"),
                    };
                    format!(
                        "{}{layers}: sees {high} x {wide} of {}",
                        form.name(),
                        channels(seen, first)
                    )
                }
            };
            Pane {
                title,
                frame: Frame::HeatMap(HeatMap {
                    columns: edge,
                    rows: edge,
                    cells: ways.into_iter().map(|count| count as f32).collect(),
                    low: 0.0,
                    high: most as f32,
                    x: (0.0, edge as f32),
                    y: (0.0, edge as f32),
                    column_labels: places(),
                    row_labels: places(),
                    points: Vec::new(),
                    legend: "ways from the pixel to the output".to_owned(),
                }),
            }
        };
        (1..=depth).map(still)
    });
    film(stills.collect())
}

/// Height and width of what is seen through layers.
fn extent(layers: &[FilterShape]) -> [usize; 2] {
    [0, 1].map(|axis| 1 + layers.iter().map(|x| x.window[axis] - 1).sum::<usize>())
}

/// Which channels are seen of what comes into the first of these layers.
fn channels(seen: &[FilterShape], first: &FilterShape) -> String {
    if seen.iter().all(|layer| layer.sight == ReceptiveField::Own) {
        "its own channel".to_owned()
    } else {
        format!("all {} channels", first.channels_in)
    }
}

/// Each layer under the roof, by the work that a batch is for it.
fn roofline(pictured: &PanelData<'_>) -> Frame {
    let images = pictured.setup.batch_size as u64;
    let forms = &pictured.setup.forms;
    let intensity = |cost: &mlsys_nn::networks::FilterCost| {
        cost.flops(images) as f64 / cost.bytes(images) as f64
    };
    let points: Vec<ScatterPoint> = pictured
        .times
        .layers
        .iter()
        .map(|layer| ScatterPoint {
            x: Some(intensity(&layer.cost)),
            y: Some(layer.cost.flops(images) as f64 / layer.seconds).filter(|x| x.is_finite()),
            label: named(&layer.shape, layer.place),
            series: forms.iter().position(|x| *x == layer.form).unwrap_or(0),
        })
        .collect();
    let printed = roof::printed(OUTLINED, mlsys_device::meter::Precision::Fp32);
    let roofs: Vec<(&Roof, String)> = [
        pictured.times.roof.as_ref().map(|roof| (roof, format!("{}, measured", roof.name))),
        printed.as_ref().map(|roof| (roof, format!("{}, printed", short(&roof.name)))),
    ]
    .into_iter()
    .flatten()
    .collect();
    let across = points.iter().filter_map(|point| point.x);
    let across = across.chain(roofs.iter().map(|(roof, _)| roof.ridge()));
    let (low, high) =
        across.fold((f64::INFINITY, 0.0_f64), |(low, high), x| (low.min(x), high.max(x)));
    let lines: Vec<ScatterLine> = roofs
        .into_iter()
        .map(|(roof, name)| roof::line(roof, low / 2.0, high * 2.0, name))
        .collect();
    Frame::Scatter(Scatter {
        x: logarithmic("intensity", "flops/byte"),
        y: logarithmic("reached", "flop/s"),
        series: forms.iter().map(|form| form.name().to_owned()).collect(),
        points,
        lines,
    })
}

/// A layer by its window, such as `2: 1x5`.
fn named(shape: &FilterShape, place: usize) -> String {
    let [high, wide] = shape.window;
    let own = match shape.sight {
        ReceptiveField::All => "",
        ReceptiveField::Own => " depthwise",
    };
    format!("{place}: {high}x{wide}{own}")
}

/// What each layer of each block has learned.
fn filters(pictured: &PanelData<'_>) -> Frame {
    let mut stills = Vec::new();
    for (form, network) in (pictured.networks)() {
        let Network::Filters(net) = &network else {
            continue;
        };
        let shapes = form.layers(&pictured.setup.sizes);
        // The first one makes the block's channels.
        let learned = net.filters.iter().skip(1).zip(&shapes).enumerate();
        for (index, (filter, shape)) in learned {
            let (what, frame) = drawn(filter, shape);
            let of = shapes.len();
            let layer = match of {
                1 => String::new(),
                of => format!(" {}/{of}", index + 1),
            };
            stills.push(Pane { title: format!("{}{layer}: {what}", form.name()), frame });
        }
    }
    film(stills)
}

/// A layer's weights: windows as small images, light for positive; what mixes channels as a matrix.
fn drawn(filter: &Filter, shape: &FilterShape) -> (String, Frame) {
    let weights: Vec<f32> = filter.weight.val().into_data().iter::<f32>().collect();
    let most = weights.iter().fold(0.0_f32, |most, weight| most.max(weight.abs()));
    let [high, wide] = shape.window;
    if (high, wide) == (1, 1) {
        let frame = HeatMap {
            columns: shape.channels_in,
            rows: shape.channels_out,
            cells: weights,
            low: -most,
            high: most,
            x: (0.0, shape.channels_in as f32),
            y: (0.0, shape.channels_out as f32),
            column_labels: Vec::new(),
            row_labels: Vec::new(),
            points: Vec::new(),
            legend: "weight, from channel (across) to channel (down)".to_owned(),
        };
        let what = format!(
            "mixes {} channels into {} at each pixel",
            shape.channels_in, shape.channels_out
        );
        return (what, Frame::HeatMap(frame));
    }
    let windows = weights.chunks(high * wide);
    let all = windows.len();
    let of_each = all / shape.channels_out.max(1);
    let grey = |weight: &f32| {
        let share = if most > 0.0 { weight / most } else { 0.0 };
        (127.5 * (1.0 + share)).round().clamp(0.0, 255.0) as u8
    };
    let image = |(place, window): (usize, &[f32])| Image {
        pixels: window.iter().map(grey).collect(),
        label: match shape.sight {
            ReceptiveField::Own => format!("{}", place + 1),
            ReceptiveField::All => format!("{}-{}", place % of_each + 1, place / of_each + 1),
        },
        verdict: Verdict::Unjudged,
    };
    let frame = Images {
        width: wide,
        height: high,
        images: windows.take(MOST_FILTERS).enumerate().map(image).collect(),
        blank: None,
        together: 1,
    };
    let shown = if all > MOST_FILTERS {
        format!("{MOST_FILTERS} of {all} windows")
    } else {
        format!("{all} windows")
    };
    let of = match shape.sight {
        ReceptiveField::All => ", channels in-out",
        ReceptiveField::Own => "",
    };
    let what = format!("{shown} ({high} x {wide}{of}), light is positive");
    (what, Frame::Images(frame))
}

/// Pictures of which one is looked at at a time.
fn film(stills: Vec<Pane>) -> Frame {
    Frame::FrameSequence(Box::new(FrameSequence { stills, cover: 0 }))
}
