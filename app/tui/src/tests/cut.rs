//! Every lab of the course at the sizes of usual terminals: no text of a picture, a knob or the status line is cut.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::thread;

use mlsys_harness::snapshot::rows;
use mlsys_lab::control::{Control, Limits};
use mlsys_lab::device::DeviceId;
use mlsys_lab::report::{FrameTrigger, Report, Sink};
use mlsys_lab::value::Value;
use mlsys_lab::{Lab, Run};
use mlsys_lesson::{Course, Lesson};
use mlsys_run::library::Library;
use mlsys_run::outcome::Outcome;
use mlsys_run::sources::{Store, WithArtifacts};

use super::Bench;
use crate::message::{Effect, Message};
use crate::state::{RunStatus, Side};

const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (200, 60)];

/// What makes a live lab short, where it has such a parameter.
const SHORT: [(&str, i64); 2] = [("steps", 10), ("repetitions", 3)];

/// Parameters of labs that train a network first, which takes too long here.
const LONG: [&str; 4] = ["training_steps", "baseline_steps", "teacher_steps", "held_out_width"];

#[derive(Default)]
struct Reports(Vec<Report>);

impl Sink for Reports {
    fn report(&mut self, report: Report) {
        self.0.push(report);
    }

    fn wants_frame(&mut self, _panel: &str, trigger: FrameTrigger) -> bool {
        trigger == FrameTrigger::Final
    }
}

/// What a lab of the open lesson reports, a live one in a few steps.
fn run(bench: &Bench, place: usize, store: &Store) -> Vec<Report> {
    let lab = &bench.page().labs[place];
    let short = SHORT.iter().filter(|(name, _)| {
        lab.schema.is_live() && lab.schema.params.iter().any(|param| param.name == *name)
    });
    let settings = short.fold(lab.settings.clone(), |settings, (name, steps)| {
        settings.turned(lab.schema, name, Value::Int(*steps))
    });
    let params = lab.resolved(&settings).unwrap_or_else(|error| panic!("{}: {error:?}", lab.id));
    let kind = mlsys_registry::built_in().find(&lab.schema.kind).unwrap();
    let mut sources = bench.app.sources_of(&lab.id);
    sources.store = store.clone();
    let mut reports = Reports::default();
    let ran = WithArtifacts::new(kind, sources).run(&mut Run {
        params,
        device: DeviceId::CPU,
        sink: &mut reports,
        control: Control::free(Limits::default(), Arc::default()),
    });
    ran.unwrap_or_else(|error| panic!("{}: {error}", lab.id));
    reports.0
}

type Drawn = Mutex<BTreeSet<(String, Vec<usize>)>>;

/// The rows that have an ellipsis, of each picture of each lab: next to the others, and alone.
fn cut(lesson: &Arc<Lesson>, store: &Store, drawn: &Drawn) -> Vec<String> {
    let mut bench = Bench::new(SIZES[0]);
    bench.probed();
    bench.app.open(lesson.clone());
    let mut found = Vec::new();
    for place in 0..bench.page().labs.len() {
        let lab = &bench.page().labs[place];
        let shown = (lab.schema.kind.clone(), lab.pictures.panels.clone());
        let is_long = lab.schema.params.iter().any(|param| LONG.contains(&param.name.as_str()));
        // A live lab takes a while: each set of its pictures is drawn once.
        if lab.schema.is_live() && (is_long || !drawn.lock().unwrap().insert(shown)) {
            continue;
        }
        let reports = run(&bench, place, store);
        let page = bench.app.page.as_mut().unwrap();
        page.current = place;
        page.labs[place].receive(reports);
        page.labs[place].run.state = RunStatus::Finished;
        for chosen in 0..page.labs[place].pictures.panels.len() {
            for (size, side) in
                SIZES.iter().flat_map(|size| [(size, Side::Lab), (size, Side::Picture)])
            {
                bench.send(Message::Resize { width: size.0, height: size.1 });
                let page = bench.app.page.as_mut().unwrap();
                page.turn_to(side);
                page.full_screen = (side == Side::Picture).then_some(Side::Picture);
                page.labs[place].pictures.chosen = chosen;
                let lab = bench.lab();
                let panel = &lab.schema.panels[lab.chosen().unwrap()].name;
                let about = format!("{} {} {panel} {size:?} {side:?}", lesson.front.id, lab.id);
                let wide = crate::view::sides(*size).lab;
                let left = if side == Side::Lab { wide.x } else { 0 };
                for row in rows(&bench.buffer()) {
                    let shown: String = row.chars().skip(usize::from(left)).collect();
                    if is_cut(&shown) {
                        found.push(format!("{about}: {}", shown.trim()));
                    }
                }
            }
        }
    }
    found
}

/// Whether a row has an ellipsis that is not that of a range, such as `0…7`.
fn is_cut(row: &str) -> bool {
    row.match_indices('…').any(|(at, _)| {
        let digit = |text: &str| text.starts_with(|c: char| c.is_ascii_digit() || c == '-');
        !digit(&row[at + '…'.len_utf8()..])
    })
}

#[test]
fn lessons_open_at_their_first_line() {
    let course = course();
    for (lesson, size) in course.lessons().iter().flat_map(|one| SIZES.map(|size| (one, size))) {
        let mut bench = Bench::new(size);
        bench.probed();
        let effects = bench.app.open(Arc::new(lesson.clone()));
        for effect in effects {
            if let Effect::Start(_) = effect {
                bench.end(Outcome::Finished);
            }
        }
        bench.send(Message::Resize { width: size.0, height: size.1 });
        assert_eq!(bench.page().scroll, 0, "{} at {size:?}", lesson.front.id);
    }
}

fn course() -> Course {
    Library::built_in(mlsys_registry::built_in()).parsed().into_course().unwrap()
}

#[test]
fn no_text_of_a_lab_is_cut() {
    let course = course();
    let lessons = Mutex::new(course.lessons().iter());
    let (found, drawn) = (Mutex::new(Vec::new()), Drawn::default());
    let cores = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                let store = Store::default();
                loop {
                    let Some(lesson) = lessons.lock().unwrap().next() else { break };
                    let cut = cut(&Arc::new(lesson.clone()), &store, &drawn);
                    found.lock().unwrap().extend(cut);
                }
            });
        }
    });
    let found = found.into_inner().unwrap();
    assert!(found.is_empty(), "{} cut:\n{}", found.len(), found.join("\n"));
}
