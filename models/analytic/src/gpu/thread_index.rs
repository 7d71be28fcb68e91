//! Kind `thread-index`: from block and thread coordinates to thread number, warp, lane and place in the data.

use mlsys_lab::frame::{Cells, Tone};
use mlsys_lab::params::Params;
use mlsys_lab::report::Report;
use mlsys_lab::{Frame, LabError, Run, Value};

use crate::closed_form::Values;
use mlsys_lab::picture;
use mlsys_lab::steps::Steps;
use mlsys_sim::integer::too_large;

const WARP: i64 = 32;
const MAX_THREADS_PER_BLOCK: i64 = 1024;

/// Threads drawn across and down.
const DRAWN: (i64, i64) = (64, 32);

pub(crate) fn run(run: &mut Run<'_>) -> Result<Values, LabError> {
    let mut values = Values::default();
    let thread = Thread::read(&run.params)?;
    let thread_id = thread.id();
    let global = thread.global()?;
    values.set("thread_id", thread_id);
    // warp = thread_id div 32; lane = thread_id mod 32
    values.set("warp", thread_id / WARP);
    values.set("lane", thread_id % WARP);
    for (metric, coordinate) in ["global_x", "global_y", "global_z"].into_iter().zip(global) {
        values.set(metric, coordinate);
    }
    let mut linear = None;
    if let Some(width) = run.params.optional_int("width") {
        // linear_index = global_y*width + global_x
        let [x, y, _] = global;
        let index = y
            .checked_mul(width)
            .and_then(|row| row.checked_add(x))
            .ok_or_else(|| too_large(["block_index", "width"], "linear_index"))?;
        values.set("linear_index", index);
        linear = Some((width, index));
        if x >= width {
            run.sink.report(Report::Notice(format!(
                "global_x = {x} is past the row of {width}: the index falls into a later row, which is why kernels ask if (x < width)"
            )));
        }
    }
    picture::offer(run, "block", || thread.block());
    picture::offer(run, "coordinates", || thread.coordinates(global));
    picture::offer(run, "steps", || thread.steps(global, linear));
    Ok(values)
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
        let threads =
            thread.block_dim.into_iter().try_fold(1_i64, |threads, size| threads.checked_mul(size));
        if threads.is_none_or(|threads| threads > MAX_THREADS_PER_BLOCK) {
            let [x, y, z] = thread.block_dim;
            return Err(LabError::contradiction(
                ["block_dim"],
                format!(
                    "{x} x {y} x {z} is more than the {MAX_THREADS_PER_BLOCK} threads a block may have"
                ),
            ));
        }
        for (axis, (index, size)) in
            AXES.into_iter().zip(thread.thread_index.into_iter().zip(thread.block_dim))
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

    /// The z-slice of the block that holds the thread, x to the right, y down: its warp and the others in turn.
    fn block(&self) -> Frame {
        let [dx, dy, _] = self.block_dim;
        let [x, y, z] = self.thread_index;
        let own = self.id() / WARP;
        let kind = |at: [i64; 3]| {
            let [x, y, z] = at;
            let warp = (x + y * dx + z * dx * dy) / WARP;
            match warp {
                _ if at == self.thread_index => 0,
                warp if warp == own => 1,
                warp if (warp - own) % 2 == 0 => 3,
                _ => 2,
            }
        };
        // Of a large block what lies around the thread.
        let part = |at: i64, size: i64, drawn: i64| {
            let first = (at - drawn / 2).clamp(0, (size - drawn).max(0));
            first..(first + drawn).min(size)
        };
        let (columns, rows) = (part(x, dx, DRAWN.0), part(y, dy, DRAWN.1));
        let first = columns.start as usize;
        let row = |y: i64| {
            let cells = columns.clone().map(|x| Some(kind([x, y, z])));
            let (from, to) = (y * dx + z * dx * dy, (y + 1) * dx - 1 + z * dx * dy);
            let remark = match (from / WARP, to / WARP) {
                (one, other) if one == other => format!("warp {one}"),
                (one, other) => format!("warps {one} to {other}"),
            };
            picture::row(format!("y {y}"), cells, remark)
        };
        let (id, lane) = (self.id(), self.id() % WARP);
        Frame::Cells(Cells {
            across: "x".to_owned(),
            group: 8,
            first,
            kinds: picture::kinds([
                ("this thread", Tone::Bad),
                ("its warp", Tone::First),
                ("other warps", Tone::Second),
                ("in turn", Tone::Faint),
            ]),
            rows: rows.map(row).collect(),
            note: format!(
                "x counts fastest: thread ({x}, {y}, {z}) is number {x} + {y}*{dx} + {z}*{dx}*{dy} = {id}, so lane {lane} of warp {own}."
            ),
            ..Cells::default()
        })
    }

    fn steps(&self, global: [i64; 3], linear: Option<(i64, i64)>) -> Frame {
        let mut steps = Steps::default();
        let ([dx, dy, _], [x, y, z]) = (self.block_dim, self.thread_index);
        let id = self.id();
        let numbers = format!("{x} + {y}*{dx} + {z}*{dx}*{dy}");
        steps.add("thread_id", "x + y*Dx + z*Dx*Dy", numbers, id);
        steps.add("warp", "thread_id div 32", format!("{id} div 32"), id / WARP);
        steps.add("lane", "thread_id mod 32", format!("{id} mod 32"), id % WARP);
        for (axis, name) in AXES.into_iter().enumerate() {
            steps.add(
                &format!("global_{name}"),
                &format!("block_dim.{name}*block_index.{name} + thread_index.{name}"),
                format!(
                    "{}*{} + {}",
                    self.block_dim[axis], self.block_index[axis], self.thread_index[axis]
                ),
                global[axis],
            );
        }
        if let Some((width, index)) = linear {
            let [x, y, _] = global;
            let numbers = format!("{y}*{width} + {x}");
            steps.add("linear_index", "global_y*width + global_x", numbers, index);
        }
        steps.table()
    }

    fn coordinates(&self, global: [i64; 3]) -> Frame {
        let by_axis = self.block_dim.into_iter().zip(self.block_index);
        let rows = AXES
            .into_iter()
            .zip(by_axis)
            .zip(self.thread_index.into_iter().zip(global))
            .map(|((axis, (size, block)), (thread, global))| {
                [axis.into(), size.into(), block.into(), thread.into(), global.into()]
            })
            .collect();
        picture::table(["axis", "block_dim", "block_index", "thread_index", "global"], rows)
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
                        let thread =
                            Thread { block_dim, block_index: [2, 3, 5], thread_index: [x, y, z] };
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
        let thread = Thread { block_dim: [8, 4, 4], block_index: [0; 3], thread_index: [3, 2, 1] };
        let Frame::Cells(cells) = thread.block() else {
            panic!("the block is drawn as cells");
        };
        let kind = |row, column| cells.at(row, column).map(|cell| cell.kind);
        assert_eq!(kind(2, 3), Some(0));
        let of = |kind: usize| {
            let all = cells.rows.iter().flat_map(|row| row.cells.iter().flatten());
            all.filter(|cell| cell.kind == kind).count()
        };
        // The slice holds one warp of 32 threads.
        assert_eq!((of(0), of(1), of(2), of(3)), (1, 31, 0, 0));
    }

    #[test]
    fn of_a_large_block_the_part_around_the_thread_is_drawn() {
        let thread =
            Thread { block_dim: [1024, 1, 1], block_index: [0; 3], thread_index: [1000, 0, 0] };
        let Frame::Cells(cells) = thread.block() else {
            panic!("the block is drawn as cells");
        };
        assert_eq!((cells.first, cells.columns()), (960, 64));
        assert_eq!(cells.at(0, 40).map(|cell| cell.kind), Some(0));
    }
}
