//! A graph laid out in boxes of the largest form that fits.

use std::iter;

use mlsys_lab::frame::Graph;
use ratatui::layout::Rect;

use crate::panel::picture::graph::cards::{Card, Cards, Form};
use crate::panel::picture::graph::layout::{
    Arranged, Fit, Layout, Size, Spacing, lay_out, side_by_side,
};
use crate::panel::picture::graph::view::{GraphView, Item, VisibleGraph};

pub struct Drawing {
    pub(super) visible: VisibleGraph,
    pub(super) boxes: Vec<Card>,
    pub(super) form: Form,
    pub(super) layout: Layout,
}

/// Columns and rows.
type Room = (usize, usize);

/// Beyond this number of boxes no larger form fits.
const SMALL: usize = 60;

impl Drawing {
    pub(super) fn fits(&self, area: Rect) -> bool {
        fits(&self.layout, (area.width.into(), area.height.into()))
    }

    /// The graph in the largest form that fits, else in one that scrolls well; a requested form is kept.
    pub(super) fn fitting(graph: &Graph, sight: &GraphView, room: Room) -> Self {
        let draft = Draft::new(graph, sight);
        // The part of a drawing that is in sight.
        let seen = |layout: &Layout| {
            let share = |room: usize, all: usize| room.min(all) as f64 / all.max(1) as f64;
            share(room.0, layout.width) * share(room.1, layout.height)
        };
        let in_form = |form: Form| draft.in_form(form, room);
        let (form, boxes, layout) = match sight.form {
            Some(form) => in_form(form),
            None if !draft.is_small() => in_form(Form::Snug),
            None => match in_form(Form::Airy) {
                airy if fits(&airy.2, room) => airy,
                _ => match in_form(Form::Snug) {
                    snug if fits(&snug.2, room) => snug,
                    snug => match in_form(Form::Bare) {
                        bare if fits(&bare.2, room) => bare,
                        bare => match draft.by_name(room) {
                            named if fits(&named.2, room) => named,
                            _ if seen(&bare.2) > seen(&snug.2) => bare,
                            _ => snug,
                        },
                    },
                },
            },
        };
        Self { visible: draft.visible, boxes, form, layout }
    }

    /// The rows of the lowest and of the highest drawing whose columns fit; nothing where none does.
    pub(super) fn heights(graph: &Graph, sight: &GraphView, width: usize) -> Option<[usize; 2]> {
        let draft = Draft::new(graph, sight);
        if !draft.is_small() {
            return None;
        }
        let forms = match sight.form {
            Some(form) => vec![form],
            None => vec![Form::Airy, Form::Snug, Form::Bare],
        };
        let rows = forms.into_iter().flat_map(|form| {
            let sizes = sizes(&draft.boxes(form), form);
            let layouts = draft.layouts(&draft.arranged, &sizes, form.spacing());
            let layouts = layouts.filter(|layout| layout.width <= width);
            layouts.map(|layout| layout.height).collect::<Vec<_>>()
        });
        let rows: Vec<usize> = rows.collect();
        Some([*rows.iter().min()?, *rows.iter().max()?])
    }
}

fn fits(layout: &Layout, (width, height): Room) -> bool {
    layout.width <= width && layout.height <= height
}

fn sizes(boxes: &[Card], form: Form) -> Vec<Size> {
    boxes.iter().map(|card| card.size(form)).collect()
}

/// What all forms of a drawing have in common.
struct Draft<'a> {
    visible: VisibleGraph,
    links: Vec<(usize, usize)>,
    arranged: Arranged,
    words: Cards<'a>,
}

/// A graph in boxes of a form.
type InForm = (Form, Vec<Card>, Layout);

impl<'a> Draft<'a> {
    fn new(graph: &'a Graph, sight: &GraphView) -> Self {
        let visible = VisibleGraph::new(graph, sight);
        let links: Vec<(usize, usize)> = visible.links.iter().map(|l| (l.from, l.to)).collect();
        let arranged = Arranged::new(visible.items.len(), &links, Fit::Clear);
        let words = Cards::new(graph, sight, &visible);
        Self { visible, links, arranged, words }
    }

    fn is_small(&self) -> bool {
        self.visible.items.len() <= SMALL
    }

    fn boxes(&self, form: Form) -> Vec<Card> {
        self.visible.items.iter().map(|item| self.words.item(item, form)).collect()
    }

    /// The whole, and of a small graph its parts next to each other.
    fn layouts(
        &self,
        arranged: &Arranged,
        sizes: &[Size],
        spacing: Spacing,
    ) -> impl Iterator<Item = Layout> {
        let whole = iter::once_with(move || lay_out(arranged, sizes, spacing));
        let parts =
            move || if self.is_small() { side_by_side(&self.links, sizes, spacing) } else { None };
        whole.chain(iter::once_with(parts).flatten())
    }

    /// The layout that fits, else that of the whole.
    fn laid_out(
        &self,
        arranged: &Arranged,
        boxes: &[Card],
        (form, spacing): (Form, Spacing),
        room: Room,
    ) -> Layout {
        let sizes = sizes(boxes, form);
        let mut layouts = self.layouts(arranged, &sizes, spacing);
        let whole = layouts.next().unwrap_or_default();
        if fits(&whole, room) {
            return whole;
        }
        layouts.find(|layout| fits(layout, room)).unwrap_or(whole)
    }

    fn in_form(&self, form: Form, room: Room) -> InForm {
        let boxes = self.boxes(form);
        let layout = self.laid_out(&self.arranged, &boxes, (form, form.spacing()), room);
        (form, boxes, layout)
    }

    /// Without borders, and of folded groups the name alone.
    fn by_name(&self, room: Room) -> InForm {
        let card = |item: &Item| match (item, self.words.item(item, Form::Bare)) {
            (Item::Group { .. }, card) => card.without_operation(),
            (Item::Node(_), card) => card,
        };
        let boxes: Vec<Card> = self.visible.items.iter().map(card).collect();
        let arranged = Arranged::new(boxes.len(), &self.links, Fit::Narrow);
        let spacing = Spacing { fit: Fit::Narrow, ..Form::Bare.spacing() };
        let layout = self.laid_out(&arranged, &boxes, (Form::Bare, spacing), room);
        (Form::Bare, boxes, layout)
    }
}
