//! Training on several workers, each a thread with its own device handle; the numbers that travel are the real ones.
//!
//! [`transport`] carries messages with a time limit on every wait and counts them; [`worker_pool`] gives workers their orders
//! and turns any failure (panic, early end, hang, wrong shape) into one sentence about its root cause. [`collective`] carries
//! out one worker's part of a plan of `mlsys_sim::collective`, which is also what is counted, timed by the model and drawn.
//! [`model`] is the trained model, [`reference`] a single worker on the whole batch for comparison.
//!
//! Workers do not multiply threads: all of them hand the large operations of the processor's back end to one pool with as
//! many threads as cores, and a worker that waits for a message sleeps.

pub mod collective;
pub mod model;
pub mod reference;
mod step_error;
pub mod transport;
pub mod worker_pool;

pub use step_error::StepError;
