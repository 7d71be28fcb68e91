//! Kind `operation-energy`: energy of arithmetic and memory accesses in a 45 nm process.

use mlsys_lab::schema::{Scale, Schema, SchemaError};
use mlsys_lab::tables::Tables;
use mlsys_lab::value::number;
use mlsys_lab::{Frame, Lab, LabError, Run, Value, frame};

use mlsys_lab::picture;
use mlsys_lab::steps::{Steps, finite};

/// The lab `operation-energy`.
pub struct OperationEnergy {
    schema: Schema,
}

impl OperationEnergy {
    /// The lab with its schema read.
    ///
    /// # Errors
    /// The schema does not read.
    pub fn new() -> Result<Self, SchemaError> {
        let schema = Schema::parse(include_str!("../../labs/operation-energy.toml"))?;
        Ok(Self { schema })
    }
}

impl Lab for OperationEnergy {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn run(&self, run: &mut Run<'_>) -> Result<(), LabError> {
        let (operation, baseline) = (run.params.text("operation")?, run.params.text("baseline")?);
        let (energy, other) = (picojoules(operation)?, picojoules(baseline)?);
        let (operation, baseline) = (operation.to_owned(), baseline.to_owned());
        let count = run.params.float("count")?;
        let joules = energy * count * 1e-12;
        run.scalar("picojoules", energy);
        run.scalar("ratio", energy / other);
        finite(run, "joules", joules, || format!("{} operations", number(count)))?;
        picture::offer(run, "operations", || operations(&operation, &baseline, other));
        picture::offer(run, "steps", || {
            let mut steps = Steps::default();
            let source = "Horowitz, ISSCC 2014 (45 nm, 0.9 V)";
            steps.add(&operation, "table", source, format!("{} pJ", number(energy)));
            steps.add(&baseline, "table", source, format!("{} pJ", number(other)));
            let numbers = format!("{}/{}", number(energy), number(other));
            steps.add("ratio", "picojoules/baseline", numbers, energy / other);
            let numbers = format!("{}*{}*1e-12", number(energy), number(count));
            steps.add("joules", "picojoules*count*1e-12", numbers, joules);
            steps.table()
        });
        Ok(())
    }
}

/// Energy of one operation of the table.
fn picojoules(operation: &str) -> Result<f64, LabError> {
    let found = Tables::builtin().field("operation", operation, "picojoules");
    found.as_ref().and_then(Value::as_f64).ok_or_else(|| {
        LabError::Data(format!("the table of operations has no energy for {operation}"))
    })
}

fn operations(chosen: &str, baseline: &str, base: f64) -> Frame {
    let tables = Tables::builtin();
    let bar = |name: &str| {
        let energy = picojoules(name).ok()?;
        let title = tables.field("operation", name, "title");
        let title = title.as_ref().and_then(Value::as_str).unwrap_or(name);
        let mark = if name == chosen {
            ", chosen"
        } else if name == baseline {
            ", baseline"
        } else {
            ""
        };
        Some(picture::bar(title, energy, format!("{} times{mark}", number(energy / base))))
    };
    let mut bars: Vec<_> = tables.names("operation").into_iter().filter_map(bar).collect();
    bars.sort_by(|a, b| a.value.unwrap_or(0.0).total_cmp(&b.value.unwrap_or(0.0)));
    // From a small addition to a memory access lie five powers of ten.
    Frame::Bars(frame::Bars { unit: "pJ".to_owned(), scale: Scale::Log, bars })
}
