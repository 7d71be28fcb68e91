//! The elements of a vector graphic, placed on a grid of cells.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::canvas::shape::{Shape, mark};
use crate::theme::{Rgb, Theme, to_rgb};
use crate::xml::escaped;

/// The width and the height of a cell in pixels: letters of the size of labels fit their columns.
pub(crate) const CELL: (f64, f64) = (8.0, 16.0);
/// Where letters stand in their cell.
const BASELINE: f64 = 12.0;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// Where a text is held, in columns and rows; its height where it does not stand in a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct TextPlace {
    pub(super) x: f64,
    pub(super) y: Option<f64>,
    pub(super) anchor: Anchor,
}

pub(crate) struct Vector {
    pub(super) body: String,
    ink: Rgb,
    paper: Rgb,
    /// Whether letters all have the same width.
    pub(super) fixed: bool,
}

impl Vector {
    /// No elements yet; what has no colour of its own takes the theme's.
    pub(crate) fn new(theme: &Theme) -> Self {
        let (ink, paper) = theme.defaults();
        Self { body: String::new(), ink, paper, fixed: false }
    }

    /// The colours of a style: what is drawn, and the field behind it if there is one.
    fn colors(&self, style: Style) -> (Rgb, Option<Rgb>) {
        let set = |color: Option<Color>| color.filter(|color| *color != Color::Reset).map(to_rgb);
        let (ink, behind) = (set(style.fg).unwrap_or(self.ink), set(style.bg));
        if style.add_modifier.contains(Modifier::REVERSED) {
            (behind.unwrap_or(self.paper), Some(ink))
        } else {
            (ink, behind)
        }
    }

    /// A text that begins in a cell, or is held elsewhere; `crosses` what was drawn before, from which it is set off.
    pub(super) fn text(
        &mut self,
        (x, y): (u16, u16),
        held: Option<TextPlace>,
        text: &str,
        style: Style,
        crosses: bool,
    ) {
        let (_, behind) = self.colors(style);
        if let Some(behind) = behind {
            let wide = text.width() as f64;
            let (x, y) = (f64::from(x), f64::from(y));
            self.fill((x, y + 0.1), (x + wide, y + 0.9), behind, 1.0);
        }
        // Glyphs that are pictures are drawn in their own cells, and the words between them as text.
        let mut column = x;
        let mut words = (column, String::new());
        let mut parts: Vec<(u16, String)> = Vec::new();
        for letter in text.chars() {
            let wide = letter.width().unwrap_or(0) as u16;
            let symbol = letter.encode_utf8(&mut [0; 4]).to_owned();
            if !letter.is_ascii()
                && (mark(&symbol).is_some() || Shape::from_symbol(&symbol).is_some())
            {
                self.glyph((column, y), (1, 1), &symbol, Style { bg: None, ..style });
                parts.push(std::mem::replace(&mut words, (column + wide, String::new())));
            } else if letter == ' ' && words.1.trim().is_empty() {
                words = (column + wide, String::new());
            } else {
                words.1.push(letter);
            }
            column = column.saturating_add(wide);
        }
        let is_whole = parts.iter().all(|part| part.1.trim().is_empty());
        parts.push(words);
        let parts = parts.into_iter().filter(|part| !part.1.trim().is_empty());
        for (x, words) in parts {
            let (x, anchor) = match held {
                Some(held) if is_whole => (held.x, held.anchor),
                Some(_) | None => (f64::from(x), Anchor::Start),
            };
            let y = held.and_then(|held| held.y).map_or(f64::from(y), |middle| middle - 0.5);
            self.words((x, y), anchor, words.trim_end(), style, crosses && behind.is_none());
        }
    }

    fn words(
        &mut self,
        (x, y): (f64, f64),
        anchor: Anchor,
        text: &str,
        style: Style,
        crosses: bool,
    ) {
        let (ink, _) = self.colors(style);
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let class = match (self.fixed, style.add_modifier.contains(Modifier::BOLD)) {
            (false, false) => "",
            (false, true) => " class=\"b\"",
            (true, false) => " class=\"m\"",
            (true, true) => " class=\"m b\"",
        };
        let mut halo = String::new();
        if crosses {
            let _ = write!(halo, " paint-order=\"stroke\" stroke=\"{}\"", hex(self.paper));
            halo.push_str(" stroke-width=\"3\"");
        }
        let (x, y) = (short(x * CELL.0), short(y * CELL.1 + BASELINE));
        let _ = writeln!(
            self.body,
            "<text x=\"{x}\" y=\"{y}\"{anchor}{class}{halo} fill=\"{}\">{}</text>",
            hex(ink),
            escaped(text)
        );
    }

    /// A glyph repeated over columns and rows: lines, rectangles and marks as shapes, others as text.
    pub(super) fn glyph(
        &mut self,
        (x, y): (u16, u16),
        (across, down): (u16, u16),
        symbol: &str,
        style: Style,
    ) {
        if across == 0 || down == 0 {
            return;
        }
        /// Strokes that are drawn broad.
        const BROAD: &str = "━═┃║┏┓┗┛┣┫┳┻╋╔╗╚╝╠╣╦╩╬";
        let (ink, behind) = self.colors(style);
        let (left, top) = (f64::from(x), f64::from(y));
        let (right, bottom) = (left + f64::from(across), top + f64::from(down));
        if let Some(behind) = behind {
            self.fill((left, top), (right, bottom), behind, 1.0);
        }
        if symbol.trim().is_empty() {
            return;
        }
        let cells =
            (y..y + down).flat_map(|y| (x..x + across).map(move |x| (f64::from(x), f64::from(y))));
        if let Some(outline) = mark(symbol) {
            // A mark in each cell, set off from what lies behind it.
            cells.for_each(|(x, y)| self.outlined((x + 0.5, y + 0.5), outline, ink));
            return;
        }
        let wide = if BROAD.contains(symbol) { 2.2 } else { 1.0 };
        let at = |(x, y): (f64, f64), dx: f32, dy: f32| (x + f64::from(dx), y + f64::from(dy));
        match (symbol, Shape::from_symbol(symbol)) {
            ("─" | "━" | "═", _) => {
                for y in (y..y + down).map(|y| f64::from(y) + 0.5) {
                    self.path(&line(&[(left, y), (right, y)]), ink, wide, "");
                }
            }
            ("│" | "┃" | "║" | "┊", _) => {
                let dash = if symbol == "┊" { "3 3" } else { "" };
                for x in (x..x + across).map(|x| f64::from(x) + 0.5) {
                    self.path(&line(&[(x, top), (x, bottom)]), ink, wide, dash);
                }
            }
            (_, Some(Shape::Fills(parts, opacity))) => match parts.as_slice() {
                [[l, t, r, b]] if (*l, *r) == (0.0, 1.0) || (*t, *b) == (0.0, 1.0) => {
                    // Repeated, a part of the cell stays that part of the whole.
                    let (wide, high) = (right - left, bottom - top);
                    let from = (left + wide * f64::from(*l), top + high * f64::from(*t));
                    let to = (left + wide * f64::from(*r), top + high * f64::from(*b));
                    self.fill(from, to, ink, opacity.into());
                }
                parts => {
                    for cell in cells {
                        for [l, t, r, b] in parts {
                            self.fill(at(cell, *l, *t), at(cell, *r, *b), ink, opacity.into());
                        }
                    }
                }
            },
            (_, Some(Shape::Lines(parts))) => {
                let mut d = String::new();
                for cell in cells {
                    for [x0, y0, x1, y1] in &parts {
                        d.push_str(&line(&[at(cell, *x0, *y0), at(cell, *x1, *y1)]));
                    }
                }
                self.path(&d, ink, wide, "");
            }
            // Dots come as exact curves.
            (_, Some(Shape::Dots(_))) => {}
            (_, None) => {
                for (x, y) in cells {
                    let x = x + symbol.width() as f64 / 2.0;
                    self.words((x, y), Anchor::Middle, symbol, style, false);
                }
            }
        }
    }

    fn outlined(&mut self, (x, y): (f64, f64), outline: &str, ink: Rgb) {
        let (x, y, paper) = (short(x * CELL.0), short(y * CELL.1), hex(self.paper));
        let _ = writeln!(
            self.body,
            "<path transform=\"translate({x} {y})\" d=\"{outline}\" fill=\"{}\" stroke=\"{paper}\" \
             stroke-width=\"0.8\"/>",
            hex(ink),
        );
    }

    pub(super) fn point(&mut self, (x, y): (f64, f64), symbol: &str, style: Style) {
        let (ink, _) = self.colors(style);
        match mark(symbol) {
            Some(outline) => self.outlined((x, y), outline, ink),
            None => self.words((x, y - 0.5), Anchor::Middle, symbol, style, true),
        }
    }

    /// Rectangles between two corners each, as dense as a glyph: what is not full has an edge.
    pub(super) fn blocks(&mut self, blocks: &[[(f64, f64); 2]], fill: &str, style: Style) {
        let (ink, _) = self.colors(style);
        let opacity = match Shape::from_symbol(fill) {
            Some(Shape::Fills(_, opacity)) => f64::from(opacity),
            Some(_) | None => 0.12,
        };
        let mut d = String::new();
        for [(left, top), (right, bottom)] in blocks {
            let (left, right) = (short(left * CELL.0), short(right * CELL.0));
            let (top, bottom) = (short(top * CELL.1), short(bottom * CELL.1));
            let _ = write!(d, "M{left} {top}H{right}V{bottom}H{left}z");
        }
        if d.is_empty() {
            return;
        }
        let color = hex(ink);
        let edge = match opacity < 1.0 {
            true => format!(" fill-opacity=\"{opacity}\" stroke=\"{color}\""),
            false => String::new(),
        };
        let _ = writeln!(self.body, "<path d=\"{d}\" fill=\"{color}\"{edge}/>");
    }

    /// Lines of one colour and width as one element.
    pub(super) fn polylines(
        &mut self,
        lines: &[Vec<(f64, f64)>],
        style: Style,
        wide: f64,
        dash: &str,
    ) {
        let (ink, _) = self.colors(style);
        let d: String = lines.iter().map(|places| line(places)).collect();
        self.path(&d, ink, wide, dash);
    }

    /// Cells of one colour side by side are one rectangle, and all of one colour one element.
    pub(super) fn mosaic(
        &mut self,
        area: Rect,
        (columns, rows): (usize, usize),
        color: impl Fn(usize, usize) -> Option<Color>,
    ) {
        let size = (
            f64::from(area.width) * CELL.0 / columns.max(1) as f64,
            f64::from(area.height) * CELL.1 / rows.max(1) as f64,
        );
        let (left, top) = (f64::from(area.x) * CELL.0, f64::from(area.y) * CELL.1);
        let mut paths: BTreeMap<String, String> = BTreeMap::new();
        for row in 0..rows {
            let colors: Vec<Option<Color>> =
                (0..columns).map(|column| color(row, column)).collect();
            let mut column = 0;
            for run in colors.chunk_by(|a, b| a == b) {
                if let Some(Some(color)) = run.first() {
                    let d = paths.entry(hex(coarse(to_rgb(*color)))).or_default();
                    let (x, y) = (left + column as f64 * size.0, top + row as f64 * size.1);
                    let (wide, high) = (short(run.len() as f64 * size.0), short(size.1));
                    let _ = write!(d, "M{} {}h{wide}v{high}h-{wide}z", short(x), short(y));
                }
                column += run.len();
            }
        }
        for (color, d) in paths {
            let _ = writeln!(
                self.body,
                "<path d=\"{d}\" fill=\"{color}\" shape-rendering=\"crispEdges\"/>"
            );
        }
    }

    fn fill(&mut self, from: (f64, f64), to: (f64, f64), color: Rgb, opacity: f64) {
        let (x, y) = (from.0.min(to.0), from.1.min(to.1));
        let (wide, high) = ((to.0 - from.0).abs(), (to.1 - from.1).abs());
        let (x, y) = (short(x * CELL.0), short(y * CELL.1));
        let (wide, high, color) = (short(wide * CELL.0), short(high * CELL.1), hex(color));
        let _ = write!(
            self.body,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{wide}\" height=\"{high}\" fill=\"{color}\""
        );
        if opacity < 1.0 {
            let _ = write!(self.body, " fill-opacity=\"{opacity}\"");
        }
        self.body.push_str("/>\n");
    }

    fn path(&mut self, d: &str, color: Rgb, wide: f64, dash: &str) {
        if d.is_empty() {
            return;
        }
        let color = hex(color);
        let _ = write!(
            self.body,
            "<path d=\"{d}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"{wide}\""
        );
        if !dash.is_empty() {
            let _ = write!(self.body, " stroke-dasharray=\"{dash}\"");
        }
        self.body.push_str("/>\n");
    }
}

/// The path through places in columns and rows; a single place is a dot.
fn line(places: &[(f64, f64)]) -> String {
    let mut d = String::new();
    for (place, (x, y)) in places.iter().enumerate() {
        let pen = if place == 0 { 'M' } else { 'L' };
        let _ = write!(d, "{pen}{} {}", short(x * CELL.0), short(y * CELL.1));
    }
    if places.len() == 1 {
        d.push_str("h0.1");
    }
    d
}

/// A coordinate to a tenth; what is not finite is no place at all.
fn short(x: f64) -> f64 {
    if x.is_finite() { (x * 10.0).round() / 10.0 + 0.0 } else { 0.0 }
}

/// A colour among so few that cells of a field share elements.
fn coarse(Rgb(r, g, b): Rgb) -> Rgb {
    let near = |x: u8| (u16::from(x) / 8 * 255 / 31) as u8;
    Rgb(near(r), near(g), near(b))
}

pub(crate) fn hex(Rgb(r, g, b): Rgb) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}
