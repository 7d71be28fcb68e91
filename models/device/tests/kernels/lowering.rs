//! The kernels of the lab `lowering`, compiled by cubecl for every device that is here, against the processor's results.

use mlsys_device::lowering::Compilers;
use mlsys_sim::lowering::{Build, Kernel, Toolchain, Work};

use crate::devices::devices;

#[test]
fn every_kernel_gives_the_processors_result_on_every_device() {
    for &device in devices() {
        for kernel in Kernel::ALL {
            let widths: &[usize] = match kernel {
                Kernel::VectorAdd | Kernel::Relu | Kernel::Saxpy => &[1, 4],
                Kernel::WindowSum | Kernel::MatmulTile | Kernel::SoftmaxRow => &[1],
            };
            for (block, elements) in [(32, 1), (64, 1000), (256, 5003)] {
                for &width in widths {
                    let build = Build { kernel, block, width };
                    let work = Work::new(build, elements, 3);
                    let found = Compilers
                        .run(device, &work)
                        .unwrap_or_else(|reason| panic!("{device}: {build:?}: {reason}"));
                    let wanted = work.reference();
                    assert!(found.len() >= wanted.len(), "{device}: {build:?}");
                    let largest = wanted.iter().fold(0.0_f32, |most, x| most.max(x.abs()));
                    for (at, (found, wanted)) in found.iter().zip(&wanted).enumerate() {
                        assert!(
                            (found - wanted).abs() <= 1e-6 * largest,
                            "{device}: {build:?}: element {at} of {elements}: {found} for {wanted}"
                        );
                    }
                }
            }
        }
    }
}
