//! The seam to real devices: what is launched there, and what comes back. This crate knows no device; whoever does
//! implements [`Launcher`].

use mlsys_lab::DeviceId;

use super::source::Complaint;
use super::{Fault, Kernel, Machine};

/// Runs kernels on devices.
pub trait Launcher: Send + Sync {
    /// Runs a kernel on a device and waits for it; each launch begins with the very same buffers.
    ///
    /// # Errors
    /// Why it does not run there, or how it failed.
    fn launch(&self, device: DeviceId, work: &Work<'_>) -> Result<Answer, Refusal>;

    /// The most bytes a second that the device's memory was seen to move, to hold a kernel's rate against; nothing
    /// where that cannot be measured. Takes up to some seconds the first time it is asked of a device.
    fn bandwidth(&self, device: DeviceId) -> Option<f64>;
}

/// One launch.
#[derive(Clone, Copy, Debug)]
pub struct Work<'a> {
    /// The kernel as it was read.
    pub kernel: &'a Kernel,
    /// Its text.
    pub source: &'a str,
    /// The name its text goes by in complaints.
    pub file: &'a str,
    /// The launch before its first instruction: grid, block, arguments, and what the buffers hold.
    pub start: &'a Machine,
}

/// What a device made of a launch.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The bytes of each buffer after the last launch, in the order of the arguments.
    pub buffers: Vec<Vec<u8>>,
    /// The median time of one launch in seconds, after a launch that nobody timed.
    pub seconds: f64,
    /// Launches that were timed.
    pub launches: usize,
    /// What told the time.
    pub clock: Clock,
}

/// What a launch is timed by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// The device's own, read just before and just after the kernel.
    Device,
    /// The processor's, from handing the launch over to hearing that it has ended.
    Host,
}

impl Clock {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Device => "device",
            Self::Host => "host",
        }
    }
}

/// Why a device did not run a kernel to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// There is no such device, or nothing here runs kernels on it.
    NoDevice(String),
    /// The kernel has no translation into the device's language.
    Untranslated {
        /// The name its text goes by.
        file: String,
        /// What stands in the way.
        complaints: Vec<Complaint>,
    },
    /// The launch is larger than the device takes.
    TooLarge(String),
    /// The interpreter found what may do harm on a device.
    Harmful(String),
    /// The device was given it, and failed.
    Failed(String),
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoDevice(reason)
            | Self::TooLarge(reason)
            | Self::Harmful(reason)
            | Self::Failed(reason) => f.write_str(reason),
            Self::Untranslated { file, complaints } => {
                f.write_str("the kernel has no translation into WGSL")?;
                for Complaint { place, message, help } in complaints {
                    write!(f, "; {file}:{}:{}: {message}", place.line, place.column)?;
                    if !help.is_empty() {
                        write!(f, " ({help})")?;
                    }
                }
                Ok(())
            }
        }
    }
}

impl std::error::Error for Refusal {}

/// Faults for which a kernel is not given to a device: it would write where it must not, wait for ever, or compute what
/// depends on who comes first. The last four give a number that C leaves open: what the interpreter makes of it says
/// nothing of the device's, and an index computed from it may lie anywhere.
pub const HARMFUL: [Fault; 9] = [
    Fault::OutOfBounds,
    Fault::Misaligned,
    Fault::BarrierDivergence,
    Fault::Race,
    Fault::LostLane,
    Fault::Uninitialized,
    Fault::DivisionByZero,
    Fault::Shift,
    Fault::Overflow,
];

/// Whether a launch that the interpreter ran to its end may be given to a device.
///
/// # Errors
/// [`Refusal::Harmful`] names the first fault that speaks against it.
pub fn harmless(ended: &Machine) -> Result<(), Refusal> {
    let findings = ended.findings();
    let Some(fault) = HARMFUL.into_iter().find(|fault| findings.count(*fault) > 0) else {
        return Ok(());
    };
    let first = findings.told().iter().find(|found| found.fault == fault);
    let told = first.map_or_else(String::new, |found| {
        format!(
            ": line {}, block {:?}, thread {:?}: {}",
            found.place.line, found.block, found.thread, found.sentence
        )
    });
    Err(Refusal::Harmful(format!(
        "not sent, because the interpreter found {} ({}){told}",
        fault.name(),
        findings.count(fault)
    )))
}
