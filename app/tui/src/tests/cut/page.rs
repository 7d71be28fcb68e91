//! Lessons around their labs at the sizes of usual terminals: where they open, what stands in their lists, and lab pages
//! with growing pictures.

use std::sync::Arc;

use mlsys_harness::snapshot::rows;
use mlsys_lab::value::Value;
use mlsys_lesson::{Block, Outline, QuestionType};
use mlsys_run::outcome::Outcome;

use super::{Bench, Networks, SIZES, bench, course, in_lessons, is_cut, run};
use crate::document;
use crate::message::{Effect, Message};
use crate::state::{RunStatus, Side};
use crate::view::lab::head_names;
use crate::view::text_size;

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

#[test]
fn the_row_of_labs_counts_those_without_room() {
    for lesson in course().lessons() {
        let mut bench = Bench::new(SIZES[0]);
        bench.app.open(Arc::new(lesson.clone()));
        let labs = bench.page().labs.len();
        for (current, width) in (0..labs).flat_map(|lab| [40, 66, 120].map(|width| (lab, width))) {
            bench.app.page.as_mut().unwrap().current = current;
            let names = head_names(&bench.app, bench.page(), width);
            let row: String = names.iter().map(|(_, name)| name.as_str()).collect();
            let about = format!("{} at {width}: {row}", lesson.front.id);
            assert!(row.contains(&bench.page().labs[current].id), "{about}");
            assert!(row.chars().count() <= usize::from(width), "{about}");
            let counts = names.iter().map(|(_, name)| match name.strip_prefix(" +") {
                Some(count) => count.parse().unwrap(),
                None => 1,
            });
            assert_eq!(counts.sum::<usize>(), labs, "{about}");
        }
    }
}

/// The course page with each lesson marked; of each lesson the title, the pages over it, and the editor of its kernels.
#[test]
fn no_text_around_the_labs_is_cut() {
    let outline = Outline::from(course());
    let mut found = Vec::new();
    for size in SIZES {
        let mut bench = bench(size);
        bench.app.take_course(&outline);
        let mut look = |bench: &Bench, about: &str| {
            let rows = rows(&bench.buffer());
            // What a command does is told in full by the help.
            let told = rows.iter().filter(|row| !row.contains(" command  "));
            let cut = told.filter(|row| is_cut(row) || row.contains(" more lines"));
            found.extend(cut.map(|row| format!("{about} at {size:?}: {}", row.trim())));
        };
        for (place, lesson) in outline.lessons.iter().enumerate() {
            bench.app.course.chosen = place;
            look(&bench, "the course page");
            bench.keys("\n");
            let id = bench.page().lesson.front.id.to_string();
            assert!(bench.screen().contains(&lesson.front.title) || size.0 < 100, "{id}");
            for keys in ["", "?", ":", "K", "P", "r", "y"] {
                bench.keys(keys);
                look(&bench, &format!("{id} {keys}"));
                bench.app.overlay = None;
            }
            let is_kernel = |block: &Block| {
                block.as_question().is_some_and(|one| one.kind.ty() == QuestionType::Kernel)
            };
            if let Some(block) = lesson.lesson().blocks.iter().position(is_kernel) {
                bench.app.page.as_mut().unwrap().mark_at(block);
                bench.keys("\n");
                look(&bench, &format!("{id} in the editor"));
            }
            bench.app.page = None;
        }
    }
    assert!(found.is_empty(), "{} cut:\n{}", found.len(), found.join("\n"));
}

#[test]
fn no_line_of_a_lesson_is_wider_than_its_column() {
    in_lessons(&course(), |lesson| {
        let mut found = Vec::new();
        for size in SIZES {
            let mut bench = Bench::new(size);
            bench.app.open(lesson.clone());
            let (width, _) = text_size(size);
            let document = document::build(bench.page(), width, &bench.app.screen.look);
            let wide = document.lines.iter().filter(|line| line.width() > width);
            found.extend(wide.map(|line| format!("{} {size:?}: {line}", lesson.front.id)));
        }
        found
    });
}

#[test]
fn a_panel_that_grows_with_a_knob_stays_and_scrolls() {
    let course = course();
    let lesson =
        course.lessons().iter().find(|one| one.front.id.to_string() == "gpu/shared-memory");
    let mut bench = Bench::new(SIZES[0]);
    bench.app.open(Arc::new(lesson.unwrap().clone()));
    let page = bench.app.page.as_mut().unwrap();
    page.current = page.labs.iter().position(|lab| lab.id == "core").unwrap();
    page.turn_to(Side::Lab);
    for depth in [4, 64, 16_384] {
        let lab = bench.app.page.as_mut().unwrap().lab_mut().unwrap();
        let turned = [
            ("accumulate", "fp16".into()),
            ("numbers", "positive".into()),
            ("depth", Value::Int(depth)),
        ];
        for (name, value) in turned {
            lab.mark_knob(name).unwrap();
            lab.give(lab.controls.marked, Some(value));
        }
        let reports = run(lab, &Networks::new()).unwrap();
        lab.run = Default::default();
        lab.receive(reports);
        lab.run.state = RunStatus::Finished;
        let screen = bench.screen();
        for shown in ["rounding A and B", "FP32 throughout", "growth computed", "summed in FP16"] {
            assert!(screen.contains(shown), "{depth}: {shown} in\n{screen}");
        }
    }
}
