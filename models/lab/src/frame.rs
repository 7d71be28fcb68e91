//! Typed pictures of a lab's state; how they look is the screen's business.

use serde::{Deserialize, Serialize};

use crate::schema::Scale;
use crate::value::Value;

/// A picture.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Frame {
    /// A field of numbers over the plane, perhaps with points on it.
    HeatMap(HeatMap),
    /// Labelled lengths.
    Bars(Bars),
    /// Rows and columns of values.
    Table(Table),
    /// Small grey images with labels.
    Images(Images),
    /// Plain text.
    Text(String),
}

/// A field of numbers, row-major from the top left.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeatMap {
    /// Cells in a row.
    pub columns: usize,
    /// Rows.
    pub rows: usize,
    /// `rows * columns` values.
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

/// Labelled lengths on one axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bars {
    /// The unit of all values.
    pub unit: String,
    /// How the axis divides.
    pub scale: Scale,
    /// The bars, from the top.
    pub bars: Vec<Bar>,
}

/// One labelled length.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bar {
    /// What it is.
    pub label: String,
    /// Its length; absent if it is not finite or not known.
    pub value: Option<f64>,
    /// A word beside it, such as "limits".
    pub remark: String,
}

/// Rows and columns of values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// Column titles, with units where there are any.
    pub columns: Vec<String>,
    /// Rows, as long as there are columns.
    pub rows: Vec<Vec<Value>>,
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
    /// Nobody asked.
    Unjudged,
}
