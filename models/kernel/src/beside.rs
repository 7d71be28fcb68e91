//! What a kernel can be put beside or into, and this crate does not know: whoever registers the labs joins it.

use mlsys_lab::DeviceId;

use super::Launcher;

/// What the lab `kernel` is given besides the interpreter; nothing of it has to be there.
#[derive(Default)]
pub struct Beside {
    /// A trained network whose forward pass can be opened at one of its operations.
    pub classifier: Option<Box<dyn Classifier>>,
    /// Runs kernels on real devices.
    pub launcher: Option<Box<dyn Launcher>>,
}

/// The operation of a hidden layer that a kernel takes the place of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plug {
    /// The addition of the bias: two operands, the sums and the bias repeated for each example.
    BiasAdd,
    /// The activation: one operand.
    Relu,
}

impl Plug {
    /// Buffers that the operation reads.
    pub fn operands(self) -> usize {
        match self {
            Self::BiasAdd => 2,
            Self::Relu => 1,
        }
    }
}

/// A classifier of small grey images with one hidden layer.
pub trait Classifier: Send + Sync {
    /// Neurons of its hidden layer.
    fn hidden(&self) -> usize;

    /// Classifies `batch` fresh images up to the operation that a kernel is to do. The network and the images are
    /// those of `seed`; it is trained at the first call, on the device where its forward pass runs.
    ///
    /// # Errors
    /// A sentence that says why there is no network.
    fn open(&self, plug: Plug, batch: usize, seed: u64, device: DeviceId)
    -> Result<Opened, String>;
}

/// A forward pass that waits for the result of one of its operations.
pub struct Opened {
    /// What goes into the operation, each `[batch * hidden]`, row by row.
    pub operands: Vec<Vec<f32>>,
    /// What the framework's own operation makes of it: `[batch * hidden]`.
    pub result: Vec<f32>,
    /// The images: `[batch, width * height]`, from 0 to 1.
    pub pixels: Vec<Vec<f32>>,
    /// Pixels in a row of an image.
    pub width: usize,
    /// What each image shows.
    pub truth: Vec<usize>,
    /// The rest of the forward pass: from the operation's result to the class that each image is taken for.
    pub rest: Rest,
}

/// From `[batch * hidden]` to a class for each image.
pub type Rest = Box<dyn Fn(Vec<f32>) -> Result<Vec<usize>, String> + Send>;
