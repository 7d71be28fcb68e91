//! The interface to real devices: launch requests and results. The device crate implements [`Launcher`].
//!
//! Whether a device agrees with the interpreter, element by element.

use crate::diagnostic::Diagnostic;
use crate::machine::{bits, index, real, value};
use crate::types::{Access, Scalar};
use crate::{BoundArgument, Fault, Kernel, Machine};
use mlsys_lab::{DeviceId, Value};

pub trait Launcher: Send + Sync {
    /// Runs a kernel on a device and waits for it; each launch begins with the very same buffers.
    ///
    /// # Errors
    /// Why it does not run there, or how it failed.
    fn launch(
        &self,
        device: DeviceId,
        work: &LaunchRequest<'_>,
    ) -> Result<LaunchResult, DeviceError>;

    /// The most bytes a second that the device's memory was seen to move, to hold a kernel's rate against; nothing
    /// where that cannot be measured. Takes up to some seconds the first time it is asked of a device.
    fn bandwidth(&self, device: DeviceId) -> Option<f64>;
}

#[derive(Clone, Copy, Debug)]
pub struct LaunchRequest<'a> {
    pub kernel: &'a Kernel,
    /// The name its text goes by in complaints.
    pub file: &'a str,
    /// The launch before its first instruction: grid, block, arguments, and what the buffers hold.
    pub start: &'a Machine,
}

#[derive(Clone, Debug, PartialEq)]
pub struct LaunchResult {
    /// The bytes of each buffer after the last launch, in the order of the arguments.
    pub buffers: Vec<Vec<u8>>,
    /// Median seconds of one launch, after an untimed warm-up launch.
    pub seconds: f64,
    pub launches: usize,
    pub clock: Clock,
}

mlsys_lab::named_enum! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Clock {
        /// The device's own, read just before and just after the kernel.
        Device = "device",
        /// The processor's, from handing the launch over to hearing that it has ended.
        Host = "host",
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    /// There is no such device, or nothing here runs kernels on it.
    #[error("{0}")]
    NoDevice(String),
    #[error("the kernel has no translation into WGSL{}", listed(.file, .diagnostics))]
    Untranslated { file: String, diagnostics: Vec<Diagnostic> },
    /// The launch is larger than the device takes.
    #[error("{0}")]
    TooLarge(String),
    /// The interpreter found what may do harm on a device.
    #[error("{0}")]
    Harmful(String),
    /// The device was given it, and failed.
    #[error("{0}")]
    Failed(String),
}

fn listed(file: &str, diagnostics: &[Diagnostic]) -> String {
    let line = |Diagnostic { place, message, help }: &Diagnostic| {
        let help = if help.is_empty() { String::new() } else { format!(" ({help})") };
        format!("; {}: {message}{help}", place.within(file))
    };
    diagnostics.iter().map(line).collect()
}

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
/// [`DeviceError::Harmful`] names the first fault that speaks against it.
pub fn require_harmless(ended: &Machine) -> Result<(), DeviceError> {
    if let Some(what) = ended.depends_on_device() {
        let message =
            format!("not sent, because it asks for {what}, which differs between devices");
        return Err(DeviceError::Harmful(message));
    }
    let findings = ended.findings();
    let Some(fault) = HARMFUL.into_iter().find(|fault| findings.count(*fault) > 0) else {
        return Ok(());
    };
    let first = findings.listed().iter().find(|found| found.fault == fault);
    let detail = first.map_or_else(String::new, |found| {
        format!(
            ": line {}, block {}, thread {}: {}",
            found.place.line,
            index(found.block),
            index(found.thread),
            found.sentence
        )
    });
    Err(DeviceError::Harmful(format!(
        "not sent, because the interpreter found {} ({}){detail}",
        fault.name(),
        findings.count(fault)
    )))
}

/// How far a float of a device may be from the interpreter's, relative to the larger of the two.
///
/// Both round each operation to the nearest; what may differ is a function of `math.h` by some units in the last place,
/// a contraction of `a * b + c`, and the order of floating-point atomics.
pub const TOLERANCE: f64 = 1e-5;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Agreement {
    /// Elements that were compared: those that the kernel may write and that hold something by the interpreter.
    pub compared: u64,
    /// Elements that differ by more than the tolerance; whole numbers by anything.
    pub differing: u64,
    pub largest: f64,
    pub first: Option<Difference>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    pub buffer: String,
    pub element: usize,
    pub interpreter: Value,
    /// What the device has there; a word where its buffer ends before.
    pub device: Value,
}

impl Agreement {
    /// Whether something was compared and nothing differs.
    pub fn all_agree(&self) -> bool {
        self.differing == 0 && self.compared > 0
    }

    /// Compares the bytes of each buffer, in the order of the arguments, with a machine that has ended. A buffer that
    /// the kernel only reads agrees by itself and says nothing; what a device did not give back differs.
    pub fn new(machine: &Machine, device: &[Vec<u8>]) -> Self {
        let mut agreement = Self::default();
        let buffers = machine.bound_arguments().filter_map(|given| match given {
            BoundArgument::Buffer { name, of, access, bytes } => Some((name, of, access, bytes)),
            BoundArgument::Number { .. } => None,
        });
        let mut answered = device.iter();
        for (name, of, access, here) in buffers {
            let there = answered.next().map_or(&[][..], Vec::as_slice);
            if access == Access::Constant {
                continue;
            }
            let size = of.bytes() as usize;
            // Uninitialized elements are not compared.
            let defined = machine.cells(name).enumerate().filter(|(_, cell)| cell.defined);
            for (element, _) in defined {
                agreement.compared += 1;
                let a = bits(here, element, of);
                let b = (there.len() >= (element + 1) * size).then(|| bits(there, element, of));
                if let Some(b) = b {
                    let (x, y) = (real(a, of), real(b, of));
                    if x.is_finite() && y.is_finite() {
                        agreement.largest = agreement.largest.max((x - y).abs());
                    }
                }
                if !b.is_some_and(|b| equal(a, b, of)) {
                    agreement.differing += 1;
                    agreement.first.get_or_insert_with(|| Difference {
                        buffer: name.to_owned(),
                        element,
                        interpreter: value(a, of),
                        device: b.map_or(Value::from("nothing"), |b| value(b, of)),
                    });
                }
            }
        }
        agreement
    }
}

/// Whether two elements are equal as far as a device can be held to it.
fn equal(a: u64, b: u64, of: Scalar) -> bool {
    if !of.is_real() {
        return a == b;
    }
    let (x, y) = (real(a, of), real(b, of));
    // The last place of numbers with 8 or 11 bits.
    let places = [(Scalar::Half, 1e-3), (Scalar::Bfloat16, 8e-3)];
    let last = places.iter().find(|(known, _)| *known == of).map_or(TOLERANCE, |(_, last)| *last);
    // A device may take a subnormal number for zero.
    let least = if of == Scalar::Double { f64::MIN_POSITIVE } else { f64::from(f32::MIN_POSITIVE) };
    // Infinities are equal to themselves only, and so are the two zeros to each other.
    x == y
        || (x.is_nan() && y.is_nan())
        || (x.is_finite()
            && y.is_finite()
            && (x - y).abs() <= (last * x.abs().max(y.abs())).max(least))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Argument, Kernel, Launch, Values};

    #[test]
    fn floats_agree_within_tolerance() {
        let float = |x: f32| u64::from(x.to_bits());
        for (x, y, agree) in [
            (1.0, 1.0, true),
            (1.0, 1.000009, true),
            (1.0, 1.00002, false),
            (0.0, -0.0, true),
            (0.0, 1e-39, true),
            (0.0, 1e-30, false),
            (f32::NAN, -f32::NAN, true),
            (f32::NAN, 0.0, false),
            (f32::INFINITY, f32::INFINITY, true),
            (f32::INFINITY, f32::MAX, false),
            (f32::INFINITY, f32::NEG_INFINITY, false),
        ] {
            assert_eq!(equal(float(x), float(y), Scalar::Float), agree, "{x} {y}");
            assert_eq!(equal(float(y), float(x), Scalar::Float), agree, "{y} {x}");
        }
        assert!(equal(7, 7, Scalar::Int) && !equal(7, 8, Scalar::Int));
        // Beyond 2^53 a comparison as floats would miss it.
        let large = (1_u64 << 60) + 1;
        assert!(!equal(large, large - 1, Scalar::UnsignedLong));
    }

    #[test]
    fn uninitialized_elements_are_not_compared() {
        let text =
            "__global__ void k(int *a) { if (threadIdx.x != 1) a[threadIdx.x] = threadIdx.x; }";
        let kernel = Kernel::parse("k.cu", text).unwrap();
        let mut machine =
            kernel.launch(Launch::line(1, 4), &[Argument::Buffer(Values::Poison(4))]).unwrap();
        machine.run(1000);
        let bytes = |list: [i32; 4]| vec![list.iter().flat_map(|x| x.to_le_bytes()).collect()];
        let same = Agreement::new(&machine, &bytes([0, 99, 2, 3]));
        assert!(same.all_agree() && same.compared == 3, "{same:?}");
        let other = Agreement::new(&machine, &bytes([0, 99, 5, 7]));
        assert_eq!((other.differing, other.largest), (2, 4.0));
        let first = other.first.unwrap();
        assert_eq!((first.element, first.device), (2, Value::Int(5)));
        // A buffer that comes back short, or not at all, differs where it ends.
        let short = Agreement::new(&machine, &[vec![0; 4]]);
        assert_eq!((short.compared, short.differing), (3, 2));
        assert_eq!(Agreement::new(&machine, &[]).differing, 3);
    }

    #[test]
    fn what_a_kernel_only_reads_is_no_agreement() {
        let text = "__global__ void k(const int *a, int *b) { if (a[0] > 7) b[0] = a[1]; }";
        let kernel = Kernel::parse("k.cu", text).unwrap();
        for (first, compared) in [(8, 1), (7, 0)] {
            let given = [Values::Int(vec![first, 2]), Values::Poison(1)].map(Argument::Buffer);
            let mut machine = kernel.launch(Launch::line(1, 1), &given).unwrap();
            machine.run(1000);
            let same = Agreement::new(&machine, &[vec![0; 8], vec![2, 0, 0, 0]]);
            assert_eq!((same.compared, same.differing), (compared, 0));
            assert_eq!(same.all_agree(), compared > 0);
        }
    }
}
