//! A graph: boxes in layers from left to right, lines between them, and below the walk step by step.

use mlsys_lab::frame::{Graph, NodeKind};

use super::page::{Anchor, LINE, MARGIN, Page, Sample, WIDTH, cut, short, wrapped};
use crate::figure::graph::{
    Card, Drawing, Form, Head, Item, Sight, carried, kind, not_finite, pass,
};
use crate::figure::ink;

/// The width of a cell of the layout: that of a letter of fixed width.
const ACROSS: f64 = 7.3;
/// Its height.
const DOWN: f64 = 15.0;
/// Steps of the walk that are written out; the file of values has them all.
const STEPS: usize = 80;

/// Draws the graph with all that its walk leaves behind, then the walk in words.
pub(super) fn draw(page: &mut Page, graph: &Graph) {
    let sight = Sight { steps: graph.walk.len(), form: Some(Form::Airy), ..Sight::default() };
    let drawing = Drawing::fitting(graph, &sight, (usize::MAX, usize::MAX));
    let (wide, high) = (drawing.layout.width as f64 * ACROSS, drawing.layout.height as f64 * DOWN);
    // What is too wide is made smaller rather than cut: a reader can enlarge it.
    let scale = ((WIDTH - 2.0 * MARGIN) / wide.max(1.0)).min(1.0);
    page.inside((MARGIN, page.y), scale, |page| {
        lines(page, graph, &sight, &drawing);
        boxes(page, graph, &drawing);
    });
    page.y += high * scale + LINE;
    kinds(page, graph, &drawing);
    let (before, after) = drawing.shown.left_out;
    if before + after > 0 {
        let text = format!("{} boxes are not in the picture", before + after);
        page.text((MARGIN, page.y), Anchor::Start, &text, ink::DIM);
        page.y += LINE;
    }
    walk(page, graph);
}

/// The lines: the thicker, the more of the adjoint they carried, and red where that was no number.
fn lines(page: &mut Page, graph: &Graph, sight: &Sight, drawing: &Drawing) {
    let carried = carried(graph, sight, &drawing.shown);
    let any = carried.iter().any(|line| line.share > 0.0);
    for (route, line) in drawing.layout.routes.iter().zip(carried) {
        let centre = |(x, y): (usize, usize)| ((x as f64 + 0.5) * ACROSS, (y as f64 + 0.5) * DOWN);
        let (Some(first), Some(last)) = (route.first(), route.last()) else {
            continue;
        };
        // From the edge of the box it leaves, to that of the box it reaches.
        let forward = first.0 <= last.0;
        let side = if forward { ACROSS / 2.0 } else { -ACROSS / 2.0 };
        let (x, y) = centre(*first);
        let mut d = format!("M{} {}", short(x - side), short(y));
        for corner in route {
            let (x, y) = centre(*corner);
            d.push_str(&format!("L{} {}", short(x), short(y)));
        }
        let (x, y) = centre(*last);
        let (tip, back) = (x + side, x - side);
        let width = if any { 1.0 + 2.5 * line.share } else { 1.2 };
        let color = if line.is_broken { ink::BAD } else { ink::DIM };
        page.stroke(&d, color, short(width), "none");
        let head = format!(
            "M{} {}L{} {}L{} {}z",
            short(tip),
            short(y),
            short(back),
            short(y - 4.0),
            short(back),
            short(y + 4.0)
        );
        page.fill(&head, color);
    }
}

fn boxes(page: &mut Page, graph: &Graph, drawing: &Drawing) {
    let all = drawing.shown.items.iter().zip(&drawing.boxes);
    for ((item, card), place) in all.zip(&drawing.layout.places) {
        let (x, y) = (place.x as f64 * ACROSS, place.y as f64 * DOWN);
        let (wide, high) = (place.width as f64 * ACROSS, place.height as f64 * DOWN);
        // Half a cell of the border lies outside of the line.
        let (left, top) = (x + ACROSS / 2.0 - 3.6, y + 4.0);
        let d = format!(
            "M{} {}h{}v{}h{}z",
            short(left),
            short(top),
            short(wide),
            short(high - 8.0),
            short(-wide)
        );
        let (edge, width) = edge(graph, *item);
        page.fill(&d, ink::PAPER);
        page.stroke(&d, edge, width, if width > 2.0 { "6 2" } else { "none" });
        write(page, card, (x, y));
    }
}

/// The colour and the width of a box's edge: folded groups are told by theirs.
fn edge(graph: &Graph, item: Item) -> (&'static str, f64) {
    match item {
        Item::Node(node) => {
            let kind = graph.nodes.get(node).map(|node| node.kind);
            (kind.map_or(ink::INK, tint), 1.4)
        }
        Item::Group { .. } => (ink::INK, 2.4),
    }
}

fn tint(kind: NodeKind) -> &'static str {
    match kind {
        NodeKind::Input => ink::color(0),
        NodeKind::Parameter => ink::color(1),
        NodeKind::Constant | NodeKind::View => ink::color(5),
        NodeKind::Operation => ink::INK,
        NodeKind::Output => ink::color(2),
        NodeKind::Backward => ink::color(3),
        NodeKind::Update => ink::color(4),
    }
}

fn write(page: &mut Page, card: &Card, (x, y): (f64, f64)) {
    /// The widest text of the largest form.
    const LETTERS: usize = 30;
    let left = x + Form::Airy.frame() as f64 / 2.0 * ACROSS;
    let mut row = y + Form::Airy.border() as f64 * DOWN;
    let mut say = |text: &str, class: &str, color: &str| {
        let text = cut(text, LETTERS);
        page.styled((left, row + 11.5), Anchor::Start, &text, class, color);
        row += DOWN;
    };
    match (card.head, card.operation.as_str()) {
        (_, "") => say(&card.label, "m", ink::INK),
        (Head::Together, operation) => {
            say(&format!("{} = {operation}", card.label), "m", ink::INK);
        }
        (Head::Apart, operation) => {
            say(&card.label, "m", ink::INK);
            say(operation, "m", ink::DIM);
        }
    }
    let color = |text: &str, usual| if not_finite(text) { ink::BAD } else { usual };
    if let Some(value) = &card.value {
        say(value, "m", color(value, ink::INK));
    }
    if let Some(adjoint) = &card.adjoint {
        let said = format!("∂ {adjoint}");
        say(&said, "m", color(adjoint, ink::color(3)));
    }
}

/// What the edges of the boxes mean, for the kinds there are.
fn kinds(page: &mut Page, graph: &Graph, drawing: &Drawing) {
    let mut entries: Vec<(Sample, String)> = Vec::new();
    for item in &drawing.shown.items {
        let entry = match *item {
            Item::Node(node) => {
                let Some(node) = graph.nodes.get(node) else {
                    continue;
                };
                (Sample::Field(tint(node.kind)), kind(node.kind).to_owned())
            }
            Item::Group { .. } => (Sample::Thin("6 2"), "a folded group".to_owned()),
        };
        if entries.iter().all(|(_, known)| *known != entry.1) {
            entries.push(entry);
        }
    }
    page.legend(&entries);
}

/// The steps, each with its number and its line.
fn walk(page: &mut Page, graph: &Graph) {
    let mut now = None;
    for (place, step) in graph.walk.iter().take(STEPS).enumerate() {
        if now != Some(step.pass) {
            now = Some(step.pass);
            let name = pass(step.pass);
            page.y += 6.0;
            page.styled((MARGIN, page.y), Anchor::Start, name, "b", ink::INK);
            page.y += LINE;
        }
        let number = format!("{}.", place + 1);
        page.text((MARGIN + 20.0, page.y), Anchor::End, &number, ink::DIM);
        for line in wrapped(&step.text, WIDTH - 2.0 * MARGIN - 30.0) {
            page.text((MARGIN + 28.0, page.y), Anchor::Start, &line, ink::INK);
            page.y += LINE - 2.0;
        }
    }
    if graph.walk.len() > STEPS {
        let more = format!("and {} more steps", graph.walk.len() - STEPS);
        page.text((MARGIN, page.y), Anchor::Start, &more, ink::DIM);
        page.y += LINE;
    }
}
