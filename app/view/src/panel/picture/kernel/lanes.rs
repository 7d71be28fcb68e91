//! The 32 lanes of the warp that is looked at, and one thread in full: where its index comes from, what it reads and writes.

use crate::canvas::Canvas;
use mlsys_kernel::LANES;
use mlsys_lab::Value;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;

use super::{legend, say, style};
use crate::canvas::{Pen, width};
use crate::figure::kernel::{
    KernelDebugger, Lane, LaneState, Weight, about_thread, lanes, shown_variable,
};
use crate::theme::Look;

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

/// The lane at a place of the picture.
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
    /// Lanes in a row.
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

    /// Rows that are drawn.
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

/// The thread in full.
fn thread(walk: &KernelDebugger, look: &Look) -> Vec<(String, Style)> {
    let told = about_thread(walk).into_iter();
    let style = |weight: Weight| match weight {
        Weight::Head | Weight::Fresh => look.theme.accent,
        Weight::Plain => look.theme.text,
    };
    told.map(|(weight, text)| (text, style(weight))).collect()
}
