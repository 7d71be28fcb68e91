//! A text whose parts stand differently.

use mlsys_lab::frame::{Passage, Tone};
use unicode_width::UnicodeWidthStr;

use super::page::{Anchor, LINE, MARGIN, Page, Sample, WIDTH};
use crate::figure::ink;
use crate::figure::passage::rows;

/// Letters of a row; wide ones count twice.
const LETTERS: usize = 100;
/// Rows of one figure; the file of values has them all.
const MOST_ROWS: usize = 128;

/// Draws a legend, the rows of letters of one width, and the sentence.
pub(super) fn draw(page: &mut Page, passage: &Passage) {
    let entries: Vec<(Sample, String)> = passage
        .standings
        .iter()
        .map(|standing| {
            let [before, behind] = &standing.marks;
            let name = format!("{before}{}{behind}", standing.name);
            (Sample::Field(color(standing.tone)), name)
        })
        .collect();
    page.legend(&entries);
    page.y += 8.0;
    let wide = (WIDTH - 2.0 * MARGIN) / LETTERS as f64;
    let paragraphs = passage.paragraphs.iter();
    let all = paragraphs.flat_map(|paragraph| rows(passage, paragraph, LETTERS));
    for row in all.take(MOST_ROWS) {
        let mut letters = 0;
        for run in row {
            let standing = run.standing.and_then(|place| passage.standings.get(place));
            let color = standing.map_or(ink::DIM, |standing| color(standing.tone));
            let at = (MARGIN + letters as f64 * wide, page.y);
            page.styled(at, Anchor::Start, &run.text, "m", color);
            letters += run.text.width();
        }
        page.y += LINE;
    }
    if !passage.note.is_empty() {
        page.told(&passage.note);
    }
}

fn color(tone: Tone) -> &'static str {
    match tone {
        Tone::First => ink::INK,
        Tone::Second => ink::color(1),
        Tone::Third => ink::color(2),
        Tone::Faint | Tone::Empty => ink::DIM,
        Tone::Warn => ink::color(4),
        Tone::Bad => ink::BAD,
    }
}
