//! Kind `coalescing`: the 32-byte sectors that one warp's load touches, and the share of them that is used.

use std::collections::BTreeSet;

use mlsys_lab::{LabError, Run, Value, picture};
use mlsys_sim::pattern::{OF_A_WARP, Pattern};

use crate::closed_form::Simulated;

/// Bytes of a sector, the least that moves between memory and a multiprocessor.
const SECTOR: i64 = 32;

/// Bytes of a cache line.
const LINE: i64 = 128;

/// Distances between neighbouring lanes, in elements, that are compared.
const STRIDES: [i64; 8] = [1, 2, 3, 4, 8, 16, 32, 1024];

/// A load of one warp: the first byte of each lane, and how many it reads from there.
struct Load {
    first: Vec<i64>,
    size: i64,
}

pub(crate) fn run(run: &mut Run<'_>) -> Result<Simulated, LabError> {
    let source = run.params.text("byte_address")?;
    let pattern = Pattern::read("byte_address", source, &OF_A_WARP)?;
    let load = Load { first: pattern.lanes("the address")?, size: run.params.int("access_bytes")? };
    let bytes = load.bytes();
    let rows = units(&bytes, SECTOR).into_iter().map(|sector| {
        let first = sector * SECTOR;
        let used = (first..first + SECTOR).map(|byte| bytes.contains(&byte));
        let lanes = load.first.iter().enumerate();
        let lanes = lanes.filter(|(_, at)| **at < first + SECTOR && **at + load.size > first);
        let lanes: Vec<usize> = lanes.map(|(lane, _)| lane).collect();
        let lanes = picture::index_ranges("lane", &lanes);
        [first.into(), Value::Array(used.map(Value::Bool).collect()), lanes.into()]
    });
    let strides = STRIDES.map(|stride| {
        let lanes = 0..load.first.len() as i64;
        let first = lanes.map(|lane| lane * stride * load.size).collect();
        let other = Load { first, size: load.size };
        let bytes = other.bytes();
        let moved = SECTOR * units(&bytes, SECTOR).len() as i64;
        let efficiency = bytes.len() as f64 / moved as f64;
        [stride.into(), efficiency.into(), (other.first == load.first).into()]
    });
    let mut values = Simulated::default();
    values.set("sectors", units(&bytes, SECTOR).len() as i64);
    values.set("cache_lines", units(&bytes, LINE).len() as i64);
    values.set("used_bytes", bytes.len() as i64);
    values.set("misaligned_lanes", load.misaligned());
    values.records("rows", ["first", "used", "lanes"], rows);
    values.list("addresses", load.first.iter().copied());
    values.records("strides", ["stride", "efficiency", "own"], strides);
    Ok(values)
}

impl Load {
    fn bytes(&self) -> BTreeSet<i64> {
        self.first.iter().flat_map(|&first| first..first + self.size).collect()
    }

    /// Lanes whose address is no multiple of the power of two in their size: a GPU stops the kernel there.
    fn misaligned(&self) -> i64 {
        let alignment = 1 << self.size.trailing_zeros();
        self.first.iter().filter(|&&first| first % alignment != 0).count() as i64
    }
}

/// The aligned units of memory that bytes lie in.
fn units(bytes: &BTreeSet<i64>, size: i64) -> BTreeSet<i64> {
    bytes.iter().map(|byte| byte / size).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sectors_equal_the_interpreters() {
        // The same rule at two places: here over sets of bytes, there over sorted addresses.
        for (stride, offset, size) in [(4, 0, 4), (4, 4, 4), (12, 3, 8), (0, 31, 16), (129, 1, 1)] {
            let load = Load { first: (0..32).map(|lane| offset + stride * lane).collect(), size };
            let mut addresses: Vec<u64> = load.first.iter().map(|&byte| byte as u64).collect();
            let counted = mlsys_kernel::traffic_of(&mut addresses, size as u64);
            let bytes = load.bytes();
            let [sectors, lines] = [SECTOR, LINE].map(|size| units(&bytes, size).len() as u64);
            assert_eq!((sectors, lines, bytes.len() as u64), counted, "{stride} {offset} {size}");
        }
    }
}
