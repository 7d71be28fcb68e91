//! Small grey images side by side.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use mlsys_lab::frame::{Image, Images, Verdict};

use super::page::{Anchor, LINE, MARGIN, Page, WIDTH, cut, short};
use crate::figure::ink;

/// Images of one figure; the file of values has them all.
const MOST: usize = 60;
/// The edge of one image.
const EDGE: f64 = 112.0;
/// Greys, so that pixels can share paths.
const GREYS: u8 = 16;

/// Draws images in rows, each with its label and whether it was recognised.
pub(super) fn draw(page: &mut Page, images: &Images) {
    let across = ((WIDTH - 2.0 * MARGIN) / (EDGE + 16.0)) as usize;
    let drawable = images.width > 0 && images.height > 0 && images.width.max(images.height) <= 256;
    if images.images.is_empty() || !drawable {
        let text = "no images, or images too large to draw";
        page.text((MARGIN, page.y), Anchor::Start, text, ink::DIM);
        page.y += LINE;
        return;
    }
    let pixel = EDGE / images.width.max(images.height) as f64;
    let high = pixel * images.height as f64;
    for row in images.images.chunks(across.max(1)).take(MOST.div_ceil(across.max(1))) {
        for (column, image) in row.iter().enumerate() {
            let x = MARGIN + column as f64 * (EDGE + 16.0);
            pixels(page, images, image, (x, page.y), pixel);
            let (text, color) = match image.verdict {
                Verdict::Unjudged => (image.label.clone(), ink::INK),
                Verdict::Right => (format!("✓ {}", image.label), ink::INK),
                Verdict::Wrong => (format!("✗ {} wrong", image.label), ink::BAD),
            };
            page.text((x, page.y + high + 14.0), Anchor::Start, &cut(&text, 18), color);
        }
        page.y += high + 30.0;
    }
    if images.images.len() > MOST {
        let more = format!("and {} more images", images.images.len() - MOST);
        page.text((MARGIN, page.y), Anchor::Start, &more, ink::DIM);
        page.y += LINE;
    }
}

/// Pixels of one grey side by side as one rectangle, and all of one grey as one path.
fn pixels(page: &mut Page, images: &Images, image: &Image, (left, top): (f64, f64), edge: f64) {
    let is_blank = |level: &u8| Some(*level) == images.blank;
    let grey = |level: u8| level / (255 / GREYS + 1);
    let mut paths: BTreeMap<u8, String> = BTreeMap::new();
    for (row, levels) in image.pixels.chunks(images.width).take(images.height).enumerate() {
        let mut column = 0;
        let alike = |a: &u8, b: &u8| grey(*a) == grey(*b) && is_blank(a) == is_blank(b);
        for run in levels.chunk_by(alike) {
            if run.first().is_some_and(is_blank) {
                column += run.len();
                continue;
            }
            let d = paths.entry(run.first().map_or(0, |level| grey(*level))).or_default();
            let (x, y) = (left + column as f64 * edge, top + row as f64 * edge);
            let across = short(run.len() as f64 * edge);
            let _ = write!(d, "M{} {}h{across}v{}h{}z", short(x), short(y), short(edge), -across);
            column += run.len();
        }
    }
    for (grey, d) in paths {
        let level = u16::from(grey) * 255 / u16::from(GREYS - 1);
        page.fill(&d, &format!("#{level:02x}{level:02x}{level:02x}"));
    }
}
