//! The lab's panels.

use mlsys_lab::frame::{
    Better, Dimension, FrameSequence, HeatMap, Image, Images, Pane, Scatter, ScatterPoint, Stack,
    Stacks, Table, Verdict,
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
use crate::roof::logarithmic;

/// Images or tokens of each task.
const SAMPLES: usize = 8;
/// Numbers of the smaller side beyond which singular values take too long.
const MOST_WIDE: usize = 256;
/// Cells of a heat map, across and down; a larger matrix is shown by evenly spaced rows and columns.
const MOST_CELLS: usize = 64;
/// Columns of A that are drawn as images.
const DRAWN: usize = 4;

type Picture = fn(&Session) -> Frame;

/// Every panel that is no chart.
pub(super) const ALL: [(&str, Picture); 3] =
    [("update", update), ("samples", samples), ("memory", memory)];

/// For each adapted matrix: A, B, their product, and its singular values next to those of the full fine-tuning update.
fn update(session: &Session) -> Frame {
    let [adapted, full] = session.networks();
    let apart = AdaptedWeights::read(&adapted);
    let whole = flat_params::weights(&full).unwrap_or_default();
    let mut stills = Vec::new();
    for (layer, pair) in session.targets.iter().zip(&apart.pairs) {
        let scale = session.setup.scale();
        let times = number((1000.0 * scale).round() / 1000.0);
        let change: Vec<f64> = pair.product().iter().map(|x| scale * x).collect();
        let before = layer.matrix(&session.trained.weights);
        let after = layer.matrix(&whole);
        let by_all = after.iter().zip(&before);
        let by_all: Vec<f64> = by_all.map(|(a, b)| f64::from(*a - *b)).collect();
        stills.push(Pane {
            title: format!("{}, {} ({} x {})", layer.name, layer.what, layer.inputs, layer.outputs),
            frame: Frame::Panes(vec![
                factor_a(layer, pair),
                Pane {
                    title: format!("B, {} x {}", pair.rank, pair.outputs),
                    frame: field(&to_f64(&pair.b), [pair.rank, pair.outputs]),
                },
                Pane {
                    title: format!("{times} A B, {} x {}", pair.inputs, pair.outputs),
                    frame: field(&change, [pair.inputs, pair.outputs]),
                },
                Pane {
                    title: "singular values".to_owned(),
                    frame: spectrum(layer, &change, &by_all),
                },
            ]),
        });
    }
    Frame::FrameSequence(Box::new(FrameSequence { stills, cover: 0 }))
}

/// A; where its rows are pixels, its first columns as images.
fn factor_a(layer: &Layer, pair: &Pair) -> Pane {
    let edge = layer.inputs.isqrt();
    let is_image = edge * edge == layer.inputs && edge > 8 && layer.name == "layer1";
    if !is_image {
        return Pane {
            title: format!("A, {} x {}", pair.inputs, pair.rank),
            frame: field(&to_f64(&pair.a), [pair.inputs, pair.rank]),
        };
    }
    let shown = pair.rank.min(DRAWN);
    let cells = (0..edge).flat_map(|row| {
        (0..shown * edge).map(move |place| {
            let (column, x) = (place / edge, place % edge);
            (row * edge + x) * pair.rank + column
        })
    });
    let cells: Vec<f64> =
        cells.map(|place| pair.a.get(place).map_or(0.0, |x| f64::from(*x))).collect();
    let title = match shown {
        1 => "A as an image".to_owned(),
        _ if shown < pair.rank => format!("A, {shown} of {} images", pair.rank),
        _ => format!("A as {shown} images"),
    };
    Pane { title, frame: whole_field(cells, [edge, shown * edge]) }
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
    whole_field(cells.collect(), [rows.clamp(1, MOST_CELLS), columns.clamp(1, MOST_CELLS)])
}

/// All of a matrix, zero in the middle of the scale.
fn whole_field(cells: Vec<f64>, [rows, columns]: [usize; 2]) -> Frame {
    let most = cells.iter().fold(0.0_f64, |most, x| most.max(x.abs())) as f32;
    let most = if most > 0.0 { most } else { 1.0 };
    Frame::HeatMap(HeatMap {
        columns,
        rows,
        cells: cells.into_iter().map(|x| x as f32).collect(),
        low: -most,
        high: most,
        x: (0.0, columns as f32),
        y: (0.0, rows as f32),
        column_labels: Vec::new(),
        row_labels: Vec::new(),
        points: Vec::new(),
        legend: "value".to_owned(),
    })
}

/// Singular values of both changes, the largest first.
fn spectrum(layer: &Layer, change: &[f64], by_all: &[f64]) -> Frame {
    let (rows, columns) = (layer.inputs, layer.outputs);
    if rows.min(columns) > MOST_WIDE {
        return Frame::Text(format!(
            "A matrix of {rows} x {columns} takes too long to be taken apart here."
        ));
    }
    let mut points = Vec::new();
    for (series, matrix) in [by_all, change].into_iter().enumerate() {
        let values = singular_values(matrix, rows, columns);
        let largest = values.first().copied().unwrap_or(0.0);
        // Below this they are rounding.
        let real = values.into_iter().filter(|value| *value > 1e-5 * largest);
        points.extend(real.enumerate().map(|(place, value)| ScatterPoint {
            x: Some(place as f64 + 1.0),
            y: Some(value),
            label: String::new(),
            series,
        }));
    }
    if points.is_empty() {
        return Frame::Text("Nothing has changed yet: B is zero.".to_owned());
    }
    Frame::Scatter(Scatter {
        x: Dimension { name: "place".to_owned(), better: Better::Neither, ..Dimension::default() },
        y: logarithmic("singular value", ""),
        series: vec!["fine-tuned whole".to_owned(), "adapters".to_owned()],
        points,
        lines: Vec::new(),
    })
}

/// Examples of both tasks with the answers of three networks, one after the other.
fn samples(session: &Session) -> Frame {
    let [adapted, full] = session.networks();
    let off = session.trained.network_of(&session.kept.row, &session.device);
    let stills = [
        ("adapters on", &adapted),
        ("adapters off", &off),
        ("fine-tuned whole, no way back", &full),
    ];
    let stills = stills.map(|(title, network)| still(session, title, network));
    Frame::FrameSequence(Box::new(FrameSequence { stills: stills.to_vec(), cover: 0 }))
}

fn still(session: &Session, title: &str, network: &Network) -> Pane {
    let tasks = &session.tasks;
    let classes = |examples: &Examples| {
        let set = EvaluationSet::new(examples, &session.device);
        set.classes(network, session.trained.activation)
    };
    match (first(&tasks.new), first(&tasks.old)) {
        (Examples::Labelled(new), Examples::Labelled(old)) => {
            let edge = session.trained.data.features().isqrt();
            let name = tasks.name;
            let pane = |name: &str, some: Labelled| {
                let answers = classes(&Examples::Labelled(some.clone()));
                Pane {
                    title: format!("{name} (what it is, if misread)"),
                    frame: Frame::Images(Images {
                        width: edge,
                        height: edge,
                        images: read(&some, &answers),
                        blank: None,
                        together: 1,
                    }),
                }
            };
            Pane {
                title: title.to_owned(),
                frame: Frame::Panes(vec![pane(name, new), pane("as before", old)]),
            }
        }
        (Examples::Sequence(new), Examples::Sequence(old)) => {
            let mut rows = Vec::new();
            for (name, some) in [("the other chain", new), ("as before", old)] {
                let answers = classes(&Examples::Sequence(some.clone()));
                rows.extend(foretold(session, name, &some, &answers));
            }
            let columns = ["task", "tokens before", "comes", "expected", ""];
            Pane {
                title: title.to_owned(),
                frame: Frame::Table(Table {
                    columns: columns.map(str::to_owned).to_vec(),
                    rows,
                    ..Table::default()
                }),
            }
        }
        (Examples::Labelled(_), Examples::Sequence(_))
        | (Examples::Sequence(_), Examples::Labelled(_)) => Pane {
            title: title.to_owned(),
            frame: Frame::Text("The two tasks are of different kinds.".to_owned()),
        },
    }
}

/// The first examples.
fn first(examples: &Examples) -> Examples {
    match examples {
        Examples::Labelled(labelled) => {
            let indices: Vec<usize> = (0..labelled.len().min(SAMPLES)).collect();
            let (inputs, labels) = labelled.gather(&indices);
            Examples::Labelled(Labelled { inputs, labels, features: labelled.features })
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

/// Images with what they are read as.
fn read(some: &Labelled, answers: &[usize]) -> Vec<Image> {
    let images = some.inputs.chunks_exact(some.features.max(1));
    let known = some.labels.iter().zip(answers);
    let image = |(pixels, (label, answer)): (&[f32], (&i32, &usize))| {
        let is_right = usize::try_from(*label).is_ok_and(|label| label == *answer);
        Image {
            pixels: pixels.iter().map(|ink| (ink.clamp(0.0, 1.0) * 255.0) as u8).collect(),
            label: if is_right {
                answer.to_string()
            } else {
                // Short, for images are small where many are shown.
                format!("{answer} ({label})")
            },
            verdict: if is_right { Verdict::Right } else { Verdict::Wrong },
        }
    };
    images.zip(known).map(image).collect()
}

/// Places of a row of tokens with what comes and what was expected.
fn foretold(session: &Session, name: &str, some: &Sequence, answers: &[usize]) -> Vec<Vec<Value>> {
    /// Tokens that stand before the one that comes.
    const BEFORE: usize = 4;
    let Some(vocabulary) = &session.tasks.vocabulary else {
        return Vec::new();
    };
    let places = BEFORE..(BEFORE + SAMPLES).min(some.tokens.len());
    let row = |place: usize| {
        let before = some.tokens.get(place - BEFORE..place).unwrap_or_default();
        let comes = some.tokens.get(place).copied().unwrap_or(0);
        let expected = answers.get(place - 1).copied().unwrap_or(0) as i32;
        vec![
            Value::from(name),
            Value::from(vocabulary.text(before)),
            Value::from(vocabulary.label(comes)),
            Value::from(vocabulary.label(expected)),
            Value::from(if comes == expected { "right" } else { "" }),
        ]
    };
    places.map(row).collect()
}

/// What training keeps, by part.
fn memory(session: &Session) -> Frame {
    let costs = session.costs;
    let (base, adapters) = (costs.base as f64, costs.adapters as f64);
    let stack = |label: &str, values: [f64; 4], remark: String| Stack {
        label: label.to_owned(),
        values: values.map(Some).to_vec(),
        remark,
    };
    let share = costs.training_bytes() as f64 / costs.full_training_bytes() as f64;
    Frame::Stacks(Stacks {
        unit: "bytes".to_owned(),
        parts: ["frozen base", "trained weights", "gradients", "moments"]
            .map(str::to_owned)
            .to_vec(),
        stacks: vec![
            stack(
                "adapters",
                [
                    costs.base_bytes as f64,
                    4.0 * adapters,
                    4.0 * adapters,
                    8.0 * adapters,
                ],
                format!("{:.0}% of the other", 100.0 * share),
            ),
            stack(
                "fine-tuned whole",
                [0.0, 4.0 * base, 4.0 * base, 8.0 * base],
                String::new(),
            ),
        ],
        limit: None,
        note: "Activations come on top of both, and are the same: gradients of adapters in early layers go back through all \
               later ones."
            .to_owned(),
    })
}
