//! A kernel next to the launch before an edit.

use mlsys_lab::frame::Frame;

use super::{SCREENS, drawn, on, sent};
use crate::panel::picture::Past;
use crate::panel::picture::kernel::{self, KernelDebugger};
use crate::panel::tests::compare;

/// The launch before an edit: its counts next to those of now, its lanes below, its faults in a sentence.
#[test]
fn an_edited_kernel_is_compared_with_the_launch_before() {
    let custom = |panel: &str, body: &str| {
        let source = format!(
            "source=__global__ void k(float *x) {{\n  int i = blockDim.x * blockIdx.x + threadIdx.x;\n{body}\n}}"
        );
        sent(panel, &["example=custom", &source, "block_dim=[32]", "elements=256"])
    };
    let strided = "  if (i % 2 == 0)\n    x[9 * i % 256] = 1.0f;\n  else\n    x[9 * i % 256 + i / 255 * 256] = 2.0f;";
    let edited = "  if (i % 2 == 0)\n    x[i] = 1.0f;\n  else\n    x[i] = 2.0f;";
    let flat = "  x[i] = 1.0f + i % 2;";
    let both = |panel: &str, now: &str| (custom(panel, strided), custom(panel, now));
    let said = |panel: &str, now: &str, until: &str| {
        let (then, now) = both(panel, now);
        let (frame, mut walk) = (Frame::Kernel(Box::new(then)), KernelDebugger::new(&now));
        let past = Some(Past { label: "run 1", frame: &frame });
        let mut words = kernel::words(&now, Some(&walk), past);
        while !words.contains(until) {
            on(&mut walk, 1);
            assert!(walk.clock() < 100, "{words}");
            words = kernel::words(&now, Some(&walk), past);
        }
        words
    };
    for (name, panel, now) in [
        ("kernel-edited-source", "source", edited),
        ("kernel-edited-divergence", "divergence", flat),
    ] {
        let (then, now) = both(panel, now);
        let frame = Frame::Kernel(Box::new(then));
        let past = Some(Past { label: "run 1", frame: &frame });
        for (size, room, depth, set) in SCREENS {
            let buf = drawn(&now, &KernelDebugger::new(&now), past, room, depth, set);
            compare(&format!("{name}-{size}"), &buf);
        }
    }
    let source = said("source", edited, "");
    for part in ["Line 4, against run 1: ", "sectors 32 instead of 128", "problems 0 instead of 1"]
    {
        assert!(source.contains(part), "{part}: {source}");
    }
    // What did not change is not named, and an edited line is the one in its place.
    assert!(!source.contains("Line 3, against"), "{source}");
    let sectors = said("sectors", edited, "sectors of 32 bytes move");
    assert!(sectors.contains("moves 4.0 sectors on average; in run 1 it moved 16.0"), "{sectors}");
    let memory = said("memory", edited, "");
    assert!(memory.contains("Problems: 0 now, 1 in run 1."), "{memory}");
    let same = kernel::words(&custom("source", flat), None, None);
    let frame = Frame::Kernel(Box::new(custom("source", flat)));
    let past = Some(Past { label: "run 1", frame: &frame });
    assert_eq!(kernel::words(&custom("source", flat), None, past), same);
}

/// Cells that an earlier launch reached for in vain, and what banks, timeline and problems say of it.
#[test]
fn other_panels_compare_with_the_launch_before() {
    let adds = |example| vec![example, "elements=10", "block_dim=[4]"];
    let turns = |example| vec![example, "rows=32", "columns=32", "block_dim=[32, 32]"];
    let sums = |example| vec![example, "elements=128", "block_dim=[128]"];
    let guard = ["example=vector-add-unguarded", "example=vector-add"].map(adds);
    let tile = ["example=transpose-tile", "example=transpose-padded"].map(turns);
    let sum = ["example=reduce-interleaved", "example=reduce-sequential"].map(sums);
    for (panel, [then, now], until, told) in [
        ("memory", &guard, "block 2 warp 0 did", "11 outside the buffer in run 1"),
        ("problems", &guard, "", "Problems: 0 now, 6 in run 1."),
        ("banks", &tile, "", "this line has 0 bank replays; in run 1 it had "),
        ("timeline", &sum, "step 60", "end of run 1"),
    ] {
        let (then, now) = (sent(panel, then), sent(panel, now));
        let frame = Frame::Kernel(Box::new(then));
        let past = Some(Past { label: "run 1", frame: &frame });
        let mut walk = KernelDebugger::new(&now);
        let mut words = kernel::words(&now, Some(&walk), past);
        while !words.contains(until) || !words.contains(told) {
            let before = walk.clock();
            on(&mut walk, 1);
            assert!(before < walk.clock() && before < 2000, "{panel}: {words}");
            words = kernel::words(&now, Some(&walk), past);
        }
        for (size, room, depth, set) in SCREENS {
            let buf = drawn(&now, &walk, past, room, depth, set);
            compare(&format!("kernel-edited-{panel}-{size}"), &buf);
        }
    }
}
