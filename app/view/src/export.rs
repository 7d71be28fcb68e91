//! A picture as a document of its own: the same drawing as on the screen, on a page without keys.

pub mod csv;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use mlsys_lab::frame::Frame;
use mlsys_lab::schema::{Draw, Schema};
use mlsys_lab::value::Value;
use ratatui::layout::Rect;

use crate::canvas::{CELL, Canvas, Vector, hex};
use crate::glyphs::{GlyphSet, Glyphs};
use crate::metrics;
use crate::panel::picture::{At, Sheet};
use crate::panel::{Focus, FrameView, Scene, draw_frame, line, picture};
use crate::text::{cell, wrap};
use crate::theme::{Background, ColorDepth, Look, Theme};
use crate::xml::escaped;

pub(crate) const COLUMNS: u16 = 102;
/// The margin around it, in pixels.
const MARGIN: f64 = 22.0;
/// The height of a line of text.
const LINE: f64 = 17.0;
/// Rows of one picture, and columns of one that is made smaller to fit; the file of values has all.
const MOST: (u16, u16) = (420, 360);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the picture '{panel}' has nothing to show yet: run the lab first")]
pub struct Nothing {
    pub panel: String,
}

/// The picture as an SVG document: title, picture, legend and a line that says where it comes from.
pub fn svg(scene: &Scene<'_>, source: &Source) -> Result<String, Nothing> {
    let look = look();
    let mut page = Page::new(scene, &look.theme);
    if scene.panel.draw == Draw::Line {
        let size = (COLUMNS, 30);
        let mut canvas = Canvas::vector(size, Vector::new(&look.theme));
        let area = Rect::new(0, 0, size.0, size.1);
        if !line::draw(area, &mut canvas, scene, &look) {
            return Err(nothing(scene));
        }
        page.hold(canvas, size);
    } else {
        let frame = scene.frame(&look.glyphs).ok_or_else(|| nothing(scene))?;
        page.picture(&frame, scene, &look);
    }
    Ok(page.finish(&source.line(scene.schema)))
}

pub(crate) fn nothing(scene: &Scene<'_>) -> Nothing {
    Nothing { panel: scene.panel.name.clone() }
}

fn look() -> Look {
    let theme = Theme::new(Background::Light, ColorDepth::TrueColor);
    Look { theme, glyphs: Glyphs::new(GlyphSet::Unicode) }
}

struct Page {
    body: String,
    /// How far down it has got, in pixels.
    y: f64,
    title: String,
    about: String,
    paper: String,
    ink: String,
    dim: String,
}

impl Page {
    fn new(scene: &Scene<'_>, theme: &Theme) -> Self {
        let color = |style: ratatui::style::Style| {
            style.fg.map_or_else(String::new, |color| hex(crate::theme::to_rgb(color)))
        };
        let labels = scene.labels().into_iter().map(|label| format!(", {label}"));
        let labels: String = labels.collect();
        let mut page = Self {
            body: String::new(),
            y: MARGIN + 16.0,
            title: format!("{}: {}{labels}", scene.schema.title, scene.panel.name),
            about: scene.panel.shows.clone(),
            paper: hex(theme.defaults().1),
            ink: color(theme.text),
            dim: color(theme.dim),
        };
        let title = cell(&page.title, 80);
        page.line(&title, "t", &page.ink.clone());
        page.y += 4.0;
        for line in wrap(&page.about.clone(), COLUMNS + 12).iter().take(2) {
            page.line(line, "", &page.dim.clone());
        }
        page
    }

    fn line(&mut self, text: &str, class: &str, color: &str) {
        let class = if class.is_empty() { "" } else { &format!(" class=\"{class}\"") };
        let text = escaped(text.trim());
        let y = (self.y * 10.0).round() / 10.0;
        self.body.push_str(&format!(
            "<text x=\"{MARGIN}\" y=\"{y}\"{class} fill=\"{color}\">{text}</text>\n"
        ));
        self.y += LINE;
    }

    fn lines(&mut self, lines: &[String]) {
        for line in lines.iter().flat_map(|line| wrap(line, COLUMNS + 8)) {
            self.line(&line, "", &self.ink.clone());
        }
    }

    fn picture<'a>(&mut self, frame: &'a Frame, scene: &Scene<'a>, look: &Look) {
        let mut sheet = Sheet {
            above: Vec::new(),
            frame: Cow::Borrowed(frame),
            view: FrameView::default(),
            below: Vec::new(),
            walk: scene.walk,
        };
        picture::drawn(frame).page(&mut sheet);
        self.lines(&sheet.above);
        let (wide, high) = picture::drawn(&sheet.frame).page_size(COLUMNS);
        let size = (wide.min(MOST.0), high.clamp(1, MOST.1));
        let mut canvas = Canvas::vector(size, Vector::new(&look.theme));
        let area = Rect::new(0, 0, size.0, size.1);
        let at = At { view: &sheet.view, focus: Focus::Aside, walk: None, past: None };
        draw_frame(area, &mut canvas, &sheet.frame, at, look);
        self.hold(canvas, size);
        self.lines(&sheet.below);
    }

    /// Puts a drawing on the page; one that is too wide is made smaller rather than cut: a reader can enlarge it.
    fn hold(&mut self, canvas: Canvas, (columns, rows): (u16, u16)) {
        let scale = (f64::from(COLUMNS) / f64::from(columns.max(1))).min(1.0);
        let scale = (scale * 1000.0).round() / 1000.0;
        let rows = canvas.used_rows().min(rows);
        let top = ((self.y - 8.0) * 10.0).round() / 10.0;
        self.body
            .push_str(&format!("<g transform=\"translate({MARGIN} {top}) scale({scale})\">\n"));
        self.body.push_str(&canvas.into_elements());
        self.body.push_str("</g>\n");
        self.y += f64::from(rows) * CELL.1 * scale + LINE;
    }

    fn finish(mut self, source: &str) -> String {
        for line in wrap(source, COLUMNS + 12).iter().take(12) {
            self.line(line, "", &self.dim.clone());
        }
        let wide = f64::from(COLUMNS) * CELL.0 + 2.0 * MARGIN;
        let high = (self.y + MARGIN - LINE).round();
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {wide} {high}\" width=\"{wide}\" \
             height=\"{high}\" role=\"img\" font-family=\"system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif\" \
             font-size=\"12\">\n<title>{}</title>\n<desc>{}</desc>\n\
             <style>.t{{font-size:16px;font-weight:600}}.b{{font-weight:600}}\
             .m{{font-family:'DejaVu Sans Mono',ui-monospace,monospace;font-size:13.2px;white-space:pre}}</style>\n\
             <rect width=\"{wide}\" height=\"{high}\" fill=\"{}\"/>\n{}</svg>\n",
            escaped(&self.title),
            escaped(&self.about),
            self.paper,
            self.body
        )
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Source {
    pub lesson: Option<String>,
    /// The parameters that differ from the lab's own values, as [`changed`] finds them.
    pub changed: Vec<(String, String)>,
    pub seed: Option<String>,
    pub device: Option<String>,
    /// What sets the run apart from one that has just ended, such as "recorded on ...".
    pub remark: Option<String>,
}

/// The parameters with other values than the schema's defaults, except the seed.
pub fn changed<'a>(
    schema: &Schema,
    params: impl IntoIterator<Item = (&'a str, &'a Value)>,
) -> Vec<(String, String)> {
    let differs = |(name, value): &(&str, &Value)| {
        let param = schema.params.iter().find(|param| param.name == *name);
        // What a table supplies follows from the parameter that names its entry.
        let differs = param.is_none_or(|param| {
            let default = param.default.as_ref();
            !default.is_some_and(|default| metrics::is_same(default, value)) && param.from.is_none()
        });
        *name != "seed" && differs
    };
    let params = params.into_iter().filter(differs);
    params.map(|(name, value)| (name.to_owned(), value.to_string())).collect()
}

impl Source {
    /// The line: lab, lesson, changed parameters, seed, device, version.
    pub(crate) fn line(&self, schema: &Schema) -> String {
        let mut parts = vec![format!("mlsys {} lab {}", env!("CARGO_PKG_VERSION"), schema.kind)];
        parts.extend(self.lesson.iter().map(|lesson| format!("lesson {lesson}")));
        if self.changed.is_empty() {
            parts.push("all parameters at their defaults".to_owned());
        }
        let changed = self.changed.iter();
        parts.extend(changed.map(|(name, value)| format!("{name} = {}", cell(value, 60))));
        parts.extend(self.seed.iter().map(|seed| format!("seed {seed}")));
        parts.extend(self.device.iter().map(|device| format!("on {device}")));
        parts.extend(self.remark.clone());
        parts.join(" · ")
    }
}
