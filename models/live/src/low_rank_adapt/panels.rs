//! The lab's panels.

use mlsys_lab::frame::{Image, Pane};
use mlsys_lab::picture::{
    axis, heat_map, images, log_axis, pane, point, scatter, sequence, stacks, table,
};
use mlsys_lab::value::number;
use mlsys_lab::{Frame, Value};
use mlsys_nn::baseline::Layer;
use mlsys_nn::data::{Examples, Labelled, Sequence};
use mlsys_nn::flat_params;
use mlsys_nn::networks::Network;
use mlsys_nn::train::EvaluationSet;

use super::Session;
use super::adapters::{AdaptedWeights, Pair, singular_values};
use crate::train::judged_image;

const SAMPLES: usize = 8;
/// Numbers of the smaller side beyond which singular values take too long.
const MOST_WIDE: usize = 256;
/// Cells of a heat map, across and down; a larger matrix is shown by evenly spaced rows and columns.
const MOST_CELLS: usize = 64;
const DRAWN: usize = 4;

type Picture = fn(&Session) -> Frame;

pub(super) const ALL: [(&str, Picture); 3] =
    [("update", update), ("samples", samples), ("memory", memory)];

/// For each adapted matrix: A, B, their product, and its singular values next to those of the full fine-tuning update.
fn update(session: &Session) -> Frame {
    let [adapted, full] = session.networks();
    let apart = AdaptedWeights::read(&adapted);
    let Ok(whole) = flat_params::weights(&full) else {
        return Frame::Text("The device gives no weights.".to_owned());
    };
    let scale = session.setup.scale();
    let times = number((1000.0 * scale).round() / 1000.0);
    let still = |(layer, pair): (&Layer, &Pair)| {
        let Pair { inputs, rank, outputs, .. } = *pair;
        let change: Vec<f64> = pair.product().iter().map(|x| scale * x).collect();
        let before = layer.matrix(&session.trained.weights);
        let after = layer.matrix(&whole);
        let by_all = after.iter().zip(&before);
        let by_all: Vec<f64> = by_all.map(|(a, b)| f64::from(*a - *b)).collect();
        let title =
            format!("{}, {} ({} x {})", layer.name, layer.what, layer.inputs, layer.outputs);
        let panes = vec![
            factor_a(layer, pair),
            pane(format!("B, {rank} x {outputs}"), field(&to_f64(&pair.b), [rank, outputs])),
            pane(format!("{times} A B, {inputs} x {outputs}"), field(&change, [inputs, outputs])),
            pane("singular values", spectrum(layer, &change, &by_all)),
        ];
        pane(title, Frame::Panes(panes))
    };
    sequence(session.targets.iter().zip(&apart.pairs).map(still).collect())
}

/// A; where its rows are pixels, its first columns as images.
fn factor_a(layer: &Layer, pair: &Pair) -> Pane {
    let edge = layer.inputs.isqrt();
    let is_image = edge * edge == layer.inputs && edge > 8 && layer.name == "layer1";
    if !is_image {
        let field = field(&to_f64(&pair.a), [pair.inputs, pair.rank]);
        return pane(format!("A, {} x {}", pair.inputs, pair.rank), field);
    }
    let shown = pair.rank.min(DRAWN);
    let places = (0..edge).flat_map(|row| {
        (0..shown * edge).map(move |at| (row * edge + at % edge) * pair.rank + at / edge)
    });
    let cells = places.map(|place| pair.a.get(place).map_or(0.0, |x| f64::from(*x))).collect();
    let title = match shown {
        1 => "A as an image".to_owned(),
        _ if shown < pair.rank => format!("A, {shown} of {} images", pair.rank),
        _ => format!("A as {shown} images"),
    };
    pane(title, whole_field(cells, [edge, shown * edge]))
}

fn to_f64(numbers: &[f32]) -> Vec<f64> {
    numbers.iter().map(|x| f64::from(*x)).collect()
}

/// A matrix as a heat map; a large one by evenly spaced rows and columns.
fn field(matrix: &[f64], [rows, columns]: [usize; 2]) -> Frame {
    let some = |all: usize| {
        let shown = all.clamp(1, MOST_CELLS);
        (0..shown).map(move |i| i * all / shown)
    };
    let cells = some(rows).flat_map(|row| {
        some(columns).map(move |column| matrix.get(row * columns + column).copied().unwrap_or(0.0))
    });
    let drawn = [rows, columns].map(|all| all.clamp(1, MOST_CELLS));
    let mut frame = whole_field(cells.collect(), drawn);
    if let Frame::HeatMap(map) = &mut frame {
        // Its axes are those of the matrix, of which some rows and columns are drawn.
        map.x = (0.0, columns as f32);
        map.y = (0.0, rows as f32);
    }
    frame
}

/// All of a matrix, zero in the middle of the scale.
fn whole_field(cells: Vec<f64>, [rows, columns]: [usize; 2]) -> Frame {
    let most = cells.iter().fold(0.0_f64, |most, x| most.max(x.abs())) as f32;
    let most = if most > 0.0 { most } else { 1.0 };
    let cells = cells.into_iter().map(|x| x as f32).collect();
    Frame::HeatMap(heat_map([rows, columns], cells, (-most, most), "value"))
}

fn spectrum(layer: &Layer, change: &[f64], by_all: &[f64]) -> Frame {
    let (rows, columns) = (layer.inputs, layer.outputs);
    if rows.min(columns) > MOST_WIDE {
        let text = format!("A matrix of {rows} x {columns} takes too long to be taken apart here.");
        return Frame::Text(text);
    }
    let mut points = Vec::new();
    for (series, matrix) in [by_all, change].into_iter().enumerate() {
        let values = singular_values(matrix, rows, columns);
        let largest = values.first().copied().unwrap_or(0.0);
        // Below this they are rounding.
        let real = values.into_iter().filter(|value| *value > 1e-5 * largest).enumerate();
        points.extend(real.map(|(place, value)| point(place as f64 + 1.0, value, "", series)));
    }
    if points.is_empty() {
        return Frame::Text("Nothing has changed yet: B is zero.".to_owned());
    }
    let axes = [axis("place", ""), log_axis("singular value", "")];
    scatter(axes, &["full fine-tuning", "adapters"], points, Vec::new())
}

/// Examples of both tasks with the answers of three networks, one after the other.
fn samples(session: &Session) -> Frame {
    let [adapted, full] = session.networks();
    let off = session.trained.network_of(&session.kept.row, &session.device);
    let stills = [
        ("adapters on", &adapted),
        ("adapters off", &off),
        ("full fine-tuning, no way back", &full),
    ];
    sequence(stills.map(|(title, network)| pane(title, answers(session, network))).to_vec())
}

fn answers(session: &Session, network: &Network) -> Frame {
    let tasks = &session.tasks;
    let (device, activation) = (&session.device, session.trained.activation);
    let classes = |of: &Examples| EvaluationSet::new(of, device).classes(network, activation);
    match (first(&tasks.new), first(&tasks.old)) {
        (Examples::Labelled(new), Examples::Labelled(old)) => {
            let edge = session.trained.data.features().isqrt();
            let task = |name: &str, some: Labelled| {
                let answers = classes(&Examples::Labelled(some.clone()));
                let frame = Frame::Images(images([edge, edge], read(&some, &answers)));
                pane(format!("{name}: read as (is)"), frame)
            };
            Frame::Panes(vec![task(tasks.name, new), task("as before", old)])
        }
        (Examples::Sequence(new), Examples::Sequence(old)) => {
            let mut rows = Vec::new();
            for (name, some) in [("the other chain", new), ("as before", old)] {
                let answers = classes(&Examples::Sequence(some.clone()));
                rows.extend(predictions(session, name, &some, &answers));
            }
            table(["task", "tokens before", "comes", "expected", ""], rows)
        }
        (Examples::Labelled(_), Examples::Sequence(_))
        | (Examples::Sequence(_), Examples::Labelled(_)) => {
            Frame::Text("The two tasks are of different kinds.".to_owned())
        }
    }
}

fn first(examples: &Examples) -> Examples {
    match examples {
        Examples::Labelled(labelled) => {
            let indices: Vec<usize> = (0..labelled.len().min(SAMPLES)).collect();
            Examples::Labelled(labelled.some(&indices))
        }
        Examples::Sequence(sequence) => {
            let count = (sequence.context + 1).min(sequence.tokens.len());
            Examples::Sequence(Sequence {
                tokens: sequence.tokens[..count].to_vec(),
                ..sequence.clone()
            })
        }
    }
}

fn read(some: &Labelled, answers: &[usize]) -> Vec<Image> {
    let images = some.inputs.chunks_exact(some.features.max(1));
    let known = some.labels.iter().zip(answers);
    let image = |(pixels, (label, answer)): (&[f32], (&i32, &usize))| {
        let pixels = pixels.iter().map(|ink| (ink.clamp(0.0, 1.0) * 255.0) as u8).collect();
        judged_image(pixels, *answer, *label)
    };
    images.zip(known).map(image).collect()
}

/// Positions in a sequence of tokens, with the next token and the one that was expected.
fn predictions(
    session: &Session,
    name: &str,
    some: &Sequence,
    answers: &[usize],
) -> Vec<[Value; 5]> {
    /// Tokens that stand before the one that comes.
    const BEFORE: usize = 4;
    let Some(vocabulary) = &session.tasks.vocabulary else { return Vec::new() };
    let row = |place: usize| {
        let comes = some.tokens[place];
        let expected = answers.get(place - 1).copied().unwrap_or(0) as i32;
        let verdict = if comes == expected { "right" } else { "" };
        let before = vocabulary.text(&some.tokens[place - BEFORE..place]);
        let [comes, expected] = [comes, expected].map(|token| vocabulary.label(token));
        [name.into(), before.into(), comes.into(), expected.into(), verdict.into()]
    };
    (BEFORE..(BEFORE + SAMPLES).min(some.tokens.len())).map(row).collect()
}

fn memory(session: &Session) -> Frame {
    let (base, adapters) = (session.trained.weights.len() as f64, session.adapters as f64);
    let [own, full] = session.training_bytes().map(|bytes| bytes as f64);
    let frozen = session.kept.bytes as f64;
    stacks(
        "bytes",
        ["frozen base", "trained weights", "gradients", "moments"],
        vec![
            (
                "adapters".to_owned(),
                vec![frozen, 4.0 * adapters, 4.0 * adapters, 8.0 * adapters],
                format!("{:.0} % of full fine-tuning", 100.0 * own / full),
            ),
            (
                "full fine-tuning".to_owned(),
                vec![0.0, 4.0 * base, 4.0 * base, 8.0 * base],
                String::new(),
            ),
        ],
        None,
        "Activations come on top of both, and are the same: gradients of adapters in early layers go back through all \
         later ones.",
    )
}
