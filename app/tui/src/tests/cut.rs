//! The lessons of the course at the sizes of usual terminals: nothing that they speak of is cut or written over, and one
//! thing is not counted in the plural.
//!
//! Labs are drawn as the lesson has them and with each knob at its lowest, middle and highest setting, live ones after a few
//! steps; those that start from a network get one of a few steps. Texts that are cut, and those that go on, end with a sign
//! of their own here, so that no range such as `0…7` is taken for one.

mod page;
mod room;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock, Mutex};
use std::thread;

use mlsys_harness::snapshot::rows;
use mlsys_harness::tables::{mixed, tables, worded_numbers};
use mlsys_lab::control::{Limits, StopReason};
use mlsys_lab::device::DeviceId;
use mlsys_lab::frame::Frame;
use mlsys_lab::report::{Artifact, Report};
use mlsys_lab::value::Value;
use mlsys_lesson::{Course, Lesson};
use mlsys_run::library::Library;
use mlsys_run::outcome::Outcome;
use mlsys_run::sources;
use mlsys_view::panel;
use ratatui::layout::Rect;

use super::Bench;
use crate::message::Message;
use crate::picture::run_here;
use crate::state::{Knob, LabState, RunStatus, Side};

const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (200, 60)];
/// Where a lab with a turned knob is looked at: next to its text, and one picture alone.
const TURNED: [((u16, u16), Side); 2] = [((120, 40), Side::Lab), ((80, 24), Side::Picture)];

/// What stands where a text is cut, and where it goes on.
const CUT: &str = "\u{e000}";
const MORE: &str = "\u{e001}";

/// Texts of this length or longer are typed, and have no room in the row of knobs.
const LONG: usize = 40;

/// The networks that the labs of a lesson leave to those below them.
type Networks = BTreeMap<String, Arc<Artifact>>;

fn course() -> Course {
    Library::built_in(mlsys_registry::built_in()).parsed().into_course().unwrap()
}

/// A bench that marks cut texts with signs of their own.
fn bench(size: (u16, u16)) -> Bench {
    let mut bench = Bench::new(size);
    let glyphs = &mut bench.app.screen.look.glyphs;
    (glyphs.ellipsis, glyphs.more) = (CUT, MORE);
    bench.probed();
    bench
}

/// What a lab reports as its knobs stand, a live one after a few steps; nothing where they contradict each other.
fn run(lab: &LabState, networks: &Networks) -> Option<Vec<Report>> {
    const STEPS: Limits = Limits { steps: Some(2), time: None };
    let mut params = lab.params().ok()?;
    for (param, _, name) in sources::named(lab.schema, &params) {
        params.give(&param, networks.get(&name)?.clone());
    }
    let limits = if lab.schema.is_live() { STEPS } else { Limits::default() };
    let kind = mlsys_registry::built_in().find(&lab.schema.kind).unwrap();
    let (reports, outcome) = run_here(kind, params, DeviceId::CPU, limits);
    let is_done = matches!(outcome, Outcome::Finished | Outcome::Stopped(StopReason::StepLimit));
    is_done.then_some(reports)
}

/// The lowest, a middle and the highest value of a lab's knob; of a live lab the lowest and the highest.
fn settings(lab: &LabState, knob: usize) -> Vec<Value> {
    let mut found = values(&lab.controls.knobs[knob]);
    if lab.schema.is_live() && found.len() == 3 {
        found.remove(1);
    }
    found
}

fn values(knob: &Knob) -> Vec<Value> {
    match knob.values.as_slice() {
        [] => match (knob.param.ty, knob.range) {
            (mlsys_lab::schema::Type::Int, (Some(low), Some(high))) => {
                [low, f64::midpoint(low, high), high].map(|x| Value::Int(x as i64)).to_vec()
            }
            (mlsys_lab::schema::Type::Float, (Some(low), Some(high))) => {
                [low, f64::midpoint(low, high), high].map(Value::Float).to_vec()
            }
            _ => Vec::new(),
        },
        values => [0, values.len() / 2, values.len() - 1].map(|at| values[at].clone()).to_vec(),
    }
}

/// The open lesson with one of its labs in front.
struct Opened<'a> {
    bench: Bench,
    place: usize,
    about: String,
    found: &'a mut Vec<String>,
}

impl Opened<'_> {
    fn lab(&mut self) -> &mut LabState {
        &mut self.bench.app.page.as_mut().unwrap().labs[self.place]
    }

    fn receive(&mut self, reports: Vec<Report>) {
        let place = self.place;
        self.bench.app.page.as_mut().unwrap().current = place;
        let lab = self.lab();
        lab.run = Default::default();
        lab.receive(reports);
        lab.run.state = RunStatus::Finished;
    }

    /// Looks at the lab with one of its pictures in front.
    fn look(&mut self, chosen: usize, size: (u16, u16), side: Side) {
        self.bench.send(Message::Resize { width: size.0, height: size.1 });
        let page = self.bench.app.page.as_mut().unwrap();
        page.turn_to(side);
        page.full_screen = (side == Side::Picture).then_some(Side::Picture);
        page.labs[self.place].pictures.chosen = chosen;
        let lab = &page.labs[self.place];
        let index = lab.chosen().unwrap();
        let panel = &lab.schema.panels[index].name;
        let about = format!("{} {} {panel} {size:?} {side:?}", self.about, lab.id);
        let scene = page.labs[self.place].scene(index).unwrap();
        let frame = page.labs[self.place].frame(index);
        let tables = frame.map_or_else(Vec::new, tables);
        let worded = tables.iter().flat_map(|table| worded_numbers(table));
        self.found.extend(worded.map(|column| format!("{about}: numbers in words: {column}")));
        for (wide, high) in [(64, 8), (64, 18), (78, 20)] {
            let area = Rect::new(0, 0, wide, high);
            let look = &self.bench.app.screen.look;
            let columns = tables.iter().flat_map(|table| panel::columns(table, area, look));
            self.found.extend(mixed_columns(columns.collect(), &about));
            let texts = panel::overwritten(area, &scene, &self.bench.app.screen.look);
            let about = |text: &String| format!("{about} at {wide}x{high}: {text}");
            self.found.extend(texts.iter().map(about));
        }
        let left = if side == Side::Lab { crate::view::sides(size).lab.x } else { 0 };
        let rows = rows(&self.bench.buffer());
        let shown = rows.iter().map(|row| row.chars().skip(left.into()).collect::<String>());
        let shown: Vec<String> = shown.collect();
        // The sentence is whole as well; after a gap stand columns that go on.
        let ends_early = |row: &str| {
            let before = row.trim_end().strip_suffix(MORE);
            before.is_some_and(|text| !text.ends_with("  "))
        };
        // A long text slides under the cursor when it is typed.
        let knobs = self.bench.app.page.as_ref().unwrap().labs[self.place].controls.knobs.iter();
        let long = knobs.filter(|knob| knob.value_text().len() >= LONG);
        let long: Vec<String> = long.map(|knob| format!("{} ", knob.name)).collect();
        let slides = |row: &str| long.iter().any(|name| row.contains(name));
        let cut = shown.iter().filter(|row| is_cut(row) && !slides(row) || ends_early(row));
        self.found.extend(cut.map(|row| format!("{about}: {}", row.trim())));
        let text: String = shown.concat().split_whitespace().collect();
        let frame = self.bench.page().labs[self.place].frame(index);
        let notes = frame.filter(|_| side == Side::Picture).into_iter().flat_map(notes);
        let named = notes.clone().filter(|note| names_a_lab(note));
        self.found.extend(named.map(|note| format!("{about} names another lab: {note}")));
        let missing =
            notes.filter(|note| !text.contains(&note.split_whitespace().collect::<String>()));
        self.found.extend(missing.map(|note| format!("{about} lacks the note {note}")));
        let plural = shown.iter().filter(|row| UNITS.iter().any(|unit| has_one(row, unit)));
        self.found.extend(plural.map(|row| format!("{about}, one of several: {}", row.trim())));
        if side == Side::Lab {
            self.controls(&about, &shown.join("\n"));
            self.division(&about);
        }
    }

    /// The marked knob with its whole value, and the names of all metrics that the lesson wants to be seen.
    fn controls(&mut self, about: &str, screen: &str) {
        let lab = self.lab();
        let knob = lab.controls.knobs.get(lab.controls.marked);
        let knob = knob.map(|knob| format!("{} {}", knob.name, knob.value_text()));
        let knob = knob.filter(|text| text.len() < LONG);
        let metrics = lab.metrics.iter().filter(|name| lab.run.data.metric(name).is_some());
        let wanted: Vec<String> = knob.into_iter().chain(metrics.cloned()).collect();
        let missing = wanted.iter().filter(|text| !screen.contains(text.as_str()));
        let missing: Vec<String> = missing.map(|text| format!("{about} lacks {text}")).collect();
        self.found.extend(missing);
    }
}

/// What is cut of the pictures, knobs and metrics of each lab of a lesson.
fn cut(lesson: &Arc<Lesson>) -> Vec<String> {
    let mut found = Vec::new();
    let mut bench = bench(SIZES[0]);
    bench.app.open(lesson.clone());
    let places = bench.page().labs.len();
    let about = lesson.front.id.to_string();
    let mut networks = Networks::new();
    let mut opened = Opened { bench, place: 0, about, found: &mut found };
    for place in 0..places {
        opened.place = place;
        let lab = opened.lab();
        let panels = lab.pictures.panels.len();
        let reports = run(lab, &networks);
        let reports = reports
            .unwrap_or_else(|| panic!("{} does not run as {} has it", lab.id, lesson.front.id));
        opened.receive(reports);
        let lab = opened.lab();
        if let Some(network) = lab.run.data.artifact.as_deref() {
            // Of a few steps, but whole.
            let network = Artifact { unfinished: None, ..network.clone() };
            networks.insert(lab.id.clone(), Arc::new(network));
        }
        for (size, chosen) in SIZES.iter().flat_map(|size| (0..panels).map(move |at| (*size, at))) {
            opened.look(chosen, size, Side::Lab);
            opened.look(chosen, size, Side::Picture);
        }
        let knobs = opened.lab().controls.knobs.len();
        for knob in 0..knobs {
            for value in settings(opened.lab(), knob) {
                let lab = opened.lab();
                lab.controls.marked = knob;
                lab.give(knob, Some(value.clone()));
                if let Some(reports) = run(lab, &networks) {
                    opened.receive(reports);
                    let name = opened.lab().controls.knobs[knob].name.clone();
                    opened.about = format!("{} {name}={value}", lesson.front.id);
                    for (chosen, (size, side)) in
                        (0..panels).flat_map(|at| TURNED.map(|of| (at, of)))
                    {
                        opened.look(chosen, size, side);
                    }
                    opened.about = lesson.front.id.to_string();
                }
                opened.lab().reset_knobs();
            }
        }
    }
    found
}

/// Whether a sentence names a kind of lab, which a lesson need not have.
fn names_a_lab(note: &str) -> bool {
    let kinds = mlsys_registry::built_in().iter().map(|lab| &lab.schema().kind);
    kinds.into_iter().any(|kind| note.contains(&format!("lab {kind}")))
}

/// The columns of numbers in several forms, but those of which each row is a quantity of its own.
fn mixed_columns(columns: Vec<(String, Vec<String>)>, about: &str) -> Vec<String> {
    let title = |place: usize| columns.get(place).map_or("", |(title, _)| title.as_str());
    let has_units = |place: usize| title(place + 1) == "unit";
    let is_result = |place: usize| place > 0 && title(place - 1) == "with numbers";
    let found = columns.iter().enumerate();
    let found = found.filter(|(place, _)| !has_units(*place) && !is_result(*place));
    let found = found.filter_map(|(_, (title, cells))| Some((title, mixed(cells)?)));
    found.map(|(title, cells)| format!("{about}: forms in column {title}: {cells}")).collect()
}

/// The sentences below a picture, those of the first of several.
fn notes(frame: &Frame) -> Vec<&str> {
    match frame {
        Frame::Cells(of) => vec![of.note.as_str()],
        Frame::Stacks(of) => vec![of.note.as_str()],
        Frame::StyledText(of) => vec![of.note.as_str()],
        Frame::HeatMap(of) => vec![of.legend.as_str()],
        Frame::Panes(of) => of.first().map_or_else(Vec::new, |pane| notes(&pane.frame)),
        Frame::FrameSequence(of) => of.at(0).map_or_else(Vec::new, |still| notes(&still.frame)),
        Frame::Bars(_)
        | Frame::Histogram(_)
        | Frame::BoxPlot(_)
        | Frame::Scatter(_)
        | Frame::Table(_)
        | Frame::Images(_)
        | Frame::Graph(_)
        | Frame::Timeline(_)
        | Frame::MessageTrace(_)
        | Frame::Kernel(_)
        | Frame::Text(_) => Vec::new(),
    }
}

fn is_cut(row: &str) -> bool {
    row.contains(CUT)
}

/// What the labs count: their units in the plural.
static UNITS: LazyLock<BTreeSet<&str>> = LazyLock::new(|| {
    let schemas = mlsys_registry::built_in().iter().map(|lab| lab.schema());
    let units = schemas.flat_map(|schema| {
        let metrics = schema.metrics.iter().filter_map(|metric| metric.unit.as_deref());
        schema.params.iter().filter_map(|param| param.unit.as_deref()).chain(metrics)
    });
    let is_plural = |unit: &&str| unit.ends_with('s') && unit.chars().all(char::is_alphabetic);
    units.filter(is_plural).collect()
});

/// Whether a row says `1 warps`; in `n - 1 warps` there are several.
fn has_one(row: &str, unit: &str) -> bool {
    row.match_indices(&format!("1 {unit}")).any(|(at, text)| {
        let before = row[..at].trim_end_matches(' ');
        let is_whole = before.len() < at || at == 0;
        let is_term = before.ends_with(['-', '+', '*', '/', '=', '^']);
        is_whole && !is_term && !row[at + text.len()..].starts_with(char::is_alphanumeric)
    })
}

/// What a check finds in the lessons, which threads take in turn.
fn in_lessons(course: &Course, check: impl Fn(&Arc<Lesson>) -> Vec<String> + Sync) {
    let lessons = Mutex::new(course.lessons().iter());
    let found = Mutex::new(Vec::new());
    let cores = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                loop {
                    let Some(lesson) = lessons.lock().unwrap().next() else { break };
                    let cut = check(&Arc::new(lesson.clone()));
                    found.lock().unwrap().extend(cut);
                }
            });
        }
    });
    let found = found.into_inner().unwrap();
    assert!(found.is_empty(), "{} cut:\n{}", found.len(), found.join("\n"));
}

#[test]
fn no_text_of_a_lab_is_cut() {
    in_lessons(&course(), cut);
}
