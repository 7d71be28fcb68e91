//! The labs of the course that answer at once, at the sizes of usual terminals: no text of a picture is cut.

use std::sync::{Arc, Mutex};
use std::thread;

use mlsys_harness::snapshot::rows;
use mlsys_lab::device::DeviceId;
use mlsys_lab::report::Report;
use mlsys_lesson::{Course, Lesson};
use mlsys_run::library::Library;
use mlsys_run::outcome::Outcome;

use super::Bench;
use crate::message::{Effect, Message};
use crate::picture::run_here;
use crate::state::{RunStatus, Side};

const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (200, 60)];

/// What a lab of the open lesson reports.
fn run(bench: &Bench, place: usize) -> Vec<Report> {
    let lab = &bench.page().labs[place];
    let params = lab.lesson_params().unwrap_or_else(|error| panic!("{}: {error:?}", lab.id));
    let kind = mlsys_registry::built_in().find(&lab.schema.kind).unwrap();
    let (reports, outcome) = run_here(kind, params, DeviceId::CPU);
    assert!(matches!(outcome, Outcome::Finished), "{}: {outcome:?}", lab.id);
    reports
}

/// The rows that have an ellipsis, of each picture of each lab: next to the others, and alone.
fn cut(lesson: &Arc<Lesson>) -> Vec<String> {
    let mut bench = Bench::new(SIZES[0]);
    bench.probed();
    bench.app.open(lesson.clone());
    let mut found = Vec::new();
    for place in 0..bench.page().labs.len() {
        let lab = &bench.page().labs[place];
        if lab.schema.is_live() {
            continue;
        }
        let reports = run(&bench, place);
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

/// Whether a row has an ellipsis that is not that of a range, such as `0…7`, or of columns that go on.
fn is_cut(row: &str) -> bool {
    row.match_indices('…').filter(|(at, _)| !row[..*at].ends_with(' ')).any(|(at, _)| {
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
    let found = Mutex::new(Vec::new());
    let cores = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                loop {
                    let Some(lesson) = lessons.lock().unwrap().next() else { break };
                    let cut = cut(&Arc::new(lesson.clone()));
                    found.lock().unwrap().extend(cut);
                }
            });
        }
    });
    let found = found.into_inner().unwrap();
    assert!(found.is_empty(), "{} cut:\n{}", found.len(), found.join("\n"));
}
