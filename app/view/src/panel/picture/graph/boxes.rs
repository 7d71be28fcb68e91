//! The boxes: name and operation, value, adjoint.

use mlsys_lab::frame::{Graph, NodeKind};
use ratatui::style::Style;
use unicode_width::UnicodeWidthChar;

use crate::canvas::{Canvas, Pen, width};
use crate::panel::picture::graph::layout::Place;
use crate::panel::picture::graph::{
    Card, Drawing, Form, Head, Item, WalkPosition, Window, not_finite, terms,
};
use crate::theme::Look;

pub(super) fn draw(
    window: &Window,
    canvas: &mut Canvas,
    graph: &Graph,
    drawing: &Drawing,
    at: WalkPosition,
    look: &Look,
) {
    for (index, place) in drawing.layout.places.iter().enumerate() {
        let (Some(item), Some(card)) = (drawing.visible.items.get(index), drawing.boxes.get(index))
        else {
            continue;
        };
        let kind = match *item {
            Item::Node(node) => graph.nodes.get(node).map_or(NodeKind::Operation, |n| n.kind),
            Item::Group { .. } => NodeKind::Operation,
        };
        let outline = match (at.focus == Some(index), item) {
            (true, _) => Outline::Looked,
            (false, Item::Group { .. }) => Outline::Folded,
            (false, Item::Node(_)) => Outline::Plain,
        };
        let broken =
            [&card.value, &card.adjoint].into_iter().flatten().any(|text| not_finite(text));
        let style = if broken {
            look.theme.bad
        } else if outline == Outline::Looked {
            look.theme.accent
        } else {
            tint(kind, look)
        };
        let mut sheet =
            Sheet { window, place: *place, pen: Pen::new(window.area, canvas, &look.glyphs) };
        if drawing.form.border() > 0 {
            border(&mut sheet, kind, outline, style, look);
        }
        let sign = terms::sign(graph.subject, &look.glyphs);
        write(&mut sheet, (card, sign), drawing.form, outline, look);
    }
    if drawing.form.border() > 0 {
        leave(window, canvas, drawing, at, look);
    }
}

/// How a box is outlined, so that it is told apart without colour.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outline {
    Plain,
    Looked,
    Folded,
}

/// A box on the screen: places are counted from its top left corner, and only those in sight are drawn.
struct Sheet<'a> {
    window: &'a Window,
    place: Place,
    pen: Pen<'a>,
}

impl Sheet<'_> {
    fn glyph(&mut self, x: usize, y: usize, glyph: &str, style: Style) {
        if let Some((x, y)) = self.window.cell(self.place.x + x, self.place.y + y) {
            self.pen.glyph(x, y, glyph, style);
        }
    }

    /// Text that may begin left of what is in sight.
    fn text(&mut self, x: usize, y: usize, room: usize, text: &str, style: Style) {
        // What a lab calls something must not steer the terminal.
        let text = text.replace(mlsys_expr::steers_terminal, " ");
        let cut = crate::canvas::cut(&text, room as u16, self.pen.ellipsis());
        let seen = self.window.cell(self.place.x + x, self.place.y + y);
        let last = self.place.x + x + usize::from(width(&cut)).saturating_sub(1);
        if let (Some((x, y)), Some(_)) = (seen, self.window.cell(last, self.place.y + y)) {
            self.pen.text(x, y, &cut, style);
            return;
        }
        let mut x = x;
        for letter in cut.chars() {
            let columns = letter.width().unwrap_or(0);
            let (left, y_in) = (self.place.x + x, self.place.y + y);
            let mut cells = (left..left + columns).map(|x| self.window.cell(x, y_in));
            // Of a letter of two columns that is half out of sight nothing can be drawn.
            let is_seen = columns > 0 && cells.all(|cell| cell.is_some());
            for place in x..x + columns {
                self.glyph(place, y, " ", style);
            }
            if is_seen {
                self.glyph(x, y, letter.encode_utf8(&mut [0; 4]), style);
            }
            x += columns;
        }
    }
}

fn tint(kind: NodeKind, look: &Look) -> Style {
    let theme = &look.theme;
    match kind {
        NodeKind::Input => theme.curves[0],
        NodeKind::Parameter => theme.curves[1],
        NodeKind::Constant | NodeKind::View => theme.dim,
        NodeKind::Operation => theme.border,
        NodeKind::Output => theme.good,
        NodeKind::Backward => theme.curves[3],
        NodeKind::Update => theme.warn,
    }
}

fn border(sheet: &mut Sheet<'_>, kind: NodeKind, outline: Outline, style: Style, look: &Look) {
    let glyphs = &look.glyphs;
    let (right, bottom) =
        (sheet.place.width.saturating_sub(1), sheet.place.height.saturating_sub(1));
    let weight = match outline {
        Outline::Plain => 0,
        Outline::Looked => 1,
        Outline::Folded => 2,
    };
    let strokes = &glyphs.strokes[weight];
    let given = matches!(kind, NodeKind::Input | NodeKind::Parameter | NodeKind::Constant);
    let corners = match outline {
        Outline::Plain if given => glyphs.square,
        Outline::Plain => glyphs.corners,
        Outline::Looked | Outline::Folded => [strokes[10], strokes[9], strokes[6], strokes[5]],
    };
    for x in 1..right {
        sheet.glyph(x, 0, strokes[3], style);
        sheet.glyph(x, bottom, strokes[3], style);
    }
    for y in 1..bottom {
        sheet.glyph(0, y, strokes[12], style);
        sheet.glyph(right, y, strokes[12], style);
    }
    for (corner, (x, y)) in corners.iter().zip([(0, 0), (right, 0), (0, bottom), (right, bottom)]) {
        sheet.glyph(x, y, corner, style);
    }
}

/// Where lines leave, the border opens towards them.
fn leave(window: &Window, canvas: &mut Canvas, drawing: &Drawing, at: WalkPosition, look: &Look) {
    for (link, route) in drawing.visible.links.iter().zip(&drawing.layout.routes) {
        let (Some(place), Some(start)) = (drawing.layout.places.get(link.from), route.first())
        else {
            continue;
        };
        // A line that was turned round leaves to the left, where boxes have no opening.
        if start.0 != place.x + place.width {
            continue;
        }
        let weight = match drawing.visible.items.get(link.from) {
            _ if at.focus == Some(link.from) => 1,
            Some(Item::Group { .. }) => 2,
            Some(Item::Node(_)) | None => 0,
        };
        if let Some((x, y)) = window.cell(start.0 - 1, start.1)
            && canvas.cells.area.contains((x, y).into())
        {
            // The style of the border stays.
            canvas.cells[(x, y)].set_symbol(look.glyphs.strokes[weight][14]);
        }
    }
}

/// Writes a card, with the sign before what came back to it.
fn write(
    sheet: &mut Sheet<'_>,
    (card, sign): (&Card, &str),
    form: Form,
    outline: Outline,
    look: &Look,
) {
    let theme = &look.theme;
    let left = form.frame() / 2;
    let room = sheet.place.width.saturating_sub(form.frame());
    let mut y = form.border();
    let name = match outline {
        // Without a border the reversed name shows where one is.
        Outline::Looked if form == Form::Bare => theme.selection,
        Outline::Looked => theme.accent,
        Outline::Plain | Outline::Folded => theme.title,
    };
    sheet.text(left, y, room, &card.label, name);
    let used = usize::from(width(&card.label));
    match (card.head, card.operation.is_empty()) {
        (_, true) => {}
        (Head::Together, false) => {
            let rest = room.saturating_sub(used);
            let operation = format!(" = {}", card.operation);
            sheet.text(left + used, y, rest, &operation, theme.dim);
        }
        (Head::Apart, false) => {
            y += 1;
            sheet.text(left, y, room, &card.operation, theme.dim);
        }
    }
    y += 1;
    if let Some(value) = &card.value {
        let style = if not_finite(value) { theme.bad } else { theme.text };
        sheet.text(left, y, room, value, style);
    }
    y += 1;
    if let Some(adjoint) = &card.adjoint {
        let space = " ".repeat(form.sign().saturating_sub(1));
        let came_back = format!("{sign}{space}{adjoint}");
        let style = if not_finite(adjoint) { theme.bad } else { theme.curves[3] };
        sheet.text(left, y, room, &came_back, style);
    }
}
