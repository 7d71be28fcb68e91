//! Labs small enough for tests, their registry, and lessons made of them.

use mlsys_expr::{Dialect, Env, LookupError};
use mlsys_lab::lab::{Lab, Run};
use mlsys_lab::schema::Schema;
use mlsys_lab::{LabError, Registry};
use mlsys_lesson::{Answer, Lesson, parse, read};

const TRAIN: &str = r#"
kind = "train"
title = "Train a network"
module = "training"
about = "a live lab"
source = "test"
budget = 1.0
yields = "network"
param = [
  { name = "dataset", type = "enum", values = ["spiral", "moons"], default = "spiral", about = "" },
  { name = "learning_rate", type = "float", default = 0.01, min = 0.0, max = 100.0, live = true, about = "" },
  { name = "width", type = "int", optional = true, min = 1, max = 4096, about = "" },
  { name = "steps", type = "int", default = 400, min = 1, max = 1000000, about = "" },
  { name = "data_dir", type = "string", optional = true, command_line_only = true, about = "" },
]
metric = [
  { name = "loss", type = "float", class = "seeded", series = true, about = "" },
  { name = "accuracy", type = "float", class = "seeded", series = true, about = "" },
  { name = "gradient_norm.*", type = "float", class = "seeded", series = true, about = "" },
  { name = "parameters", type = "int", about = "" },
  { name = "loss_floor", type = "float", when = "dataset = chain", about = "" },
  { name = "seconds_per_step", type = "float", class = "hardware", series = true, about = "" },
]
panel = [
  { name = "loss-curve", shows = "loss", draw = "line", metrics = ["loss"] },
  { name = "decision-boundary", shows = "the plane" },
  { name = "runs", shows = "runs", draw = "attempts", attempts = { axes = [{ name = "size", better = "less" }, { name = "right", better = "more" }], points = [{ values = ["parameters", "accuracy"] }], reference = { name = "whole", values = ["1e6", "1.0"] } } },
]
"#;

const OCCUPANCY: &str = r#"
kind = "occupancy"
title = "Occupancy"
module = "gpu"
about = "an instant lab"
source = "test"
param = [
  { name = "threads_per_block", type = "int", default = 256, min = 1, max = 1024, about = "" },
  { name = "registers_per_thread", type = "int", default = 32, min = 1, max = 255, about = "" },
]
metric = [
  { name = "occupancy", type = "float", about = "" },
  { name = "limiters", type = "array", about = "" },
  { name = "sizes", type = "array", about = "" },
]
"#;

const PRUNE: &str = r#"
kind = "prune-model"
title = "Prune"
module = "compression"
about = "starts from another lab's network"
source = "test"
budget = 1.0
param = [ { name = "model_from", type = "string", optional = true, artifact = "network", about = "" } ]
metric = [ { name = "kept_weights", type = "int", about = "" } ]
"#;

const GRAPH: &str = r#"
kind = "graph"
title = "Graph"
module = "graphs"
about = "evaluates an expression in x"
source = "test"
param = [
  { name = "expression", type = "string", default = "x", about = "" },
  { name = "x", type = "float", default = 2.0, about = "" },
  { name = "inputs", type = "table", default = { x = 2.0 }, about = "" },
]
metric = [ { name = "value", type = "float", about = "" } ]
"#;

/// A lab that is only looked at.
struct Known(Schema);

impl Lab for Known {
    fn schema(&self) -> &Schema {
        &self.0
    }

    fn run(&self, run: &mut Run<'_>) -> Result<(), LabError> {
        run.scalar("occupancy", 0.5);
        Ok(())
    }
}

/// Evaluates its expression with x given.
struct Graph(Schema);

struct X(f64);

impl Env for X {
    fn lookup(&self, name: &str) -> Result<mlsys_expr::Value, LookupError> {
        match name {
            "x" => Ok(mlsys_expr::Value::Number(self.0)),
            _ => Err(LookupError::Unknown { nearest: None }),
        }
    }
}

impl Lab for Graph {
    fn schema(&self) -> &Schema {
        &self.0
    }

    fn run(&self, run: &mut Run<'_>) -> Result<(), LabError> {
        let text = run.params.text("expression")?.to_owned();
        let x = run.params.float("x")?;
        let fail = |message: String| LabError::Expression { param: "expression".into(), message };
        let tree = mlsys_expr::parse(&text, Dialect::Lesson).map_err(|e| fail(e.to_string()))?;
        match mlsys_expr::evaluate(&tree, &X(x)).map_err(|e| fail(e.to_string()))? {
            mlsys_expr::Value::Number(value) => run.scalar("value", value),
            other => return Err(fail(other.kind().into())),
        }
        Ok(())
    }
}

/// The labs that test lessons use.
pub(crate) fn registry() -> Registry {
    let schema = |text| Schema::parse(text).unwrap();
    Registry::new(vec![
        Box::new(Known(schema(TRAIN))),
        Box::new(Known(schema(OCCUPANCY))),
        Box::new(Known(schema(PRUNE))),
        Box::new(Graph(schema(GRAPH))),
    ])
}

/// The folder of sample lessons.
pub(crate) fn folder(name: &str) -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lessons").join(name)
}

/// A lab that other directives of a test refer to.
pub(crate) const RUN: &str = "```{lab} run\nkind = \"train\"\n```\n";

/// The sample with one of everything.
pub(crate) fn everything() -> Lesson {
    let bytes = std::fs::read(folder("valid").join("everything.md")).unwrap();
    read("everything.md", &bytes, &registry()).lesson.unwrap()
}

/// An answer as it stands in an answers file.
pub(crate) fn json(text: &str) -> Answer {
    serde_json::from_str(text).unwrap()
}

/// A lesson that is this directive alone.
pub(crate) fn lesson(directive: &str) -> Lesson {
    let front = "+++\nformat = 1\nid = \"a/b\"\ntitle = \"t\"\nminutes = 1\n+++\n";
    let text = format!("{front}```{directive}\n```\n");
    let parsed = parse("t.md", &text);
    let told: Vec<_> = parsed.diagnostics.iter().map(ToString::to_string).collect();
    parsed.lesson.unwrap_or_else(|| panic!("{}", told.join("\n")))
}

/// Code, line and column of everything that is wrong with a lesson.
pub(crate) fn found(text: &str) -> Vec<(&'static str, usize, usize)> {
    let parsed = read("t.md", text.as_bytes(), &registry());
    assert_eq!(
        parsed.lesson.is_none(),
        parsed.diagnostics.iter().any(|d| d.is_error()),
        "a lesson is there exactly when there is no error"
    );
    parsed.diagnostics.iter().map(|d| (d.code.name(), d.line, d.column)).collect()
}

/// A lesson with this after its front matter: the first line of `body` is line 7.
pub(crate) fn with_body(body: &str) -> String {
    format!("+++\nformat = 1\nid = \"a/b\"\ntitle = \"t\"\nminutes = 1\n+++\n{body}")
}
