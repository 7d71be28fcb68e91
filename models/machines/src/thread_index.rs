//! Kind `thread-index`: from block and thread coordinates to thread number, warp, lane and place in the data.

use mlsys_lab::frame::{HeatMap, Point};
use mlsys_lab::params::Params;
use mlsys_lab::report::Report;
use mlsys_lab::schema::{Schema, SchemaError};
use mlsys_lab::{Frame, Lab, LabError, Run, Value};

use crate::integer::too_large;
use crate::picture;

const WARP: i64 = 32;
const MAX_THREADS_PER_BLOCK: i64 = 1024;

/// The lab `thread-index`.
pub struct ThreadIndex {
    schema: Schema,
}

impl ThreadIndex {
    /// The lab with its schema read.
    ///
    /// # Errors
    /// The schema does not read.
    pub fn new() -> Result<Self, SchemaError> {
        let schema = Schema::parse(include_str!("thread_index.toml"))?;
        Ok(Self { schema })
    }
}

impl Lab for ThreadIndex {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn run(&self, run: &mut Run<'_>) -> Result<(), LabError> {
        let thread = Thread::read(&run.params)?;
        let thread_id = thread.id();
        let global = thread.global()?;
        run.scalar("thread_id", thread_id);
        // warp = thread_id div 32; lane = thread_id mod 32
        run.scalar("warp", thread_id / WARP);
        run.scalar("lane", thread_id % WARP);
        for (metric, coordinate) in ["global_x", "global_y", "global_z"].into_iter().zip(global) {
            run.scalar(metric, coordinate);
        }
        if let Some(width) = run.params.optional_int("width") {
            // linear_index = global_y*width + global_x
            let [x, y, _] = global;
            let index = y
                .checked_mul(width)
                .and_then(|row| row.checked_add(x))
                .ok_or_else(|| too_large(["block_index", "width"], "linear_index"))?;
            run.scalar("linear_index", index);
            if x >= width {
                run.sink.report(Report::Notice(format!(
                    "global_x = {x} is past the row of {width}: the index falls into a later row, which is why kernels ask if (x < width)"
                )));
            }
        }
        picture::offer(run, "block", || thread.block());
        picture::offer(run, "coordinates", || thread.coordinates(global));
        Ok(())
    }
}

/// One thread of one block of a grid, by axis x, y, z.
struct Thread {
    block_dim: [i64; 3],
    block_index: [i64; 3],
    thread_index: [i64; 3],
}

impl Thread {
    fn read(params: &Params) -> Result<Self, LabError> {
        let thread = Self {
            block_dim: axes(params, "block_dim", Missing::One)?,
            block_index: axes(params, "block_index", Missing::Zero)?,
            thread_index: axes(params, "thread_index", Missing::Zero)?,
        };
        let threads = thread
            .block_dim
            .into_iter()
            .try_fold(1_i64, |threads, size| threads.checked_mul(size));
        if threads.is_none_or(|threads| threads > MAX_THREADS_PER_BLOCK) {
            let [x, y, z] = thread.block_dim;
            return Err(LabError::contradiction(
                ["block_dim"],
                format!(
                    "{x} x {y} x {z} is more than the {MAX_THREADS_PER_BLOCK} threads a block may have"
                ),
            ));
        }
        for (axis, (index, size)) in AXES
            .into_iter()
            .zip(thread.thread_index.into_iter().zip(thread.block_dim))
        {
            if index >= size {
                return Err(LabError::contradiction(
                    ["thread_index", "block_dim"],
                    format!(
                        "thread_index {index} in {axis} is not below block_dim {size}; threads count from 0 to {}",
                        size - 1
                    ),
                ));
            }
        }
        Ok(thread)
    }

    /// thread_id = x + y*Dx + z*Dx*Dy
    fn id(&self) -> i64 {
        let [dx, dy, _] = self.block_dim;
        let [x, y, z] = self.thread_index;
        x + y * dx + z * dx * dy
    }

    /// global_i = block_dim_i*block_index_i + thread_index_i
    fn global(&self) -> Result<[i64; 3], LabError> {
        let mut global = self.thread_index;
        for ((at, size), block) in global.iter_mut().zip(self.block_dim).zip(self.block_index) {
            *at = size
                .checked_mul(block)
                .and_then(|first| first.checked_add(*at))
                .ok_or_else(|| too_large(["block_index", "block_dim"], "the global coordinate"))?;
        }
        Ok(global)
    }

    /// The z-slice of the block that holds the thread: the warp of each of its threads, x to the right, y down.
    fn block(&self) -> Frame {
        let [dx, dy, dz] = self.block_dim;
        let [x, y, z] = self.thread_index;
        let first = z * dx * dy;
        let warp = |thread: i64| (thread / WARP) as f32;
        Frame::HeatMap(HeatMap {
            columns: dx as usize,
            rows: dy as usize,
            cells: (first..first + dx * dy).map(warp).collect(),
            low: 0.0,
            high: warp(dx * dy * dz - 1),
            x: (0.0, dx as f32),
            y: (dy as f32, 0.0),
            column_labels: Vec::new(),
            row_labels: Vec::new(),
            // The middle of its cell.
            points: vec![Point {
                x: x as f32 + 0.5,
                y: y as f32 + 0.5,
                class: 0,
            }],
            legend: format!("warp of each thread (x right, y down, z = {z})"),
        })
    }

    fn coordinates(&self, global: [i64; 3]) -> Frame {
        let by_axis = self.block_dim.into_iter().zip(self.block_index);
        let rows = AXES
            .into_iter()
            .zip(by_axis)
            .zip(self.thread_index.into_iter().zip(global))
            .map(|((axis, (size, block)), (thread, global))| {
                [
                    axis.into(),
                    size.into(),
                    block.into(),
                    thread.into(),
                    global.into(),
                ]
            })
            .collect();
        picture::table(
            ["axis", "block_dim", "block_index", "thread_index", "global"],
            rows,
        )
    }
}

const AXES: [&str; 3] = ["x", "y", "z"];

/// What an axis that is not given counts as, which is also the least it may be.
#[derive(Clone, Copy)]
enum Missing {
    Zero,
    One,
}

/// Reads 1 to 3 whole numbers by axis.
fn axes(params: &Params, name: &str, missing: Missing) -> Result<[i64; 3], LabError> {
    let least = match missing {
        Missing::Zero => 0,
        Missing::One => 1,
    };
    let given = params.get(name);
    let wrong = || {
        let found = given.map_or_else(|| "nothing".to_owned(), Value::to_string);
        LabError::contradiction(
            [name],
            format!(
                "expected 1 to 3 whole numbers of at least {least}, such as [4, 2], found {found}"
            ),
        )
    };
    let Some(Value::Array(items)) = given else {
        return Err(wrong());
    };
    if items.is_empty() || items.len() > 3 {
        return Err(wrong());
    }
    let mut axes = [least; 3];
    for (axis, item) in axes.iter_mut().zip(items) {
        *axis = whole(item).filter(|&i| i >= least).ok_or_else(wrong)?;
    }
    Ok(axes)
}

/// A whole number, also one written as a float.
fn whole(value: &Value) -> Option<i64> {
    match value {
        Value::Int(i) => Some(*i),
        Value::Float(x) if x.fract() == 0.0 && x.abs() < 9.2e18 => Some(*x as i64),
        Value::Float(_) | Value::Bool(_) | Value::Text(_) | Value::Array(_) | Value::Table(_) => {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_thread_of_a_block_has_its_own_number_warp_and_cell() -> Result<(), LabError> {
        for block_dim in [[8, 4, 4], [1, 1, 1], [1024, 1, 1], [3, 5, 7], [1, 33, 2]] {
            let [dx, dy, dz] = block_dim;
            let mut next = 0;
            for z in 0..dz {
                for y in 0..dy {
                    for x in 0..dx {
                        let thread = Thread {
                            block_dim,
                            block_index: [2, 3, 5],
                            thread_index: [x, y, z],
                        };
                        let id = thread.id();
                        // x runs fastest: the numbers count up without a gap, and divide back into coordinates.
                        assert_eq!(id, next);
                        assert_eq!([id % dx, id / dx % dy, id / (dx * dy)], [x, y, z]);
                        assert_eq!(thread.global()?, [2 * dx + x, 3 * dy + y, 5 * dz + z]);
                        next += 1;
                    }
                }
            }
        }
        Ok(())
    }

    #[test]
    fn the_point_lies_on_a_cell_of_its_own_warp() {
        let thread = Thread {
            block_dim: [8, 4, 4],
            block_index: [0; 3],
            thread_index: [3, 2, 1],
        };
        let Frame::HeatMap(map) = thread.block() else {
            panic!("the block is drawn as a heat map");
        };
        let cell = map.points[0].y as usize * map.columns + map.points[0].x as usize;
        assert_eq!(map.cells[cell], (thread.id() / WARP) as f32);
        assert_eq!((map.low, map.high), (0.0, 3.0));
        assert_eq!(map.cells.len(), 32);
    }
}
