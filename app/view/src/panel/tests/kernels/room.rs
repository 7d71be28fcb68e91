//! What is drawn of a launch where there is little room, and which problem is marked.

use mlsys_harness::snapshot::rows;
use mlsys_kernel::{Direction, Goal};
use mlsys_lab::frame::kernel::Kernel;

use super::{drawn, sent};
use crate::glyphs::GlyphSet;
use crate::panel::picture::kernel::KernelDebugger;
use crate::theme::ColorDepth;

const UNGUARDED: [&str; 4] =
    ["example=vector-add-unguarded", "elements=10", "block_dim=[4]", "proof=true"];

fn text(kernel: &Kernel, walk: &KernelDebugger, height: u16) -> Vec<String> {
    let size = (80, height);
    rows(&drawn(kernel, walk, None, size, ColorDepth::None, GlyphSet::Unicode))
}

#[test]
fn cells_outside_are_drawn_wherever_their_row_is() {
    let memory = sent("memory", &UNGUARDED);
    let mut walk = KernelDebugger::new(&memory);
    walk.seek(Goal::End, Direction::Forward);
    let ends = |row: &&String| ["A[8]", "B[8]", "C[8]"].iter().any(|name| row.starts_with(name));
    let mut seen = 0;
    for height in 4..30 {
        let rows = text(&memory, &walk, height);
        for row in rows.iter().filter(ends) {
            assert!(row.contains('░'), "{height} rows: {rows:#?}");
            seen += 1;
        }
    }
    assert!(seen > 26, "{seen}");
}

#[test]
fn a_sentence_below_the_source_is_whole_or_not_there() {
    let source = sent("source", &UNGUARDED);
    let mut walk = KernelDebugger::new(&source);
    walk.seek(Goal::Problem, Direction::Forward);
    for height in 10..40 {
        let text = text(&source, &walk, height).join("\n");
        let is_whole = text.contains("which ends at 0.");
        assert_eq!(text.contains("Every launch"), is_whole, "{height} rows: {text}");
        // Eight rows of lines and their head leave enough for it.
        assert!(height < 16 || is_whole, "{height} rows: {text}");
    }
}

#[test]
fn the_problem_of_the_step_is_marked() {
    let problems = sent("problems", &UNGUARDED);
    let all = &problems.whole.problems;
    let mut walk = KernelDebugger::new(&problems);
    assert_eq!(walk.problem_at(all), None);
    for expected in [0, 2, 4] {
        walk.seek(Goal::Problem, Direction::Forward);
        assert_eq!(walk.problem_at(all), Some(expected));
    }
    walk.go_to_problem(all, 1);
    assert_eq!(walk.problem_at(all), Some(5));
}
