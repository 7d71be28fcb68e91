//! Networks, data sets and what trains them, written against burn's tensors for any device that `mlsys-device` opens.
//!
//! All randomness comes from one generator of our own on the host, never from a back end.

pub mod baseline;
pub mod capture;
pub mod cases;
pub mod data;
pub mod digit_classifier;
pub mod divergence;
pub mod expression;
pub mod flat_params;
pub mod memory_budget;
pub mod networks;
pub mod random;
#[cfg(test)]
mod test_folder;
pub mod train;
pub mod weights;

/// The version of burn that the networks run on, for records of runs.
pub const BURN: &str = "0.22.1";

#[cfg(test)]
mod tests {
    #[test]
    fn burn_has_the_pinned_version() {
        let workspace = include_str!("../../../Cargo.toml");
        let pin = format!("burn = {{ version = \"={}\"", super::BURN);
        assert!(workspace.contains(&pin), "Cargo.toml does not say {pin}");
    }
}
