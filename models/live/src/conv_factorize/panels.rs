//! The lab's panels.

use mlsys_lab::Frame;
use mlsys_lab::frame::{Bar, Pane};
use mlsys_lab::picture::{bars, heat_map, image, images, pane, point, sequence};
use mlsys_nn::networks::{Filter, FilterCost, FilterShape, Network, ReceptiveField};

use super::forms::{Form, paths, reach};
use super::{Session, Setup};
use crate::roof::{self, Roof, short};

type Picture = fn(&Session) -> Frame;

pub(super) const ALL: [(&str, Picture); 4] =
    [("bars", costs), ("field", known_field), ("roofline", roofline), ("filters", filters)];

type Known = fn(&Setup) -> Frame;

/// What is known before the layers are timed, which takes seconds.
pub(super) const BEFORE: [(&str, Known); 3] =
    [("field", fields), ("bars", awaited), ("roofline", awaited)];

fn awaited(_: &Setup) -> Frame {
    let words = "Each layer and each block is timed first, in five rounds. Then the blocks learn.";
    Frame::Text(words.to_owned())
}

const OUTLINED: &str = "h100-sxm5-80gb";

const MOST_FILTERS: usize = 32;

/// Weights, operations and time over those of the standard block. The first two have one bar, for they go together: each
/// weight is used once at each pixel of the map.
fn costs(session: &Session) -> Frame {
    let sizes = &session.setup.sizes;
    let times = &session.times;
    let whole = Form::Standard.weights(sizes) as f64;
    let standard = times.block(Form::Standard);
    let all = session.setup.forms.iter().flat_map(|&form| {
        let seconds = times.block(form);
        let bar = |what: &str, value: Option<f64>, remark: String| Bar {
            label: format!("{}: {what}", form.name()),
            value,
            remark,
        };
        let (own, work) = (form.weights(sizes), form.flops(sizes));
        let share = seconds.zip(standard).map(|(own, all)| own / all);
        let took = match (seconds, standard) {
            (Some(seconds), Some(_)) => format!("{} ms a batch, measured", milliseconds(seconds)),
            (Some(seconds), None) => format!("{} ms measured, no standard", milliseconds(seconds)),
            (None, _) => "not timed".to_owned(),
        };
        let counted = format!("{own}, {:.2} MFLOP, computed", work as f64 / 1e6);
        [bar("weights", Some(own as f64 / whole), counted), bar("time", share, took)]
    });
    bars("of standard", all.collect())
}

fn milliseconds(seconds: f64) -> String {
    let shown = 1e3 * seconds;
    let digits = (2.0 - shown.log10().floor()).clamp(0.0, 9.0);
    format!("{shown:.0$}", digits as usize)
}

fn known_field(session: &Session) -> Frame {
    fields(&session.setup)
}

fn fields(setup: &Setup) -> Frame {
    // A margin around what the standard block sees.
    let edge = setup.sizes.kernel + 2;
    let middle = (edge / 2) as i64;
    let places: Vec<String> = (0..edge as i64).map(|place| (place - middle).to_string()).collect();
    let mut stills = Vec::new();
    for form in &setup.forms {
        let layers = form.layers(&setup.sizes);
        let depth = layers.len();
        for through in 1..=depth {
            let seen = &layers[depth - through..];
            let paths = paths(seen, edge);
            let most = paths.iter().copied().max().unwrap_or(1);
            let which = match through {
                _ if depth == 1 => String::new(),
                through if through == depth => format!(", all {depth} layers"),
                1 => format!(", last of {depth} layers"),
                _ => format!(", last {through} of {depth} layers"),
            };
            let channels = if seen.iter().all(|layer| layer.sight == ReceptiveField::Own) {
                "its own channel".to_owned()
            } else {
                format!("all {} channels", seen[0].channels_in)
            };
            let [high, wide] = reach(seen);
            let title = format!("{}{which}: sees {high} x {wide} of {channels}", form.name());
            let cells = paths.into_iter().map(|count| count as f32).collect();
            let legend = "paths from the pixel to the output";
            let mut map = heat_map([edge, edge], cells, (0.0, most as f32), legend);
            map.column_labels.clone_from(&places);
            map.row_labels.clone_from(&places);
            stills.push(pane(title, Frame::HeatMap(map)));
        }
    }
    sequence(stills)
}

fn roofline(session: &Session) -> Frame {
    let images = session.setup.batch_size as u64;
    let forms = &session.setup.forms;
    let intensity = |cost: &FilterCost| cost.flops(images) as f64 / cost.bytes(images) as f64;
    let points = session.times.layers.iter().map(|layer| {
        let rate = layer.cost.flops(images) as f64 / layer.seconds;
        let series = forms.iter().position(|form| *form == layer.form).unwrap_or(0);
        point(intensity(&layer.cost), rate, named(&layer.shape, layer.place), series)
    });
    let printed = roof::printed(OUTLINED, mlsys_device::meter::Precision::Fp32);
    let measured = session.times.roof.iter();
    let measured = measured.map(|roof| (roof, format!("{}, measured", roof.name)));
    let printed = printed.iter().map(|roof| (roof, format!("{}, printed", short(&roof.name))));
    let roofs: Vec<(&Roof, String)> = measured.chain(printed).collect();
    let series: Vec<&str> = forms.iter().map(|form| form.name()).collect();
    roof::roofline("reached", &series, points.collect(), &roofs, 2.0)
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

fn filters(session: &Session) -> Frame {
    let mut stills: Vec<Pane> = Vec::new();
    for (form, network) in session.networks() {
        let Network::Filters(net) = &network else { continue };
        let shapes = form.layers(&session.setup.sizes);
        // The first one makes the block's channels.
        for (index, (filter, shape)) in net.filters.iter().skip(1).zip(&shapes).enumerate() {
            let (what, frame) = drawn(filter, shape);
            let count = shapes.len();
            let layer = if count == 1 { String::new() } else { format!(" {}/{count}", index + 1) };
            stills.push(pane(format!("{}{layer}: {what}", form.name()), frame));
        }
    }
    sequence(stills)
}

/// A layer's weights: windows as small images, light for positive; what mixes channels as a matrix.
fn drawn(filter: &Filter, shape: &FilterShape) -> (String, Frame) {
    let weights: Vec<f32> = filter.weight.val().into_data().iter::<f32>().collect();
    let most = weights.iter().fold(0.0_f32, |most, weight| most.max(weight.abs()));
    let [high, wide] = shape.window;
    let FilterShape { channels_in, channels_out, sight, .. } = *shape;
    if (high, wide) == (1, 1) {
        let legend = "weight, from channel (across) to channel (down)";
        let map = heat_map([channels_out, channels_in], weights, (-most, most), legend);
        let what = format!("mixes {channels_in} channels into {channels_out} at each pixel");
        return (what, Frame::HeatMap(map));
    }
    let windows = weights.chunks(high * wide);
    let all = windows.len();
    let of_each = all / channels_out.max(1);
    let grey = |weight: &f32| {
        let share = if most > 0.0 { weight / most } else { 0.0 };
        (127.5 * (1.0 + share)).round().clamp(0.0, 255.0) as u8
    };
    let window = |(place, window): (usize, &[f32])| {
        let label = match sight {
            ReceptiveField::Own => format!("{}", place + 1),
            ReceptiveField::All => format!("{}-{}", place % of_each + 1, place / of_each + 1),
        };
        image(window.iter().map(grey).collect(), label)
    };
    let frame = images([wide, high], windows.take(MOST_FILTERS).enumerate().map(window).collect());
    let shown = if all > MOST_FILTERS {
        format!("{MOST_FILTERS} of {all} windows")
    } else {
        format!("{all} windows")
    };
    let channels = match sight {
        ReceptiveField::All => ", channels in-out",
        ReceptiveField::Own => "",
    };
    let what = format!("{shown} ({high} x {wide}{channels}), light is positive");
    (what, Frame::Images(frame))
}
