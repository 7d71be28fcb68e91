//! Typed pictures of a lab's state; how they look is the screen's business.

mod bars;
mod cells;
mod distribution;
mod graph;
pub mod kernel;
mod message_state;
pub mod message_trace;
mod own;
mod scatter;
pub mod table;

use serde::{Deserialize, Serialize};

use crate::label::Label;
use crate::value::gaps_as_nan;

pub use bars::{Bar, Bars, Limit, Milestone, Span, Stack, Stacks, Timeline, Total};
pub use cells::{Alike, Cell, CellRow, Cells, Kind, Tone};
pub use distribution::{BoxPlot, Distribution, Histogram, Level, ValueSpread};
pub use graph::{
    Direction, Edge, Fact, Graph, Group, Mark, Marked, Node, NodeKind, Place, Slot, Step, Subject,
};
pub use message_state::{Arrived, ChunkState, Contributions, TraceState};
pub use message_trace::MessageTrace;
pub use scatter::{Better, Dimension, LineRole, Scale, Scatter, ScatterLine, ScatterPoint};
pub use table::Table;

/// A picture.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Frame {
    /// A field of numbers over the plane, perhaps with points on it.
    HeatMap(HeatMap),
    /// Labelled lengths.
    Bars(Bars),
    /// Stacked lengths, with a limit.
    Stacks(Stacks),
    /// How often values fall between edges.
    Histogram(Histogram),
    /// Box plots: distributions of groups of values.
    BoxPlot(BoxPlot),
    /// Named points between two axes.
    Scatter(Scatter),
    Table(Table),
    /// Cells in rows, each of one of a few kinds.
    Cells(Cells),
    /// Small grey images with labels.
    Images(Images),
    /// What is computed from what, with a walk over it.
    Graph(Graph),
    /// Bars over one axis, in lanes.
    Timeline(Timeline),
    /// Messages between ranks, round by round, that can be stepped through.
    #[serde(rename = "exchange")]
    MessageTrace(Box<MessageTrace>),
    /// Pictures one after the other, which can be stepped through.
    #[serde(rename = "film")]
    FrameSequence(Box<FrameSequence>),
    /// A kernel that can be stepped through.
    Kernel(Box<kernel::Kernel>),
    /// Several pictures side by side.
    Panes(Vec<Pane>),
    /// Text in spans of several styles.
    #[serde(rename = "passage")]
    StyledText(StyledText),
    /// Plain text.
    Text(String),
}

/// Accessors to one kind of frame; code that handles several kinds matches on [`Frame`].
impl Frame {
    /// The field, if the picture is one.
    pub fn heat_map(&self) -> Option<&HeatMap> {
        if let Self::HeatMap(map) = self { Some(map) } else { None }
    }

    /// The table, if the picture is one.
    pub fn table(&self) -> Option<&Table> {
        if let Self::Table(table) = self { Some(table) } else { None }
    }

    /// The graph, if the picture is one.
    pub fn graph(&self) -> Option<&Graph> {
        if let Self::Graph(graph) = self { Some(graph) } else { None }
    }

    /// The timeline, if the picture is one.
    pub fn timeline(&self) -> Option<&Timeline> {
        if let Self::Timeline(timeline) = self { Some(timeline) } else { None }
    }

    /// Where its numbers come from, if the picture itself says it.
    pub fn label(&self) -> Option<Label> {
        self.timeline()?.label
    }

    /// The kernel, if the picture is one that can be stepped through.
    pub fn kernel(&self) -> Option<&kernel::Kernel> {
        if let Self::Kernel(kernel) = self { Some(kernel) } else { None }
    }
}

/// A field of numbers, row-major from the top left.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeatMap {
    /// Cells in a row.
    pub columns: usize,
    /// Rows.
    pub rows: usize,
    /// `rows * columns` values; NaN where there is none.
    #[serde(deserialize_with = "gaps_as_nan")]
    pub cells: Vec<f32>,
    /// The value drawn as one end of the scale.
    pub low: f32,
    /// The value drawn as the other end.
    pub high: f32,
    /// What the columns span: left edge, right edge.
    pub x: (f32, f32),
    /// What the rows span: bottom edge, top edge.
    pub y: (f32, f32),
    /// Labels of the columns, if they are categories.
    pub column_labels: Vec<String>,
    /// Labels of the rows, if they are categories.
    pub row_labels: Vec<String>,
    /// Points on the field.
    pub points: Vec<Point>,
    /// What a cell's value means.
    pub legend: String,
}

/// A point on a heat map.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Horizontal position.
    pub x: f32,
    /// Vertical position, upwards.
    pub y: f32,
    /// Its class.
    pub class: u8,
}

/// Small grey images of one size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Images {
    /// Pixels in a row.
    pub width: usize,
    /// Rows of pixels.
    pub height: usize,
    /// The images.
    pub images: Vec<Image>,
    /// The level that stands for no pixel at all, such as a weight that was removed: it is left blank.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blank: Option<u8>,
    /// How many that follow one another belong together, such as 3 for before, after and difference: a row holds them
    /// whole if it is long enough; 1 where each stands alone.
    #[serde(default = "alone")]
    pub together: usize,
}

/// The number of images that belong together where nothing is said.
fn alone() -> usize {
    1
}

impl Images {
    /// The level of a pixel; none if the pixel is blank or not there.
    pub fn level(&self, image: &Image, row: usize, column: usize) -> Option<u8> {
        let level = image.pixels.get(row * self.width + column).copied();
        level.filter(|level| Some(*level) != self.blank)
    }

    /// The share of all pixels that are blank.
    pub fn blank_share(&self) -> f64 {
        let pixels = self.images.iter().flat_map(|image| &image.pixels);
        let (blank, all) = pixels.fold((0_u64, 0_u64), |(blank, all), level| {
            (blank + u64::from(Some(*level) == self.blank), all + 1)
        });
        blank as f64 / all.max(1) as f64
    }
}

/// One grey image.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Image {
    /// `width * height` bytes, 0 black, row-major.
    pub pixels: Vec<u8>,
    /// What stands under it.
    pub label: String,
    /// Whether what stands under it is right.
    pub verdict: Verdict,
}

/// Whether an image was recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Recognised.
    Right,
    /// Mistaken for something else.
    Wrong,
    /// Not wanted.
    Unjudged,
}

/// Pictures one after the other, one of which is seen at a time; stepping through them runs nothing.
///
/// Each picture stands for itself and has no steps of its own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FrameSequence {
    /// The pictures in order, each with what it shows in a few words.
    pub stills: Vec<Pane>,
    /// The picture that stands for all of them where nothing can be stepped through, as a place in `stills`.
    #[serde(default)]
    pub cover: usize,
}

impl FrameSequence {
    /// The picture at a place, the last one beyond the end; none if there are none.
    pub fn at(&self, place: usize) -> Option<&Pane> {
        self.stills.get(place.min(self.last()))
    }

    /// The place of the last picture.
    pub fn last(&self) -> usize {
        self.stills.len().saturating_sub(1)
    }
}

/// One of several pictures side by side, such as one heat map a head.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pane {
    /// What stands above it.
    pub title: String,
    /// The picture.
    pub frame: Frame,
}

/// Text in spans of several styles.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StyledText {
    /// How a part can stand, for the legend.
    pub standings: Vec<SpanKind>,
    /// Texts one below the other, such as one a sequence.
    pub paragraphs: Vec<Paragraph>,
    /// A sentence on what is seen; may be empty.
    #[serde(default)]
    pub note: String,
}

/// How a part of a text can stand.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpanKind {
    /// Its name, such as "drafted".
    pub name: String,
    /// How it stands out.
    pub tone: Tone,
    /// What stands before and behind such a part, so that it is known without colour; may be empty.
    pub marks: [String; 2],
}

/// One text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Paragraph {
    /// What stands before it, such as a number; may be empty.
    #[serde(default)]
    pub label: String,
    /// Its parts in order.
    pub stretches: Vec<StyledSpan>,
}

/// A part of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StyledSpan {
    /// How it stands, as a place in [`StyledText::standings`].
    pub standing: usize,
    /// The text; line ends are kept.
    pub text: String,
}

impl StyledText {
    /// How a part stands, if that is one of those listed.
    pub fn standing(&self, stretch: &StyledSpan) -> Option<&SpanKind> {
        self.standings.get(stretch.standing)
    }

    /// A part with its marks.
    pub fn marked(&self, stretch: &StyledSpan) -> String {
        match self.standing(stretch) {
            Some(SpanKind { marks: [before, behind], .. }) if !stretch.text.is_empty() => {
                format!("{before}{}{behind}", stretch.text)
            }
            Some(_) | None => stretch.text.clone(),
        }
    }

    /// A text with its marks and its label.
    pub fn plain(&self, paragraph: &Paragraph) -> String {
        let parts = paragraph.stretches.iter().map(|part| self.marked(part));
        let text: String = parts.collect();
        match paragraph.label.as_str() {
            "" => text,
            label => format!("{label}: {text}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture;

    #[test]
    fn a_blank_pixel_has_no_level() {
        let image = picture::image(vec![0, 7, 0, 255], "");
        let images = Images { blank: Some(0), ..picture::images([2, 2], vec![image.clone()]) };
        assert_eq!(images.blank_share(), 0.5);
        assert_eq!(images.level(&image, 0, 0), None);
        assert_eq!(images.level(&image, 0, 1), Some(7));
        assert_eq!(images.level(&image, 2, 0), None);
        let full = Images { blank: None, ..images };
        assert_eq!(full.blank_share(), 0.0);
        assert_eq!(full.level(&image, 1, 0), Some(0));
    }

    #[test]
    fn a_heat_map_with_a_gap_round_trips() {
        let map = picture::heat_map([1, 2], vec![0.5, f32::NAN], (0.0, 1.0), "");
        let text = serde_json::to_string(&map).unwrap();
        let read: HeatMap = serde_json::from_str(&text).unwrap();
        assert!(read.cells[0] == 0.5 && read.cells[1].is_nan(), "{text}");
    }

    #[test]
    fn a_place_beyond_the_end_is_the_last_picture() {
        let still = |title| picture::pane(title, Frame::Text(String::new()));
        let film = FrameSequence { stills: vec![still("a"), still("b")], cover: 0 };
        let title = |place| film.at(place).map(|still| still.title.as_str());
        assert_eq!([title(0), title(1), title(9)], [Some("a"), Some("b"), Some("b")]);
        assert_eq!(FrameSequence::default().at(0), None);
    }
}
