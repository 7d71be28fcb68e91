//! Kind `window-sum`: a stencil that stages its input in shared memory: what it loads, and which slots it sums without a load.

use mlsys_lab::frame::{Cells, Tone};
use mlsys_lab::{Frame, LabError, Params, Run, Value};

use crate::closed_form::Values;
use mlsys_lab::picture;
use mlsys_lab::steps::Steps;
use mlsys_sim::integer::{div_up, too_large};

/// Blocks whose shared memory is drawn, and slots of each.
const DRAWN: (i64, i64) = (16, 64);

pub(crate) fn run(run: &mut Run<'_>) -> Result<Values, LabError> {
    let mut values = Values::default();
    let stencil = Stencil::read(&run.params)?;
    let naive = stencil.naive_loads()?;
    let shared = stencil.shared_loads();
    let bytes = stencil.shared_bytes()?;
    let bad = stencil.bad_outputs();
    values.set("naive_loads", naive);
    values.set("shared_loads", shared);
    // A block's first thread always loads, so that shared_loads is at least 1.
    values.set("reuse", naive as f64 / shared as f64);
    values.set("shared_bytes_per_block", bytes);
    values.set("bad_output_count", bad.len() as i64);
    let listed = bad.iter().copied().map(Value::Int).collect();
    values.set("bad_outputs", Value::Array(listed));
    picture::offer(run, "slots", || stencil.slots());
    picture::offer(run, "radii", || stencil.radii());
    picture::offer(run, "blocks", || stencil.block_sizes());
    picture::offer(run, "steps", || stencil.steps(naive, bytes, bad.len()));
    Ok(values)
}

/// Which bound the kernel's loads are guarded by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Guard {
    /// The input's end: `index < n + 2*radius`.
    Padded,
    /// The output's end, as on the slide: `index < n`.
    Elements,
}

/// The kernel and what it is launched on.
#[derive(Clone, Copy, Debug)]
struct Stencil {
    elements: i64,
    threads: i64,
    radius: i64,
    guard: Guard,
    /// Elements of the input: n + 2*radius.
    padded: i64,
}

impl Stencil {
    fn read(params: &Params) -> Result<Self, LabError> {
        let elements = params.int("elements")?;
        let radius = params.int("radius")?;
        let padded = radius
            .checked_mul(2)
            .and_then(|halo| halo.checked_add(elements))
            .ok_or_else(|| too_large(["elements", "radius"], "the input"))?;
        Ok(Self {
            elements,
            radius,
            padded,
            threads: params.int("threads_per_block")?,
            guard: if params.text("load_guard")? == "elements" {
                Guard::Elements
            } else {
                Guard::Padded
            },
        })
    }

    fn limit(&self) -> i64 {
        match self.guard {
            Guard::Padded => self.padded,
            Guard::Elements => self.elements,
        }
    }

    fn blocks(&self) -> i64 {
        div_up(self.elements, self.threads)
    }

    /// Slots of the block's array that are written. They are the first ones: thread t loads slot t, and, if
    /// t < 2*radius, slot T + t; both only below the guard's limit.
    fn written(&self, block: i64) -> i64 {
        let second = self.threads.min(2 * self.radius);
        let below = self.limit() - block * self.threads;
        (self.threads + second).min(below)
    }

    /// naive_loads = elements*(2*radius + 1)
    fn naive_loads(&self) -> Result<i64, LabError> {
        (2 * self.radius)
            .checked_add(1)
            .and_then(|window| window.checked_mul(self.elements))
            .ok_or_else(|| too_large(["elements", "radius"], "naive_loads"))
    }

    fn shared_loads(&self) -> i64 {
        (0..self.blocks()).map(|block| self.written(block)).sum()
    }

    /// shared_bytes_per_block = 4*(T + 2*radius)
    fn shared_bytes(&self) -> Result<i64, LabError> {
        (2 * self.radius)
            .checked_add(self.threads)
            .and_then(|slots| slots.checked_mul(4))
            .ok_or_else(|| too_large(["radius", "threads_per_block"], "shared_bytes_per_block"))
    }

    /// Outputs that read an unwritten slot: output base + t reads the slots t .. t + 2*radius.
    fn bad_outputs(&self) -> Vec<i64> {
        let bad_of = |block: i64| {
            let base = block * self.threads;
            let threads = self.threads.min(self.elements - base);
            let good = (self.written(block) - 2 * self.radius).clamp(0, threads);
            (base + good)..(base + threads)
        };
        (0..self.blocks()).flat_map(bad_of).collect()
    }

    /// The slots of the last blocks: which thread writes them, and which are read unwritten.
    fn slots(&self) -> Frame {
        let blocks = self.blocks();
        let first = (blocks - DRAWN.0).max(0);
        let columns = self.threads.saturating_add(2 * self.radius).min(DRAWN.1);
        let row = |block: i64| {
            let base = block * self.threads;
            let reads = self.threads.min(self.elements - base) + 2 * self.radius;
            let written = self.written(block);
            let kind = |slot: i64| match slot {
                slot if slot < written && slot < self.threads => 0,
                slot if slot < written => 1,
                slot if slot < reads => 2,
                _ => 3,
            };
            let bad = (reads - written).clamp(0, self.threads.min(self.elements - base));
            let remark = match bad {
                0 => format!("{written} loads"),
                bad => format!("{written} loads, {bad} outputs wrong"),
            };
            let cells = (0..columns).map(|slot| Some(kind(slot)));
            picture::row(format!("block {block}"), cells, remark)
        };
        let (r, t) = (self.radius, self.threads);
        let cut = match t.saturating_add(2 * r) - columns {
            0 => String::new(),
            more => format!(" The last {more} slots are not drawn."),
        };
        Frame::Cells(Cells {
            across: "slot".to_owned(),
            group: if t < columns { t as usize } else { 0 },
            first: 0,
            kinds: picture::kinds([
                ("loaded by its own thread", Tone::First),
                ("halo, loaded by the first threads again", Tone::Second),
                ("read, but nobody wrote it", Tone::Bad),
                ("not used", Tone::Faint),
            ]),
            rows: (first..blocks).map(row).collect(),
            note: format!(
                "A block stages {t} inputs and a halo of {}: thread t then sums slots t to t + {}.{cut}",
                2 * r,
                2 * r
            ),
            ..Cells::default()
        })
    }

    fn reuse(&self) -> Option<f64> {
        Some(self.naive_loads().ok()? as f64 / self.shared_loads() as f64)
    }

    fn radii(&self) -> Frame {
        let mut radii = vec![0, 1, 2, 4, 8, 16, 32];
        if !radii.contains(&self.radius) {
            radii.push(self.radius);
            radii.sort_unstable();
        }
        let bar = |radius: i64| {
            let other = Self {
                radius,
                padded: self.elements.checked_add(radius.checked_mul(2)?)?,
                ..*self
            };
            let remark = if radius == self.radius { "this one" } else { "" };
            Some(picture::bar(format!("radius {radius}"), other.reuse()?, remark))
        };
        picture::bars("naive loads a load", radii.into_iter().filter_map(bar).collect())
    }

    fn block_sizes(&self) -> Frame {
        let mut sizes = vec![4, 32, 64, 128, 256, 512, 1024];
        if !sizes.contains(&self.threads) {
            sizes.push(self.threads);
            sizes.sort_unstable();
        }
        let bar = |threads: i64| {
            let other = Self { threads, ..*self };
            let remark = if threads == self.threads { "this one" } else { "" };
            Some(picture::bar(format!("{threads} threads"), other.reuse()?, remark))
        };
        picture::bars("naive loads a load", sizes.into_iter().filter_map(bar).collect())
    }

    fn steps(&self, naive: i64, bytes: i64, bad: usize) -> Frame {
        let mut steps = Steps::default();
        let (n, t, r) = (self.elements, self.threads, self.radius);
        let formula = "elements*(2*radius + 1)";
        steps.add("naive_loads", formula, format!("{n}*(2*{r} + 1)"), naive);
        match self.guard {
            Guard::Padded => {
                let numbers = format!("{n} + 2*{r}");
                steps.add("limit", "elements + 2*radius", numbers, self.limit());
            }
            Guard::Elements => steps.add("limit", "elements", n.to_string(), self.limit()),
        }
        let blocks = self.blocks();
        let numbers = format!("div_up({n}, {t})");
        steps.add("blocks", "div_up(elements, T)", numbers, blocks);
        let last = blocks - 1;
        steps.add(
            "loads of the last block",
            "min(T + min(T, 2*radius), limit - base)",
            format!("min({t} + min({t}, 2*{r}), {} - {})", self.limit(), last * t),
            self.written(last),
        );
        let shared = self.shared_loads();
        steps.add("shared_loads", "the loads of all blocks", "", shared);
        let reuse = naive as f64 / shared as f64;
        let numbers = format!("{naive}/{shared}");
        steps.add("reuse", "naive_loads/shared_loads", numbers, reuse);
        let numbers = format!("4*({t} + 2*{r})");
        steps.add("shared_bytes_per_block", "4*(T + 2*radius)", numbers, bytes);
        steps.add(
            "bad_output_count",
            "outputs of which a slot t .. t + 2*radius is unwritten",
            "",
            bad as i64,
        );
        steps.table()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kernel thread by thread, as the formula words it.
    fn simulated(stencil: &Stencil) -> (i64, Vec<i64>) {
        let (mut loads, mut bad) = (0, Vec::new());
        for block in 0..stencil.blocks() {
            let base = block * stencil.threads;
            let slots = (stencil.threads + 2 * stencil.radius) as usize;
            let mut written = vec![false; slots];
            for t in 0..stencil.threads {
                if base + t < stencil.limit() {
                    written[t as usize] = true;
                    loads += 1;
                }
                if t < 2 * stencil.radius && base + stencil.threads + t < stencil.limit() {
                    written[(stencil.threads + t) as usize] = true;
                    loads += 1;
                }
            }
            for t in (0..stencil.threads).filter(|t| base + t < stencil.elements) {
                let window = t as usize..=(t + 2 * stencil.radius) as usize;
                if window.into_iter().any(|slot| !written[slot]) {
                    bad.push(base + t);
                }
            }
        }
        (loads, bad)
    }

    #[test]
    fn the_closed_form_is_the_kernel_thread_by_thread() {
        for elements in [1, 2, 7, 8, 31, 64, 65] {
            for threads in [1, 3, 4, 8, 32, 100] {
                for radius in [0, 1, 2, 3, 5, 40] {
                    for guard in [Guard::Padded, Guard::Elements] {
                        let stencil = Stencil {
                            elements,
                            threads,
                            radius,
                            guard,
                            padded: elements + 2 * radius,
                        };
                        let (loads, bad) = simulated(&stencil);
                        assert_eq!(stencil.shared_loads(), loads, "{stencil:?}");
                        assert_eq!(stencil.bad_outputs(), bad, "{stencil:?}");
                    }
                }
            }
        }
    }
}
