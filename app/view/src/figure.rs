//! Pictures of a run as files: vector graphics and comma-separated values, drawn without a screen.
//!
//! [`svg`] and [`csv`] are pure functions of a [`Figure`]; the workbench's export, pages about a run and exports of
//! records all use them. Whatever the data, they return a whole document or say why there is none.

pub mod axis;
mod csv;
pub mod exchange;
pub mod graph;
mod ink;
pub mod kernel;
pub mod layout;
pub mod metrics;
pub mod outline;
pub mod passage;
mod quantity;
mod source;
mod svg;
#[cfg(test)]
pub(crate) mod tests;

use std::borrow::Cow;

use mlsys_lab::frame::Frame;
use mlsys_lab::report::RunData;
use mlsys_lab::schema::{Draw, Panel, Scale, Schema};

pub use csv::csv;
pub use quantity::quantity;
pub(crate) use quantity::{Prefix, unit};
pub use source::{Source, changed};
pub use svg::svg;

use crate::attempts::{self, Company};
use crate::glyphs::{GlyphSet, Glyphs};

/// What a figure is made from.
#[derive(Clone, Debug)]
pub struct Figure<'a> {
    /// The lab, for the units of its metrics.
    pub schema: &'a Schema,
    /// The panel, one of the lab's.
    pub panel: &'a Panel,
    /// The run.
    pub data: &'a RunData,
    /// Runs to put behind its curves, each with what it is called.
    pub earlier: Vec<(&'a str, &'a RunData)>,
    /// Where it comes from, as the last line says it.
    pub source: Source,
    /// What of it is shown.
    pub options: Options,
    /// Where somebody stands in a kernel's launch.
    pub walk: Option<&'a kernel::Walk>,
    /// The other runs of the lesson, for pictures of several.
    pub company: Company<'a>,
}

/// What of a picture is shown, and how.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Options {
    /// How the axis of values of a line chart divides; absent as the panel says.
    pub scale: Option<Scale>,
    /// The first and the last step of a line chart; absent for all.
    pub steps: Option<(u64, u64)>,
    /// Which curves are smoothed.
    pub smoothing: Smoothing,
}

/// Which curves are smoothed; the raw curve stays visible behind a smoothed one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Smoothing {
    /// Those that jump about so much that the trend is hard to see.
    #[default]
    WhereNoisy,
    /// None.
    Off,
    /// All.
    On,
}

/// There is nothing to draw.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the picture '{panel}' has nothing to show yet: run the lab first")]
pub struct Nothing {
    /// The panel.
    pub panel: String,
}

/// What a figure shows, by the way it is drawn.
#[expect(clippy::large_enum_variant, reason = "there is one at a time, and it is not kept")]
enum Content<'a> {
    /// Curves over steps.
    Lines(Vec<&'a str>),
    /// A picture, sent by the lab or made from its metrics.
    Frame(Cow<'a, Frame>),
}

impl<'a> Figure<'a> {
    /// A figure of all of a run's panel, with nothing behind it.
    pub fn of(schema: &'a Schema, panel: &'a Panel, data: &'a RunData, source: Source) -> Self {
        Self {
            schema,
            panel,
            data,
            earlier: Vec::new(),
            source,
            options: Options::default(),
            walk: None,
            company: Company::default(),
        }
    }

    fn content(&self) -> Result<Content<'a>, Nothing> {
        let nothing = || Nothing { panel: self.panel.name.clone() };
        let names = metrics::expand(&self.panel.metrics, self.data);
        match self.panel.draw {
            Draw::Frame => {
                let found = self.data.frames.get(self.panel.name.as_str());
                let (_, frame) = found.ok_or_else(nothing)?;
                Ok(Content::Frame(match frame.kernel() {
                    // A file has no next step: it has the rows of where one stands.
                    Some(kernel) => Cow::Owned(kernel::picture(kernel, self.walk)),
                    None => Cow::Borrowed(frame),
                }))
            }
            Draw::Attempts => {
                let picture = attempts::picture(self.schema, self.panel, self.data, &self.company);
                Ok(Content::Frame(Cow::Owned(picture.ok_or_else(nothing)?)))
            }
            _ if names.is_empty() => Err(nothing()),
            Draw::Line => Ok(Content::Lines(names)),
            Draw::Bars => {
                let bars = metrics::bars(self.schema, self.panel, self.data);
                Ok(Content::Frame(Cow::Owned(Frame::Bars(bars))))
            }
            Draw::Table => {
                let table = metrics::table(self.schema, self.panel, self.data, &glyphs());
                Ok(Content::Frame(Cow::Owned(Frame::Table(table))))
            }
        }
    }

    /// How the axis of values of a line chart divides.
    fn scale(&self) -> Scale {
        self.options.scale.unwrap_or(self.panel.scale)
    }

    /// The steps of a line chart: what was asked for, else all that any run in it has.
    fn steps(&self) -> (u64, u64) {
        let runs = [self.data];
        let runs = runs.into_iter().chain(self.earlier.iter().map(|(_, data)| *data));
        let ends = runs.flat_map(|data| {
            metrics::expand(&self.panel.metrics, data)
                .into_iter()
                .filter_map(|name| data.series.get(name))
                .filter_map(|series| {
                    let (points, gaps) = (series.points(), series.gaps());
                    let first =
                        points.first().map(|p| p.0).into_iter().chain(gaps.first().copied());
                    let last = points.last().map(|p| p.0).into_iter().chain(gaps.last().copied());
                    Some((first.min()?, last.max()?))
                })
        });
        let all = ends.reduce(|(a, b), (c, d)| (a.min(c), b.max(d)));
        let all = all.unwrap_or((0, self.data.step));
        self.options.steps.unwrap_or(all)
    }
}

/// Files can hold every character.
fn glyphs() -> Glyphs {
    Glyphs::new(GlyphSet::Unicode)
}
