//! A graph: boxes in layers from left to right, lines between them, and below what is said of the step and the node.

mod boxes;
mod cards;
mod drawing;
pub mod layout;
mod lines;
mod outline;
mod terms;
mod view;

use mlsys_lab::frame::{Direction, Graph};
use ratatui::layout::Rect;

use crate::canvas::{self as pen, Canvas, Pen};
use crate::csv::Lines;
use crate::glyphs::Glyphs;
pub use crate::panel::picture::graph::cards::{Card, Form, Head};
use crate::panel::picture::graph::drawing::Drawing;
pub use crate::panel::picture::graph::lines::not_finite;
pub use crate::panel::picture::graph::outline::{facts, line};
pub use crate::panel::picture::graph::view::{GraphView, Item, VisibleGraph};
use crate::panel::picture::{At, Picture, RowNeed, Sheet};
use crate::panel::view::{FrameView, Inspect, Way};
use crate::text;
use crate::theme::Look;

/// A window onto a drawing: the area of the screen, and the cell of the drawing in its top left corner.
#[derive(Clone, Copy)]
struct Window {
    area: Rect,
    left: isize,
    top: isize,
}

impl Window {
    /// Where a cell of the drawing is on the screen, if it is in sight.
    fn cell(&self, x: usize, y: usize) -> Option<(u16, u16)> {
        let x = isize::try_from(x).ok()?.checked_sub(self.left)?;
        let y = isize::try_from(y).ok()?.checked_sub(self.top)?;
        let (x, y) = (u16::try_from(x).ok()?, u16::try_from(y).ok()?);
        let inside = x < self.area.width && y < self.area.height;
        inside.then(|| (self.area.x + x, self.area.y + y))
    }
}

/// Where the walk is, as boxes and lines of the drawing.
#[derive(Clone, Copy)]
struct WalkPosition {
    focus: Option<usize>,
    link: Option<(usize, Direction)>,
}

pub(crate) fn draw(area: Rect, canvas: &mut Canvas, graph: &Graph, sight: &GraphView, look: &Look) {
    // A page has the steps below the picture.
    let foot = if canvas.is_page() { 0 } else { foot(area) };
    let above = |foot: u16| Rect { height: area.height - foot, ..area };
    let fitting = |body: Rect| {
        let drawing = Drawing::fitting(graph, sight, (body.width.into(), body.height.into()));
        (body, drawing)
    };
    let lower = fitting(above(foot));
    // A graph that lacks a few rows gets them from the lines below it.
    let higher = (!lower.1.fits(lower.0)).then(|| fitting(above(foot.min(LEAST_FOOT))));
    let (body, drawing) = higher.filter(|(body, drawing)| drawing.fits(*body)).unwrap_or(lower);
    let foot = Rect { y: body.bottom(), height: area.height - body.height, ..area };
    let at = match canvas.is_page() {
        true => WalkPosition { focus: None, link: None },
        false => at(graph, sight, &drawing),
    };
    // The row above a part of a graph says which part it is.
    let whole = drawing.fits(body) && drawing.visible.left_out == (0, 0);
    let part = if whole { 0 } else { 1.min(body.height) };
    let within = Rect { y: body.y + part, height: body.height - part, ..body };
    let window = window(within, &drawing, at.focus);
    lines::draw(&window, canvas, graph, sight, &drawing, at, look);
    boxes::draw(&window, canvas, graph, &drawing, at, look);
    if let Some(said) = beyond(&drawing, &window) {
        let mut pen = Pen::new(body, canvas, &look.glyphs);
        pen.ending(body.right(), body.y, &said, look.theme.dim);
    }
    if foot.height > 0 {
        draw_facts(foot, canvas, graph, sight, &drawing, look);
    }
}

/// Fewest rows in which a step is described.
const LEAST_FOOT: u16 = 2;

/// Rows for what is said below, the same at every step so that the picture stands still.
fn foot(area: Rect) -> u16 {
    /// Narrower lines say half as much.
    const NARROW: u16 = 60;
    let rows = match area.height {
        0..=4 => 0,
        5..=8 => 1,
        9..=13 => 2,
        14..=24 => 4,
        _ => 5,
    };
    if area.width < NARROW && area.height > 9 { rows + 2 } else { rows }
}

fn at(graph: &Graph, sight: &GraphView, drawing: &Drawing) -> WalkPosition {
    let box_of = |node: usize| drawing.visible.box_of.get(node).copied().flatten();
    let step = sight.done(graph).checked_sub(1);
    let step = step.and_then(|place| graph.walk.get(place));
    let link = step.and_then(|step| {
        let edge = step.edge?;
        let mut links = drawing.visible.links.iter();
        let place = links.position(|link| link.edges.contains(&edge))?;
        Some((place, step.pass))
    });
    WalkPosition { focus: sight.focus(graph).and_then(box_of), link }
}

/// The window in which the focus is in sight: it moves by halves, so that it stands still over most steps.
fn window(area: Rect, drawing: &Drawing, focus: Option<usize>) -> Window {
    let place = focus.and_then(|focus| drawing.layout.places.get(focus));
    let along = |all: usize, room: u16, middle: Option<usize>| {
        let (all, room) = (all as isize, room as isize);
        if all <= room {
            // What fits stands in the middle.
            return -((room - all) / 2);
        }
        let middle = middle.map_or(0, |middle| middle as isize);
        let half = (room / 2).max(1);
        ((middle - room / 4) / half * half).clamp(0, all - room)
    };
    Window {
        area,
        left: along(drawing.layout.width, area.width, place.map(|p| p.x + p.width / 2)),
        top: along(drawing.layout.height, area.height, place.map(|p| p.y + p.height / 2)),
    }
}

fn beyond(drawing: &Drawing, window: &Window) -> Option<String> {
    let (before, after) = drawing.visible.left_out;
    if before + after > 0 {
        let visible = drawing.visible.items.len();
        let all = visible + before + after;
        return Some(format!(" boxes {} to {} of {all} ", before + 1, before + visible));
    }
    let (width, height) = (drawing.layout.width, drawing.layout.height);
    (!drawing.fits(window.area)).then(|| {
        let right = usize::from(window.area.width).saturating_add_signed(window.left);
        let bottom = usize::from(window.area.height).saturating_add_signed(window.top);
        let percent = |part: usize, all: usize| (part.min(all) * 100).div_ceil(all.max(1));
        format!(" to {} % across, {} % down ", percent(right, width), percent(bottom, height))
    })
}

fn draw_facts(
    area: Rect,
    canvas: &mut Canvas,
    graph: &Graph,
    sight: &GraphView,
    drawing: &Drawing,
    look: &Look,
) {
    let mut rows = area.y..area.bottom();
    let said = [
        (line(graph, sight), look.theme.accent),
        (facts(graph, sight, &drawing.visible, &look.glyphs), look.theme.text),
    ];
    let count = said.iter().filter(|(text, _)| text.is_some()).count();
    if count == 0 {
        let fold = ", c folds its group or unfolds it, C all";
        let fold = if graph.groups.is_empty() { "" } else { fold };
        let said = format!("down selects a box{fold}");
        Pen::new(area, canvas, &look.glyphs).text(area.x, area.y, &said, look.theme.dim);
    }
    let said = said.into_iter().filter_map(|(text, style)| Some((text?, style)));
    for (place, (text, style)) in said.enumerate() {
        // The first leaves at least a row for the second.
        let more = count - place - 1;
        let most = rows.len().saturating_sub(more);
        for part in text::wrap(&text, area.width).into_iter().take(most) {
            if let Some(y) = rows.next() {
                Pen::new(area, canvas, &look.glyphs).text(area.x, y, &part, style);
            }
        }
    }
}

impl Picture for Graph {
    fn draw(&self, area: Rect, canvas: &mut Canvas, at: At<'_>, look: &Look) {
        canvas.fixed(|canvas| draw(area, canvas, self, &at.view.graph, look));
    }

    fn words(&self, view: &FrameView, glyphs: &Glyphs) -> String {
        outline::outline(self, view.graph.done(self), glyphs).join("\n")
    }

    fn values(&self, lines: &mut Lines) {
        outline::values(lines, self);
    }

    fn go(&self, view: &mut FrameView, way: Way) {
        let layers = if matches!(way, Way::First | Way::Last) { usize::MAX } else { 1 };
        view.graph.select(self, way, layers);
    }

    /// Sizes of the boxes, and the other step to the left and right: a layer, or several where arrows follow a walk.
    fn inspect(&self, view: &mut FrameView, inspect: Inspect) {
        /// Layers at once: about half of what a screen shows.
        const FAR: usize = 4;
        let layers = if self.walk.is_empty() { FAR } else { 1 };
        let sight = &mut view.graph;
        let form = sight.form.unwrap_or(Form::Snug);
        match inspect {
            Inspect::Closer => sight.form = Some(form.larger()),
            Inspect::Wider => sight.form = Some(form.smaller()),
            Inspect::Earlier => sight.select(self, Way::Left, layers),
            Inspect::Later => sight.select(self, Way::Right, layers),
            Inspect::Fit => {
                sight.form = None;
                sight.selected = None;
            }
            Inspect::NextPoint
            | Inspect::Right
            | Inspect::PreviousPoint
            | Inspect::Left
            | Inspect::LogAxis
            | Inspect::Smooth => {}
        }
    }

    /// The rows of the whole drawing in its smallest and its largest form, each with the lines below it; nothing where the
    /// whole needs more columns, or has more boxes than a screen.
    fn row_need(&self, at: At<'_>, width: u16, _: &Look) -> Option<RowNeed> {
        let [least, most] = Drawing::heights(self, &at.view.graph, width.into())?;
        let below = |rows: u16| rows.saturating_add(foot(Rect::new(0, 0, width, u16::MAX)));
        Some(RowNeed {
            least: pen::cells(least).saturating_add(LEAST_FOOT),
            most: below(pen::cells(most)),
        })
    }

    fn step_count(&self) -> usize {
        self.walk.len()
    }

    fn steps_done(&self, view: &FrameView) -> usize {
        view.graph.done(self)
    }

    fn step(&self, view: &mut FrameView, by: isize) {
        view.graph.step(self, by);
    }

    fn step_text(&self, view: &FrameView, _: &Glyphs) -> Option<String> {
        line(self, &view.graph)
    }

    fn page<'a>(&'a self, sheet: &mut Sheet<'a>) {
        sheet.view.graph = whole(self);
        sheet.below = steps(self);
    }

    fn page_size(&self, columns: u16) -> (u16, u16) {
        let layout = Drawing::fitting(self, &whole(self), (usize::MAX, usize::MAX)).layout;
        let cells = |count: usize| pen::cells(count);
        (cells(layout.width).max(columns), cells(layout.height))
    }
}

fn whole(graph: &Graph) -> GraphView {
    GraphView { steps: graph.walk.len(), form: Some(Form::Airy), ..GraphView::default() }
}

fn steps(graph: &Graph) -> Vec<String> {
    /// Steps that are written out; the file of values has all.
    const MOST: usize = 80;
    let mut lines = Vec::new();
    let mut now = None;
    for (place, step) in graph.walk.iter().take(MOST).enumerate() {
        if now.replace(step.pass) != Some(step.pass) {
            lines.push(format!("{}:", terms::pass(graph.subject, step.pass)));
        }
        lines.push(format!("{}. {}", place + 1, step.text));
    }
    if graph.walk.len() > MOST {
        lines.push(format!("and {} more steps", graph.walk.len() - MOST));
    }
    lines
}
