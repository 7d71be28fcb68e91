//! The lanes of the warp that is looked at, and what its thread holds, reads and writes.

use mlsys_kernel::{AccessKind, LANES, Reach, VariableView};
use mlsys_lab::Value;
use mlsys_lab::frame::Table;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;

use crate::canvas::{Canvas, Pen, width};
use crate::panel::picture::kernel::thread::formulas;
use crate::panel::picture::kernel::{
    KernelDebugger, Thread, about_thread, legend, say, style, thread::Weight, threads,
};
use crate::theme::Look;

/// What a lane is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaneState {
    /// It runs the warp's next instruction.
    Active,
    /// The warp runs the other side of a branch.
    Masked,
    /// It waits at a barrier.
    Waiting,
    /// Its thread has ended.
    Done,
    /// Something went wrong in its thread.
    Faulted,
    /// Its block has not begun.
    NotBegun,
    /// The block has no thread for it.
    Beyond,
}

impl LaneState {
    pub const ALL: [Self; 7] = [
        Self::Active,
        Self::Masked,
        Self::Waiting,
        Self::Done,
        Self::Faulted,
        Self::NotBegun,
        Self::Beyond,
    ];

    /// The letter for it: colour is never alone.
    pub fn letter(self) -> char {
        match self {
            Self::Active => 'A',
            Self::Masked => 'm',
            Self::Waiting => 'b',
            Self::Done => 'd',
            Self::Faulted => '!',
            Self::NotBegun => '.',
            Self::Beyond => '-',
        }
    }

    pub fn word(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Masked => "masked by a branch",
            Self::Waiting => "at a barrier",
            Self::Done => "finished",
            Self::Faulted => "in trouble",
            Self::NotBegun => "not begun",
            Self::Beyond => "beyond the block",
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Lane {
    pub state: LaneState,
    /// Its value of the variable that is shown; absent if it has none.
    pub value: Option<Value>,
}

/// What a lane reached in its warp's last access.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Touch {
    /// Whether it read, wrote or did both.
    pub kind: AccessKind,
    pub line: u32,
    /// Whether the last step did it.
    pub fresh: bool,
    pub bytes: u32,
    pub reach: Reach,
}

/// The 32 lanes of the warp that is looked at.
pub fn lanes(walk: &KernelDebugger) -> Vec<Lane> {
    let here = walk.here();
    let states = threads(walk);
    let name = shown_variable(walk);
    let lane = |lane: u32| {
        let thread = Thread { lane, ..here };
        let state = states.get(thread.number()).copied();
        let value = name.as_ref().filter(|_| state.is_some()).and_then(|name| {
            let all = variables_of(walk, thread);
            // The innermost of equal names counts.
            let found = all.into_iter().rev().find(|known| known.name == *name)?;
            found.value
        });
        Lane { state: state.unwrap_or(LaneState::Beyond), value }
    };
    (0..LANES as u32).map(lane).collect()
}

/// What the thread that is looked at holds.
pub fn variables(walk: &KernelDebugger) -> Vec<VariableView> {
    variables_of(walk, walk.here())
}

fn variables_of(walk: &KernelDebugger, thread: Thread) -> Vec<VariableView> {
    let machine = walk.machine();
    machine.map_or(Vec::new(), |machine| machine.variables(thread.block, thread.number()))
}

/// The names of variables that can be shown in each lane: those that are there, a name once.
pub(super) fn names(walk: &KernelDebugger) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for variable in variables(walk) {
        let plain = !matches!(variable.value, Some(Value::Array(_)));
        if plain && !names.contains(&variable.name) {
            names.push(variable.name);
        }
    }
    names
}

/// The variable of the values shown: the chosen one, else an index of the thread, else the last that was declared.
pub fn shown_variable(walk: &KernelDebugger) -> Option<String> {
    let names = names(walk);
    let known = |name: &str| names.iter().any(|known| known == name);
    let chosen = walk.variable().filter(|name| known(name));
    chosen.map(str::to_owned).or_else(|| {
        let indices = formulas(walk);
        let index = indices.iter().rev().map(|formula| formula.name.clone());
        index.into_iter().find(|name| known(name)).or_else(|| names.last().cloned())
    })
}

/// What each lane of the warp reached in its last access.
pub fn touches(walk: &KernelDebugger) -> Vec<Option<Touch>> {
    let here = walk.here();
    let nothing = || vec![None; LANES];
    let Ok(machine) = walk.machine() else {
        return nothing();
    };
    let Some((access, reached)) = machine.access(here.block, here.warp as usize) else {
        return nothing();
    };
    let fresh = walk.last().is_some_and(|step| {
        (step.block, step.warp, step.place) == (here.block, here.warp, access.place)
    });
    let touch = |reach: Option<Reach>| {
        Some(Touch {
            kind: access.kind,
            line: access.place.line,
            fresh,
            bytes: access.bytes,
            reach: reach?,
        })
    };
    reached.into_iter().map(touch).collect()
}

impl Touch {
    /// What was reached, with its value where it can be told.
    pub fn said(&self, walk: &KernelDebugger) -> String {
        let does = match self.kind {
            AccessKind::Load => "reads",
            AccessKind::Store => "writes",
            AccessKind::Atomic => "reads and writes at once",
        };
        let place = match &self.reach {
            Reach::Global { buffer, element, sector } => {
                let value = usize::try_from(*element).ok().and_then(|element| {
                    let machine = walk.machine().ok()?;
                    let defined = machine.cell(buffer, element)?.defined;
                    let value = machine.element(buffer, element)?;
                    Some(if defined {
                        format!(" = {}", mlsys_lab::value::number(value))
                    } else {
                        ", where nobody wrote".to_owned()
                    })
                });
                let value = value.unwrap_or_else(|| ", outside the buffer".to_owned());
                format!("{buffer}[{element}]{value} (sector {sector})")
            }
            Reach::Shared { byte, bank } => {
                let machine = walk.machine().ok();
                let element = machine.and_then(|m| m.shared_element(*byte, self.bytes));
                let element = element.unwrap_or_else(|| "shared memory".to_owned());
                format!("{element}, byte {byte} of shared memory (bank {bank})")
            }
            Reach::Local { byte } => format!("its own memory, byte {byte}"),
            Reach::Nowhere => "no memory".to_owned(),
        };
        format!("{does} {place}")
    }
}

pub(super) fn table(walk: &KernelDebugger) -> Table {
    let here = walk.here();
    let shown = shown_variable(walk);
    let touches = touches(walk);
    let row = |(lane, state): (usize, Lane)| {
        let thread = Thread { lane: lane as u32, ..here };
        let place = walk.machine().ok().filter(|_| state.state != LaneState::Beyond);
        let place = place.map(|machine| machine.thread(thread.number() as u32));
        let touch = touches.get(lane).and_then(Option::as_ref);
        let mut cells = vec![Value::Int(lane as i64)];
        for axis in 0..3 {
            cells.push(place.map_or(Value::from(""), |place| Value::Int(i64::from(place[axis]))));
        }
        cells.push(Value::from(state.state.word()));
        cells.push(state.value.unwrap_or_else(|| Value::from("")));
        cells.push(Value::from(
            touch.map_or(String::new(), |touch| {
                format!("line {}: {}", touch.line, touch.said(walk))
            }),
        ));
        cells
    };
    let shown = shown.unwrap_or_else(|| "value".to_owned());
    let titles =
        ["lane", "threadIdx.x", "threadIdx.y", "threadIdx.z", "state", &shown, "last access"];
    Table {
        columns: titles.map(str::to_owned).to_vec(),
        rows: lanes(walk).into_iter().enumerate().map(row).collect(),
        ..Table::default()
    }
}

/// Rows of a band of lanes: numbers, letters, values.
const BAND: u16 = 3;

pub(super) fn draw(area: Rect, canvas: &mut Canvas, walk: &KernelDebugger, look: &Look) {
    let theme = &look.theme;
    if let Err(reason) = walk.machine() {
        say(area, canvas, &[(reason.to_owned(), theme.dim)], look);
        return;
    }
    let here = walk.here();
    let all = lanes(walk);
    let mut rest = area;
    let take = |rest: &mut Rect, rows: u16| {
        let rows = rows.min(rest.height);
        rest.y += rows;
        rest.height -= rows;
    };
    let variable = shown_variable(walk);
    let head = format!(
        "block {} warp {} ({}){}",
        here.block,
        here.warp,
        match (walk.is_pinned(), walk.clock()) {
            (true, _) => "followed; 0 lets go",
            (false, 0) => "before the first step",
            (false, _) => "went last",
        },
        variable.as_ref().map_or(String::new(), |name| format!(", {name} in each lane"))
    );
    let used =
        say(Rect { height: rest.height.min(1), ..rest }, canvas, &[(head, theme.title)], look);
    take(&mut rest, used);
    let texts: Vec<String> = all.iter().map(value_text).collect();
    let bands = Bands::of(&texts, rest);
    for (lane, (state, text)) in all.iter().zip(&texts).enumerate() {
        if let Some(cell) = bands.cell(lane as u16) {
            let chosen = lane as u32 == here.lane;
            draw_lane(cell, canvas, lane, (state, text), chosen, look);
        }
    }
    take(&mut rest, bands.rows());
    let states: Vec<LaneState> = all.iter().map(|lane| lane.state).collect();
    let mut told = vec![(legend(&states), theme.dim)];
    told.extend(thread(walk, look));
    say(rest, canvas, &told, look);
}

pub(super) fn lane_at(area: Rect, walk: &KernelDebugger, at: Position) -> Option<u32> {
    let rest = Rect { y: area.y + 1, height: area.height.checked_sub(1)?, ..area };
    let texts: Vec<String> = lanes(walk).iter().map(value_text).collect();
    let bands = Bands::of(&texts, rest);
    let holds = |lane: &u16| bands.cell(*lane).is_some_and(|cell| cell.contains(at));
    (0..LANES as u16).find(holds).map(u32::from)
}

/// Lanes in a grid.
struct Bands {
    area: Rect,
    across: u16,
    /// Columns of each, with the one between it and the next.
    cell: u16,
}

impl Bands {
    /// As many in a row as fit with their values whole, with rows left for the thread below; else with values cut.
    fn of(texts: &[String], area: Rect) -> Self {
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

    /// Where a lane stands; none if there is no room for it.
    fn cell(&self, lane: u16) -> Option<Rect> {
        let (band, place) = (lane / self.across, lane % self.across);
        let y = self.area.y + band * BAND;
        (band * BAND < self.rows())
            .then(|| Rect::new(self.area.x + place * self.cell, y, self.cell - 1, BAND))
    }
}

fn draw_lane(
    area: Rect,
    canvas: &mut Canvas,
    number: usize,
    (lane, value): (&Lane, &str),
    chosen: bool,
    look: &Look,
) {
    let theme = &look.theme;
    let Rect { x, y, width: room, .. } = area;
    let mut pen = Pen::new(area, canvas, &look.glyphs);
    let own = style(lane.state, theme);
    let head = if chosen { theme.selection } else { theme.dim };
    pen.ending(x + room, y, &number.to_string(), head);
    let letter = if chosen { theme.selection } else { own };
    pen.ending(x + room, y + 1, &lane.state.letter().to_string(), letter);
    if width(value) <= room {
        pen.ending(x + room, y + 2, value, own);
    } else {
        pen.within(x, y + 2, room, value, own);
    }
}

fn value_text(lane: &Lane) -> String {
    match &lane.value {
        Some(Value::Float(x)) => mlsys_lab::value::number(*x),
        Some(Value::Bool(yes)) => u8::from(*yes).to_string(),
        Some(value) => value.to_string(),
        None if lane.state == LaneState::Beyond => String::new(),
        None => "?".to_owned(),
    }
}

fn thread(walk: &KernelDebugger, look: &Look) -> Vec<(String, Style)> {
    let told = about_thread(walk).into_iter();
    let style = |weight: Weight| match weight {
        Weight::Head | Weight::Fresh => look.theme.accent,
        Weight::Plain => look.theme.text,
    };
    told.map(|(weight, text)| (text, style(weight))).collect()
}
