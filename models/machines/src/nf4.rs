//! Kind `nf4`: values by blocks to the 16 levels of 4-bit NormalFloat.

use mlsys_lab::frame::{Distribution, Histogram, Level};
use mlsys_lab::schema::{Schema, SchemaError};
use mlsys_lab::tables::Tables;
use mlsys_lab::value::number;
use mlsys_lab::{Frame, Lab, LabError, Run, Value};

use crate::nested::Nested;
use crate::picture;
use crate::steps::finite;

/// The lab `nf4`.
pub struct Nf4 {
    schema: Schema,
}

impl Nf4 {
    /// The lab with its schema read.
    ///
    /// # Errors
    /// The schema does not read.
    pub fn new() -> Result<Self, SchemaError> {
        let schema = Schema::parse(include_str!("nf4.toml"))?;
        Ok(Self { schema })
    }
}

impl Lab for Nf4 {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn run(&self, run: &mut Run<'_>) -> Result<(), LabError> {
        let values = Nested::read(&run.params, "values")?;
        let block = run.params.size("block_size")?;
        let levels = levels()?;
        let coded = Coded::of(&values.flat, block, &levels);
        let floats = |list: &[f64]| Value::Array(list.iter().copied().map(Value::Float).collect());
        run.scalar("levels", floats(&levels));
        run.scalar("scales", floats(&coded.scales));
        run.scalar(
            "codes",
            values.like(coded.codes.iter().map(|code| *code as i64)),
        );
        run.scalar("dequantized", values.like(coded.back.iter().copied()));
        let errors = values
            .flat
            .iter()
            .zip(&coded.back)
            .map(|(x, y)| (y - x) * (y - x));
        let mean = errors.sum::<f64>() / values.flat.len() as f64;
        finite(run, "mean_squared_error", mean, || {
            "these values".to_owned()
        })?;
        picture::offer(run, "levels", || coded.counts(&levels));
        picture::offer(run, "values", || coded.table(&values.flat, block, &levels));
        Ok(())
    }
}

/// The 16 levels of the codebook, ascending.
fn levels() -> Result<Vec<f64>, LabError> {
    let entry = Tables::builtin().field("codebook", "nf4", "levels");
    let read = match entry {
        Some(Value::Array(items)) => items.iter().filter_map(Value::as_f64).collect(),
        Some(_) | None => Vec::new(),
    };
    if read.len() == 16 {
        Ok(read)
    } else {
        Err(LabError::Data(
            "the table of codebooks has no nf4 of 16 levels".to_owned(),
        ))
    }
}

/// Values as codes, a scale a block.
struct Coded {
    scales: Vec<f64>,
    codes: Vec<usize>,
    back: Vec<f64>,
}

impl Coded {
    fn of(values: &[f64], block: usize, levels: &[f64]) -> Self {
        let mut coded = Self {
            scales: Vec::new(),
            codes: Vec::new(),
            back: Vec::new(),
        };
        for block in values.chunks(block.max(1)) {
            let scale = block.iter().map(|x| x.abs()).fold(0.0, f64::max);
            coded.scales.push(scale);
            for value in block {
                // A block of zeros has no direction: all of it is the level 0.
                let place = if scale > 0.0 { value / scale } else { 0.0 };
                let code = nearest(place, levels);
                coded.codes.push(code);
                coded.back.push(scale * levels[code]);
            }
        }
        coded
    }

    fn counts(&self, levels: &[f64]) -> Frame {
        let mut counts = vec![0_u64; levels.len()];
        for code in &self.codes {
            counts[*code] += 1;
        }
        // Between two levels lies the edge at which the nearer one changes.
        let mut edges = vec![-1.0 - (levels[1] - levels[0]) / 2.0];
        edges.extend(
            levels
                .windows(2)
                .map(|pair| f64::midpoint(pair[0], pair[1])),
        );
        let last = levels.len() - 1;
        edges.push(1.0 + (levels[last] - levels[last - 1]) / 2.0);
        Frame::Histogram(Histogram {
            quantity: "value / largest of its block".to_owned(),
            edges,
            first: Distribution {
                name: "values".to_owned(),
                counts,
            },
            levels: levels
                .iter()
                .enumerate()
                .map(|(code, at)| Level {
                    at: *at,
                    label: code.to_string(),
                })
                .collect(),
            ..Histogram::default()
        })
    }

    fn table(&self, values: &[f64], block: usize, levels: &[f64]) -> Frame {
        let row = |(at, value): (usize, &f64)| {
            let (code, scale) = (self.codes[at], self.scales[at / block.max(1)]);
            [
                Value::Float(*value),
                Value::Float(scale),
                Value::Int(code as i64),
                Value::from(number(levels[code])),
                Value::Float(self.back[at]),
                Value::Float(self.back[at] - value),
            ]
        };
        let rows = values.iter().enumerate().map(row).collect();
        picture::table(
            [
                "value",
                "scale of its block",
                "code",
                "level",
                "comes back as",
                "error",
            ],
            rows,
        )
    }
}

/// The level nearest to a place, the lower one on a tie.
fn nearest(place: f64, levels: &[f64]) -> usize {
    let mut best = 0;
    for (code, level) in levels.iter().enumerate() {
        if (level - place).abs() < (levels[best] - place).abs() {
            best = code;
        }
    }
    best
}
