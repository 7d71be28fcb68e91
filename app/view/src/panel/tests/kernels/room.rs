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

/// Two sides of an if with a loop each, as even and odd threads take them.
fn diverging() -> Kernel {
    let source = "source=__global__ void k(float *x) {\nfloat y = 0.0f;\nif (threadIdx.x % 2 == 0) {\n\
        for (int j = 0; j < 10; j++)\ny = y * 2.0f + 1.0f;\n} else {\n\
        for (int j = 0; j < 10; j++)\ny = y * 3.0f + 1.0f;\n}\nx[threadIdx.x] = y;\n}";
    sent("divergence", &["example=custom", source, "block_dim=[32]", "elements=32"])
}

#[test]
fn the_lanes_stay_where_there_is_no_room_for_the_numbers_of_their_instructions() {
    let kernel = diverging();
    let walk = KernelDebugger::new(&kernel);
    for height in 6..16 {
        let rows = text(&kernel, &walk, height);
        let has = |name: &str| rows.iter().any(|row| row.trim_start().starts_with(name));
        assert!(has("lanes 0, 2 .. 30") && has("lanes 1, 3 .. 31") && has("line"), "{rows:#?}");
        assert!(!has("rounds") || has("instructions"), "{rows:#?}");
        assert!(!has("rows"), "{rows:#?}");
        assert_eq!(has("instructions") && has("rounds"), height >= 7, "{height}: {rows:#?}");
    }
}

#[test]
fn the_lanes_that_are_active_now_are_marked_in_all_rows_and_named_below() {
    let kernel = diverging();
    let mut walk = KernelDebugger::new(&kernel);
    assert!(!text(&kernel, &walk, 20).concat().contains("active now"));
    let mut marked = || {
        walk.seek(Goal::Instruction, Direction::Forward);
        let rows = text(&kernel, &walk, 20);
        assert!(rows.iter().any(|row| row.contains("◆ active now")), "{rows:#?}");
        let is_marked = |row: &&String| row.trim_start().starts_with("lanes") && row.contains('◆');
        rows.iter().filter(is_marked).count()
    };
    assert_eq!(marked(), 2, "all lanes begin together");
    // Within one side the other waits.
    assert!((0..40).any(|_| marked() == 1));
}

#[test]
fn numbers_of_columns_stand_close_where_all_have_room_so() {
    let kernel = diverging();
    let walk = KernelDebugger::new(&kernel);
    let narrow = |width: u16| {
        let size = (width, 12);
        rows(&drawn(&kernel, &walk, None, size, ColorDepth::None, GlyphSet::Unicode))
    };
    let lines = |rows: &[String]| {
        let line = rows.iter().find(|row| row.trim_start().starts_with("line ")).unwrap();
        line.split_whitespace().skip(1).map(str::to_owned).collect::<Vec<_>>()
    };
    let whole = lines(&narrow(78));
    let columns = whole.len() as u16;
    assert!(columns > 4, "{whole:?}");
    // The names of the lanes, and a column of two digits and a gap each.
    assert_eq!(lines(&narrow(20 + 3 * columns)), whole);
}

#[test]
fn the_line_that_ended_the_warp_stays_in_sight() {
    let source = sent("source", &["example=reduce-sequential", "elements=64", "block_dim=[64]"]);
    let mut walk = KernelDebugger::new(&source);
    walk.seek(Goal::End, Direction::Forward);
    while walk.search_goal().is_some() {
        walk.go_on();
    }
    let last = walk.last().unwrap();
    assert_eq!((walk.line(), walk.marked()), (None, last.place.line));
}

#[test]
fn a_table_of_many_problems_says_how_many_it_leaves_out() {
    let of = |elements: &str| {
        let settings = ["example=vector-add-unguarded", elements, "block_dim=[256]"];
        let kernel = sent("problems", &settings);
        let walk = KernelDebugger::new(&kernel);
        let size = (100, 20);
        let drawn = rows(&drawn(&kernel, &walk, None, size, ColorDepth::None, GlyphSet::Unicode));
        (kernel.whole.problems_found(), drawn.join("\n"))
    };
    let (found, text) = of("elements=10");
    assert!(found > 200, "{found}");
    let told = format!("The first 64 of {found} problems are listed.");
    assert!(text.contains(&told), "{text}");
    let (found, text) = of("elements=250");
    assert!((1..64).contains(&found), "{found}");
    assert!(!text.contains("are listed"), "{text}");
}
