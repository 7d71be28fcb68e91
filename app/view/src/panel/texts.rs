//! All that a panel writes, for those who search it rather than look at it.

use std::collections::BTreeMap;

use mlsys_lab::report::RunData;
use mlsys_lab::schema::{Panel, Schema};
use mlsys_lesson::PanelTexts;
use ratatui::layout::Rect;

use crate::canvas::{Canvas, Written, width};
use crate::glyphs::{GlyphSet, Glyphs};
use crate::panel::picture::kernel::KernelDebugger;
use crate::panel::{Scene, View, draw, row_need, words};
use crate::theme::{Background, ColorDepth, Look, Theme};

/// The columns and rows of a large terminal; a picture that is higher gets its height.
const SIZE: (u16, u16) = (200, 60);
const HIGHEST: u16 = 2000;

/// What a panel of a run writes at first, on a large screen and read out.
pub fn texts(schema: &Schema, panel: &Panel, data: &RunData) -> PanelTexts {
    let view = View::new(panel);
    let frame = data.frames.get(panel.name.as_str()).and_then(|(_, frame)| frame.kernel());
    let walk = frame.map(KernelDebugger::new);
    let scene = Scene { walk: walk.as_ref(), ..Scene::new(schema, panel, data, &view) };
    let theme = Theme::new(Background::Dark, ColorDepth::None);
    let look = Look { theme, glyphs: Glyphs::new(GlyphSet::Unicode) };
    let most = row_need(&scene, SIZE.0, &look).map_or(0, |need| need.most);
    let area = Rect::new(0, 0, SIZE.0, most.clamp(SIZE.1, HIGHEST));
    let written = Canvas::noted(area, |canvas| draw(area, canvas, &scene, &look)).written;
    let rows = lines(&written, |one| one.at.y, |one| one.at.x);
    let from_left = lines(&written, |one| one.at.x, |one| one.at.y);
    let to_right = lines(&written, |one| one.at.x.saturating_add(width(&one.text)), |one| one.at.y);
    // Of a kernel they name each cell of its memory.
    let spoken = if walk.is_none() { words(&scene) } else { String::new() };
    let spoken = spoken.lines().map(str::to_owned);
    let texts = written.into_iter().map(|one| one.text).chain(spoken).collect();
    PanelTexts { texts, rows: [rows, from_left, to_right].concat() }
}

/// The texts that share a place in one direction, each with the others in the order of the other.
fn lines(
    written: &[Written],
    shared: impl Fn(&Written) -> u16,
    order: impl Fn(&Written) -> u16,
) -> Vec<String> {
    let mut found: BTreeMap<u16, BTreeMap<u16, &str>> = BTreeMap::new();
    for one in written {
        found.entry(shared(one)).or_default().insert(order(one), &one.text);
    }
    let several = found.into_values().filter(|texts| texts.len() > 1);
    let joined = several.map(|texts| texts.into_values().collect::<Vec<_>>().join("  "));
    joined.collect()
}
