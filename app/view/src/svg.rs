//! A drawn screen as a picture that looks the same everywhere: blocks, dots and lines are shapes, only text needs a font.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};
use unicode_width::UnicodeWidthStr;

use crate::canvas::Shape;
use crate::theme::{Rgb, Theme, to_rgb};

/// A cell in pixels: as in most terminals, twice as high as wide.
const CELL: (f32, f32) = (9.0, 18.0);
const MARGIN: f32 = 14.0;
/// The height of the letters, and where they stand in their cell.
const FONT: (f32, f32) = (14.6, 13.4);

/// The screen as a standalone SVG document; what has no colour of its own takes the theme's.
pub fn to_svg(buffer: &Buffer, theme: &Theme) -> String {
    let mut layers = Layers::default();
    let area = buffer.area;
    for y in 0..area.height {
        let mut x = 0;
        while x < area.width {
            let cell = &buffer[(area.x + x, area.y + y)];
            let wide = u16::try_from(cell.symbol().width()).unwrap_or(1).max(1);
            layers.cell((x, y), wide, cell, theme);
            x += wide;
        }
    }
    let width = f32::from(area.width) * CELL.0 + 2.0 * MARGIN;
    let height = f32::from(area.height) * CELL.1 + 2.0 * MARGIN;
    layers.document(width, height, theme)
}

/// What is drawn, by kind and colour, so that one element draws all of a colour.
#[derive(Default)]
struct Layers {
    backgrounds: BTreeMap<String, String>,
    fills: BTreeMap<String, String>,
    lines: BTreeMap<String, String>,
    dots: BTreeMap<String, String>,
    words: Vec<Word>,
    open: Option<Run>,
}

/// Cells of one colour side by side.
struct Run {
    color: Rgb,
    row: u16,
    from: u16,
    to: u16,
}

/// Letters of one style without a space between them.
struct Word {
    at: (u16, u16),
    next: u16,
    color: Rgb,
    modifier: Modifier,
    letters: Vec<(u16, String)>,
}

impl Layers {
    fn cell(&mut self, (x, y): (u16, u16), wide: u16, cell: &Cell, theme: &Theme) {
        let (ink, behind) = colors(cell, theme);
        if behind != theme.defaults().1 {
            self.background(Run { color: behind, row: y, from: x, to: x + wide });
        }
        let symbol = cell.symbol();
        if symbol.trim().is_empty() {
            return;
        }
        match Shape::of(symbol) {
            Some(Shape::Fills(parts, opacity)) => {
                let path = self.fills.entry(hex(mix(behind, ink, opacity))).or_default();
                for [left, top, right, bottom] in parts {
                    let (x0, y0) = pixel(f32::from(x) + left, f32::from(y) + top);
                    let (x1, y1) = pixel(f32::from(x) + right, f32::from(y) + bottom);
                    let _ = write!(path, "M{x0} {y0}H{x1}V{y1}H{x0}z");
                }
            }
            Some(Shape::Lines(parts)) => {
                let path = self.lines.entry(hex(ink)).or_default();
                for [x0, y0, x1, y1] in parts {
                    let (x0, y0) = pixel(f32::from(x) + x0, f32::from(y) + y0);
                    let (x1, y1) = pixel(f32::from(x) + x1, f32::from(y) + y1);
                    let _ = write!(path, "M{x0} {y0}L{x1} {y1}");
                }
            }
            Some(Shape::Dots(parts)) => {
                let path = self.dots.entry(hex(ink)).or_default();
                for [dot_x, dot_y] in parts {
                    let (x, y) = pixel(f32::from(x) + dot_x, f32::from(y) + dot_y);
                    let _ = write!(path, "M{x} {y}h0");
                }
            }
            None => self.letter((x, y), wide, symbol, ink, cell.modifier),
        }
    }

    /// Adds to the open run of background, or closes it and opens the next.
    fn background(&mut self, run: Run) {
        match &mut self.open {
            Some(open) if (open.color, open.row, open.to) == (run.color, run.row, run.from) => {
                open.to = run.to;
            }
            Some(_) | None => {
                self.close();
                self.open = Some(run);
            }
        }
    }

    fn close(&mut self) {
        if let Some(run) = self.open.take() {
            let (x, y) = pixel(f32::from(run.from), f32::from(run.row));
            let wide = f32::from(run.to - run.from) * CELL.0;
            let path = self.backgrounds.entry(hex(run.color)).or_default();
            let _ = write!(path, "M{x} {y}h{wide}v{}h-{wide}z", CELL.1);
        }
    }

    fn letter(&mut self, at: (u16, u16), wide: u16, symbol: &str, color: Rgb, modifier: Modifier) {
        let letter = (at.0, symbol.to_owned());
        match self.words.last_mut() {
            Some(word)
                if (word.at.1, word.next, word.color, word.modifier)
                    == (at.1, at.0, color, modifier) =>
            {
                word.letters.push(letter);
                word.next += wide;
            }
            Some(_) | None => {
                self.words.push(Word {
                    at,
                    next: at.0 + wide,
                    color,
                    modifier,
                    letters: vec![letter],
                });
            }
        }
    }

    fn document(mut self, width: f32, height: f32, theme: &Theme) -> String {
        self.close();
        let behind = hex(theme.defaults().1);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\">\n\
             <rect width=\"{width}\" height=\"{height}\" rx=\"8\" fill=\"{behind}\"/>\n"
        );
        svg.push_str("<g shape-rendering=\"crispEdges\">\n");
        for (color, path) in self.backgrounds.iter().chain(&self.fills) {
            let _ = writeln!(svg, "<path fill=\"{color}\" d=\"{path}\"/>");
        }
        svg.push_str("</g>\n<g fill=\"none\" stroke-width=\"1.2\" stroke-linecap=\"square\">\n");
        for (color, path) in &self.lines {
            let _ = writeln!(svg, "<path stroke=\"{color}\" d=\"{path}\"/>");
        }
        svg.push_str("</g>\n<g fill=\"none\" stroke-width=\"3\" stroke-linecap=\"round\">\n");
        for (color, path) in &self.dots {
            let _ = writeln!(svg, "<path stroke=\"{color}\" d=\"{path}\"/>");
        }
        let _ = writeln!(
            svg,
            "</g>\n<g font-family=\"ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace\" \
             font-size=\"{}\" xml:space=\"preserve\">",
            FONT.0
        );
        for word in &self.words {
            word.write(&mut svg);
        }
        svg.push_str("</g>\n</svg>\n");
        svg
    }
}

impl Word {
    /// Each letter has a place of its own, so that no font can move it.
    fn write(&self, svg: &mut String) {
        let places = self.letters.iter().map(|(x, _)| pixel(f32::from(*x), 0.0).0.to_string());
        let places: Vec<String> = places.collect();
        let y = pixel(0.0, f32::from(self.at.1)).1 + FONT.1;
        let _ =
            write!(svg, "<text x=\"{}\" y=\"{y}\" fill=\"{}\"", places.join(" "), hex(self.color));
        for (modifier, attribute) in [
            (Modifier::BOLD, " font-weight=\"bold\""),
            (Modifier::ITALIC, " font-style=\"italic\""),
            (Modifier::UNDERLINED, " text-decoration=\"underline\""),
        ] {
            if self.modifier.contains(modifier) {
                svg.push_str(attribute);
            }
        }
        svg.push('>');
        for c in self.letters.iter().flat_map(|(_, letter)| letter.chars()) {
            match c {
                '&' => svg.push_str("&amp;"),
                '<' => svg.push_str("&lt;"),
                '>' => svg.push_str("&gt;"),
                c if c.is_control() => {}
                c => svg.push(c),
            }
        }
        svg.push_str("</text>\n");
    }
}

/// The colours a cell is seen in: what is written, and what is behind it.
fn colors(cell: &Cell, theme: &Theme) -> (Rgb, Rgb) {
    let (text, screen) = theme.defaults();
    let or = |color, default| {
        if color == Color::Reset { default } else { to_rgb(color) }
    };
    let (ink, behind) = (or(cell.fg, text), or(cell.bg, screen));
    let (ink, behind) =
        if cell.modifier.contains(Modifier::REVERSED) { (behind, ink) } else { (ink, behind) };
    if cell.modifier.contains(Modifier::DIM) {
        (mix(behind, ink, 0.6), behind)
    } else {
        (ink, behind)
    }
}

/// A share of the second colour over the first.
fn mix(Rgb(a, b, c): Rgb, Rgb(x, y, z): Rgb, share: f32) -> Rgb {
    let mix = |a: u8, x: u8| (f32::from(a) + (f32::from(x) - f32::from(a)) * share).round() as u8;
    Rgb(mix(a, x), mix(b, y), mix(c, z))
}

fn hex(Rgb(r, g, b): Rgb) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// Cells to pixels, to a hundredth.
fn pixel(x: f32, y: f32) -> (f32, f32) {
    let round = |x: f32| (x * 100.0).round() / 100.0;
    (round(x * CELL.0 + MARGIN), round(y * CELL.1 + MARGIN))
}

#[cfg(test)]
mod tests {
    use ratatui::layout::Rect;
    use ratatui::style::Style;

    use super::*;
    use crate::theme::{Background, ColorDepth};

    fn theme() -> Theme {
        Theme::new(Background::Dark, ColorDepth::TrueColor)
    }

    /// Checks that elements nest and close, attributes are quoted, and nothing is left unescaped.
    fn well_formed(svg: &str) {
        let mut open: Vec<&str> = Vec::new();
        let mut rest = svg;
        while let Some(start) = rest.find('<') {
            let text = &rest[..start];
            assert!(!text.contains('>'), "{text}");
            for entity in text.split('&').skip(1) {
                assert!(["amp;", "lt;", "gt;"].iter().any(|e| entity.starts_with(e)), "{entity}");
            }
            let end = start + rest[start..].find('>').unwrap();
            let tag = &rest[start + 1..end];
            let name = tag.split([' ', '/']).find(|part| !part.is_empty()).unwrap();
            assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
            if tag.starts_with('/') {
                assert_eq!(open.pop(), Some(name));
            } else if !tag.ends_with('/') {
                open.push(name);
            }
            rest = &rest[end + 1..];
        }
        assert!(open.is_empty() && rest.trim().is_empty(), "{open:?} {rest}");
    }

    #[test]
    fn text_is_escaped_and_stands_on_the_grid() {
        let mut buf = Buffer::empty(Rect::new(0, 0, 12, 2));
        buf.set_string(1, 1, "a<b> & 漢 \"", Style::new().add_modifier(Modifier::BOLD));
        let svg = to_svg(&buf, &theme());
        well_formed(&svg);
        assert!(svg.contains(">a&lt;b&gt;</text>"), "{svg}");
        assert!(svg.contains("<text x=\"23 32 41 50\" y=\"45.4\""), "{svg}");
        assert!(svg.contains(">漢</text>") && svg.contains("font-weight=\"bold\""), "{svg}");
    }

    #[test]
    fn backgrounds_of_one_colour_are_one_shape() {
        let mut buf = Buffer::empty(Rect::new(0, 0, 10, 1));
        buf.set_style(Rect::new(2, 0, 5, 1), Style::new().bg(Color::Rgb(1, 2, 3)));
        let svg = to_svg(&buf, &theme());
        well_formed(&svg);
        assert!(svg.contains("<path fill=\"#010203\" d=\"M32 14h45v18h-45z\"/>"), "{svg}");
    }

    #[test]
    fn halves_dots_and_lines_are_shapes() {
        let mut buf = Buffer::empty(Rect::new(0, 0, 3, 1));
        buf.set_string(0, 0, "▀⠁─", Style::new().fg(Color::Rgb(9, 9, 9)));
        let svg = to_svg(&buf, &theme());
        well_formed(&svg);
        assert!(!svg.contains("<text"), "{svg}");
        assert!(svg.contains("M14 14H23V23H14z"), "{svg}");
        assert!(svg.contains("M25.25 16.25h0"), "{svg}");
        assert!(svg.contains("M32 23L36.5 23"), "{svg}");
    }

    #[test]
    fn reversed_text_changes_places_with_what_is_behind() {
        let mut buf = Buffer::empty(Rect::new(0, 0, 1, 1));
        buf.set_string(0, 0, "x", Style::new().add_modifier(Modifier::REVERSED));
        let svg = to_svg(&buf, &theme());
        let (text, screen) = theme().defaults();
        assert!(svg.contains(&format!("<path fill=\"{}\"", hex(text))), "{svg}");
        assert!(svg.contains(&format!("fill=\"{}\">x<", hex(screen))), "{svg}");
    }
}
