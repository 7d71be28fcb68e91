//! The 32 lanes of the warp that is looked at, and one thread in full: where its index comes from, what it reads and writes.

use mlsys_lab::Value;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::{legend, say, style};
use crate::figure::kernel::{Lane, LaneState, Walk, Weight, about_thread, lanes, shown_variable};
use crate::ui::panel::pen::{Pen, width};
use crate::ui::theme::Look;

/// Rows of a band of lanes: numbers, letters, values.
const BAND: u16 = 3;

pub(super) fn draw(area: Rect, buf: &mut Buffer, walk: &Walk, look: &Look) {
    let theme = &look.theme;
    if let Err(reason) = walk.machine() {
        say(area, buf, &[(reason.to_owned(), theme.dim)], look);
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
        if walk.is_pinned() {
            "followed; 0 lets go"
        } else {
            "went last"
        },
        variable
            .as_ref()
            .map_or(String::new(), |name| format!(", {name} in each lane"))
    );
    let used = say(
        Rect {
            height: rest.height.min(1),
            ..rest
        },
        buf,
        &[(head, theme.title)],
        look,
    );
    take(&mut rest, used);
    let texts: Vec<String> = all.iter().map(|lane| value_text(lane)).collect();
    let (across, cell) = layout(&texts, rest);
    let bands = (all.len() as u16).div_ceil(across);
    for band in 0..bands {
        if rest.height < BAND {
            break;
        }
        for place in 0..across {
            let lane = usize::from(band * across + place);
            let (Some(state), Some(text)) = (all.get(lane), texts.get(lane)) else {
                continue;
            };
            let x = rest.x + place * cell;
            let chosen = lane as u32 == here.lane;
            draw_lane(
                (x, rest.y, cell - 1),
                buf,
                lane,
                (state, text),
                chosen,
                look,
            );
        }
        take(&mut rest, BAND);
    }
    let states: Vec<LaneState> = all.iter().map(|lane| lane.state).collect();
    let mut told = vec![(legend(&states), theme.dim)];
    told.extend(thread(walk, look));
    say(rest, buf, &told, look);
}

/// Lanes in a row, and columns of each: as many as fit with their values whole, else with values cut.
fn layout(texts: &[String], area: Rect) -> (u16, u16) {
    let longest = texts
        .iter()
        .map(|text| width(text))
        .max()
        .unwrap_or(0)
        .max(2)
        + 1;
    let fits = |across: u16, cell: u16| {
        across * cell <= area.width + 1 && 32 / across * BAND <= area.height
    };
    let whole = [32, 16, 8, 4]
        .into_iter()
        .find(|across| fits(*across, longest));
    match whole {
        Some(across) => (across, longest),
        None => {
            let across = if area.width >= 96 { 32 } else { 16 };
            (across, ((area.width + 1) / across).max(2))
        }
    }
}

fn draw_lane(
    (x, y, room): (u16, u16, u16),
    buf: &mut Buffer,
    number: usize,
    (lane, value): (&Lane, &str),
    chosen: bool,
    look: &Look,
) {
    let theme = &look.theme;
    let area = Rect::new(x, y, room, BAND);
    let mut pen = Pen::new(area, buf, &look.glyphs);
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
fn thread(walk: &Walk, look: &Look) -> Vec<(String, Style)> {
    let told = about_thread(walk).into_iter();
    let style = |weight: Weight| match weight {
        Weight::Head | Weight::Fresh => look.theme.accent,
        Weight::Plain => look.theme.text,
    };
    told.map(|(weight, text)| (text, style(weight))).collect()
}
