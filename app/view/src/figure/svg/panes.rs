//! Several pictures with their titles, two side by side.

use mlsys_lab::frame::{Frame, HeatMap, Pane};

use super::heat;
use super::page::{Anchor, LINE, MARGIN, Page, WIDTH, cut};
use crate::figure::ink;

/// Pictures of one figure; the file of values has them all.
const MOST: usize = 64;
/// Letters of what the cells of a field mean.
const LEGEND: usize = 30;

/// Draws the pictures in rows of two, each as large as its half of the page allows.
pub(super) fn draw(page: &mut Page, panes: &[Pane]) {
    let half = (WIDTH - 2.0 * MARGIN) / 2.0;
    for row in panes.chunks(2).take(MOST / 2) {
        let top = page.y;
        let mut bottom = top;
        for (place, pane) in row.iter().enumerate() {
            let left = MARGIN + place as f64 * half;
            let title = cut(&pane.title, 50);
            page.styled((left, top + 4.0), Anchor::Start, &title, "b", ink::INK);
            let scale = scale(&pane.frame);
            // What is drawn inside begins at the margin of its own page.
            let corner = (left - MARGIN * scale, top + 10.0);
            let high = page.inside(corner, scale, |page| {
                page.y = 0.0;
                if let Some(map) = pane.frame.heat_map() {
                    // What the cells mean has to end before the next picture begins.
                    let legend = cut(&map.legend, LEGEND);
                    heat::draw(page, &HeatMap { legend, ..map.clone() });
                } else {
                    super::frame(page, &pane.frame);
                }
                page.y
            });
            bottom = f64::max(bottom, top + 10.0 + high * scale);
        }
        page.y = bottom + LINE;
    }
    if panes.len() > MOST {
        let more = format!("and {} more pictures", panes.len() - MOST);
        page.text((MARGIN, page.y), Anchor::Start, &more, ink::DIM);
        page.y += LINE;
    }
}

/// How large a picture is drawn: a square field leaves the right half of a page free anyway.
fn scale(frame: &Frame) -> f64 {
    match frame.heat_map() {
        Some(map) if map.columns <= map.rows => 0.72,
        Some(_) | None => 0.5,
    }
}
