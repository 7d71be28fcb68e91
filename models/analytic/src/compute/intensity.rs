//! Kind `intensity`: operations per byte moved, for the operations models are made of.

mod operation;

use mlsys_lab::schema::{Schema, SchemaError};
use mlsys_lab::value::number;
use mlsys_lab::{Frame, Lab, LabError, Run, Tables, Value};

use mlsys_lab::picture;
use mlsys_lab::steps::{Steps, finite, percent};
use operation::Operation;

/// Data paths of tabled machines that a ridge point is drawn for.
const PATHS: [&str; 4] = ["fp32", "fp16-tensor", "bf16-tensor", "int8-tensor"];

/// The lab `intensity`.
pub struct Intensity {
    schema: Schema,
}

impl Intensity {
    /// The lab with its schema read.
    ///
    /// # Errors
    /// The schema does not read.
    pub fn new() -> Result<Self, SchemaError> {
        let schema = Schema::parse(include_str!("../../labs/intensity.toml"))?;
        Ok(Self { schema })
    }
}

impl Lab for Intensity {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn run(&self, run: &mut Run<'_>) -> Result<(), LabError> {
        let operation = Operation::read(&run.params)?;
        let cost = Cost::of(&operation);
        let large = || "the sizes are too large for their product".to_owned();
        finite(run, "flops", cost.flops, large)?;
        finite(run, "bytes", cost.bytes, large)?;
        finite(run, "intensity", cost.intensity(), || {
            format!("{} flops over {} bytes", number(cost.flops), number(cost.bytes))
        })?;
        picture::offer(run, "operands", || operands(&operation, &cost));
        picture::offer(run, "sizes", || sizes(&operation));
        picture::offer(run, "machines", || machines(&cost));
        picture::offer(run, "steps", || steps(&operation, &cost));
        Ok(())
    }
}

/// What an operation computes and moves.
struct Cost {
    flops: f64,
    bytes: f64,
}

impl Cost {
    fn of(operation: &Operation) -> Self {
        Self {
            flops: operation.flops().value,
            bytes: operation.operands().iter().map(|o| o.bytes).sum(),
        }
    }

    fn intensity(&self) -> f64 {
        self.flops / self.bytes
    }
}

fn operands(operation: &Operation, cost: &Cost) -> Frame {
    let bar = |operand: operation::Operand| {
        let share = percent(operand.bytes / cost.bytes);
        picture::bar(operand.name, operand.bytes, format!("{share} {}", operand.formula))
    };
    picture::bars("bytes", operation.operands().into_iter().map(bar).collect())
}

/// The same operation with its most telling size changed.
fn sizes(operation: &Operation) -> Frame {
    let bar = |(label, other): (String, Operation)| {
        let remark = if other == *operation { "this one" } else { "" };
        picture::bar(label, Cost::of(&other).intensity(), remark)
    };
    picture::bars("flops/byte", operation.at_other_sizes().into_iter().map(bar).collect())
}

/// Where the operation lies under each machine's roof.
fn machines(cost: &Cost) -> Frame {
    let tables = Tables::builtin();
    let field = |gpu: &str, path: &str| tables.field("gpu", gpu, path).and_then(|x| x.as_f64());
    let intensity = cost.intensity();
    let mut rows: Vec<[Value; 5]> = Vec::new();
    for gpu in tables.names("gpu") {
        let Some(bandwidth) = field(gpu, "bandwidth_bytes_per_second") else {
            continue;
        };
        for path in PATHS {
            let Some(peak) = field(gpu, &format!("path.{path}.peak_flops_per_second")) else {
                continue;
            };
            // Below the ridge the memory sets the pace: attainable = intensity*bandwidth.
            let ridge = peak / bandwidth;
            let (bound, attainable) = if intensity < ridge {
                ("memory", intensity * bandwidth / peak)
            } else {
                ("compute", 1.0)
            };
            rows.push([
                gpu.into(),
                path.into(),
                ridge.into(),
                bound.into(),
                percent(attainable).into(),
            ]);
        }
    }
    picture::table(["machine", "data path", "ridge, flops/byte", "bound by", "of peak"], rows)
}

fn steps(operation: &Operation, cost: &Cost) -> Frame {
    let mut steps = Steps::default();
    let flops = operation.flops();
    steps.add("flops", flops.formula, flops.numbers, cost.flops);
    for operand in operation.operands() {
        steps.add(operand.name, operand.formula, operand.numbers, operand.bytes);
    }
    steps.add("bytes", "their sum", "", cost.bytes);
    let numbers = format!("{}/{}", number(cost.flops), number(cost.bytes));
    steps.add("intensity", "flops/bytes", numbers, cost.intensity());
    steps.table()
}

#[cfg(test)]
mod tests {
    use super::*;
    use mlsys_lab::{Params, Settings};

    fn cost(set: &[&str]) -> Cost {
        let settings = Settings::from_pairs(set.iter().copied()).unwrap();
        let lab = Intensity::new().unwrap();
        let params = Params::resolve(lab.schema(), &settings, Tables::builtin(), None).unwrap();
        Cost::of(&Operation::read(&params).unwrap())
    }

    #[test]
    fn a_batch_much_smaller_than_the_matrix_is_its_own_intensity() {
        // With 2-byte weights, 2mnk/(2kn) = m.
        let cost = cost(&["m=4", "n=1000000", "k=1000000"]);
        assert!((cost.intensity() - 4.0).abs() < 1e-4);
    }

    #[test]
    fn attention_of_two_byte_elements_is_gts_over_gt_plus_s() {
        for (g, t, s) in [(1.0, 1.0, 8192.0), (8.0, 1.0, 8192.0), (4.0, 100.0, 100.0)] {
            let cost = cost(&[
                "operation=attention",
                &format!("query_tokens={t}"),
                &format!("kv_tokens={s}"),
                &format!("queries_per_kv_head={g}"),
            ]);
            let limit = g * t * s / (g * t + s);
            assert!((cost.intensity() - limit).abs() < 1e-12 * limit);
        }
    }

    #[test]
    fn only_the_weights_shrink_with_their_own_size() {
        let (wide, narrow) = (cost(&["m=1"]), cost(&["m=1", "weight_bytes_per_element=1.0"]));
        assert_eq!(wide.bytes - narrow.bytes, 8192.0 * 8192.0);
        assert_eq!(wide.flops, narrow.flops);
    }
}
