//! Pictures of a kernel's memory, order and problems, in the middle of a run, compared with the files in snapshots/.

mod edited;
mod room;

use std::sync::Arc;

use mlsys_harness::snapshot::rows;
use mlsys_kernel::{Direction, Goal};
use mlsys_lab::control::{Control, Limits};
use mlsys_lab::frame::Frame;
use mlsys_lab::frame::kernel::{Kernel, Problem};
use mlsys_lab::report::RunData;
use mlsys_lab::{DeviceId, Params, Registry, Run, Settings, Tables};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::canvas::Canvas;
use crate::glyphs::GlyphSet;
use crate::panel::picture::kernel::{self, KernelDebugger, Thread};
use crate::panel::picture::{At, Past, Picture};
use crate::panel::tests::look;
use crate::panel::{Focus, FrameView};
use crate::theme::ColorDepth;

/// A screen's size by name, with what its terminal can show.
const SCREENS: [(&str, (u16, u16), ColorDepth, GlyphSet); 3] = [
    ("80x24", (80, 24), ColorDepth::None, GlyphSet::Ascii),
    ("120x40", (120, 40), ColorDepth::None, GlyphSet::Unicode),
    ("200x60", (200, 60), ColorDepth::TrueColor, GlyphSet::Unicode),
];

/// What lab `kernel` sends for a panel.
fn sent(panel: &str, settings: &[&str]) -> Kernel {
    let labs = Registry::on_demand(mlsys_analytic::labs());
    let lab = labs.find("kernel").unwrap();
    let settings = Settings::from_pairs(settings.iter().copied()).unwrap();
    let mut data = RunData::default();
    let params = Params::resolve(lab.schema(), &settings, Tables::builtin(), None).unwrap();
    lab.run(&mut Run {
        params,
        device: DeviceId::CPU,
        sink: &mut data,
        control: Control::free(Limits::default(), Arc::default()),
    })
    .unwrap();
    match data.frames.remove(panel) {
        Some((_, Frame::Kernel(kernel))) => *kernel,
        other => panic!("{panel}: {other:?}"),
    }
}

fn drawn(
    kernel: &Kernel,
    walk: &KernelDebugger,
    past: Option<Past<'_>>,
    (width, height): (u16, u16),
    depth: ColorDepth,
    set: GlyphSet,
) -> Buffer {
    let mut buf = Buffer::empty(Rect::new(0, 0, width, height));
    let area = buf.area;
    Canvas::over(&mut buf, |canvas| {
        let at = At { view: &FrameView::default(), focus: Focus::Aside, walk: Some(walk), past };
        kernel.draw(area, canvas, at, &look(depth, set));
    });
    buf
}

fn words(kernel: &Kernel, walk: &KernelDebugger) -> String {
    kernel::words(kernel, Some(walk), None)
}

fn compare(name: &str, kernel: &Kernel, walk: &KernelDebugger) {
    for (size, room, depth, set) in SCREENS {
        let buf = drawn(kernel, walk, None, room, depth, set);
        super::compare(&format!("{name}-{size}"), &buf);
    }
}

fn on(walk: &mut KernelDebugger, steps: usize) {
    for _ in 0..steps {
        walk.seek(Goal::Instruction, Direction::Forward);
    }
}

/// Two blocks of four add eight numbers; the second is the first to load of A.
#[test]
fn strips_of_a_vector_addition() {
    let memory = sent("memory", &[]);
    let mut walk = KernelDebugger::new(&memory);
    while !words(&memory, &walk).contains("reads A[") {
        on(&mut walk, 1);
        assert!(walk.clock() < 200);
    }
    walk.choose_lane(2);
    compare("kernel-memory", &memory, &walk);
    let said = words(&memory, &walk);
    assert!(said.contains("Lane 2 of warp 0 of block 1 reads A[6] = 6"), "{said}");
    assert!(said.contains("C[0]: 0 poison: never written ?"), "{said}");
    walk.seek(Goal::End, Direction::Forward);
    let said = words(&memory, &walk);
    assert!(said.contains("C[0]: 0 written "), "{said}");
}

#[test]
fn cells_behind_a_buffer_and_lanes_over_time() {
    let unguarded = ["example=vector-add-unguarded", "elements=10", "block_dim=[4]"];
    let memory = sent("memory", &unguarded);
    let mut walk = KernelDebugger::new(&memory);
    walk.go_to_problem(&memory.whole.problems, 0);
    compare("kernel-memory-outside", &memory, &walk);
    let text = "__global__ void k(float *x) { if (threadIdx.x % 2 == 0)\nx[threadIdx.x] = 1.0f;\nelse\nx[threadIdx.x] = 2.0f; }";
    let source = format!("source={text}");
    let branch = ["example=custom", &source, "block_dim=[32]", "elements=32"];
    let raster = sent("divergence", &branch);
    let mut walk = KernelDebugger::new(&raster);
    let said = words(&raster, &walk);
    assert!(said.contains("line"), "{said}");
    on(&mut walk, 6);
    compare("kernel-divergence", &raster, &walk);
    let of_line = |line: u32| raster.whole.issues.iter().find(|issue| issue.line == line).unwrap();
    assert_eq!((of_line(2).mask, of_line(4).mask), (0x5555_5555, 0xaaaa_aaaa));
}

#[test]
fn an_image_has_its_rows_and_its_blocks() {
    let image = ["example=brighten-2d", "rows=20", "columns=40", "block_dim=[16,16]"];
    let memory = sent("memory", &image);
    let mut walk = KernelDebugger::new(&memory);
    walk.seek(Goal::End, Direction::Forward);
    compare("kernel-image", &memory, &walk);
    let said = words(&memory, &walk);
    for name in ["in row 19: 0 read", "out row 19: 0 written", ", 39 written"] {
        assert!(said.contains(name), "{name}: {said}");
    }
    let grid = sent("grid", &image);
    walk = KernelDebugger::new(&grid);
    walk.choose_block(5);
    compare("kernel-blocks", &grid, &walk);
    // Of two sizes that the blocks cover equally the row is the one that the index is multiplied by.
    let alike = ["example=brighten-2d", "rows=20", "columns=30", "block_dim=[16,16]"];
    let memory = sent("memory", &alike);
    let said = words(&memory, &KernelDebugger::new(&memory));
    assert!(said.contains("out row 19: 0 poison") && !said.contains("out row 20"), "{said}");
    // Where the text does not say either, nothing does.
    let source = "source=__global__ void k(const float *in, float *out, int rows, int columns) { out[threadIdx.x + 16 * threadIdx.y] = in[0]; }";
    let unclear: Vec<&str> = alike.into_iter().chain([source]).collect();
    let memory = sent("memory", &unclear);
    let said = words(&memory, &KernelDebugger::new(&memory));
    assert!(said.contains("out[0]:"), "{said}");
}

/// A warp's rows of an image, and without a guard the rows that lie below it.
#[test]
fn an_image_shows_what_a_warp_reaches_also_outside() {
    let text = "__global__ void k(const float *in, float *out, int rows, int columns) {\n    int x = blockDim.x * blockIdx.x + threadIdx.x;\n    int y = blockDim.y * blockIdx.y + threadIdx.y;\n    int i = y * columns + x;\n    out[i] = in[i];\n}";
    let source = format!("source={text}");
    let launch = ["example=brighten-2d", &source, "rows=20", "columns=40", "block_dim=[16,16]"];
    let memory = sent("memory", &launch);
    let mut walk = KernelDebugger::new(&memory);
    walk.go_to_problem(&memory.whole.problems, 0);
    for (size, room, depth, set) in SCREENS {
        let buf = drawn(&memory, &walk, None, room, depth, set);
        super::compare(&format!("kernel-image-outside-{size}"), &buf);
        let text = rows(&buf).join("\n");
        assert!(text.contains("in row 20 ") && text.contains("lanes 0 to 15 read"), "{text}");
    }
    // What was reached in vain stays in sight.
    walk.seek(Goal::End, Direction::Forward);
    let text = rows(&drawn(&memory, &walk, None, (80, 24), ColorDepth::None, GlyphSet::Ascii));
    let named = |name: &str| text.iter().find(|row| row.trim_start().starts_with(name)).cloned();
    assert!(named("in row 20").is_some_and(|row| row.contains("::::")), "{text:?}");
    assert!(text.iter().any(|row| row.contains("outside the buffer, earlier")), "{text:?}");
}

/// The rows that a picture takes are the same at every position, and it uses them.
#[test]
fn row_needs_stand_still_and_are_filled() {
    let image = ["example=brighten-2d", "rows=20", "columns=40", "block_dim=[16,16]"];
    let unguarded = ["example=vector-add-unguarded", "elements=10", "block_dim=[4]"];
    let sum = ["example=reduce-interleaved", "elements=32", "block_dim=[64]"];
    let look = look(ColorDepth::None, GlyphSet::Ascii);
    for settings in [&image[..], &unguarded, &sum] {
        for panel in ["source", "memory", "lanes", "grid", "divergence", "problems", "sectors"] {
            let kernel = sent(panel, settings);
            let mut walk = KernelDebugger::new(&kernel);
            let need = |walk: &KernelDebugger| {
                let view = FrameView::default();
                let at = At { view: &view, focus: Focus::Aside, walk: Some(walk), past: None };
                kernel.row_need(at, 78, &look).unwrap()
            };
            let first = need(&walk);
            assert!(first.least <= first.most, "{panel}: {first:?}");
            let mut fullest = 0;
            for _ in 0..300 {
                on(&mut walk, 1);
                assert_eq!(need(&walk), first, "{panel} at {}: {settings:?}", walk.clock());
                let room = (78, first.least);
                let buf = drawn(&kernel, &walk, None, room, ColorDepth::None, GlyphSet::Ascii);
                let used = rows(&buf).iter().rposition(|row| !row.trim().is_empty()).unwrap_or(0);
                fullest = fullest.max(used + 1);
            }
            let spare = usize::from(first.least) - fullest;
            assert!(spare <= 2, "{panel}: {spare} of {} rows are never used", first.least);
        }
    }
}

/// The launch that refutes a proof is another than the lab's own, and stepping it meets the fault at its thread.
#[test]
fn a_refuted_proof_leads_to_its_witness() {
    for (example, fault, blocks) in [
        ("example=vector-add-unguarded", "out of bounds", 1),
        ("example=window-sum-no-barrier", "race", 1),
    ] {
        let source = sent("source", &[example, "proof=true", "elements=1000", "block_dim=[256]"]);
        let claim = source.whole.claim.as_ref().unwrap();
        let site = claim.refuted_by.as_deref().unwrap();
        assert_eq!((site.at.fault.as_str(), site.recipe.grid_dim[0]), (fault, blocks));
        assert!(claim.sentence.contains(&format!("line {}", site.at.line)), "{}", claim.sentence);
        let walk = KernelDebugger::at_fault(site);
        let step = walk.last().unwrap();
        assert!(step.found && step.place.line == site.at.line, "{step:?}");
        let here = walk.here();
        assert_eq!([here.block, here.number() as u32], [site.at.block[0], site.at.thread[0]]);
    }
}

#[test]
fn a_large_buffer_is_seen_around_what_is_touched() {
    let memory = sent("memory", &["elements=100000", "block_dim=[256]", "concurrent_blocks=1"]);
    let mut walk = KernelDebugger::new(&memory);
    assert!(walk.choose(Thread { block: 300, warp: 3, lane: 5 }));
    let global = 300 * 256 + 3 * 32 + 5;
    walk.seek(Goal::End, Direction::Backward);
    // To where that warp has stored its sums.
    for _ in 0..100_000 {
        let said = words(&memory, &walk);
        if said.contains(&format!("writes C[{global}]")) {
            let buf = drawn(&memory, &walk, None, (80, 24), ColorDepth::None, GlyphSet::Ascii);
            let text = rows(&buf).join("\n");
            assert!(text.contains("Lane 5 of warp 3"), "{text}");
            return;
        }
        walk.seek(Goal::Instruction, Direction::Forward);
        while walk.search_goal().is_some() {
            walk.go_on();
        }
    }
    panic!("the warp never stores");
}

#[test]
fn sectors_of_a_naive_transpose_and_banks_of_a_tile() {
    let launch = ["rows=32", "columns=32", "block_dim=[32, 32]"];
    let naive: Vec<&str> = ["example=transpose-naive"].into_iter().chain(launch).collect();
    let sectors = sent("sectors", &naive);
    let mut walk = KernelDebugger::new(&sectors);
    while !words(&sectors, &walk).contains("32 sectors") {
        on(&mut walk, 1);
        assert!(walk.clock() < 5000);
    }
    compare("kernel-sectors", &sectors, &walk);
    let tile: Vec<&str> = ["example=transpose-tile"].into_iter().chain(launch).collect();
    let banks = sent("banks", &tile);
    let mut walk = KernelDebugger::new(&banks);
    while !words(&banks, &walk).contains("32 passes") {
        on(&mut walk, 1);
        assert!(walk.clock() < 5000);
    }
    compare("kernel-banks", &banks, &walk);
}

/// Before the first step the panels show the first access instead of nothing.
#[test]
fn the_first_access_is_seen_before_the_first_step() {
    let launch = ["example=transpose-tile", "rows=32", "columns=32", "block_dim=[32, 32]"];
    for (panel, holds) in [("sectors", "4 sectors of 32 bytes"), ("banks", "different words")] {
        let kernel = sent(panel, &launch);
        let mut walk = KernelDebugger::new(&kernel);
        let said = words(&kernel, &walk);
        assert!(said.contains("Before the first step: the first access, by warp"), "{said}");
        assert!(said.contains(holds), "{said}");
        on(&mut walk, 1);
        assert!(!words(&kernel, &walk).contains("Before the first step"));
    }
    let none = ["example=custom", "source=__global__ void k(float *x) { }"];
    let kernel = sent("sectors", &none);
    let said = words(&kernel, &KernelDebugger::new(&kernel));
    assert!(said.contains("Nothing has run yet"), "{said}");
}

/// Shared memory keeps what a block wrote until another block takes its place.
#[test]
fn shared_memory_outlives_its_block() {
    let launch = ["example=window-sum-shared", "elements=64", "block_dim=[16]"];
    for (concurrent, block, holds) in [
        (4, 0, "tile[0]: 0 written"),
        (1, 3, "tile[0]: 0 written"),
        (1, 0, "block 0 has ended; another block has its place"),
    ] {
        let concurrent = format!("concurrent_blocks={concurrent}");
        let settings: Vec<&str> = launch.into_iter().chain([concurrent.as_str()]).collect();
        let memory = sent("memory", &settings);
        let mut walk = KernelDebugger::new(&memory);
        walk.seek(Goal::End, Direction::Forward);
        assert!(walk.choose(Thread { block, warp: 0, lane: 0 }));
        let said = words(&memory, &walk);
        assert!(said.contains(holds), "{settings:?}, block {block}: {said}");
    }
}

#[test]
fn the_instruction_cursor_moves_both_ways() {
    let order = sent("timeline", &["example=reduce-sequential", "elements=128", "block_dim=[128]"]);
    let mut walk = KernelDebugger::new(&order);
    on(&mut walk, 60);
    compare("kernel-timeline", &order, &walk);
    let there = words(&order, &walk);
    assert!(there.contains("step 60: block 0"), "{there}");
    on(&mut walk, 1);
    walk.seek(Goal::Instruction, Direction::Backward);
    assert_eq!(words(&order, &walk), there);
}

#[test]
fn a_problem_is_gone_to_with_its_thread_and_its_cell() {
    let problems =
        sent("problems", &["example=vector-add-unguarded", "elements=10", "block_dim=[4]"]);
    assert_eq!(problems.whole.problems.len(), 6);
    let mut walk = KernelDebugger::new(&problems);
    walk.go_to_problem(&problems.whole.problems, 1);
    walk.go_to_problem(&problems.whole.problems, 1);
    compare("kernel-problems", &problems, &walk);
    let second = &problems.whole.problems[1];
    assert_eq!(walk.problem, Some(1));
    assert_eq!(walk.clock(), second.step + 1);
    let here = walk.here();
    assert_eq!((here.block, here.number() as u32), (second.block[0], second.thread[0]));
    assert!(second.sentence.contains("[11]") || second.sentence.contains("11"), "{second:?}");
    walk.go_to_problem(&problems.whole.problems, -9);
    assert_eq!(walk.problem, Some(0));
}

/// Stepping from fault to fault selects the thread at fault, also where another warp was followed, and what is said of a
/// fault goes with it.
#[test]
fn the_thread_at_fault_is_selected() {
    for settings in [
        vec!["example=window-sum-slide"],
        vec!["example=vector-add-unguarded", "elements=62", "block_dim=[64]"],
        vec!["example=window-sum-no-barrier", "elements=40", "block_dim=[40]"],
    ] {
        let source = sent("source", &settings);
        let mut walk = KernelDebugger::new(&source);
        for follow in [false, true] {
            walk.seek(Goal::End, Direction::Backward);
            if follow {
                walk.choose_warp(1);
            }
            let mut faults = 0;
            loop {
                walk.seek(Goal::Problem, Direction::Forward);
                while walk.search_goal().is_some() {
                    walk.go_on();
                }
                let Some(step) = walk.last().filter(|step| step.found) else { break };
                let here = walk.here();
                let at = |problem: &&Problem| {
                    let is_thread = problem.thread[0] == here.number() as u32;
                    problem.step + 1 == walk.clock() && is_thread && problem.block[0] == here.block
                };
                let problem = source.whole.problems.iter().find(at);
                let problem = problem.unwrap_or_else(|| panic!("{settings:?}, {here:?}, {step:?}"));
                assert!(words(&source, &walk).contains(&problem.sentence), "{settings:?}");
                assert_eq!(walk.is_pinned(), follow);
                faults += 1;
            }
            assert!(faults > 1, "{settings:?}");
        }
    }
    let source = sent("source", &["example=window-sum-slide"]);
    let text = |walk: &KernelDebugger| {
        let room = (80, 40);
        rows(&drawn(&source, walk, None, room, ColorDepth::None, GlyphSet::Ascii)).join("\n")
    };
    let mut walk = KernelDebugger::new(&source);
    walk.seek(Goal::Problem, Direction::Forward);
    let fault = "reads tile[4], which was never written.";
    let (clock, line) = (walk.clock(), walk.line().unwrap());
    assert!(text(&walk).contains(&format!("Line {line}: {fault}")), "{}", text(&walk));
    walk.seek(Goal::Instruction, Direction::Backward);
    walk.seek(Goal::Instruction, Direction::Backward);
    assert!(!text(&walk).contains(fault), "{}", text(&walk));
    // A marked line is asked for, and told with the step that is still to come.
    walk.mark(|_, _| line as usize - 1);
    let told = format!("Line {line}, step {clock}: {fault}");
    assert!(text(&walk).contains(&told), "{}", text(&walk));
}
