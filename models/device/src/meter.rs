//! What a device can be timed at: copying, reading, multiplying and adding in registers, starting one operation.
//!
//! On the processor the loops are our own, over all cores, with the widest vectors it has: burn's operations there
//! allocate their results, which costs more than some of what is to be measured. On a GPU they are burn's operations
//! and burn's own probe of its arithmetic.

mod burn_ops;
mod cores;

use std::time::Duration;

use burn::tensor::{DType, Device};
use mlsys_lab::device::{Backend, DeviceId};
use mlsys_lab::{LabError, Params, named_enum};

pub use self::burn_ops::computing;
use super::cpu;
pub use crate::timing::Workload;
use crate::timing::{Pace, RepeatTimer};

named_enum! {
    /// The element type that rates are measured in, as parameter `precision` names it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Precision {
        Fp32 = "fp32",
        Fp16 = "fp16",
        /// The upper half of single precision.
        Bf16 = "bf16",
    }
}

impl Precision {
    pub fn read(params: &Params) -> Result<Self, LabError> {
        let named = params.text("precision")?.parse();
        named.map_err(|error: mlsys_lab::UnknownName| {
            LabError::contradiction(["precision"], error.to_string())
        })
    }

    pub fn dtype(self) -> DType {
        match self {
            Self::Fp32 => DType::F32,
            Self::Fp16 => DType::F16,
            Self::Bf16 => DType::BF16,
        }
    }

    pub fn bytes(self) -> u64 {
        self.dtype().size() as u64
    }

    /// The data path whose data-sheet peak is compared: plain units in fp32, matrix units else.
    pub fn tabled_path(self) -> &'static str {
        match self {
            Self::Fp32 => "fp32",
            Self::Fp16 => "fp16-tensor",
            Self::Bf16 => "bf16-tensor",
        }
    }
}

pub enum Arithmetic {
    Timed(Box<dyn Workload>),
    /// By burn's own probe, which tells its best rate, in flop/s, and no more.
    Probed(f64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComputeUnits {
    /// Those that multiply and add numbers in registers; in 16 bits the matrix units, where there are some.
    Plain,
    /// Whatever matrix products run on: in single precision, too, the matrix units, where there are some.
    Products,
}

/// What the last cache of a GPU is taken for: that of an A100 has 40 MiB, of an H100 50, of a 4090 72.
#[cfg(any(feature = "wgpu", feature = "cuda"))]
const GPU_CACHE: u64 = 128 << 20;

/// Least and most bytes of the buffer that [`Meter::bandwidth`] reads and copies.
const BANDWIDTH_BUFFER: [u64; 2] = [32 << 20, 256 << 20];

const BANDWIDTH_PACE: Pace = Pace {
    slice: Duration::from_millis(2),
    least: Duration::from_millis(20),
    most: Duration::from_millis(80),
};

pub struct Meter {
    device: Device,
    id: DeviceId,
    precision: Precision,
}

impl Meter {
    /// Opens the device, if it has such numbers.
    pub fn open(id: DeviceId, precision: Precision) -> Result<Self, LabError> {
        let device = super::open(id)?;
        if !device.supports_dtype(precision.dtype()) {
            return Err(lacks(id, precision, "its driver offers no such numbers"));
        }
        Ok(Self { device, id, precision })
    }

    pub fn device(&self) -> &Device {
        &self.device
    }

    pub fn name(&self) -> String {
        super::name(&self.device, self.id)
    }

    /// Bytes of the last cache: the processor's where the system tells, and what a GPU's is taken for, since its driver
    /// does not; none of a processor in disguise.
    pub fn last_cache(&self) -> Option<u64> {
        match self.id.backend {
            Backend::Cpu => cpu::last_cache(),
            Backend::Wgpu | Backend::Cuda => card_cache(&self.device),
        }
    }

    /// A buffer of `bytes` bytes copied to another; bytes read and bytes written count.
    pub fn copy(&self, bytes: u64) -> Result<Box<dyn Workload>, LabError> {
        self.must_fit(2 * bytes)?;
        Ok(match self.id.backend {
            Backend::Cpu => cores::copy(bytes)?,
            Backend::Wgpu | Backend::Cuda => burn_ops::copy(&self.device, self.id, bytes),
        })
    }

    /// A buffer of `bytes` bytes summed up, by all cores.
    pub fn read(&self, bytes: u64) -> Result<Box<dyn Workload>, LabError> {
        self.must_fit(bytes)?;
        Ok(match self.id.backend {
            Backend::Cpu => cores::read(bytes)?,
            Backend::Wgpu | Backend::Cuda => burn_ops::read(&self.device, self.id, bytes),
        })
    }

    /// What [`Self::read`] does, once, on a buffer of ones: their sum over their count, 1 where each was read once.
    pub fn read_checksum(&self, bytes: u64) -> Result<f64, LabError> {
        const MOST: u64 = 4 << 20;
        let bytes = bytes.min(MOST);
        self.must_fit(bytes)?;
        Ok(match self.id.backend {
            Backend::Cpu => cores::checksum(bytes),
            Backend::Wgpu | Backend::Cuda => burn_ops::checksum(&self.device, bytes),
        })
    }

    /// A working set of `bytes` bytes summed up again and again: by one core, whose caches they are, or by the whole GPU.
    pub fn read_again(&self, bytes: u64) -> Result<Box<dyn Workload>, LabError> {
        self.must_fit(bytes)?;
        Ok(match self.id.backend {
            Backend::Cpu => cores::read_alone(bytes)?,
            Backend::Wgpu | Backend::Cuda => burn_ops::read(&self.device, self.id, bytes),
        })
    }

    /// The smallest operation there is, from the call until its result is there.
    pub fn launch(&self) -> Box<dyn Workload> {
        burn_ops::launch(&self.device, self.id)
    }

    /// Independent multiply-adds on numbers that stay in registers, if the device has arithmetic in this precision.
    pub fn arithmetic(&self, units: ComputeUnits) -> Result<Arithmetic, LabError> {
        match (self.id.backend, self.precision, units) {
            // burn's products in 16 bits on the processor compute in single precision.
            (Backend::Cpu, Precision::Fp32, _) | (Backend::Cpu, _, ComputeUnits::Products) => {
                cores::multiply_add().map(Arithmetic::Timed)
            }
            (Backend::Cpu, Precision::Fp16 | Precision::Bf16, ComputeUnits::Plain) => Err(lacks(
                self.id,
                self.precision,
                "flex stores such numbers and computes with them in fp32",
            )),
            #[cfg(any(feature = "wgpu", feature = "cuda"))]
            (Backend::Wgpu | Backend::Cuda, precision, units) => {
                let found = burn_ops::peak(&self.device, precision, units);
                found.map(Arithmetic::Probed).ok_or_else(|| LabError::Failed {
                    device: self.id,
                    reason: format!(
                        "burn's probe found no rate of its arithmetic in {}",
                        precision.name()
                    ),
                })
            }
            #[cfg(not(any(feature = "wgpu", feature = "cuda")))]
            (Backend::Wgpu | Backend::Cuda, _, _) => Err(LabError::Device {
                device: self.id,
                reason: "this build has no GPU back end".to_owned(),
            }),
        }
    }

    /// Bytes a second: the larger rate of reading a buffer and of copying one, reads and writes counted.
    pub fn bandwidth(&self, interrupted: &dyn Fn() -> bool) -> Result<f64, LabError> {
        let [least, most] = BANDWIDTH_BUFFER;
        // Too large for the last cache, where its size is known or can be guessed.
        let buffer = self.last_cache().map_or(least, |cache| (2 * cache).clamp(least, most));
        let mut bandwidth = 0.0_f64;
        for pass in [self.read(buffer)?, self.copy(buffer)?] {
            let mut clock = RepeatTimer::warm_up(pass, BANDWIDTH_PACE)?;
            clock.repeat(interrupted)?;
            bandwidth = bandwidth.max(clock.times().rate().unwrap_or(0.0));
        }
        Ok(bandwidth)
    }

    /// Refuses work that takes more bytes than the system has left.
    pub fn must_fit(&self, bytes: u64) -> Result<(), LabError> {
        match super::free_memory(self.id) {
            Some(free) if bytes > free => Err(LabError::Failed {
                device: self.id,
                reason: format!(
                    "it takes {} MB of memory, and {} MB are free; choose smaller sizes",
                    bytes / 1_000_000,
                    free / 1_000_000
                ),
            }),
            Some(_) | None => Ok(()),
        }
    }
}

/// What a card's last cache is taken for, where it is a card.
#[cfg(any(feature = "wgpu", feature = "cuda"))]
fn card_cache(device: &Device) -> Option<u64> {
    use burn::backend::DispatchDevice;

    let DispatchDevice::Cube(cube) = device.as_dispatch() else { return None };
    device.identity()?.physical?;
    let client = cube.client();
    let memory = &client.properties().memory;
    // A buffer twice as large must be one that the device takes, and copying it, into a new place each time, must
    // leave most of the memory alone.
    let page = memory.max_page_size;
    let most = memory.max_memory().map_or(page, |all| page.min(all / 16));
    let halves = std::iter::successors(Some(GPU_CACHE), |cache| Some(cache / 2));
    halves.take_while(|cache| *cache > 0).find(|cache| 2 * cache <= most)
}

#[cfg(not(any(feature = "wgpu", feature = "cuda")))]
fn card_cache(_: &Device) -> Option<u64> {
    None
}

fn lacks(id: DeviceId, precision: Precision, reason: &str) -> LabError {
    LabError::contradiction(
        ["precision"],
        format!(
            "device {id} has no arithmetic in {}: {reason}; take fp32 or another device",
            precision.name()
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_counted_in_a_pass_is_what_it_does() {
        let meter = Meter::open(DeviceId::CPU, Precision::Fp32).unwrap();
        let mut copy = meter.copy(1 << 14).unwrap();
        // Four parts, each timed by itself.
        assert_eq!(copy.amount(), 8.0 * f64::from(1 << 14));
        let mut read = meter.read(1 << 14).unwrap();
        let mut again = meter.read_again(1 << 14).unwrap();
        assert_eq!([read.amount(), again.amount()], [4.0 * f64::from(1 << 14); 2]);
        let mut launch = meter.launch();
        let Ok(Arithmetic::Timed(mut sums)) = meter.arithmetic(ComputeUnits::Plain) else {
            panic!("the processor is timed");
        };
        for pass in [&mut copy, &mut read, &mut again, &mut launch, &mut sums] {
            let seconds = pass.time(2).unwrap();
            assert!(seconds.is_finite() && seconds >= 0.0 && pass.amount() > 0.0);
        }
    }

    #[test]
    fn what_the_processor_lacks_is_an_error_that_says_so() {
        for precision in [Precision::Fp16, Precision::Bf16] {
            let meter = Meter::open(DeviceId::CPU, precision).unwrap();
            let error = meter.arithmetic(ComputeUnits::Plain).err().unwrap();
            assert!(error.is_usage());
            let text = error.to_string();
            assert!(text.contains(precision.name()) && text.contains("fp32"), "{text}");
            assert!(meter.arithmetic(ComputeUnits::Products).is_ok());
        }
        let meter = Meter::open(DeviceId::CPU, Precision::Fp32).unwrap();
        assert!(meter.copy(1 << 60).is_err());
    }
}
