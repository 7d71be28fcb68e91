//! What the benches share: figures and how they are shown, sides that take turns, and a workbench without a terminal.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{env, fs, io, process};

use mlsys_lab::Registry;
use mlsys_lab::device::{DeviceChoice, DeviceInfo};
use mlsys_lesson::{Lesson, Progress};
use mlsys_run::console::Console;
use mlsys_run::process::Failure;
use mlsys_tui::key::Key;
use mlsys_tui::message::Message;
use mlsys_tui::state::App;
use mlsys_view::glyphs::{GlyphSet, Glyphs};
use mlsys_view::text::aligned;
use mlsys_view::theme::{Background, ColorDepth, Look, Theme};
use ratatui::backend::CrosstermBackend;
use ratatui::layout::Rect;
use ratatui::{Terminal, TerminalOptions, Viewport};
use serde_json::{Value as Json, json};

/// One figure: what it is, its unit, and every value measured.
pub struct Sample {
    pub name: String,
    pub unit: &'static str,
    /// In the order they were measured.
    pub values: Vec<f64>,
}

impl Sample {
    pub fn new(name: impl Into<String>, unit: &'static str, values: Vec<f64>) -> Self {
        Self { name: name.into(), unit, values }
    }

    /// The value that a share of all values does not exceed; NaN if there is none.
    pub fn quantile(&self, share: f64) -> f64 {
        let mut sorted = self.values.clone();
        sorted.sort_by(f64::total_cmp);
        let last = sorted.len().saturating_sub(1);
        let at = (share * last as f64).ceil() as usize;
        sorted.get(at).copied().unwrap_or(f64::NAN)
    }

    pub fn median(&self) -> f64 {
        self.quantile(0.5)
    }
}

pub fn show(
    bench: &str,
    samples: &[Sample],
    json: bool,
    console: &mut Console,
) -> Result<(), Failure> {
    if json {
        let figures: serde_json::Map<String, Json> =
            samples.iter().map(|sample| (sample.name.clone(), object(sample))).collect();
        return console.line(json!({ "bench": bench, "figures": figures }));
    }
    let head = ["", "median", "least", "99 %", "most", "unit", "values"].map(str::to_owned);
    let mut rows = vec![head.to_vec()];
    rows.extend(samples.iter().map(row));
    aligned(&rows).into_iter().try_for_each(|line| console.line(line))
}

fn row(sample: &Sample) -> Vec<String> {
    let figure = |share| format!("{:.4}", sample.quantile(share));
    vec![
        sample.name.clone(),
        figure(0.5),
        figure(0.0),
        figure(0.99),
        figure(1.0),
        sample.unit.to_owned(),
        sample.values.len().to_string(),
    ]
}

fn object(sample: &Sample) -> Json {
    json!({
        "unit": sample.unit,
        "median": sample.median(),
        "least": sample.quantile(0.0),
        "p99": sample.quantile(0.99),
        "most": sample.quantile(1.0),
        "values": sample.values,
    })
}

/// Runs each side in turn, `rounds` times after one round that warms up and does not count: the results by side.
pub fn in_turn<S, T>(
    sides: &[S],
    rounds: u32,
    console: &mut Console,
    mut run: impl FnMut(&S) -> Result<T, Failure>,
) -> Result<Vec<Vec<T>>, Failure> {
    let mut results: Vec<Vec<T>> = sides.iter().map(|_| Vec::new()).collect();
    for round in 0..=rounds {
        for (number, (side, results)) in sides.iter().zip(&mut results).enumerate() {
            console.progress(|| {
                format!("round {round} of {rounds}, {} of {}", number + 1, sides.len())
            });
            let result = run(side)?;
            if round > 0 {
                results.push(result);
            }
        }
    }
    console.clear_progress();
    Ok(results)
}

pub fn failed(error: impl ToString) -> Failure {
    Failure::Run(error.to_string())
}

/// A temporary folder, removed at the end.
pub struct Scratch(PathBuf);

impl Scratch {
    pub fn new(bench: &str) -> io::Result<Self> {
        let folder = env::temp_dir().join(format!("mlsys-bench-{bench}-{}", process::id()));
        fs::create_dir_all(&folder)?;
        Ok(Self(folder))
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Columns and rows of the screen.
pub const SIZE: (u16, u16) = (120, 40);

/// A terminal of that size which writes its bytes here.
pub fn terminal<W: io::Write>(writer: W) -> io::Result<Terminal<CrosstermBackend<W>>> {
    let viewport = Viewport::Fixed(Rect::new(0, 0, SIZE.0, SIZE.1));
    Terminal::with_options(CrosstermBackend::new(writer), TerminalOptions { viewport })
}

/// The first lab of a lesson.
pub const LESSON_HEAD: &str =
    "+++\nformat = 1\nid = \"bench/lesson\"\ntitle = \"Bench\"\nminutes = 1\n+++\n# Bench\n\n";

pub fn workbench(
    directives: &str,
    registry: &'static Registry,
    device: DeviceInfo,
) -> Result<App, Failure> {
    let text = format!("{LESSON_HEAD}{directives}");
    let lesson: Option<Lesson> = mlsys_lesson::read("bench", text.as_bytes(), registry).lesson;
    let lesson = lesson
        .map(Arc::new)
        .ok_or_else(|| Failure::Run(format!("the lesson of the bench does not read: {text}")))?;
    let look = Look {
        theme: Theme::new(Background::Dark, ColorDepth::TrueColor),
        glyphs: Glyphs::new(GlyphSet::Unicode),
    };
    let choice = DeviceChoice::Exactly(device.id);
    let lessons = vec![Arc::clone(&lesson)];
    let mut app = App::new(lessons, registry, choice, Progress::default(), SIZE, look);
    app.update(Message::Probed(vec![device]));
    app.open(lesson);
    Ok(app)
}

/// The key that starts the run.
pub const START: Message = Message::Key(Key::Char(' '));

#[cfg(test)]
mod tests {
    use super::Sample;

    #[test]
    fn quantiles_are_values_that_were_measured() {
        let sample = Sample::new("x", "s", vec![4.0, 1.0, 3.0, 2.0, 5.0]);
        assert_eq!((sample.median(), sample.quantile(0.0)), (3.0, 1.0));
        assert_eq!((sample.quantile(0.99), sample.quantile(1.0)), (5.0, 5.0));
        assert!(Sample::new("none", "s", vec![]).median().is_nan());
    }
}
