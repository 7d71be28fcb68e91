//! The latency-bandwidth model of a network (alpha-beta model): what messages cost that follow one another.
//!
//! All modelled clocks use it, so that one link costs the same in every lab.

use mlsys_lab::value::number;
use mlsys_lab::{LabError, Params, Tables};

/// A port of a network in one direction.
///
/// A message of n bytes takes `latency + n / bandwidth` seconds (Hockney 1994).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Network {
    latency: f64,
    bandwidth: f64,
}

impl Network {
    /// A network of nothing but latency zero and bandwidth without end: what a schedule takes if messages cost nothing.
    pub const FREE: Self = Self { latency: 0.0, bandwidth: f64::INFINITY };

    /// Seconds of latency and bytes per second in one direction.
    ///
    /// # Errors
    /// A bandwidth that is not above zero, over which nothing would ever arrive, or a latency that is negative or not
    /// finite. The error names the parameters `bandwidth_bytes_per_second` and `latency_seconds`.
    pub fn new(latency: f64, bandwidth: f64) -> Result<Self, LabError> {
        if bandwidth.is_nan() || bandwidth <= 0.0 {
            return Err(LabError::contradiction(
                ["bandwidth_bytes_per_second"],
                format!(
                    "over a link of {} bytes/s nothing ever arrives; choose a bandwidth above 0",
                    number(bandwidth)
                ),
            ));
        }
        if !latency.is_finite() || latency < 0.0 {
            return Err(LabError::contradiction(
                ["latency_seconds"],
                format!(
                    "a latency of {} s is none; choose 0 or a positive number of seconds",
                    number(latency)
                ),
            ));
        }
        Ok(Self { latency, bandwidth })
    }

    /// The network of a lab's parameters `bandwidth_bytes_per_second` and `latency_seconds`, or of its `link`.
    ///
    /// # Errors
    /// Either is unset, or as for [`Network::new`].
    pub fn read(params: &Params) -> Result<Self, LabError> {
        Self::new(params.float("latency_seconds")?, params.float("bandwidth_bytes_per_second")?)
    }

    pub fn link(name: &str) -> Option<Self> {
        let field = |field: &str| Tables::builtin().field("link", name, field)?.as_f64();
        Self::new(field("latency_seconds")?, field("bandwidth_bytes_per_second")?).ok()
    }

    pub fn latency(&self) -> f64 {
        self.latency
    }

    pub fn bandwidth(&self) -> f64 {
        self.bandwidth
    }

    /// Seconds of consecutive messages with `bytes` in all: messages*latency + bytes/bandwidth.
    pub fn seconds(&self, messages: f64, bytes: f64) -> f64 {
        messages * self.latency + bytes / self.bandwidth
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_that_carries_nothing_is_refused() {
        for (latency, bandwidth, told) in [
            (0.0, 0.0, "nothing ever arrives"),
            (0.0, -1.0, "nothing ever arrives"),
            (0.0, f64::NAN, "nothing ever arrives"),
            (-1e-6, 1e9, "positive number of seconds"),
            (f64::INFINITY, 1e9, "positive number of seconds"),
        ] {
            let error = Network::new(latency, bandwidth).unwrap_err();
            assert!(error.is_usage());
            assert!(error.to_string().contains(told), "{error}");
        }
        assert_eq!(Network::link("semaphore"), None);
        assert_eq!(Network::FREE.seconds(1e6, 1e18), 0.0);
    }
}
