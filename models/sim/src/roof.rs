//! The roof of a machine: two ceilings, arithmetic and memory (Williams, Waterman and Patterson 2009).

#[derive(Clone, Debug, PartialEq)]
pub struct Roof {
    pub name: String,
    pub peak: f64,
    pub bandwidth: f64,
}

impl Roof {
    /// ridge = peak/bandwidth, flops/byte: from this intensity on arithmetic limits.
    pub fn ridge(&self) -> f64 {
        self.peak / self.bandwidth
    }

    /// attainable = min(peak, intensity*bandwidth), flop/s
    pub fn at(&self, intensity: f64) -> f64 {
        self.peak.min(intensity * self.bandwidth)
    }

    /// Seconds of an operation: as long as its arithmetic or its traffic, whichever takes longer.
    pub fn seconds(&self, flops: f64, bytes: f64) -> f64 {
        (flops / self.peak).max(bytes / self.bandwidth)
    }

    pub fn is_memory_bound(&self, flops: f64, bytes: f64) -> bool {
        flops < self.ridge() * bytes
    }

    /// The roof as a line from one intensity to another, with a corner at the ridge.
    pub fn line(&self, from: f64, to: f64) -> [(f64, f64); 3] {
        [from, self.ridge().clamp(from, to), to].map(|intensity| (intensity, self.at(intensity)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_roof_is_the_lower_of_two_ceilings() {
        let roof = Roof { name: "one".to_owned(), peak: 100.0, bandwidth: 10.0 };
        assert_eq!(roof.ridge(), 10.0);
        for (intensity, rate) in [(1.0, 10.0), (10.0, 100.0), (20.0, 100.0)] {
            assert_eq!(roof.at(intensity), rate);
        }
        assert_eq!(roof.line(1.0, 40.0), [(1.0, 10.0), (10.0, 100.0), (40.0, 100.0)]);
        assert_eq!(roof.seconds(200.0, 10.0), 2.0);
        assert!(roof.is_memory_bound(99.0, 10.0) && !roof.is_memory_bound(100.0, 10.0));
    }
}
