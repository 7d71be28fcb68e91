//! Networks, data sets and the labs that train them, on the CPU or on a GPU.
//!
//! Only [`device`] knows which back end computes; everything else is written against burn's tensors.
//! All randomness comes from one generator of our own on the host, never from a back end.

pub mod bare;
pub mod data;
pub mod device;
pub mod nets;
mod random;
pub mod train;

use mlsys_lab::Lab;
use mlsys_lab::schema::SchemaError;

/// The labs of this crate, in the order of the course.
pub fn labs() -> Result<Vec<Box<dyn Lab>>, SchemaError> {
    Ok(vec![Box::new(train::Train::new()?)])
}
