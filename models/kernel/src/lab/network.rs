//! A kernel in place of one operation of a network: its inputs, and the classes that follow from its result.

use crate::examples::{Example, Problem};
use crate::types::{Access, Scalar, Type};
use crate::{Kernel, Launcher, Machine, Values};
use mlsys_lab::frame::{Image, Images, Verdict};
use mlsys_lab::value::plural;
use mlsys_lab::{DeviceId, Frame, LabError, Params, Run};
use std::collections::BTreeMap;
use std::iter;

/// What the lab `kernel` is given besides the interpreter; nothing of it has to be there.
#[derive(Default)]
pub struct Extensions {
    /// A trained network that lets a kernel replace one operation of its forward pass.
    pub classifier: Option<Box<dyn Classifier>>,
    pub launcher: Option<Box<dyn Launcher>>,
}

/// The operation of a hidden layer that a kernel takes the place of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplacedOperation {
    /// The addition of the bias: two operands, the sums and the bias repeated for each example.
    BiasAdd,
    /// The activation: one operand.
    Relu,
}

impl ReplacedOperation {
    pub fn operands(self) -> usize {
        match self {
            Self::BiasAdd => 2,
            Self::Relu => 1,
        }
    }
}

/// Why a network cannot be opened or resumed.
#[derive(Debug, thiserror::Error)]
pub enum NetworkError {
    /// The data set, the training or the device fails.
    #[error(transparent)]
    Lab(#[from] LabError),
    #[error("the network has {found} layers instead of 2")]
    Layers { found: usize },
    #[error("digits are no sequence")]
    Sequence,
}

pub trait Classifier: Send + Sync {
    fn hidden(&self) -> usize;

    /// Classifies `batch` fresh images up to the operation that a kernel is to do. The network and the images are
    /// those of `seed`; it is trained at the first call, on the device where its forward pass runs.
    ///
    /// # Errors
    /// Why there is no network.
    fn open(
        &self,
        plug: ReplacedOperation,
        batch: usize,
        seed: u64,
        device: DeviceId,
    ) -> Result<SuspendedForward, NetworkError>;
}

/// A forward pass that waits for the result of one of its operations.
pub struct SuspendedForward {
    /// What goes into the operation, each `[batch * hidden]`, row by row.
    pub operands: Vec<Vec<f32>>,
    /// What the framework's own operation makes of it: `[batch * hidden]`.
    pub result: Vec<f32>,
    /// The images: `[batch, width * height]`, from 0 to 1.
    pub pixels: Vec<Vec<f32>>,
    pub width: usize,
    pub truth: Vec<usize>,
    /// The rest of the forward pass: from the operation's result to the class that each image is taken for.
    pub rest: ResumeForward,
}

/// From `[batch * hidden]` to a class for each image.
pub type ResumeForward = Box<dyn Fn(Vec<f32>) -> Result<Vec<usize>, NetworkError> + Send>;

pub(super) struct PluggedKernel {
    pub(super) opened: SuspendedForward,
    pub(super) elements: usize,
    plug: ReplacedOperation,
}

/// Which of the kernel's buffers is what.
pub(super) struct BufferRoles {
    pub(super) buffers: BTreeMap<String, Values>,
    /// The one that the network goes on with.
    pub(super) output: String,
}

impl PluggedKernel {
    /// The forward pass that `plug_in` asks for, if it does.
    pub(super) fn open(
        params: &Params,
        extensions: &Extensions,
        device: DeviceId,
    ) -> Result<Option<Self>, LabError> {
        let name = params.text("plug_in")?;
        let plug = match name {
            "bias-add" => ReplacedOperation::BiasAdd,
            "relu" => ReplacedOperation::Relu,
            _ => return Ok(None),
        };
        let fits = |example: &Example| {
            (plug, example.problem) == (ReplacedOperation::BiasAdd, Problem::VectorAdd)
        };
        if Example::find(params.text("example")?).is_some_and(|example| !fits(example)) {
            let message = match plug {
                ReplacedOperation::BiasAdd => {
                    "bias-add needs a kernel that adds two arrays: vector-add and its variants, grid-stride, or custom"
                }
                ReplacedOperation::Relu => {
                    "relu needs a kernel of one input and one output: example = custom with its source"
                }
            };
            return Err(LabError::contradiction(["plug_in", "example"], message));
        }
        let Some(classifier) = &extensions.classifier else {
            let message = "there is no network here to put a kernel into";
            return Err(LabError::contradiction(["plug_in"], message));
        };
        let batch = params.size("batch_size")?;
        let seed = params.int("seed")?.unsigned_abs();
        let opened = classifier
            .open(plug, batch, seed, device)
            .map_err(|error| LabError::Failed { device, reason: error.to_string() })?;
        Ok(Some(Self { opened, elements: batch * classifier.hidden(), plug }))
    }

    /// What a kernel's buffers hold, in the order in which it takes them: operands, then the output. The only buffer
    /// it may write is the output wherever it stands; with one buffer too few, it works in place.
    pub(super) fn roles(&self, kernel: &Kernel) -> Result<BufferRoles, LabError> {
        let mut names = Vec::new();
        let mut writable = Vec::new();
        for (name, ty) in kernel.params() {
            let Type::Pointer { to, access, .. } = ty else { continue };
            if to != Scalar::Float {
                let message = format!("the network's numbers are float, and '{name}' is {to}*");
                return Err(LabError::contradiction(["plug_in", "source"], message));
            }
            if access == Access::Mutable {
                writable.push(names.len());
            }
            names.push(name.to_owned());
        }
        let operands = self.plug.operands();
        let place = match (writable.as_slice(), names.len()) {
            ([only], count) if count == operands || count == operands + 1 => *only,
            ([_, .., last], count) if count == operands + 1 => *last,
            ([first, ..], count) if count == operands => *first,
            _ => {
                let message = format!(
                    "the kernel takes {} and may write to {} of them; the network hands it {operands}, and takes one that it has written",
                    plural(names.len(), "buffer"),
                    writable.len(),
                );
                return Err(LabError::contradiction(["plug_in", "source"], message));
            }
        };
        let output = names[place].clone();
        let in_place = names.len() == operands;
        let mut operands = self.opened.operands.iter().cloned().map(Values::Float);
        let mut buffers = BTreeMap::new();
        // Working in place, the first operand is what lies in the output.
        if in_place && let Some(first) = operands.next() {
            buffers.insert(output.clone(), first);
        }
        for (index, name) in names.into_iter().enumerate() {
            if index != place
                && let Some(operand) = operands.next()
            {
                buffers.insert(name, operand);
            }
        }
        buffers.entry(output.clone()).or_insert(Values::Poison(self.elements));
        Ok(BufferRoles { buffers, output })
    }

    /// What should come out: what the framework's own operation gives.
    pub(super) fn wanted(&self) -> Vec<f64> {
        self.opened.result.iter().map(|x| f64::from(*x)).collect()
    }

    /// Classes with the kernel's result in place of the framework's, and without.
    pub(super) fn classes(
        &self,
        machine: &Machine,
        output: &str,
    ) -> Result<[Vec<usize>; 2], NetworkError> {
        // Uninitialized device memory has arbitrary contents; on a fresh device mostly zero.
        let values = machine.elements(output, 0..usize::MAX).zip(machine.cells(output));
        let numbers = values.map(|(value, cell)| if cell.defined { value as f32 } else { 0.0 });
        let found = numbers.chain(iter::repeat(0.0)).take(self.elements).collect();
        Ok([(self.opened.rest)(found)?, (self.opened.rest)(self.opened.result.clone())?])
    }

    pub(super) fn report(&self, run: &mut Run<'_>, [with, without]: &[&[usize]; 2], wrong: usize) {
        let share = |classes: &[usize]| {
            let right = classes.iter().zip(&self.opened.truth);
            right.filter(|(class, truth)| class == truth).count() as f64
                / self.opened.truth.len().max(1) as f64
        };
        run.scalar("network_accuracy", share(with));
        run.scalar("network_reference_accuracy", share(without));
        run.scalar("network_mismatches", wrong as i64);
    }
}

/// The digits with what they are taken for, behind a wrong one what it is; without a network, how to get one.
pub(super) fn picture(read: Option<(&PluggedKernel, Vec<usize>)>) -> Frame {
    let Some((PluggedKernel { opened, .. }, classes)) = read else {
        let how = "This kernel runs by itself. With plug_in = bias-add or relu it takes the place of that operation in a network that reads digits.";
        return Frame::Text(how.to_owned());
    };
    let seen = opened.pixels.iter().zip(&classes).zip(&opened.truth);
    let image = |((pixels, class), truth): ((&Vec<f32>, &usize), &usize)| {
        let (label, verdict) = if class == truth {
            (class.to_string(), Verdict::Right)
        } else {
            (format!("{class} ({truth})"), Verdict::Wrong)
        };
        let bytes = pixels.iter().map(|pixel| (255.0 * pixel).round() as u8);
        Image { pixels: bytes.collect(), label, verdict }
    };
    let width = opened.width.max(1);
    Frame::Images(Images {
        width,
        height: opened.pixels.first().map_or(0, |image| image.len() / width),
        images: seen.map(image).collect(),
        blank: None,
        together: 1,
    })
}
