//! The 32 lanes of the selected warp, and what the selected thread holds, reads and writes.

use mlsys_kernel::LANES;
use mlsys_lab::Value;
use mlsys_lab::frame::Table;
use mlsys_lab::value::number;
use ratatui::layout::{Position, Rect};

use super::debugger::{KernelDebugger, Thread};
use super::state::{LaneAccess, LaneState, lane_accesses, threads, variables, variables_of};
use super::thread::{LineKind, formulas, index_count, thread_details};
use super::{draw_error, state_legend, write_lines};
use crate::canvas::{Canvas, Pen, width};
use crate::panel::picture::RowNeed;
use crate::theme::Look;

/// Rows of a band of lanes: numbers, letters, values.
const BAND: u16 = 3;

/// Indices of a thread for which rows are kept.
const MOST_INDICES: usize = 6;

/// Stands where a lane's variable has no value.
const NO_VALUE: &str = "?";

struct Lane {
    state: LaneState,
    /// Its value of the shown variable; absent if it has none.
    value: Option<Value>,
}

impl Lane {
    fn text(&self) -> String {
        match &self.value {
            Some(Value::Float(x)) => number(*x),
            Some(Value::Bool(yes)) => u8::from(*yes).to_string(),
            Some(value) => value.to_string(),
            None if self.state == LaneState::Beyond => String::new(),
            None => NO_VALUE.to_owned(),
        }
    }
}

fn lanes(debugger: &KernelDebugger) -> Vec<Lane> {
    let here = debugger.here();
    let states = threads(debugger);
    let name = shown_variable(debugger);
    let lane = |lane: u32| {
        let thread = Thread { lane, ..here };
        let state = states.get(thread.number()).copied();
        let value = name.as_ref().filter(|_| state.is_some()).and_then(|name| {
            // The innermost of equal names counts.
            let all = variables_of(debugger, thread);
            all.into_iter().rev().find(|known| known.name == *name)?.value
        });
        Lane { state: state.unwrap_or(LaneState::Beyond), value }
    };
    (0..LANES as u32).map(lane).collect()
}

fn names(debugger: &KernelDebugger) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for variable in variables(debugger) {
        let is_plain = !matches!(variable.value, Some(Value::Array(_)));
        if is_plain && !names.contains(&variable.name) {
            names.push(variable.name);
        }
    }
    names
}

/// The variable of the shown values: the selected one, else an index of the thread, else the last that was declared.
fn shown_variable(debugger: &KernelDebugger) -> Option<String> {
    let names = names(debugger);
    let is_known = |name: &&str| names.iter().any(|known| known == name);
    let selected = debugger.variable.as_deref().filter(is_known);
    selected.map(str::to_owned).or_else(|| {
        // One that has no value yet says nothing of the lanes.
        let known = variables(debugger).into_iter().filter(|known| known.value.is_some());
        let valued: Vec<String> = known.map(|known| known.name).collect();
        let has_value = |name: &&str| valued.iter().any(|known| known == name);
        let indices = formulas(debugger);
        let mut indices = indices.iter().rev().map(|formula| formula.name.as_str());
        let index = indices.find(|name| is_known(name) && has_value(name)).map(str::to_owned);
        let last = || names.iter().rfind(|name| has_value(&name.as_str())).cloned();
        index.or_else(last).or_else(|| names.last().cloned())
    })
}

pub(super) fn table(debugger: &KernelDebugger) -> Table {
    let here = debugger.here();
    let shown = shown_variable(debugger);
    let accesses = lane_accesses(debugger);
    let none = || Value::from("");
    let row = |((number, lane), access): ((u32, Lane), &Option<LaneAccess>)| {
        let thread = Thread { lane: number, ..here };
        let machine = debugger.machine().ok().filter(|_| lane.state != LaneState::Beyond);
        let place = machine.map(|machine| machine.thread(thread.number() as u32));
        let axis = |axis: usize| place.map_or_else(none, |p| Value::Int(i64::from(p[axis])));
        let access = access.as_ref();
        let access = access.map(|a| format!("line {}: {}", a.line, a.describe(debugger)));
        vec![
            Value::Int(i64::from(number)),
            axis(0),
            axis(1),
            axis(2),
            Value::from(lane.state.name().1),
            lane.value.unwrap_or_else(none),
            access.map_or_else(none, Value::from),
        ]
    };
    let shown = shown.as_deref().unwrap_or("value");
    let titles =
        ["lane", "threadIdx.x", "threadIdx.y", "threadIdx.z", "state", shown, "last access"];
    Table::new(
        titles.map(str::to_owned).to_vec(),
        (0..).zip(lanes(debugger)).zip(&accesses).map(row).collect(),
    )
}

pub(super) fn draw(area: Rect, canvas: &mut Canvas, debugger: &KernelDebugger, look: &Look) {
    let theme = &look.theme;
    if draw_error(area, canvas, debugger, look) {
        return;
    }
    let here = debugger.here();
    let all = lanes(debugger);
    let mut rest = area;
    let take = |rest: &mut Rect, rows: u16| {
        let rows = rows.min(rest.height);
        *rest = Rect { y: rest.y + rows, height: rest.height - rows, ..*rest };
    };
    let head = format!(
        "block {} warp {} ({}){}",
        here.block,
        here.warp,
        match (debugger.is_pinned(), debugger.clock()) {
            (true, _) => "followed; 0 lets go",
            (false, 0) => "before the first step",
            (false, _) => "went last",
        },
        shown_variable(debugger).map_or(String::new(), |name| format!(", {name} in each lane"))
    );
    let first = Rect { height: rest.height.min(1), ..rest };
    let used = write_lines(first, canvas, &[(head, theme.title)], look);
    take(&mut rest, used);
    let texts: Vec<String> = all.iter().map(Lane::text).collect();
    let bands = Bands::new(&texts, rest);
    for ((number, lane), text) in (0_u16..).zip(&all).zip(&texts) {
        if let Some(cell) = bands.cell(number) {
            let is_selected = u32::from(number) == here.lane;
            draw_lane(cell, canvas, number, (lane.state, text), is_selected, look);
        }
    }
    take(&mut rest, bands.rows());
    let states: Vec<LaneState> = all.iter().map(|lane| lane.state).collect();
    let details = thread_details(debugger).into_iter().map(|(kind, text)| match kind {
        LineKind::Head | LineKind::Now => (text, theme.accent),
        LineKind::Plain => (text, theme.text),
    });
    let mut legend = state_legend(&states);
    if texts.iter().any(|text| text == NO_VALUE) {
        legend += &format!(", {NO_VALUE} no value");
    }
    let lines: Vec<_> = [(legend, theme.dim)].into_iter().chain(details).collect();
    write_lines(rest, canvas, &lines, look);
}

pub(super) fn lane_at(area: Rect, debugger: &KernelDebugger, at: Position) -> Option<u32> {
    let rest = Rect { y: area.y + 1, height: area.height.checked_sub(1)?, ..area };
    let texts: Vec<String> = lanes(debugger).iter().map(Lane::text).collect();
    let bands = Bands::new(&texts, rest);
    let holds = |lane: &u16| bands.cell(*lane).is_some_and(|cell| cell.contains(at));
    (0..LANES as u16).find(holds).map(u32::from)
}

/// The rows of the bands, of the head and the legend, and of what is told of the thread.
pub(super) fn row_need(area: Rect, debugger: &KernelDebugger) -> RowNeed {
    let texts: Vec<String> = lanes(debugger).iter().map(Lane::text).collect();
    let bands = Bands::new(&texts, area).rows();
    // The thread, its last access, its variables, and its indices, of which a long one takes two rows.
    let indices = index_count(&debugger.recipe.source).clamp(1, MOST_INDICES) as u16;
    let least = bands.saturating_add(2 + 3 + indices);
    RowNeed { least, most: least.saturating_add(2 + indices) }
}

impl KernelDebugger {
    /// Selects the next variable, after the last the first.
    pub fn next_variable(&mut self) {
        let names = names(self);
        let shown = shown_variable(self);
        let at = names.iter().position(|name| Some(name) == shown.as_ref());
        let next = at.map_or(0, |at| at + 1);
        self.variable = names.get(next).or(names.first()).cloned();
    }

    /// Selects a variable by its name; false if there is none.
    pub fn choose_variable(&mut self, name: &str) -> bool {
        let is_known = names(self).iter().any(|known| known == name);
        if is_known {
            self.variable = Some(name.to_owned());
        }
        is_known
    }
}

struct Bands {
    area: Rect,
    across: u16,
    /// Columns of each, with the one between it and the next.
    cell: u16,
}

impl Bands {
    /// As many in a row as fit with their values whole, with rows left for the thread below; else with values cut.
    fn new(texts: &[String], area: Rect) -> Self {
        const BELOW: u16 = 6;
        let longest = texts.iter().map(|text| width(text)).max().unwrap_or(0);
        let cell = longest.max(2) + 1;
        let fits = |across: u16, below: u16| {
            across * cell <= area.width + 1 && 32 / across * BAND + below <= area.height
        };
        let whole = [32, 16, 8, 4].into_iter().find(|across| fits(*across, BELOW));
        let whole = whole.or_else(|| [32, 16].into_iter().find(|across| fits(*across, 0)));
        let (across, cell) = match whole {
            Some(across) => (across, cell),
            None if area.width >= 95 => (32, (area.width + 1) / 32),
            None => (16, ((area.width + 1) / 16).max(2)),
        };
        Self { area, across, cell }
    }

    fn rows(&self) -> u16 {
        let bands = (LANES as u16).div_ceil(self.across);
        bands.min(self.area.height / BAND) * BAND
    }

    /// The cell of a lane; absent if there is no room for it.
    fn cell(&self, lane: u16) -> Option<Rect> {
        let (top, place) = (lane / self.across * BAND, lane % self.across);
        let x = self.area.x + place * self.cell;
        (top < self.rows()).then(|| Rect::new(x, self.area.y + top, self.cell - 1, BAND))
    }
}

fn draw_lane(
    area: Rect,
    canvas: &mut Canvas,
    number: u16,
    (state, value): (LaneState, &str),
    is_selected: bool,
    look: &Look,
) {
    let theme = &look.theme;
    let mut pen = Pen::new(area, canvas, &look.glyphs);
    let own = state.style(theme);
    let or_selected = |style| if is_selected { theme.selection } else { style };
    pen.ending(area.right(), area.y, &number.to_string(), or_selected(theme.dim));
    pen.ending(area.right(), area.y + 1, state.name().0, or_selected(own));
    if width(value) <= area.width {
        pen.ending(area.right(), area.y + 2, value, own);
    } else {
        pen.within(area.x, area.y + 2, area.width, value, own);
    }
}
