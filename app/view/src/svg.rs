//! A drawn screen as a picture that looks the same everywhere: blocks, dots and lines are shapes, only text needs a font.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};
use unicode_width::UnicodeWidthStr;

use crate::canvas::{Shape, hex};
use crate::theme::{Rgb, Theme, to_rgb};
use crate::xml::escaped;

/// A cell in pixels: as in most terminals, twice as high as wide.
const CELL: (f32, f32) = (9.0, 18.0);
const MARGIN: f32 = 14.0;
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

type Paths = BTreeMap<String, String>;

/// What is drawn, by kind and colour, so that one element draws all of a colour.
#[derive(Default)]
struct Layers {
    backgrounds: Vec<Run>,
    fills: Paths,
    lines: Paths,
    dots: Paths,
    words: Vec<(Run, Modifier, Vec<String>)>,
}

/// Cells of one colour side by side.
#[derive(Clone, Copy)]
struct Run {
    color: Rgb,
    row: u16,
    from: u16,
    to: u16,
}

impl Run {
    /// Whether another run goes on where this one ends.
    fn goes_on(&self, next: &Self) -> bool {
        (self.color, self.row, self.to) == (next.color, next.row, next.from)
    }
}

impl Layers {
    fn cell(&mut self, (x, y): (u16, u16), wide: u16, cell: &Cell, theme: &Theme) {
        let (ink, behind) = colors(cell, theme);
        let run = |color| Run { color, row: y, from: x, to: x + wide };
        if behind != theme.defaults().1 {
            match self.backgrounds.last_mut() {
                Some(last) if last.goes_on(&run(behind)) => last.to = x + wide,
                Some(_) | None => self.backgrounds.push(run(behind)),
            }
        }
        let symbol = cell.symbol();
        if symbol.trim().is_empty() {
            return;
        }
        let at = |dx: f32, dy: f32| pixel(f32::from(x) + dx, f32::from(y) + dy);
        match Shape::from_symbol(symbol) {
            Some(Shape::Fills(parts, opacity)) => {
                let path = self.fills.entry(hex(mix(behind, ink, opacity))).or_default();
                for [left, top, right, bottom] in parts {
                    let ((x0, y0), (x1, y1)) = (at(left, top), at(right, bottom));
                    let _ = write!(path, "M{x0} {y0}H{x1}V{y1}H{x0}z");
                }
            }
            Some(Shape::Lines(parts)) => {
                let path = self.lines.entry(hex(ink)).or_default();
                for [x0, y0, x1, y1] in parts {
                    let ((x0, y0), (x1, y1)) = (at(x0, y0), at(x1, y1));
                    let _ = write!(path, "M{x0} {y0}L{x1} {y1}");
                }
            }
            Some(Shape::Dots(parts)) => {
                let path = self.dots.entry(hex(ink)).or_default();
                for [x, y] in parts {
                    let (x, y) = at(x, y);
                    let _ = write!(path, "M{x} {y}h0");
                }
            }
            None => match self.words.last_mut() {
                Some((word, modifier, letters))
                    if word.goes_on(&run(ink)) && *modifier == cell.modifier =>
                {
                    letters.push(symbol.to_owned());
                    word.to += wide;
                }
                Some(_) | None => {
                    self.words.push((run(ink), cell.modifier, vec![symbol.to_owned()]));
                }
            },
        }
    }

    fn document(self, width: f32, height: f32, theme: &Theme) -> String {
        let behind = hex(theme.defaults().1);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\">\n\
             <rect width=\"{width}\" height=\"{height}\" rx=\"8\" fill=\"{behind}\"/>\n"
        );
        let mut backgrounds = Paths::new();
        for run in &self.backgrounds {
            let (x, y) = pixel(f32::from(run.from), f32::from(run.row));
            let wide = f32::from(run.to - run.from) * CELL.0;
            let path = backgrounds.entry(hex(run.color)).or_default();
            let _ = write!(path, "M{x} {y}h{wide}v{}h-{wide}z", CELL.1);
        }
        let (fill, stroke) = ("fill", "stroke");
        let fills = "shape-rendering=\"crispEdges\"";
        let lines = "fill=\"none\" stroke-width=\"1.2\" stroke-linecap=\"square\"";
        let dots = "fill=\"none\" stroke-width=\"3\" stroke-linecap=\"round\"";
        for (attributes, color_of, paths) in [
            (fills, fill, [backgrounds, self.fills]),
            (lines, stroke, [self.lines, Paths::new()]),
            (dots, stroke, [self.dots, Paths::new()]),
        ] {
            let _ = writeln!(svg, "<g {attributes}>");
            for (color, path) in paths.iter().flatten() {
                let _ = writeln!(svg, "<path {color_of}=\"{color}\" d=\"{path}\"/>");
            }
            svg.push_str("</g>\n");
        }
        let font = "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace";
        let size = FONT.0;
        let _ =
            writeln!(svg, "<g font-family=\"{font}\" font-size=\"{size}\" xml:space=\"preserve\">");
        for (run, modifier, letters) in &self.words {
            write_word(&mut svg, *run, *modifier, letters);
        }
        svg.push_str("</g>\n</svg>\n");
        svg
    }
}

/// Letters without a space between them, each with a place of its own, so that no font can move it.
fn write_word(svg: &mut String, run: Run, modifier: Modifier, letters: &[String]) {
    let mut column = run.from;
    let places = letters.iter().map(|letter| {
        let place = pixel(f32::from(column), 0.0).0.to_string();
        column += u16::try_from(letter.width()).unwrap_or(1).max(1);
        place
    });
    let places: Vec<String> = places.collect();
    let y = pixel(0.0, f32::from(run.row)).1 + FONT.1;
    let _ = write!(svg, "<text x=\"{}\" y=\"{y}\" fill=\"{}\"", places.join(" "), hex(run.color));
    for (set, attribute) in [
        (Modifier::BOLD, " font-weight=\"bold\""),
        (Modifier::ITALIC, " font-style=\"italic\""),
        (Modifier::UNDERLINED, " text-decoration=\"underline\""),
    ] {
        if modifier.contains(set) {
            svg.push_str(attribute);
        }
    }
    let _ = writeln!(svg, ">{}</text>", escaped(&letters.concat()));
}

/// The colours a cell is seen in: what is written, and what is behind it.
fn colors(cell: &Cell, theme: &Theme) -> (Rgb, Rgb) {
    let (text, screen) = theme.defaults();
    let or = |color, default| if color == Color::Reset { default } else { to_rgb(color) };
    let (ink, behind) = match cell.modifier.contains(Modifier::REVERSED) {
        true => (or(cell.bg, screen), or(cell.fg, text)),
        false => (or(cell.fg, text), or(cell.bg, screen)),
    };
    let is_dim = cell.modifier.contains(Modifier::DIM);
    (if is_dim { mix(behind, ink, 0.6) } else { ink }, behind)
}

/// A share of the second colour over the first.
fn mix(Rgb(a, b, c): Rgb, Rgb(x, y, z): Rgb, share: f32) -> Rgb {
    let mix = |a: u8, x: u8| (f32::from(a) + (f32::from(x) - f32::from(a)) * share).round() as u8;
    Rgb(mix(a, x), mix(b, y), mix(c, z))
}

fn pixel(x: f32, y: f32) -> (f32, f32) {
    let round = |x: f32| (x * 100.0).round() / 100.0;
    (round(x * CELL.0 + MARGIN), round(y * CELL.1 + MARGIN))
}

#[cfg(test)]
mod tests {
    use mlsys_harness::reading::well_formed;
    use ratatui::layout::Rect;
    use ratatui::style::Style;

    use super::*;
    use crate::theme::{Background, ColorDepth};

    fn theme() -> Theme {
        Theme::new(Background::Dark, ColorDepth::TrueColor)
    }

    /// A screen with a text at a place, as a document.
    fn drawn(width: u16, (x, y): (u16, u16), text: &str, style: Style) -> String {
        let mut buf = Buffer::empty(Rect::new(0, 0, width, y + 1));
        buf.set_string(x, y, text, style);
        let svg = to_svg(&buf, &theme());
        well_formed(&svg);
        svg
    }

    #[test]
    fn text_is_escaped_and_stands_on_the_grid() {
        let bold = Style::new().add_modifier(Modifier::BOLD);
        let svg = drawn(12, (1, 1), "a<b> & 漢 \"", bold);
        assert!(svg.contains(">a&lt;b&gt;</text>"), "{svg}");
        assert!(svg.contains("<text x=\"23 32 41 50\" y=\"45.4\""), "{svg}");
        assert!(svg.contains(">漢</text>") && svg.contains("font-weight=\"bold\""), "{svg}");
    }

    #[test]
    fn cells_become_shapes() {
        let svg = drawn(10, (2, 0), "     ", Style::new().bg(Color::Rgb(1, 2, 3)));
        assert!(svg.contains("<path fill=\"#010203\" d=\"M32 14h45v18h-45z\"/>"), "{svg}");
        let svg = drawn(3, (0, 0), "▀⠁─", Style::new().fg(Color::Rgb(9, 9, 9)));
        assert!(!svg.contains("<text"), "{svg}");
        for shape in ["M14 14H23V23H14z", "M25.25 16.25h0", "M32 23L36.5 23"] {
            assert!(svg.contains(shape), "{svg}");
        }
    }

    #[test]
    fn reversed_text_changes_places_with_what_is_behind() {
        let svg = drawn(1, (0, 0), "x", Style::new().add_modifier(Modifier::REVERSED));
        let (text, screen) = theme().defaults();
        assert!(svg.contains(&format!("<path fill=\"{}\"", hex(text))), "{svg}");
        assert!(svg.contains(&format!("fill=\"{}\">x<", hex(screen))), "{svg}");
    }
}
