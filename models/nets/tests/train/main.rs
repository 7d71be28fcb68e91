//! Lab `train` as its users see it: parameters in, reports out.

mod data_folder;
mod devices;
mod gradients;
mod harness;
mod learning;
mod steering;
