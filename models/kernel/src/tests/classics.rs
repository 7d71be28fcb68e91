//! The built-in kernels and the classical ones, with the counts they must have.

use crate::examples::{EXAMPLES, Example, Sizes};
use crate::tests::*;

struct Ran {
    machine: Machine,
    mismatches: Vec<usize>,
    unwritten: usize,
    overwritten: usize,
}

fn example(
    name: &str,
    sizes: Sizes,
    block: [u32; 3],
    grid: Option<[u32; 3]>,
    schedule: Schedule,
) -> Ran {
    let example = Example::find(name).expect("an example");
    let mut launch = Launch::line(1, 1);
    launch.block_dim = block;
    launch.grid_dim = grid.unwrap_or_else(|| example.covering(sizes, block));
    launch.dynamic_shared = example.dynamic_shared(sizes, block);
    launch.schedule = schedule;
    let arguments = example.arguments(sizes, &launch);
    let reference = example.reference(sizes, &launch);
    let want: Vec<f64> = (0..reference.count).map(|i| reference.element(i)).collect();
    let machine = ran(example.source, launch, &arguments);
    let got = all(&machine, example.output());
    assert_eq!(got.len(), want.len());
    let wrong = |i: &usize| {
        let (got, want) = (got[*i], want[*i]);
        got.is_nan() || (got - want).abs() > 1e-6 * want.abs()
    };
    let cells: Vec<_> = machine.cells(example.output()).collect();
    assert_eq!(cells.len(), got.len());
    Ran {
        mismatches: (0..got.len()).filter(wrong).collect(),
        unwritten: cells.iter().filter(|cell| !cell.written).count(),
        overwritten: cells.iter().filter(|cell| cell.rewritten).count(),
        machine,
    }
}

fn line(elements: usize) -> Sizes {
    Sizes { elements, rows: 60, columns: 100, radius: 2 }
}

fn square(rows: usize, columns: usize) -> Sizes {
    Sizes { elements: 8, rows, columns, radius: 2 }
}

const ORDERS: [Schedule; 3] = [Schedule::InOrder, Schedule::RoundRobin, Schedule::Random];

#[test]
fn vector_addition_and_its_mistakes() {
    for order in ORDERS {
        let add = example("vector-add", line(8), [4, 1, 1], None, order);
        assert!(add.machine.findings().is_clean() && add.mismatches.is_empty());
        let totals = add.machine.totals();
        assert_eq!((totals.load.elements, totals.store.elements), (16, 8));
        assert!(totals.lanes * 8 <= totals.issues * 32);
        let bare = example("vector-add-unguarded", line(10), [4, 1, 1], Some([3, 1, 1]), order);
        assert_eq!(bare.machine.findings().count(Fault::OutOfBounds), 6);
        assert_eq!((bare.unwritten, bare.mismatches.len()), (0, 0));
        let first = bare.machine.findings().first().expect("a finding");
        assert_eq!((first.block, first.place.line), ([2, 0, 0], 4));
        assert!(first.sentence.contains("element 10 of A, which ends at 9"), "{}", first.sentence);
        let local = example("vector-add-local-index", line(8), [4, 1, 1], Some([2, 1, 1]), order);
        assert_eq!((local.unwritten, local.overwritten, local.mismatches.len()), (4, 4, 4));
        assert_eq!(local.machine.findings().count(Fault::EqualWrites), 4);
    }
    let stride =
        example("grid-stride", line(1000), [64, 1, 1], Some([3, 1, 1]), Schedule::RoundRobin);
    assert!(stride.machine.findings().is_clean() && stride.mismatches.is_empty());
    assert_eq!(stride.machine.idle_threads(), 0);
}

#[test]
fn pixels_and_their_idle_threads() {
    let image = example("brighten-2d", square(60, 100), [16, 16, 1], None, Schedule::RoundRobin);
    assert!(image.machine.findings().is_clean() && image.mismatches.is_empty());
    assert_eq!(image.machine.launch().grid_dim, [7, 4, 1]);
    assert_eq!(image.machine.idle_threads(), 1168);
}

#[test]
fn window_sums_with_and_without_their_halo() {
    for order in ORDERS {
        let naive = example("window-sum-naive", line(1024), [256, 1, 1], None, order);
        assert!(naive.machine.findings().is_clean() && naive.mismatches.is_empty());
        assert_eq!(naive.machine.totals().load.elements, 5120);
        let shared = example("window-sum-shared", line(1024), [256, 1, 1], None, order);
        assert!(shared.machine.findings().is_clean() && shared.mismatches.is_empty());
        assert_eq!(shared.machine.totals().load.elements, 1040);
        assert_eq!(shared.machine.shared_bytes(), 1040);
        let slide = example("window-sum-slide", line(8), [4, 1, 1], None, order);
        assert_eq!(slide.machine.findings().count(Fault::Uninitialized), 10);
        assert_eq!(slide.mismatches, [4, 5, 6, 7]);
        let bare = example("window-sum-no-barrier", line(8), [4, 1, 1], None, order);
        assert_eq!(bare.machine.findings().count(Fault::Race), 12);
    }
    let ten = example("window-sum-slide", line(10), [4, 1, 1], None, Schedule::RoundRobin);
    assert_eq!(ten.mismatches, [6, 7, 8, 9]);
}

#[test]
fn reductions_diverge_as_harris_counts() {
    for order in ORDERS {
        for (name, divergent) in [("reduce-interleaved", 48), ("reduce-sequential", 6)] {
            let sum = example(name, line(256), [256, 1, 1], None, order);
            assert!(sum.machine.findings().is_clean() && sum.mismatches.is_empty(), "{name}");
            assert_eq!(sum.machine.totals().divergent, divergent, "{name}");
        }
    }
}

#[test]
fn transposes_by_sectors_and_banks() {
    let of = |name| example(name, square(64, 64), [32, 32, 1], None, Schedule::RoundRobin);
    for (name, stores, replays) in
        [("transpose-naive", 4096, 0), ("transpose-tile", 512, 3968), ("transpose-padded", 512, 0)]
    {
        let out = of(name);
        assert!(out.machine.findings().is_clean() && out.mismatches.is_empty(), "{name}");
        let totals = out.machine.totals();
        assert_eq!(
            (totals.load.sectors, totals.store.sectors, totals.replays),
            (512, stores, replays),
            "{name}"
        );
    }
}

#[test]
fn examples_are_right_at_odd_sizes() {
    for built in EXAMPLES {
        let wrong = ["unguarded", "local-index", "slide", "no-barrier"]
            .iter()
            .any(|end| built.name.ends_with(end));
        let reduce = built.name.starts_with("reduce");
        let sizes = Sizes { elements: 37, rows: 19, columns: 45, radius: 3 };
        let block = if reduce { [8, 1, 1] } else { built.usual_block() };
        let out = example(built.name, sizes, block, None, Schedule::Random);
        let right =
            out.machine.findings().is_clean() && out.mismatches.is_empty() && out.unwritten == 0;
        assert_eq!(
            right,
            !wrong,
            "{}: {:?} {:?}",
            built.name,
            out.machine.findings().first(),
            out.mismatches
        );
    }
}

#[test]
fn a_histogram_with_atomics() {
    let input: Vec<i32> = (0..1000).map(|i| i * i % 97).collect();
    let mut want = vec![0.0; 16];
    for x in &input {
        want[(x & 15) as usize] += 1.0;
    }
    let arguments = [
        Argument::Buffer(Values::Int(input)),
        Argument::Buffer(Values::Unsigned(vec![0; 16])),
        Argument::Whole(1000),
    ];
    let machine = ran(include_str!("histogram.cu"), Launch::line(8, 128), &arguments);
    assert_eq!(all(&machine, "bins"), want);
    assert!(machine.findings().is_clean(), "{:?}", machine.findings().first());
}

#[test]
fn a_scan_in_two_rows() {
    let arguments = [Argument::Buffer(Values::Int((1..=64).collect())), poison(64)];
    let machine = ran(include_str!("scan.cu"), Launch::line(1, 64), &arguments);
    let want: Vec<f64> = (1..=64).map(|i| f64::from(i * (i + 1) / 2)).collect();
    assert_eq!(all(&machine, "out"), want);
    assert!(machine.findings().is_clean(), "{:?}", machine.findings().first());
}

#[test]
fn a_reduction_by_shuffles() {
    let arguments =
        [Argument::Buffer(Values::Float((0..64).map(|i| i as f32).collect())), poison(2)];
    let machine = ran(include_str!("shuffle.cu"), Launch::line(2, 32), &arguments);
    assert_eq!(all(&machine, "out"), [496.0, 1520.0]);
    assert!(machine.findings().is_clean());
}

#[test]
fn a_stencil_with_early_returns() {
    let (w, h) = (11, 9);
    let input: Vec<f32> = (0..w * h).map(|i| (i * 5 % 13) as f32).collect();
    let mut want: Vec<f64> = input.iter().map(|x| f64::from(*x)).collect();
    for y in 1..h - 1 {
        for x in 1..w - 1 {
            let i = y * w + x;
            want[i] = f64::from(0.25 * (input[i - 1] + input[i + 1] + input[i - w] + input[i + w]));
        }
    }
    let mut launch = Launch::line(3, 4);
    launch.grid_dim = [3, 3, 1];
    launch.block_dim = [4, 4, 1];
    let arguments = [
        Argument::Buffer(Values::Float(input)),
        poison(w * h),
        Argument::Whole(w as i64),
        Argument::Whole(h as i64),
    ];
    let machine = ran(include_str!("stencil.cu"), launch, &arguments);
    assert_eq!(all(&machine, "out"), want);
    assert!(machine.findings().is_clean());
}
