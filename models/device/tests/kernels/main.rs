//! Kernels in CUDA C through the interpreter and on every device that is here, held against each other element by
//! element: the folder `corpus`, a kernel a file, and kernels written at random.

#![expect(clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

mod entry;
mod generator;

use std::error::Error;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::OnceLock;

use mlsys_device::kernel::Devices;
use mlsys_device::lowering::Compilers;
use mlsys_kernel::{
    Agreement, Argument, DeviceError, Kernel, Launch, LaunchRequest, LaunchResult, Launcher,
    Machine, Progress, Values,
};
use mlsys_lab::DeviceId;
use mlsys_lab::device::Backend;
use mlsys_sim::lowering::{Build, Kernel as LoweredKernel, Toolchain, Work};

use entry::{Closeness, Entry, Needs, noise};
use generator::{BLOCK, Generator, INPUT};

/// Warp instructions that no kernel here needs.
const BUDGET: u64 = 5_000_000;

pub(crate) struct Case {
    pub(crate) file: String,
    pub(crate) source: String,
    pub(crate) kernel: Kernel,
    pub(crate) launch: Launch,
    pub(crate) arguments: Vec<Argument>,
}

impl Case {
    fn start(&self) -> Machine {
        self.kernel
            .launch(self.launch.clone(), &self.arguments)
            .unwrap_or_else(|error| panic!("{}: {error}", self.file))
    }

    /// The launch by the interpreter, which must end and find nothing.
    fn ended(&self) -> Machine {
        let mut machine = self.start();
        machine.run(BUDGET);
        assert_eq!(machine.progress(), Progress::Finished, "{}", self.file);
        let findings = machine.findings();
        assert!(findings.is_clean(), "{}: {:?}", self.file, findings.first());
        machine
    }

    fn work<'a>(&'a self, start: &'a Machine) -> LaunchRequest<'a> {
        LaunchRequest { kernel: &self.kernel, file: &self.file, start }
    }
}

// The devices of this machine that run kernels.

/// Back ends, comma-separated, that must be there: where this is set, a test that finds none fails.
const EXPECTED: &str = "MLSYS_EXPECT_DEVICES";

/// The first device of each back end but the CPU. One that is missing is said aloud, past the harness, which keeps to
/// itself what a passing test prints.
fn devices() -> &'static [DeviceId] {
    static FOUND: OnceLock<Vec<DeviceId>> = OnceLock::new();
    FOUND.get_or_init(|| {
        let expected = std::env::var(EXPECTED).ok();
        let mut found = Vec::new();
        for backend in [Backend::Cuda, Backend::Wgpu] {
            let device = DeviceId { backend, index: 0 };
            let Err(reason) = probe(device) else {
                found.push(device);
                continue;
            };
            let mut expected = expected.iter().flat_map(|list| list.split(','));
            let is_expected = expected.any(|name| name == backend.name());
            assert!(!is_expected, "{EXPECTED} names {backend}, and {reason}");
            let message = format!("kernels against the interpreter, since {reason}");
            // A failed write to standard error is ignored.
            let _ = writeln!(std::io::stderr(), "\nNOT RUN on {backend}: {message}");
        }
        found
    })
}

fn probe(device: DeviceId) -> Result<(), DeviceError> {
    let one = "__global__ void one(int *a) { a[threadIdx.x] = 1; }";
    match launch(device, &poisoned(one, Launch::line(1, 4), 4)) {
        Ok(_) => Ok(()),
        Err(refusal @ DeviceError::NoDevice(_)) => Err(refusal),
        Err(refusal) => panic!("{device}: {refusal}"),
    }
}

// The kernels of the folder `corpus`.

fn corpus() -> Vec<Entry> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernels/corpus");
    let mut files: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let entry = |path: &std::path::PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy();
        Entry::read(&name, &fs::read_to_string(path).unwrap())
    };
    files.iter().map(entry).collect()
}

#[test]
fn devices_agree_with_the_interpreter() {
    let corpus = corpus();
    for &device in devices() {
        let required = |entry: &&Entry| must_run(device, entry.needs);
        let expected = corpus.iter().filter(required).count();
        let (mut ran, mut required_ran) = (0, 0);
        let (mut wrong, mut refused) = (Vec::new(), Vec::new());
        for entry in &corpus {
            match run_entry(device, entry) {
                Ok(true) => {
                    ran += 1;
                    required_ran += usize::from(must_run(device, entry.needs));
                }
                Ok(false) => refused.push(entry.case.file.as_str()),
                Err(error) => wrong.push(format!("{device} {}: {error}", entry.case.file)),
            }
        }
        println!("{device}: {ran} kernels agree; not translated: {refused:?}");
        assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
        assert_eq!(required_ran, expected, "on {device}");
    }
}

/// Whether a device of this kind has no excuse: on CUDA the text runs as it is, and a warp has 32 threads.
fn must_run(device: DeviceId, needs: Needs) -> bool {
    device.backend == Backend::Cuda || needs == Needs::Nothing
}

/// Whether a kernel of the corpus ran on a device; an error if what it did there is wrong.
fn run_entry(device: DeviceId, entry: &Entry) -> Result<bool, Box<dyn Error>> {
    let case = &entry.case;
    let (start, ended) = (case.start(), case.ended());
    let here = device.backend == Backend::Cuda || entry.needs != Needs::Cuda;
    let answer = match Devices.launch(device, &case.work(&start)) {
        Ok(answer) if here => answer,
        Ok(_) => return Err("it runs, and has no translation by its own account".into()),
        Err(DeviceError::Untranslated { .. }) if !must_run(device, entry.needs) => {
            return Ok(false);
        }
        Err(refusal) => return Err(refusal.into()),
    };
    let agreement = Agreement::new(&ended, &answer.buffers);
    let is_equal = agreement.largest == 0.0 || entry.closeness == Closeness::Near;
    if agreement.all_agree() && is_equal && answer.seconds > 0.0 {
        return Ok(true);
    }
    Err(format!("{agreement:?} in {} s", answer.seconds).into())
}

#[test]
fn the_corpus_is_large_and_most_of_it_is_exact() {
    let corpus = corpus();
    assert!(corpus.len() >= 90, "{}", corpus.len());
    let exact = |entry: &&Entry| entry.closeness == Closeness::Exact;
    assert!(corpus.iter().filter(exact).count() >= 70);
    // Without any device: the interpreter runs all of them and finds nothing.
    for entry in &corpus {
        entry.case.ended();
    }
}

// Randomly generated kernels.

const KERNELS: u64 = 200;

fn random_case(number: u64) -> Case {
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
fn random_kernels_agree_on_every_device() {
    let mut wrong = Vec::new();
    for number in 0..KERNELS {
        let case = random_case(number);
        let (start, ended) = (case.start(), case.ended());
        for &device in devices() {
            let answer = Devices.launch(device, &case.work(&start));
            let agreement = answer.map(|answer| Agreement::new(&ended, &answer.buffers));
            // Whole is only what has something to compare.
            if !agreement.as_ref().is_ok_and(Agreement::all_agree) {
                wrong.push(format!("{device}: {agreement:?}\n{}", case.source));
            }
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong[..wrong.len().min(3)].join("\n"));
}

// What a device does not take, and says so.

fn poisoned(source: &str, launch: Launch, count: usize) -> Case {
    Case {
        file: "bad.cu".to_owned(),
        source: source.to_owned(),
        kernel: Kernel::parse("bad.cu", source).unwrap_or_else(|refused| panic!("{refused}")),
        launch,
        arguments: vec![Argument::Buffer(Values::Poison(count))],
    }
}

fn launch(device: DeviceId, case: &Case) -> Result<LaunchResult, DeviceError> {
    Devices.launch(device, &case.work(&case.start()))
}

fn refusal(device: DeviceId, case: &Case) -> Option<String> {
    launch(device, case).err().map(|refusal| refusal.to_string())
}

const ONE: &str = "__global__ void k(int *a) { a[0] = 1; }";

#[test]
fn the_processor_and_devices_that_are_not_there_say_so() {
    let one = poisoned(ONE, Launch::line(1, 1), 1);
    for device in [
        DeviceId::CPU,
        DeviceId { backend: Backend::Wgpu, index: 99 },
        DeviceId { backend: Backend::Cuda, index: 99 },
    ] {
        let refused = launch(device, &one).unwrap_err();
        assert!(matches!(refused, DeviceError::NoDevice(_)), "{device}: {refused:?}");
        assert!(refused.to_string().len() > 20, "{refused}");
    }
}

#[test]
fn a_launch_beyond_a_limit_is_told_both_numbers() {
    let shared = "__global__ void k(int *a) { extern __shared__ int x[]; x[0] = 1; a[0] = x[0]; }";
    let much = Launch { dynamic_shared: 200_000, ..Launch::line(1, 1) };
    let tall = Launch { grid_dim: [1, 65_535, 1], ..Launch::line(1, 1) };
    for &device in devices() {
        let wide = poisoned(ONE, Launch::line(70_000, 1), 1);
        let refused = refusal(device, &wide);
        if device.backend == Backend::Wgpu {
            let refused = refused.unwrap();
            assert!(refused.contains("70000") && refused.contains("65535"), "{refused}");
        }
        assert_eq!(refusal(device, &poisoned(ONE, tall.clone(), 1)), None);
        let refused = refusal(device, &poisoned(shared, much.clone(), 1));
        if device.backend == Backend::Wgpu {
            assert!(refused.unwrap().contains("200000"));
        }
    }
}

/// On wgpu an access out of bounds stays inside its buffer or does nothing.
#[test]
fn an_access_out_of_bounds_does_no_harm_on_wgpu() {
    let source = "__global__ void k(int *a) { a[threadIdx.x * 100000] = 7; a[threadIdx.x] = 5; }";
    let outside = poisoned(source, Launch::line(1, 4), 4);
    for &device in devices().iter().filter(|id| id.backend == Backend::Wgpu) {
        let answer = launch(device, &outside).unwrap_or_else(|refusal| panic!("{refusal}"));
        let last = answer.buffers[0].chunks(4).skip(1).take(2);
        assert_eq!(last.collect::<Vec<_>>(), [[5, 0, 0, 0]; 2]);
        // And the device is as it was.
        assert_eq!(refusal(device, &poisoned(ONE, Launch::line(1, 1), 1)), None);
    }
}

// The kernels of the lab `lowering`, compiled by cubecl, against the processor's results.

#[test]
fn devices_give_the_interpreters_results() {
    for &device in devices() {
        for kernel in LoweredKernel::ALL {
            let widths: &[usize] = match kernel {
                LoweredKernel::VectorAdd | LoweredKernel::Relu | LoweredKernel::Saxpy => &[1, 4],
                LoweredKernel::WindowSum
                | LoweredKernel::MatmulTile
                | LoweredKernel::SoftmaxRow => &[1],
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
