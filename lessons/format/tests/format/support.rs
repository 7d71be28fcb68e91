//! Labs small enough for tests, their registry, and lessons made of them.

use mlsys_expr::{Dialect, Env, LookupError};
use mlsys_lab::lab::{Lab, Run};
use mlsys_lab::schema::Schema;
use mlsys_lab::{LabError, Registry};
use mlsys_lesson::{Answer, Lesson, parse, read};

const TRAIN: &str = include_str!("../labs/train.toml");

const OCCUPANCY: &str = include_str!("../labs/occupancy.toml");

const PRUNE: &str = include_str!("../labs/prune-model.toml");

const GRAPH: &str = include_str!("../labs/graph.toml");

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

pub(crate) fn registry() -> Registry {
    let schema = |text| Schema::parse(text).unwrap();
    Registry::new(vec![
        Box::new(Known(schema(TRAIN))),
        Box::new(Known(schema(OCCUPANCY))),
        Box::new(Known(schema(PRUNE))),
        Box::new(Graph(schema(GRAPH))),
    ])
}

pub(crate) fn folder(name: &str) -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lessons").join(name)
}

pub(crate) const RUN: &str = "```{lab} run\nkind = \"train\"\n```\n";

pub(crate) fn everything() -> Lesson {
    let bytes = std::fs::read(folder("valid").join("everything.md")).unwrap();
    read("everything.md", &bytes, &registry()).lesson.unwrap()
}

/// An answer as it stands in an answers file.
pub(crate) fn json(text: &str) -> Answer {
    serde_json::from_str(text).unwrap()
}

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

/// The cases of a file: what is expected, on a line after `===`, and the text up to the next.
pub(crate) fn cases(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.split("=== ").skip(1).map(|case| {
        let (expected, text) = case.split_once('\n').unwrap();
        (expected, text.strip_suffix('\n').unwrap_or(text))
    })
}

/// The lessons of the built-in course, in the order of their paths.
pub(crate) fn course() -> Vec<Lesson> {
    let library = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../library");
    let folders = std::fs::read_dir(&library).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = folders
        .filter(|path| path.is_dir())
        .flat_map(|folder| std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()))
        .filter(|path| path.file_stem().is_some_and(|stem| !stem.to_string_lossy().contains('.')))
        .collect();
    files.sort();
    let read = |path: std::path::PathBuf| {
        let name = path.strip_prefix(&library).unwrap().display().to_string();
        let parsed = parse(&name, &std::fs::read_to_string(&path).unwrap());
        parsed.lesson.unwrap_or_else(|| panic!("{name} does not read"))
    };
    files.into_iter().map(read).collect()
}
