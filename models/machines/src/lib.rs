//! The old paths of `mlsys-analytic`, `mlsys-kernel` and `mlsys-sim`.

pub use mlsys_analytic::*;
/// CUDA C.
pub mod kernel {
    pub use mlsys_kernel::*;
    /// Diagnostics.
    pub mod source {
        pub use mlsys_kernel::{Complaint, MOST_BYTES, Place, Refused};
    }
}
pub use mlsys_sim::*;

/// Bytes of keys and values.
pub mod kv_cache {
    pub use mlsys_sim::inference::bytes_per_token;
}

/// Tokens a round.
pub mod speculative_decoding {
    pub use mlsys_sim::inference::expected_tokens;
}
