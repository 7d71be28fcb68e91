//! The page a figure is drawn on: elements one after the other, and how far down it has got.

use std::fmt::Write as _;

use unicode_width::UnicodeWidthStr;

use crate::figure::{Figure, ink};
use crate::xml::escaped;

/// The width of every figure.
pub(super) const WIDTH: f64 = 860.0;
/// The margin around it.
pub(super) const MARGIN: f64 = 24.0;
/// The height of small letters' lines.
pub(super) const LINE: f64 = 18.0;
/// About the width of a letter at the size of labels.
const LETTER: f64 = 6.6;

/// Where a text is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    /// At its beginning.
    Start,
    /// In its middle.
    Middle,
    /// At its end.
    End,
}

/// A document being written.
pub(super) struct Page {
    body: String,
    /// The first free line below what has been drawn.
    pub(super) y: f64,
    title: String,
    about: String,
}

impl Page {
    /// A page with the figure's title.
    pub(super) fn new(figure: &Figure<'_>) -> Self {
        let mut page = Self {
            body: String::new(),
            y: MARGIN,
            title: format!("{}: {}", figure.schema.title, figure.panel.name),
            about: figure.panel.shows.clone(),
        };
        let (title, about) = (page.title.clone(), page.about.clone());
        page.y += 14.0;
        page.styled((MARGIN, page.y), Anchor::Start, &cut(&title, 80), "t", ink::INK);
        page.y += LINE + 2.0;
        for line in wrapped(&about, WIDTH - 2.0 * MARGIN).iter().take(2) {
            page.text((MARGIN, page.y), Anchor::Start, line, ink::DIM);
            page.y += LINE;
        }
        page
    }

    /// What `draw` draws from the corner of a plane of its own that lies at a place of this one, so many times as large;
    /// the page is as far down afterwards as before.
    pub(super) fn inside<T>(
        &mut self,
        (x, y): (f64, f64),
        scale: f64,
        draw: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let (down, scale) = (self.y, (scale * 1000.0).round() / 1000.0);
        let _ = writeln!(
            self.body,
            "<g transform=\"translate({} {}) scale({scale})\">",
            short(x),
            short(y)
        );
        let result = draw(self);
        self.body.push_str("</g>\n");
        self.y = down;
        result
    }

    /// Text at the size of labels.
    pub(super) fn text(&mut self, at: (f64, f64), anchor: Anchor, text: &str, color: &str) {
        self.styled(at, anchor, text, "", color);
    }

    /// Text of a class: `t` for titles, `b` for bold, `m` for fixed width.
    pub(super) fn styled(
        &mut self,
        (x, y): (f64, f64),
        anchor: Anchor,
        text: &str,
        class: &str,
        color: &str,
    ) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let class = match class {
            "" => String::new(),
            class => format!(" class=\"{class}\""),
        };
        let _ = writeln!(
            self.body,
            "<text x=\"{}\" y=\"{}\"{anchor}{class} fill=\"{color}\">{}</text>",
            short(x),
            short(y),
            escaped(text)
        );
    }

    /// Text that reads from below.
    pub(super) fn upwards(&mut self, (x, y): (f64, f64), text: &str) {
        let (x, y) = (short(x), short(y));
        let _ = writeln!(
            self.body,
            "<text transform=\"translate({x} {y}) rotate(-90)\" text-anchor=\"middle\" fill=\"{}\">{}</text>",
            ink::DIM,
            escaped(text)
        );
    }

    /// A straight line.
    pub(super) fn line(&mut self, from: (f64, f64), to: (f64, f64), color: &str, dash: &str) {
        let d = format!("M{} {}L{} {}", short(from.0), short(from.1), short(to.0), short(to.1));
        self.stroke(&d, color, 1.0, dash);
    }

    /// A path along its course.
    pub(super) fn stroke(&mut self, d: &str, color: &str, width: f64, dash: &str) {
        if d.is_empty() {
            return;
        }
        let dash = match dash {
            "none" => String::new(),
            dash => format!(" stroke-dasharray=\"{dash}\""),
        };
        let _ = writeln!(
            self.body,
            "<path d=\"{d}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"{width}\"{dash}/>"
        );
    }

    /// A filled path.
    pub(super) fn fill(&mut self, d: &str, color: &str) {
        if !d.is_empty() {
            let _ = writeln!(self.body, "<path d=\"{d}\" fill=\"{color}\"/>");
        }
    }

    /// A filled path with an edge.
    pub(super) fn shape(&mut self, d: &str, fill: &str, edge: &str) {
        if !d.is_empty() {
            let _ = writeln!(
                self.body,
                "<path d=\"{d}\" fill=\"{fill}\" stroke=\"{edge}\" stroke-width=\"1.2\"/>"
            );
        }
    }

    /// A sentence over the width of the page; moves down.
    pub(super) fn told(&mut self, text: &str) {
        for line in wrapped(text, WIDTH - 2.0 * MARGIN) {
            self.text((MARGIN, self.y), Anchor::Start, &line, ink::INK);
            self.y += LINE;
        }
    }

    /// Entries side by side, each a sample of so many columns' width and what it means; moves down.
    pub(super) fn legend(&mut self, entries: &[(Sample, String)]) {
        const GAP: f64 = 22.0;
        let mut x = MARGIN;
        self.y += 4.0;
        for (place, (sample, text)) in entries.iter().enumerate() {
            let text = cut(text, 100);
            let wide = sample.width() + 6.0 + width(&text);
            if x > MARGIN && x + wide > WIDTH - MARGIN {
                x = MARGIN;
                self.y += LINE;
            }
            // More than this is no legend any more.
            if place >= 40 {
                let more = format!("and {} more", entries.len() - place);
                self.text((x, self.y + 4.0), Anchor::Start, &more, ink::DIM);
                break;
            }
            sample.draw(self, (x, self.y));
            self.text((x + sample.width() + 6.0, self.y + 4.0), Anchor::Start, &text, ink::INK);
            x += wide + GAP;
        }
        if !entries.is_empty() {
            self.y += LINE;
        }
    }

    /// The document, with the line that says where the figure comes from.
    pub(super) fn finish(mut self, source: &str) -> String {
        self.y += 8.0;
        for line in wrapped(source, WIDTH - 2.0 * MARGIN).iter().take(12) {
            self.text((MARGIN, self.y), Anchor::Start, line, ink::DIM);
            self.y += LINE - 3.0;
        }
        let height = short(self.y + MARGIN - 8.0);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" \
             height=\"{height}\" role=\"img\" font-family=\"system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif\" \
             font-size=\"12\">\n<title>{}</title>\n<desc>{}</desc>\n\
             <style>.t{{font-size:16px;font-weight:600}}.b{{font-weight:600}}\
             .m{{font-family:ui-monospace,'DejaVu Sans Mono',monospace;white-space:pre}}</style>\n\
             <rect width=\"{WIDTH}\" height=\"{height}\" fill=\"{}\"/>\n{}</svg>\n",
            escaped(&self.title),
            escaped(&self.about),
            ink::PAPER,
            self.body
        )
    }
}

/// What stands before an entry of a legend.
#[derive(Clone, Debug)]
pub(super) enum Sample {
    /// A curve: its place and its letter, or no letter for a lone curve.
    Curve(usize, Option<char>),
    /// A thin grey line.
    Thin(&'static str),
    /// A mark of a group.
    Mark(usize),
    /// A field of a colour.
    Field(&'static str),
    /// A sign.
    Sign(&'static str),
}

impl Sample {
    fn width(&self) -> f64 {
        match self {
            Self::Curve(_, Some(_)) => 40.0,
            Self::Curve(_, None) | Self::Thin(_) => 28.0,
            Self::Mark(_) | Self::Field(_) | Self::Sign(_) => 12.0,
        }
    }

    fn draw(&self, page: &mut Page, (x, y): (f64, f64)) {
        match self {
            Self::Curve(place, letter) => {
                let d = format!("M{} {}h28", short(x), short(y));
                page.stroke(&d, ink::color(*place), 2.0, ink::dash(*place));
                if let Some(letter) = letter {
                    let at = (x + 31.0, y + 4.0);
                    page.styled(at, Anchor::Start, &letter.to_string(), "b", ink::color(*place));
                }
            }
            Self::Thin(dash) => {
                page.stroke(&format!("M{} {}h28", short(x), short(y)), ink::DIM, 1.0, dash);
            }
            Self::Mark(place) => {
                let d = super::marks::mark(*place, (x + 6.0, y));
                page.shape(&d, ink::color(*place), ink::PAPER);
            }
            Self::Field(color) => {
                let d = format!("M{} {}h12v10h-12z", short(x), short(y - 5.0));
                page.shape(&d, color, ink::DIM);
            }
            Self::Sign(sign) => page.styled((x, y + 4.0), Anchor::Start, sign, "b", ink::INK),
        }
    }
}

/// A coordinate to a tenth; what is not finite is no place at all.
pub(super) fn short(x: f64) -> f64 {
    if x.is_finite() { (x * 10.0).round() / 10.0 + 0.0 } else { 0.0 }
}

/// About how wide a text is at the size of labels.
pub(super) fn width(text: &str) -> f64 {
    text.width() as f64 * LETTER
}

/// A text of at most so many letters, on one line.
pub(super) fn cut(text: &str, most: usize) -> String {
    crate::table::cell(text, most)
}

/// A text broken at spaces so that each line is about as wide as asked.
pub(super) fn wrapped(text: &str, wide: f64) -> Vec<String> {
    let most = (wide / LETTER) as usize;
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        // A word without end is broken wherever the line ends.
        let letters: Vec<char> = word.chars().collect();
        for part in letters.chunks(most.max(1)) {
            let part: String = part.iter().collect();
            let full = lines
                .last()
                .is_some_and(|line| !line.is_empty() && line.width() + 1 + part.width() > most);
            if full {
                lines.push(String::new());
            }
            if let Some(line) = lines.last_mut() {
                if !line.is_empty() {
                    line.push(' ');
                }
                line.push_str(&part);
            }
        }
    }
    lines
}
