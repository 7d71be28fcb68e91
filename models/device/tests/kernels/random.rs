//! Randomly generated kernels.

use mlsys_device::kernel::Devices;
use mlsys_kernel::{Agreement, Argument, Kernel, Launch, Launcher, Values};

use crate::Case;
use crate::devices::devices;
use crate::entry::noise;
use crate::generator::{BLOCK, Generator, INPUT};

/// Kernels that are tried.
const KERNELS: u64 = 200;

fn case(number: u64) -> Case {
    let source = Generator::kernel(number);
    let file = format!("random-{number}.cu");
    let kernel = Kernel::parse(&file, &source);
    let kernel = kernel.unwrap_or_else(|refused| panic!("{refused}\n{source}"));
    let blocks = 2;
    let threads = (blocks * BLOCK) as usize;
    let drawn = |i: usize| noise(number << 20 | i as u64);
    let arguments = [
        Values::Unsigned((0..INPUT).map(|i| drawn(i) as u32 >> (i % 32)).collect()),
        Values::Float((0..INPUT).map(|i| (drawn(i) >> 58) as f32 / 8.0 - 4.0).collect()),
        Values::Poison(2 * threads),
        Values::Poison(threads),
        Values::Unsigned(vec![0; 12]),
    ];
    Case {
        file,
        source,
        kernel,
        launch: Launch::line(blocks, BLOCK),
        arguments: arguments.map(Argument::Buffer).to_vec(),
    }
}

#[test]
fn kernels_written_at_random_give_the_same_on_each_device() {
    let mut wrong = Vec::new();
    for number in 0..KERNELS {
        let case = case(number);
        let (start, ended) = (case.start(), case.ended());
        for &device in devices() {
            let agreement = Devices
                .launch(device, &case.work(&start))
                .map(|answer| Agreement::of(&ended, &answer.buffers));
            // Whole is only what has something to compare.
            if !agreement.as_ref().is_ok_and(Agreement::all_agree) {
                wrong.push(format!("{device}: {agreement:?}\n{}", case.source));
            }
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong[..wrong.len().min(3)].join("\n"));
}
