//! Training split over several workers, each a thread with a device handle of its own, between which real numbers travel.
//!
//! [`transport`] carries messages and counts them, [`worker_pool`] gives workers their orders and sees to it that none is waited for
//! without end, [`model`] is what is trained, [`collective`] the sums over
//! workers, [`reference`] one worker that does everything. The labs
//! say who holds what and who sends what.
//!
//! Workers do not multiply threads: all of them hand the large operations of the processor's back end to one pool of as
//! many threads as there are cores, and a worker that waits for a message sleeps.

pub mod collective;
pub mod model;
pub mod reference;
mod step_error;
pub mod transport;
pub mod worker_pool;

pub use step_error::StepError;
