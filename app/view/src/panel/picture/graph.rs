//! A graph: boxes in layers from left to right, lines between them, and below what is said of the step and the node.

mod boxes;
mod cards;
pub mod layout;
mod lines;
mod outline;
mod view;

use mlsys_lab::frame::{Direction, Graph};
use ratatui::layout::Rect;

use crate::canvas::{self as pen, Canvas, Pen};
use crate::csv::Lines;
use crate::glyphs::Glyphs;
pub use crate::panel::picture::graph::cards::{Card, Cards, Form, Head};
use crate::panel::picture::graph::layout::{
    Arranged, Fit, Layout, Size, Spacing, lay_out, side_by_side,
};
pub use crate::panel::picture::graph::lines::not_finite;
pub use crate::panel::picture::graph::outline::{facts, line, pass};
pub use crate::panel::picture::graph::view::{GraphView, Item, VisibleGraph};
use crate::panel::picture::{At, Picture, Sheet};
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
    let mut body = above(foot);
    let room = (usize::from(body.width), usize::from(body.height));
    let drawing = Drawing::fitting(graph, sight, room);
    // A graph that lacks a few rows gets them from the lines below it.
    let higher = above(foot.min(LEAST_FOOT));
    if !drawing.fits(body) && drawing.fits(higher) {
        body = higher;
    }
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
        format!(" to {}% across, {}% down ", percent(right, width), percent(bottom, height))
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
            lines.push(format!("{}:", pass(step.pass)));
        }
        lines.push(format!("{}. {}", place + 1, step.text));
    }
    if graph.walk.len() > MOST {
        lines.push(format!("and {} more steps", graph.walk.len() - MOST));
    }
    lines
}

pub struct Drawing {
    pub visible: VisibleGraph,
    pub boxes: Vec<Card>,
    pub form: Form,
    pub layout: Layout,
}

/// Beyond this number of boxes no larger form fits.
const SMALL: usize = 60;

impl Drawing {
    fn fits(&self, area: Rect) -> bool {
        self.layout.width <= usize::from(area.width)
            && self.layout.height <= usize::from(area.height)
    }

    /// The graph in the largest form that fits, else in one that scrolls well; a requested form is kept.
    pub fn fitting(graph: &Graph, sight: &GraphView, (width, height): (usize, usize)) -> Self {
        let visible = VisibleGraph::new(graph, sight);
        let links: Vec<(usize, usize)> = visible.links.iter().map(|l| (l.from, l.to)).collect();
        let arranged = Arranged::new(visible.items.len(), &links, Fit::Clear);
        let words = Cards::new(graph, sight, &visible);
        let fits = |layout: &Layout| layout.width <= width && layout.height <= height;
        let laid_out = |form: Form, boxes: Vec<Card>, arranged: &Arranged, spacing: Spacing| {
            let sizes: Vec<Size> = boxes.iter().map(|b| b.size(form)).collect();
            let mut layout = lay_out(arranged, &sizes, spacing);
            if !fits(&layout) && boxes.len() <= SMALL {
                let parts = side_by_side(&links, &sizes, spacing).filter(fits);
                layout = parts.unwrap_or(layout);
            }
            (form, boxes, layout)
        };
        let in_form = |form: Form| {
            let items = visible.items.iter();
            let boxes = items.map(|item| words.item(item, form)).collect();
            laid_out(form, boxes, &arranged, form.spacing())
        };
        // Of folded groups the name alone.
        let by_name = || {
            let items = visible.items.iter();
            let card = |item: &Item| match (item, words.item(item, Form::Bare)) {
                (Item::Group { .. }, card) => card.without_operation(),
                (Item::Node(_), card) => card,
            };
            let arranged = Arranged::new(visible.items.len(), &links, Fit::Narrow);
            let spacing = Spacing { fit: Fit::Narrow, ..Form::Bare.spacing() };
            laid_out(Form::Bare, items.map(card).collect(), &arranged, spacing)
        };
        // The part of a drawing that is in sight.
        let seen = |layout: &Layout| {
            let share = |room: usize, all: usize| room.min(all) as f64 / all.max(1) as f64;
            share(width, layout.width) * share(height, layout.height)
        };
        let chosen = match sight.form {
            Some(form) => in_form(form),
            None if visible.items.len() > SMALL => in_form(Form::Snug),
            None => match in_form(Form::Airy) {
                airy if fits(&airy.2) => airy,
                _ => match in_form(Form::Snug) {
                    snug if fits(&snug.2) => snug,
                    snug => match in_form(Form::Bare) {
                        bare if fits(&bare.2) => bare,
                        bare => match by_name() {
                            named if fits(&named.2) => named,
                            _ if seen(&bare.2) > seen(&snug.2) => bare,
                            _ => snug,
                        },
                    },
                },
            },
        };
        let (form, boxes, layout) = chosen;
        Self { visible, boxes, form, layout }
    }
}
