//! Kind `coalescing`: the 32-byte sectors that one warp's load touches, and the share of them that is used.

use std::collections::BTreeSet;

use mlsys_lab::frame::{Cells, Tone};
use mlsys_lab::{Frame, LabError, Run, Value};

use crate::closed_form::Values;
use mlsys_lab::picture;
use mlsys_lab::steps::{Steps, percent};
use mlsys_sim::pattern::{OF_A_WARP, Pattern};

/// Bytes of a sector, the least that moves between memory and a multiprocessor.
const SECTOR: i64 = 32;

/// Bytes of a cache line.
const LINE: i64 = 128;

pub(crate) fn run(run: &mut Run<'_>) -> Result<Values, LabError> {
    let mut values = Values::default();
    let source = run.params.text("byte_address")?;
    let pattern = Pattern::read("byte_address", source, &OF_A_WARP)?;
    let load = Load { first: pattern.lanes("the address")?, size: run.params.int("access_bytes")? };
    let moved = load.moved();
    values.set("sectors", moved.sectors.len() as i64);
    values.set("cache_lines", moved.lines);
    values.set("used_bytes", moved.used);
    values.set("moved_bytes", moved.bytes());
    values.set("efficiency", moved.efficiency());
    picture::offer(run, "sectors", || load.sectors(&moved));
    picture::offer(run, "lanes", || load.lanes());
    picture::offer(run, "strides", || load.strides());
    picture::offer(run, "steps", || moved.steps());
    Ok(values)
}

/// A load of one warp: the first byte of each lane, and how many it reads from there.
struct Load {
    first: Vec<i64>,
    size: i64,
}

/// What a load moves.
struct Moved {
    sectors: BTreeSet<i64>,
    lines: i64,
    used: i64,
}

impl Load {
    fn bytes(&self) -> BTreeSet<i64> {
        let of = |&first: &i64| first..first + self.size;
        self.first.iter().flat_map(of).collect()
    }

    fn moved(&self) -> Moved {
        let bytes = self.bytes();
        let of = |size: i64| -> BTreeSet<i64> { bytes.iter().map(|byte| byte / size).collect() };
        Moved { sectors: of(SECTOR), lines: of(LINE).len() as i64, used: bytes.len() as i64 }
    }

    /// Each sector's bytes in a row, and the lanes that use them.
    fn sectors(&self, moved: &Moved) -> Frame {
        let bytes = self.bytes();
        let row = |sector: &i64| {
            let first = sector * SECTOR;
            let all = first..first + SECTOR;
            let used = all.clone().filter(|byte| bytes.contains(byte)).count();
            let cells = all.map(|byte| Some(usize::from(!bytes.contains(&byte))));
            let lanes = self.first.iter().enumerate();
            let lanes = lanes.filter(|(_, at)| **at < first + SECTOR && **at + self.size > first);
            let lanes: Vec<usize> = lanes.map(|(lane, _)| lane).collect();
            let remark =
                format!("{used} of {SECTOR} used, {}", picture::index_ranges("lane", &lanes));
            picture::row(format!("byte {first}"), cells, remark)
        };
        Frame::Cells(Cells {
            across: "sector at".to_owned(),
            group: 4,
            first: 0,
            kinds: picture::kinds([("used", Tone::First), ("moved for nothing", Tone::Faint)]),
            rows: moved.sectors.iter().map(row).collect(),
            note: format!(
                "The warp asks once, for {} bytes of {} lanes. Memory answers in whole sectors of {SECTOR} bytes: {} of them, {} bytes, of which {} are used.",
                self.size,
                self.first.len(),
                moved.sectors.len(),
                moved.bytes(),
                percent(moved.efficiency()),
            ),
            ..Cells::default()
        })
    }

    fn lanes(&self) -> Frame {
        let row = |(lane, first): (usize, &i64)| {
            let last = first + self.size - 1;
            let (one, other) = (first / SECTOR, last / SECTOR);
            let sectors = if one == other { one.to_string() } else { format!("{one} and {other}") };
            [Value::Int(lane as i64), Value::Int(*first), Value::Int(last), Value::from(sectors)]
        };
        let rows = self.first.iter().enumerate().map(row).collect();
        picture::table(["lane", "first byte", "last byte", "sector"], rows)
    }

    fn strides(&self) -> Frame {
        let bar = |stride: i64| {
            let other = Self {
                first: (0..self.first.len() as i64).map(|lane| lane * stride * self.size).collect(),
                size: self.size,
            };
            let remark = if other.first == self.first { "this one" } else { "" };
            let label = format!("stride {stride}");
            picture::bar(label, other.moved().efficiency(), remark)
        };
        let bars = [1, 2, 3, 4, 8, 16, 32, 1024].into_iter().map(bar).collect();
        picture::bars("used over moved", bars)
    }
}

impl Moved {
    /// moved_bytes = 32*sectors
    fn bytes(&self) -> i64 {
        SECTOR * self.sectors.len() as i64
    }

    fn efficiency(&self) -> f64 {
        self.used as f64 / self.bytes() as f64
    }

    fn steps(&self) -> Frame {
        let mut steps = Steps::default();
        let sectors = self.sectors.len() as i64;
        steps.add("sectors", "distinct floor(byte/32)", "", sectors);
        steps.add("cache_lines", "distinct floor(byte/128)", "", self.lines);
        steps.add("used_bytes", "distinct bytes that a lane reads", "", self.used);
        let numbers = format!("32*{sectors}");
        steps.add("moved_bytes", "32*sectors", numbers, self.bytes());
        let numbers = format!("{}/{}", self.used, self.bytes());
        let efficiency = self.efficiency();
        steps.add("efficiency", "used_bytes/moved_bytes", numbers, efficiency);
        steps.table()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_moves_is_what_the_kernel_machine_counts() {
        // The same rule at two places: here over sets of bytes, there over sorted addresses.
        for (stride, offset, size) in [(4, 0, 4), (4, 4, 4), (12, 3, 8), (0, 31, 16), (129, 1, 1)] {
            let load = Load { first: (0..32).map(|lane| offset + stride * lane).collect(), size };
            let mut addresses: Vec<u64> = load.first.iter().map(|&byte| byte as u64).collect();
            let counted = mlsys_kernel::traffic_of(&mut addresses, size as u64);
            let moved = load.moved();
            assert_eq!(
                (moved.sectors.len() as u64, moved.lines as u64, moved.used as u64),
                counted,
                "{stride} {offset} {size}"
            );
        }
    }
}
