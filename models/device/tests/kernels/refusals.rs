//! What a device does not take, and says so.

use mlsys_device::kernel::Devices;
use mlsys_kernel::{Argument, DeviceError, Kernel, Launch, Launcher, Values};
use mlsys_lab::DeviceId;
use mlsys_lab::device::Backend;

use crate::Case;
use crate::devices::devices;

fn case(source: &str, launch: Launch, count: usize) -> Case {
    Case {
        file: "bad.cu".to_owned(),
        source: source.to_owned(),
        kernel: Kernel::parse("bad.cu", source).unwrap_or_else(|refused| panic!("{refused}")),
        launch,
        arguments: vec![Argument::Buffer(Values::Poison(count))],
    }
}

fn refusal(device: DeviceId, case: &Case) -> DeviceError {
    match Devices.launch(device, &case.work(&case.start())) {
        Ok(answer) => panic!("{device} takes it: {} s", answer.seconds),
        Err(refusal) => refusal,
    }
}

#[test]
fn the_processor_and_devices_that_are_not_there_say_so() {
    let one = case("__global__ void k(int *a) { a[0] = 1; }", Launch::line(1, 1), 1);
    for device in [
        DeviceId::CPU,
        DeviceId { backend: Backend::Wgpu, index: 99 },
        DeviceId { backend: Backend::Cuda, index: 99 },
    ] {
        let told = refusal(device, &one);
        assert!(matches!(told, DeviceError::NoDevice(_)), "{device}: {told:?}");
        assert!(told.to_string().len() > 20, "{told}");
    }
}

#[test]
fn a_launch_beyond_a_limit_is_told_both_numbers() {
    let ones = "__global__ void k(int *a) { a[0] = 1; }";
    let shared = "__global__ void k(int *a) { extern __shared__ int x[]; x[0] = 1; a[0] = x[0]; }";
    let much = Launch { dynamic_shared: 200_000, ..Launch::line(1, 1) };
    let tall = Launch { grid_dim: [1, 65_535, 1], ..Launch::line(1, 1) };
    for &device in devices() {
        let wide = case(ones, Launch::line(70_000, 1), 1);
        let told = refusal_or_run(device, &wide);
        if device.backend == Backend::Wgpu {
            let told = told.unwrap_or_default();
            assert!(told.contains("70000") && told.contains("65535"), "{told}");
        }
        assert_eq!(refusal_or_run(device, &case(ones, tall.clone(), 1)), None);
        let told = refusal_or_run(device, &case(shared, much.clone(), 1));
        if device.backend == Backend::Wgpu {
            let told = told.unwrap_or_default();
            assert!(told.contains("200000"), "{told}");
        }
    }
}

fn refusal_or_run(device: DeviceId, case: &Case) -> Option<String> {
    Devices.launch(device, &case.work(&case.start())).err().map(|refusal| refusal.to_string())
}

/// On wgpu an access out of bounds stays inside its buffer or does nothing.
#[test]
fn an_access_out_of_bounds_does_no_harm_on_wgpu() {
    let source = "__global__ void k(int *a) { a[threadIdx.x * 100000] = 7; a[threadIdx.x] = 5; }";
    let outside = case(source, Launch::line(1, 4), 4);
    for &device in devices().iter().filter(|id| id.backend == Backend::Wgpu) {
        let answer = Devices.launch(device, &outside.work(&outside.start()));
        let answer = answer.unwrap_or_else(|refusal| panic!("{refusal}"));
        let last = answer.buffers[0].chunks(4).skip(1).take(2);
        assert_eq!(last.collect::<Vec<_>>(), [[5, 0, 0, 0]; 2]);
        // And the device is as it was.
        let one = case("__global__ void k(int *a) { a[0] = 1; }", Launch::line(1, 1), 1);
        assert_eq!(refusal_or_run(device, &one), None);
    }
}
