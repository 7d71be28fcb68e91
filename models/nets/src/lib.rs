//! The old paths of what lies in `mlsys-device`, `mlsys-nn` and `mlsys-live`.

pub use mlsys_device as device;
pub use mlsys_live::labs;
pub use mlsys_nn::{BURN, bare, data, expression, nets, weights};

/// The lab `train`, and the classifier for the lab `kernel`.
pub mod train {
    pub use mlsys_nn::reader::Reader;
}
