//! Recorded runs in the workbench: the list of them, one that is replayed, and those that a lesson takes back in.

use std::path::{Path, PathBuf};
use std::time::Duration;

use mlsys_lab::Registry;
use mlsys_lab::params::Params;
use mlsys_lab::report::RunData;
use mlsys_run::record::{self, RecordError, RecordedRun, Summary};
use mlsys_view::attempts::{FinishedRun, OWN_PAGES};
use mlsys_view::export::changed;
use mlsys_view::theme::Look;
use ratatui::prelude::*;
use serde_json::Value as Json;

use crate::command::Motion;
use crate::lines::put;

const ROWS: u16 = 18;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    Folder(PathBuf),
    /// In the program, by its place among the recordings that ship with it.
    Shipped(usize),
}

#[derive(Clone, Debug, PartialEq)]
pub struct RecordEntry {
    pub source: Source,
    pub name: String,
    pub lab: String,
    /// The lesson that asked for it, and the lab's id there.
    pub lesson: Option<(String, String)>,
    pub device: String,
    pub started: String,
    pub standing: String,
    pub seconds: Option<f64>,
    pub params: Json,
}

impl RecordEntry {
    pub fn new(source: Source, summary: &Summary) -> Self {
        let device = summary
            .device()
            .map_or_else(|| "no device".to_owned(), |(id, name)| format!("{id} ({name})"));
        let lesson = &summary.about["lesson"];
        let text = |json: &Json| json.as_str().map(str::to_owned);
        Self {
            source,
            name: summary.name.clone(),
            lab: summary.lab().to_owned(),
            lesson: text(&lesson["id"]).zip(text(&lesson["lab"])),
            device: plain(&device),
            started: plain(&summary.started()),
            standing: plain(summary.status.word()),
            seconds: summary.seconds(),
            params: summary.about["params"].clone(),
        }
    }

    /// Where and when: shown with everything that comes from it.
    pub fn origin(&self) -> String {
        format!("recorded on {}, {}", self.device, self.started)
    }

    /// The mark, when, where, how it ended, and what differs from the knobs as they stand.
    fn line(&self, look: &Look, differences: &[String], mark: Option<&str>) -> Line<'static> {
        let theme = &look.theme;
        let style = if mark.is_some() { theme.selection } else { theme.text };
        let mut line = Line::from(vec![
            Span::styled(format!("{:<2}", mark.unwrap_or(" ")), theme.accent),
            Span::styled(self.started.clone(), style),
            Span::styled(format!("  {}", self.device), theme.text),
            Span::styled(format!("  {}", self.standing), theme.dim),
        ]);
        if matches!(self.source, Source::Shipped(_)) {
            line.spans.push(Span::styled("  ships with mlsys", theme.dim));
        }
        if !differences.is_empty() {
            line.spans.push(Span::styled(format!("  {}", differences.join(", ")), theme.accent));
        }
        line
    }

    /// The parameters in which it differs from these, as `name value`.
    pub fn differences(&self, params: &Params) -> Vec<String> {
        let of = |name: &str| &self.params[name];
        params
            .iter()
            .map(|(name, value)| (name, of(name), mlsys_lab::output::value(value)))
            .filter(|(_, theirs, ours)| !theirs.is_null() && *theirs != ours)
            .map(|(name, theirs, _)| format!("{name} {}", record::value_text(theirs)))
            .collect()
    }
}

/// Without what would steer the terminal: the files are untrusted.
fn plain(text: &str) -> String {
    text.chars().filter(|c| !mlsys_expr::steers_terminal(*c)).take(80).collect()
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Records {
    /// The runs of the shown lab, the newest first; none until they are read.
    pub entries: Option<Vec<RecordEntry>>,
    pub chosen: usize,
}

impl Records {
    pub fn entry(&self) -> Option<&RecordEntry> {
        self.entries.as_ref()?.get(self.chosen)
    }

    pub fn move_by(&mut self, motion: Motion, half: usize) {
        let count = self.entries.as_ref().map_or(0, Vec::len);
        self.chosen = motion.from(self.chosen, half, count.saturating_sub(1));
    }

    /// Where it lies: over the upper part of the page, as wide as it.
    pub fn area(body: Rect) -> Rect {
        Rect { height: body.height.min(ROWS), ..body }
    }

    pub fn draw(
        &self,
        look: &Look,
        kind: &str,
        params: Option<&Params>,
        area: Rect,
        buffer: &mut Buffer,
    ) {
        let theme = &look.theme;
        let [head, list, rule] =
            Layout::vertical([Constraint::Length(1), Constraint::Min(1), Constraint::Length(1)])
                .areas(area);
        put(look, Line::styled(format!(" Recorded runs of lab {kind}"), theme.title), head, buffer);
        let entries = match &self.entries {
            None => {
                return Line::styled(" reading the folder of runs", theme.dim).render(list, buffer);
            }
            Some(entries) if entries.is_empty() => {
                let none = " none yet: every run of this lab is recorded";
                return Line::styled(none, theme.dim).render(list, buffer);
            }
            Some(entries) => entries,
        };
        let skipped = (self.chosen + 1).saturating_sub(usize::from(list.height));
        for ((place, entry), row) in entries.iter().enumerate().skip(skipped).zip(list.rows()) {
            let differences = params.map_or_else(Vec::new, |params| entry.differences(params));
            let mark = (place == self.chosen).then_some(look.glyphs.arrow);
            put(look, entry.line(look, &differences, mark), row, buffer);
        }
        let line = look.glyphs.horizontal.repeat(usize::from(area.width));
        Line::styled(line, theme.dim).render(rule, buffer);
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    Overlay,
    Replay,
}

#[derive(Clone, Debug, PartialEq)]
pub struct LoadRequest {
    pub entry: RecordEntry,
    pub purpose: Purpose,
    pub lesson: String,
    pub lab: usize,
}

#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    #[error("no such recording ships with mlsys")]
    NotShipped,
    #[error(transparent)]
    Record(#[from] RecordError),
}

#[derive(Debug)]
pub struct LoadedRecord {
    pub wanted: LoadRequest,
    pub data: RunData,
    pub warnings: Vec<String>,
}

/// A replay that a lab shows instead of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Replay {
    pub origin: String,
    /// The parameters of the record: the knobs may stand elsewhere.
    pub params: Json,
    pub speed: Speed,
    pub seconds: Option<f64>,
    pub steps: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Speed {
    #[default]
    Watch,
    Times(u32),
    ToTheEnd,
}

impl Speed {
    pub fn next(self) -> Self {
        match self {
            Self::Watch => Self::Times(1),
            Self::Times(1) => Self::Times(2),
            Self::Times(2) => Self::Times(10),
            Self::Times(_) => Self::ToTheEnd,
            Self::ToTheEnd => Self::Watch,
        }
    }

    pub fn word(self) -> String {
        match self {
            Self::Watch => "paced".to_owned(),
            Self::Times(times) => format!("x{times}"),
            Self::ToTheEnd => "to the end".to_owned(),
        }
    }
}

impl Replay {
    pub fn interval(&self, watched: Duration) -> Duration {
        let steps = u32::try_from(self.steps).unwrap_or(u32::MAX).max(1);
        let whole = self.seconds.filter(|seconds| (0.0..1e9).contains(seconds));
        match (self.speed, whole) {
            (Speed::ToTheEnd, _) => Duration::ZERO,
            (Speed::Times(times), Some(seconds)) => {
                Duration::from_secs_f64(seconds) / steps / times.max(1)
            }
            // The speed of a run that was cut off is unknown.
            (Speed::Watch, _) | (Speed::Times(_), None) => watched / steps,
        }
    }
}

/// As many runs of a lesson are taken back in, the newest.
const MOST_RECALLED: usize = 30;

#[derive(Clone, Debug, PartialEq)]
pub struct RecallRequest {
    /// Those of this lesson; without one those that no lesson of a course asked for.
    pub lesson: Option<String>,
    pub kinds: Vec<String>,
}

/// Reads the finished runs that are wanted, the oldest first; what cannot be read is left out, as lists of runs tell why.
pub fn recall(
    runs: &Path,
    wanted: &RecallRequest,
    registry: &'static Registry,
) -> Vec<FinishedRun> {
    let Ok(names) = record::list(runs) else { return Vec::new() };
    let newest = names.iter().rev().filter_map(|name| {
        let summary = record::summary(&runs.join(name)).ok()?;
        wanted.fits(&summary).then_some(summary)
    });
    let mut found: Vec<FinishedRun> = newest
        .take(MOST_RECALLED)
        .filter_map(|summary| of_past(&record::open(&summary.folder).ok()?, registry))
        .collect();
    found.reverse();
    found
}

impl RecallRequest {
    pub fn fits(&self, summary: &Summary) -> bool {
        let lesson = match (&self.lesson, summary.lesson()) {
            (Some(wanted), lesson) => lesson == Some(wanted.as_str()),
            (None, lesson) => lesson.is_none_or(|id| id.starts_with(OWN_PAGES)),
        };
        lesson
            && summary.status.word() == "finished"
            && self.kinds.iter().any(|kind| kind == summary.lab())
    }
}

/// What a recorded run leaves; nothing if there is no such lab any more.
fn of_past(past: &RecordedRun, registry: &'static Registry) -> Option<FinishedRun> {
    let summary = &past.summary;
    let schema = registry.find(summary.lab()).ok()?.schema();
    let params = summary.values();
    let differing = changed(schema, params.iter().map(|(name, value)| (*name, value)));
    let turned = params
        .iter()
        .filter(|(name, _)| *name != "model_from" && differing.iter().any(|(n, _)| n == name));
    let turned = turned.map(|(name, value)| ((*name).to_owned(), value.clone()));
    let lab = summary.about["lesson"]["lab"].as_str();
    let lab = lab.filter(|_| !summary.lesson().is_some_and(|id| id.starts_with(OWN_PAGES)));
    Some(FinishedRun::new(
        schema,
        (summary.lesson().map(str::to_owned), lab.unwrap_or_else(|| summary.lab()).to_owned()),
        params.iter().map(|(n, v)| ((*n).to_owned(), v.clone())).collect(),
        turned.collect(),
        &past.data,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replay_goes_as_fast_as_is_asked_for() {
        let mut replay = Replay { seconds: Some(20.0), steps: 1000, ..Replay::default() };
        let mut seen = Vec::new();
        for _ in 0..6 {
            let interval = replay.interval(Duration::from_secs(6)).as_micros();
            seen.push((replay.speed.word(), interval));
            replay.speed = replay.speed.next();
        }
        let expected = [
            ("paced", 6000),
            ("x1", 20_000),
            ("x2", 10_000),
            ("x10", 2000),
            ("to the end", 0),
            ("paced", 6000),
        ];
        assert_eq!(seen, expected.map(|(word, interval)| (word.to_owned(), interval)));
        replay = Replay { seconds: None, speed: Speed::Times(2), ..replay };
        assert_eq!(replay.interval(Duration::from_secs(6)).as_micros(), 6000);
    }
}
