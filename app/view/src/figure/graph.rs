//! A graph as it is drawn on the screen and in files: what of it is shown, in boxes of what size, and where.

mod carried;
mod facts;
mod shown;
mod sight;
mod words;

use mlsys_lab::frame::Graph;

use super::layout::{Arranged, Layout, Size, lay_out};

pub use carried::{carried, not_finite};
pub(crate) use facts::said;
pub use facts::{facts, kind, line, pass};
pub use shown::{Item, Link, Shown};
pub use sight::{Closer, Sight, Way};
pub use words::{Card, Form, Head, Words};

/// A graph ready to be drawn.
pub struct Drawing {
    /// What of the graph is shown.
    pub shown: Shown,
    /// What stands in the boxes, in the order of the items.
    pub boxes: Vec<Card>,
    /// The form of the boxes.
    pub form: Form,
    /// Where everything is.
    pub layout: Layout,
}

/// Beyond this number of boxes no larger form fits.
const SMALL: usize = 60;

impl Drawing {
    /// The graph in the largest form that fits into the columns and rows, else in one that is good to scroll; a form
    /// that was asked for is kept.
    pub fn fitting(graph: &Graph, sight: &Sight, (width, height): (usize, usize)) -> Self {
        let shown = Shown::of(graph, sight);
        let links: Vec<(usize, usize)> = shown.links.iter().map(|l| (l.from, l.to)).collect();
        let arranged = Arranged::of(shown.items.len(), &links);
        let words = Words::of(graph, sight, &shown);
        let in_form = |form: Form| {
            let items = shown.items.iter();
            let boxes: Vec<Card> = items.map(|item| words.item(item, form)).collect();
            let sizes: Vec<Size> = boxes.iter().map(|b| b.size(form)).collect();
            let layout = lay_out(&arranged, &sizes, form.spacing());
            (form, boxes, layout)
        };
        let fits = |layout: &Layout| layout.width <= width && layout.height <= height;
        let chosen = match sight.form {
            Some(form) => in_form(form),
            None if shown.items.len() > SMALL => in_form(Form::Snug),
            None => match in_form(Form::Airy) {
                airy if fits(&airy.2) => airy,
                _ => match in_form(Form::Snug) {
                    snug if fits(&snug.2) => snug,
                    snug => match in_form(Form::Bare) {
                        // Where one has to scroll, one way is enough.
                        bare if !fits(&bare.2) && snug.2.height <= height => snug,
                        bare => bare,
                    },
                },
            },
        };
        let (form, boxes, layout) = chosen;
        Self { shown, boxes, form, layout }
    }
}
