//! Kind `systolic-array`: a matrix product tick by tick in a grid of multiply-add cells (Kung & Leiserson 1979).
//!
//! Every value moves one cell a tick: A to the right, and B (output-stationary) or the sums (weight-stationary) down. Row i
//! gets its values i ticks late, column j its own j ticks late, so that in each cell those meet that belong together.

use mlsys_lab::frame::{Cell, CellRow, Cells, Pane, Tone};
use mlsys_lab::picture::{self, kinds};
use mlsys_lab::{Frame, LabError, Run, random};
use serde::{Deserialize, Serialize};

use crate::closed_form::Simulated;

/// Cells along an edge up to which the grid is drawn.
const DRAWN: usize = 16;

/// Columns up to which a cell says what it adds, next to its sum.
const FEW: usize = 4;

/// Ticks that are drawn, over all tiles.
const STILLS: usize = 200;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Dataflow {
    /// A cell keeps a sum; both inputs pass through.
    OutputStationary,
    /// A cell keeps a weight; inputs and sums pass through.
    WeightStationary,
}

#[derive(Clone, Copy, Debug, Deserialize)]
struct Setup {
    dataflow: Dataflow,
    rows: usize,
    columns: usize,
    m: usize,
    k: usize,
    n: usize,
    seed: u64,
}

/// What was counted, over all tiles.
#[derive(Default, Serialize)]
struct Counted {
    tiles: i64,
    ticks: i64,
    fill_ticks: i64,
    drain_ticks: i64,
    transfer_ticks: i64,
    multiply_adds: i64,
    largest_error: i64,
}

/// A part of the product that the grid does in one go: its first row of A or of B, and its first column of B.
#[derive(Clone, Copy)]
struct Tile {
    place: usize,
    top: usize,
    left: usize,
}

/// What the grid does in a tick, counted from the first of its phase.
#[derive(Clone, Copy)]
enum Phase {
    /// Weights move in from above, those of the last row first.
    Load(usize),
    Multiply(usize),
    /// Sums move out below.
    Unload(usize),
}

struct Grid<'a> {
    setup: Setup,
    /// `[m, k]` and `[k, n]`.
    a: &'a [i64],
    b: &'a [i64],
    tile: Tile,
    /// What stands in each cell, `[rows, columns]`: a value of A, and of B or a sum on its way; none where nothing does.
    across: Vec<Option<i64>>,
    down: Vec<Option<i64>>,
    /// Sums that stay (output-stationary).
    sums: Vec<i64>,
    is_busy: Vec<bool>,
}

pub(crate) fn run(run: &mut Run<'_>) -> Result<Simulated, LabError> {
    let setup: Setup = run.params.read()?;
    let Setup { m, k, n, .. } = setup;
    // One digit, so that a cell can be read.
    let digit = |at: u64| (random::bits(setup.seed, at) % 9 + 1) as i64;
    let a: Vec<i64> = (0..m * k).map(|at| digit(at as u64)).collect();
    let b: Vec<i64> = (0..k * n).map(|at| digit((m * k + at) as u64)).collect();
    let mut product = vec![0; m * n];
    let (mut counted, mut stills) = (Counted::default(), Vec::new());
    let is_drawn = setup.rows.max(setup.columns) <= DRAWN;
    for tile in setup.tiles() {
        let stills = is_drawn.then_some(&mut stills);
        setup.multiply((&a, &b), tile, &mut product, &mut counted, stills);
    }
    let direct = |at: usize| (0..k).map(|i| a[at / n * k + i] * b[i * n + at % n]).sum::<i64>();
    counted.largest_error =
        (0..m * n).map(|at| (product[at] - direct(at)).abs()).max().unwrap_or(0);
    picture::offer(run, "grid", || match is_drawn {
        true => picture::sequence(stills),
        false => Frame::Text(format!("Grids of up to {DRAWN} x {DRAWN} cells are drawn.")),
    });
    Simulated::fields(&counted)
}

impl Setup {
    fn tiles(self) -> impl Iterator<Item = Tile> {
        let height = match self.dataflow {
            Dataflow::OutputStationary => self.m,
            Dataflow::WeightStationary => self.k,
        };
        let starts = (0..height)
            .step_by(self.rows)
            .flat_map(move |top| (0..self.n).step_by(self.columns).map(move |left| (top, left)));
        starts.enumerate().map(|(place, (top, left))| Tile { place, top, left })
    }

    /// How many values pass through each cell.
    fn stream(self) -> usize {
        match self.dataflow {
            Dataflow::OutputStationary => self.k,
            Dataflow::WeightStationary => self.m,
        }
    }

    fn multiply(
        self,
        (a, b): (&[i64], &[i64]),
        tile: Tile,
        product: &mut [i64],
        counted: &mut Counted,
        mut stills: Option<&mut Vec<Pane>>,
    ) {
        let cells = self.rows * self.columns;
        let mut grid = Grid {
            setup: self,
            a,
            b,
            tile,
            across: vec![None; cells],
            down: vec![None; cells],
            sums: vec![0; cells],
            is_busy: vec![false; cells],
        };
        let mut show = |grid: &Grid<'_>, phase: Phase, at: i64| {
            if let Some(stills) = stills.as_mut().filter(|stills| stills.len() < STILLS) {
                stills.push(picture::pane(grid.title(phase, at + 1), grid.draw(phase)));
            }
        };
        // Weights go in before the stream, sums out after it, a row a tick.
        if self.dataflow == Dataflow::WeightStationary {
            for tick in 0..self.rows {
                show(&grid, Phase::Load(tick), counted.ticks);
                counted.ticks += 1;
            }
        }
        let mut seen_full = false;
        let mut partly_since = 0;
        for tick in 0.. {
            grid.step(tick, product);
            let busy = grid.is_busy.iter().filter(|busy| **busy).count();
            // Below a short tile of weights the sums have rows to go in which nothing is added.
            let is_passing = self.dataflow == Dataflow::WeightStationary
                && grid.down.iter().any(Option::is_some);
            if busy == 0 && !is_passing {
                break;
            }
            show(&grid, Phase::Multiply(tick), counted.ticks);
            counted.ticks += 1;
            counted.multiply_adds += busy as i64;
            if busy == cells {
                (seen_full, partly_since) = (true, 0);
            } else if seen_full {
                partly_since += 1;
            } else {
                counted.fill_ticks += 1;
            }
        }
        counted.drain_ticks += partly_since;
        counted.tiles += 1;
        counted.transfer_ticks += self.rows as i64;
        if self.dataflow == Dataflow::OutputStationary {
            for tick in 0..self.rows {
                show(&grid, Phase::Unload(tick), counted.ticks);
                counted.ticks += 1;
            }
            grid.unload(product);
        }
    }
}

impl Grid<'_> {
    fn step(&mut self, tick: usize, product: &mut [i64]) {
        let Setup { dataflow, rows, columns, .. } = self.setup;
        // From the far corner back, so that each cell still finds what its neighbours held a tick ago.
        for i in (0..rows).rev() {
            for j in (0..columns).rev() {
                let at = i * columns + j;
                let a = if j == 0 { self.left(i, tick) } else { self.across[at - 1] };
                let above = if i == 0 { self.top(j, tick) } else { self.down[at - columns] };
                self.across[at] = a;
                match dataflow {
                    Dataflow::OutputStationary => {
                        self.down[at] = above;
                        self.is_busy[at] = a.is_some() && above.is_some();
                        self.sums[at] += a.unwrap_or(0) * above.unwrap_or(0);
                    }
                    Dataflow::WeightStationary => {
                        let weight = self.weight(i, j);
                        self.is_busy[at] = a.is_some() && weight.is_some();
                        let added = a.zip(weight).map_or(0, |(a, weight)| a * weight);
                        self.down[at] = above.map(|sum| sum + added);
                        if let (true, Some(sum)) = (i + 1 == rows, self.down[at]) {
                            // Row `tick - i - j` of A has passed all cells of this column.
                            product[(tick - i - j) * self.setup.n + self.tile.left + j] += sum;
                        }
                    }
                }
            }
        }
    }

    /// The value of A that enters a row.
    fn left(&self, i: usize, tick: usize) -> Option<i64> {
        let Setup { dataflow, m, k, .. } = self.setup;
        let (place, late) = (self.tile.top + i, tick.checked_sub(i)?);
        let (row, column) = match dataflow {
            Dataflow::OutputStationary => (place, late),
            Dataflow::WeightStationary => (late, place),
        };
        (row < m && column < k).then(|| self.a[row * k + column])
    }

    /// What enters a column from above: a value of B, or a sum that begins at 0.
    fn top(&self, j: usize, tick: usize) -> Option<i64> {
        let Setup { dataflow, m, k, n, .. } = self.setup;
        let (column, late) = (self.tile.left + j, tick.checked_sub(j)?);
        match dataflow {
            Dataflow::OutputStationary => {
                (late < k && column < n).then(|| self.b[late * n + column])
            }
            Dataflow::WeightStationary => (late < m && column < n).then_some(0),
        }
    }

    fn weight(&self, i: usize, j: usize) -> Option<i64> {
        let (row, column) = (self.tile.top + i, self.tile.left + j);
        let Setup { k, n, .. } = self.setup;
        (row < k && column < n).then(|| self.b[row * n + column])
    }

    /// The sum of a cell, if the product has it.
    fn sum(&self, i: usize, j: usize) -> Option<i64> {
        let Setup { columns, m, n, .. } = self.setup;
        let is_used = self.tile.top + i < m && self.tile.left + j < n;
        is_used.then(|| self.sums[i * columns + j])
    }

    fn unload(&self, product: &mut [i64]) {
        let (columns, n) = (self.setup.columns, self.setup.n);
        for at in 0..self.sums.len() {
            let (i, j) = (at / columns, at % columns);
            if let Some(sum) = self.sum(i, j) {
                product[(self.tile.top + i) * n + self.tile.left + j] = sum;
            }
        }
    }

    fn title(&self, phase: Phase, tick: i64) -> String {
        let part = match self.setup.tiles().count() {
            1 => String::new(),
            tiles => format!(", part {} of {tiles}", self.tile.place + 1),
        };
        let cells = self.is_busy.len();
        let done = match phase {
            Phase::Load(_) => "weights move in".to_owned(),
            Phase::Unload(_) => "sums move out".to_owned(),
            Phase::Multiply(_) => match self.is_busy.iter().filter(|busy| **busy).count() {
                1 => format!("1 of {cells} cells multiplies"),
                busy => format!("{busy} of {cells} cells multiply"),
            },
        };
        format!("tick {tick}{part}: {done}")
    }

    fn cell(&self, i: usize, j: usize, phase: Phase) -> Cell {
        let Setup { dataflow, rows, columns, .. } = self.setup;
        let at = i * columns + j;
        let number = |value: Option<i64>| value.map(|value| value.to_string());
        let tick = match phase {
            Phase::Load(tick) => {
                let weight = (i + rows - 1).checked_sub(tick).filter(|row| *row < rows);
                let text = number(weight.and_then(|row| self.weight(row, j)));
                return moving(text.map(|weight| format!("*{weight}")));
            }
            Phase::Unload(tick) => {
                return moving(number(i.checked_sub(tick + 1).and_then(|row| self.sum(row, j))));
            }
            Phase::Multiply(tick) => tick,
        };
        let is_late = tick >= i + j + self.setup.stream();
        let kind = match (self.is_busy[at], is_late) {
            (true, _) => 0,
            (false, true) => 1,
            (false, false) => 2,
        };
        let (factor, sum) = match dataflow {
            Dataflow::OutputStationary => (self.down[at], Some(self.sums[at])),
            Dataflow::WeightStationary => (self.weight(i, j), self.down[at]),
        };
        let text = match (self.is_busy[at], self.across[at].zip(factor), sum) {
            (true, Some((a, b)), Some(sum)) if columns <= FEW => format!("+{a}*{b}={sum}"),
            (true, _, sum) => number(sum).unwrap_or_default(),
            (false, ..) => match dataflow {
                Dataflow::OutputStationary if is_late => number(sum).unwrap_or_default(),
                Dataflow::OutputStationary => String::new(),
                Dataflow::WeightStationary => {
                    number(factor).map_or_else(String::new, |weight| format!("*{weight}"))
                }
            },
        };
        Cell { kind, text }
    }

    fn note(&self, phase: Phase) -> String {
        let Setup { dataflow, rows, columns, .. } = self.setup;
        let row = |value: &dyn Fn(usize) -> Option<i64>| {
            (0..columns).map(|j| entering(value(j))).collect::<Vec<_>>().join(" ")
        };
        let last = (rows - 1) * columns;
        match phase {
            Phase::Load(tick) => {
                let above = row(&|j| self.weight(rows - 1 - tick, j));
                format!("Weights of B enter from above, the last row first: {above}.")
            }
            Phase::Unload(tick) => {
                let below = row(&|j| self.sum(rows - 1 - tick, j));
                format!("Sums leave below, the last row first: {below}.")
            }
            Phase::Multiply(tick) => match dataflow {
                Dataflow::OutputStationary => {
                    let above = row(&|j| self.top(j, tick));
                    format!("A cell keeps its sum. A enters from the left, B from above: {above}.")
                }
                Dataflow::WeightStationary => {
                    let below = row(&|j| self.down[last + j]);
                    let kept = "A cell keeps its weight of B (*)";
                    format!("{kept}; A enters from the left, sums leave below: {below}.")
                }
            },
        }
    }

    fn draw(&self, phase: Phase) -> Frame {
        let Setup { dataflow, rows, columns, .. } = self.setup;
        let row = |i: usize| CellRow {
            label: match phase {
                Phase::Multiply(tick) => format!("{} in", entering(self.left(i, tick))),
                // As wide as while values enter, so that the cells stand still.
                Phase::Load(_) | Phase::Unload(_) => "- in".to_owned(),
            },
            cells: (0..columns).map(|j| Some(self.cell(i, j, phase))).collect(),
            ..CellRow::default()
        };
        let moves = match dataflow {
            Dataflow::OutputStationary => "moves out",
            Dataflow::WeightStationary => "moves in",
        };
        Frame::Cells(Cells {
            across: "column".to_owned(),
            kinds: kinds([
                ("multiplies", Tone::First),
                ("is done", Tone::Second),
                ("waits", Tone::Empty),
                (moves, Tone::Third),
            ]),
            rows: (0..rows).map(row).collect(),
            note: self.note(phase),
            ..Cells::default()
        })
    }
}

/// A weight or a sum that moves, or a cell that none is in.
fn moving(text: Option<String>) -> Cell {
    match text {
        Some(text) => Cell { kind: 3, text },
        None => Cell::new(2),
    }
}

fn entering(value: Option<i64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| value.to_string())
}
