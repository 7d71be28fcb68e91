//! Pictures of a run: every panel a lab declares, drawn from the run's data into a rectangle of cells.
//!
//! Drawing is pure: what is drawn depends on the arguments alone, and no size or value makes it fail.

mod downsample;
mod legend;
pub(crate) mod line;
pub(crate) mod picture;
mod plane;
#[cfg(test)]
pub(crate) mod tests;
mod texts;
mod view;
mod words;

use std::borrow::Cow;
use std::cell::OnceCell;

use mlsys_lab::frame::Frame;
use mlsys_lab::frame::kernel::View as KernelView;
use mlsys_lab::report::RunData;
use mlsys_lab::schema::{Draw, Label, Panel, Schema};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;

use crate::attempts::RunComparison;
use crate::canvas::{Canvas, Pen};
use crate::earlier::Earlier;
use crate::glyphs::Glyphs;
pub use crate::panel::line::{extent, is_smoothed, step_after, step_before};
pub use crate::panel::picture::RowNeed;
use crate::panel::picture::kernel::KernelDebugger;
pub use crate::panel::picture::kernel::Spot;
pub use crate::panel::picture::table::columns;
use crate::panel::picture::{At, Past, Picture, kernel};
pub use crate::panel::texts::texts;
pub use crate::panel::view::{Extent, FrameView, Inspect, Smoothing, Tint, View, Way, Window};
pub use crate::panel::words::words;
pub use crate::quantity::quantity;
use crate::theme::{Look, Theme};
use crate::{attempts, axis, canvas as pen, metrics, text};

#[derive(Clone, Copy, Debug)]
pub struct Scene<'a> {
    pub schema: &'a Schema,
    pub panel: &'a Panel,
    /// What the lesson calls the panel, if it says so.
    pub title: Option<&'a str>,
    pub data: &'a RunData,
    /// Earlier runs to put behind it, the newest first.
    pub earlier: &'a [Earlier],
    pub view: &'a View,
    /// The step that all charts of the lab point at.
    pub cursor: Option<u64>,
    pub focus: Focus,
    /// Whether the run is one that goes on here.
    pub origin: Origin,
    /// Where the lab's kernel has been stepped to.
    pub walk: Option<&'a KernelDebugger>,
    /// The other runs of the lesson, for pictures of several.
    pub comparison: RunComparison<'a>,
    /// Where the picture of several is kept until something changes: many ask for it within a frame.
    pub drawn: Option<&'a OnceCell<Option<Frame>>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    Here,
    Recorded,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Focus {
    Keys,
    Aside,
}

impl<'a> Scene<'a> {
    /// All of a run's panel, with nothing behind it and nothing to press.
    pub fn new(schema: &'a Schema, panel: &'a Panel, data: &'a RunData, view: &'a View) -> Self {
        Self {
            schema,
            panel,
            title: None,
            data,
            earlier: &[],
            view,
            cursor: None,
            focus: Focus::Aside,
            origin: Origin::Here,
            walk: None,
            comparison: RunComparison::default(),
            drawn: None,
        }
    }

    /// The picture of a panel that is no chart, sent by the lab or made from its metrics; nothing if there is none yet.
    pub fn frame(&self, glyphs: &Glyphs) -> Option<Cow<'a, Frame>> {
        match self.panel.draw {
            Draw::Line => None,
            Draw::Frame => {
                let (_, frame) = self.data.frames.get(self.panel.name.as_str())?;
                Some(Cow::Borrowed(frame))
            }
            Draw::Bars => {
                let bars = metrics::bars(self.schema, self.panel, self.data);
                (!bars.bars.is_empty()).then_some(Cow::Owned(Frame::Bars(bars)))
            }
            Draw::Table => {
                let table = metrics::table(self.schema, self.panel, self.data, glyphs);
                (!table.rows.is_empty()).then_some(Cow::Owned(Frame::Table(table)))
            }
            Draw::Attempts => {
                let made =
                    || attempts::picture(self.schema, self.panel, self.data, &self.comparison);
                match self.drawn {
                    Some(drawn) => drawn.get_or_init(made).as_ref().map(Cow::Borrowed),
                    None => made().map(Cow::Owned),
                }
            }
        }
    }

    fn at(&self) -> At<'_> {
        At { view: &self.view.frame, focus: self.focus, walk: self.walk, past: self.past() }
    }

    /// The panel's picture of the newest earlier run; of a kernel, which all its panels show, any of them.
    fn past(&self) -> Option<Past<'a>> {
        let run = self.earlier.first()?;
        let own = run.data.frames.get(self.panel.name.as_str());
        let (_, frame) =
            own.or_else(|| run.data.frames.values().find(|(_, f)| f.kernel().is_some()))?;
        Some(Past { label: &run.label, frame })
    }

    fn unit(&self, metric: &str) -> Option<&str> {
        metrics::unit(self.schema, metric)
    }

    /// Where the panel's numbers come from: the words of its title.
    pub fn labels(&self) -> Vec<Label> {
        let frame = self.data.frames.get(self.panel.name.as_str());
        match frame.and_then(|(_, frame)| frame.label()) {
            Some(label) => vec![label],
            None => self.schema.panel_labels(self.panel),
        }
    }

    /// The word behind a metric's value, unless the panel's title has it.
    fn own_label(&self, metric: &str) -> Option<Label> {
        metrics::own_label(self.schema, self.panel, metric)
    }
}

pub fn draw_panel(area: Rect, buf: &mut Buffer, scene: &Scene<'_>, look: &Look) {
    Canvas::over(buf, |canvas| draw(area, canvas, scene, look));
}

fn draw(area: Rect, canvas: &mut Canvas, scene: &Scene<'_>, look: &Look) {
    let area = area.intersection(canvas.cells.area);
    if area.is_empty() {
        return;
    }
    let body = title(area, canvas, scene, look);
    if body.is_empty() {
        return;
    }
    let drawn = match scene.frame(&look.glyphs) {
        Some(frame) => {
            draw_frame(body, canvas, &frame, scene.at(), look);
            true
        }
        None => scene.panel.draw == Draw::Line && line::draw(body, canvas, scene, look),
    };
    if !drawn {
        empty(body, canvas, scene, look);
    }
}

/// The texts of a panel that it writes over one another in an area.
pub fn overwritten(area: Rect, scene: &Scene<'_>, look: &Look) -> Vec<String> {
    Canvas::noted(area, |canvas| draw(area, canvas, scene, look)).overwritten
}

/// The step at a column of a panel, if it is a chart and the column is among its curves.
pub fn step_at(area: Rect, column: u16, scene: &Scene<'_>, look: &Look) -> Option<u64> {
    let is_chart = scene.panel.draw == Draw::Line;
    is_chart.then(|| line::step_at(below_title(area), column, scene, look)).flatten()
}

pub fn spot_at(area: Rect, at: Position, scene: &Scene<'_>) -> Option<Spot> {
    let (_, frame) = scene.data.frames.get(scene.panel.name.as_str())?;
    kernel::spot_at(below_title(area), frame.kernel()?, scene.walk?, at)
}

/// Draws a frame without a title; below it, what is marked in it is named.
pub(crate) fn draw_frame(area: Rect, canvas: &mut Canvas, frame: &Frame, at: At<'_>, look: &Look) {
    let area = area.intersection(canvas.cells.area);
    if area.is_empty() {
        return;
    }
    let picture = picture::drawn(frame);
    let area = if canvas.is_page() { area } else { filled(frame, area, at, look) };
    let mut below = named(picture, area, at, look);
    if !canvas.is_page() {
        let noted = picture.notes_below(at.view, area.width, area.height / 4).into_iter();
        below.extend(noted.map(|line| (line, look.theme.text)));
    }
    let kept = pen::cells(below.len());
    let whole = area;
    let area = Rect { height: area.height.saturating_sub(kept), ..area };
    for ((line, style), y) in below.iter().zip(area.bottom()..whole.bottom()) {
        Pen::new(whole, canvas, &look.glyphs).text(whole.x, y, line, *style);
    }
    picture.draw(area, canvas, at, look);
}

/// The part of an area that a picture and the lines below it fill: what is said of a picture stands next to it.
fn filled(frame: &Frame, area: Rect, at: At<'_>, look: &Look) -> Rect {
    /// Rows up to which the needs of pictures are looked at.
    const HIGH: u16 = 60;
    /// Rows from which on a table has a line below its titles.
    const TABLE: u16 = 12;
    // Nothing stands below a text; the others are made of pictures that are filled each for itself, or say what is enough for
    // most of their steps.
    let is_open = matches!(frame, Frame::Panes(_) | Frame::FrameSequence(_) | Frame::Text(_))
        || frame.kernel().is_some_and(|kernel| kernel.view != KernelView::Source);
    if is_open {
        return area;
    }
    let least = if frame.table().is_some() { TABLE } else { 0 };
    let need = with_lines(picture::drawn(frame), area.width, at, look);
    let most = need.map(|need| need.most.max(least)).filter(|most| *most < HIGH);
    Rect { height: most.map_or(area.height, |most| most.min(area.height)), ..area }
}

/// The lines that name what is marked.
fn named(picture: &dyn Picture, area: Rect, at: At<'_>, look: &Look) -> Vec<(String, Style)> {
    /// With fewer rows the picture needs them all.
    const NAMED: u16 = 4;
    let named = picture.marked(at.view, &look.glyphs).filter(|_| area.height >= NAMED);
    let named = named.map_or_else(Vec::new, |named| {
        let most = usize::from(picture.rows_of_mark(area.height));
        let mut lines = text::wrap(&named, area.width);
        if lines.len() > most {
            // The last row holds all the rest, and is cut where it ends.
            let rest = lines.split_off(most - 1);
            lines.push(rest.concat());
        }
        lines
    });
    named.into_iter().map(|line| (line, look.theme.accent)).collect()
}

/// The rows that a panel takes at a width, its title included; nothing where it fills what it gets.
pub fn row_need(scene: &Scene<'_>, width: u16, look: &Look) -> Option<RowNeed> {
    let frame = scene.frame(&look.glyphs)?;
    Some(with_lines(picture::drawn(&frame), width, scene.at(), look)?.and(1))
}

/// The rows of a picture and the lines below it.
fn with_lines(picture: &dyn Picture, width: u16, at: At<'_>, look: &Look) -> Option<RowNeed> {
    /// Rows of a usual panel, for which there are lines below it.
    const USUAL: u16 = 16;
    let area = Rect::new(0, 0, width, USUAL);
    let need = picture.row_need(at, width, look)?;
    let named = named(picture, area, at, look).len();
    let noted = picture.notes_below(at.view, width, USUAL / 4).len();
    Some(need.and(pen::cells(named + noted)))
}

/// Draws the row with the panel's name, the latest value and its step; returns the area below.
///
/// A panel of one row has no room for a picture: the row is then the whole panel.
fn title(area: Rect, canvas: &mut Canvas, scene: &Scene<'_>, look: &Look) -> Rect {
    let theme = &look.theme;
    let mut pen = Pen::new(area, canvas, &look.glyphs);
    let name = scene.panel.name.as_str();
    let style = match scene.focus {
        Focus::Keys => theme.selection,
        Focus::Aside => theme.title,
    };
    let mut end = pen.text(area.x, area.y, name, style);
    if scene.origin == Origin::Recorded {
        end = pen.text(end, area.y, " recorded", theme.warn);
    }
    for (place, label) in scene.labels().into_iter().enumerate() {
        let word = if place == 0 { format!(" {label}") } else { format!(", {label}") };
        if end.saturating_add(pen::width(&word)) <= area.right() {
            end = pen.text(end, area.y, &word, badge(label, theme));
        }
    }
    let facts = facts(scene, look);
    let mut free = area.right();
    // The facts that fit right of the name, the most telling first.
    for kept in (1..=facts.len()).rev() {
        let text = facts[..kept].join(look.glyphs.separator);
        let width = pen::width(&text);
        if end.saturating_add(2).saturating_add(width) <= area.right() {
            free = area.right() - width;
            pen.text(free, area.y, &text, theme.dim);
            break;
        }
    }
    if let Some(title) = scene.title
        && end.saturating_add(pen::width(title) + 4) <= free
    {
        pen.text(end + 2, area.y, title, theme.text);
    }
    below_title(area)
}

/// A model's numbers are marked, so that they are not taken for a clock's.
fn badge(label: Label, theme: &Theme) -> Style {
    match label {
        Label::Modelled | Label::Claimed => theme.warn,
        Label::Measured | Label::Computed | Label::Published | Label::Baseline => theme.dim,
    }
}

fn below_title(area: Rect) -> Rect {
    Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area }
}

fn facts(scene: &Scene<'_>, look: &Look) -> Vec<String> {
    let step = match scene.panel.draw {
        Draw::Frame => scene.data.frames.get(scene.panel.name.as_str()).map(|(step, _)| *step),
        Draw::Bars | Draw::Table => {
            metrics::newest_step(scene.panel, scene.data).or(Some(scene.data.step))
        }
        Draw::Attempts => None,
        Draw::Line => return line::facts(scene, look),
    };
    step.filter(|step| *step > 0).map(|step| format!("step {step}")).into_iter().collect()
}

fn empty(area: Rect, canvas: &mut Canvas, scene: &Scene<'_>, look: &Look) {
    let sentence = words::why_empty(scene);
    let wrapped = text::wrap(&sentence, area.width);
    let top = area.y + area.height.saturating_sub(wrapped.len() as u16) / 2;
    let mut pen = Pen::new(area, canvas, &look.glyphs);
    for (row, line) in wrapped.iter().enumerate().take(usize::from(area.height)) {
        let x = area.x + area.width.saturating_sub(pen::width(line)) / 2;
        pen.text(x, top.saturating_add(row as u16), line, look.theme.dim);
    }
}
