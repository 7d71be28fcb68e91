//! Kind `nf4`: values by blocks to the 16 levels of 4-bit NormalFloat.

use mlsys_lab::frame::{Distribution, Histogram, Level};
use mlsys_lab::value::number;
use mlsys_lab::{Frame, LabError, Run, Value};

use crate::closed_form::Values;
use crate::compression::nested::Nested;
use mlsys_lab::picture;
use mlsys_sim::quantizer::{Listed, nf4_levels};

pub(crate) fn run(run: &mut Run<'_>) -> Result<Values, LabError> {
    let mut values = Values::default();
    let given = Nested::read(&run.params, "values")?;
    let block = run.params.size("block_size")?;
    let levels = nf4_levels()?;
    let coded = Coded::of(&given.flat, block);
    let floats = |list: &[f64]| Value::Array(list.iter().copied().map(Value::Float).collect());
    values.set("levels", floats(&levels));
    values.set("scales", floats(&coded.scales));
    values.set("codes", given.like(coded.codes.iter().map(|code| *code as i64)));
    values.set("dequantized", given.like(coded.back.iter().copied()));
    let errors = given.flat.iter().zip(&coded.back).map(|(x, y)| (y - x) * (y - x));
    let mean = errors.sum::<f64>() / given.flat.len() as f64;
    values.finite("mean_squared_error", mean, || "these values".to_owned())?;
    picture::offer(run, "levels", || coded.counts(&levels));
    picture::offer(run, "values", || coded.table(&given.flat, block, &levels));
    Ok(values)
}

/// Values as codes, a scale a block.
struct Coded {
    scales: Vec<f64>,
    codes: Vec<usize>,
    back: Vec<f64>,
}

impl Coded {
    fn of(values: &[f64], block: usize) -> Self {
        let mut coded = Self { scales: Vec::new(), codes: Vec::new(), back: Vec::new() };
        for block in values.chunks(block.max(1)) {
            let scale = block.iter().map(|x| x.abs()).fold(0.0, f64::max);
            let levels = Listed::nf4(scale);
            coded.scales.push(scale);
            for value in block {
                let code = levels.code(*value);
                coded.codes.push(code);
                coded.back.push(levels.value(code));
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
        edges.extend(levels.windows(2).map(|pair| f64::midpoint(pair[0], pair[1])));
        let last = levels.len() - 1;
        edges.push(1.0 + (levels[last] - levels[last - 1]) / 2.0);
        Frame::Histogram(Histogram {
            quantity: "value / largest of its block".to_owned(),
            edges,
            first: Distribution { name: "values".to_owned(), counts },
            marked: "levels".to_owned(),
            levels: levels.iter().map(|at| Level { at: *at, label: String::new() }).collect(),
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
            ["value", "scale of its block", "code", "level", "comes back as", "error"],
            rows,
        )
    }
}
