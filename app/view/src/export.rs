//! A picture as a document of its own: the same drawing as on the screen, on a page that nobody presses keys at.

use std::borrow::Cow;

use mlsys_lab::frame::{Frame, Graph};
use mlsys_lab::schema::Draw;
use ratatui::layout::Rect;
use unicode_width::UnicodeWidthStr;

use crate::canvas::{CELL, Canvas, Vector, hex};
use crate::figure::graph::{Drawing, Form, Sight, pass};
use crate::figure::{Source, exchange, kernel, outline};
use crate::glyphs::{GlyphSet, Glyphs};
use crate::panel::text::wrap;
use crate::panel::{Focus, FrameView, Scene, draw_frame, line};
use crate::theme::{Background, ColorDepth, Look, Theme};
use crate::xml::escaped;

/// Columns of a page.
pub(crate) const COLUMNS: u16 = 102;
/// The margin around it, in pixels.
const MARGIN: f64 = 22.0;
/// The height of a line of text.
const LINE: f64 = 17.0;
/// Rows of one picture, and columns of one that is made smaller to fit; the file of values has all.
const MOST: (u16, u16) = (420, 360);
/// Steps of a walk that are written out.
const STEPS: usize = 80;

/// There is nothing to draw.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the picture '{panel}' has nothing to show yet: run the lab first")]
pub struct Nothing {
    /// The panel.
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

/// That a panel has nothing to show.
pub(crate) fn nothing(scene: &Scene<'_>) -> Nothing {
    Nothing { panel: scene.panel.name.clone() }
}

/// Dark on white, with every character.
fn look() -> Look {
    let theme = Theme::new(Background::Light, ColorDepth::TrueColor);
    Look { theme, glyphs: Glyphs::new(GlyphSet::Unicode) }
}

/// What a picture is on a page: other pictures may stand for it, with lines above and below.
struct Sheet<'a> {
    above: Vec<String>,
    frame: Cow<'a, Frame>,
    view: FrameView,
    below: Vec<String>,
}

impl<'a> Sheet<'a> {
    fn of(frame: &'a Frame, scene: &Scene<'_>) -> Self {
        let mut sheet = Self {
            above: Vec::new(),
            frame: Cow::Borrowed(frame),
            view: FrameView::default(),
            below: Vec::new(),
        };
        match frame {
            // A page has no next step: it has the rows of the place that the steps have reached.
            Frame::Kernel(kernel) => {
                sheet.frame = Cow::Owned(kernel::picture(kernel, scene.walk));
            }
            Frame::Exchange(of) => {
                let lines = [exchange::kind(of), of.note.clone()];
                sheet.above.extend(lines.into_iter().filter(|line| !line.is_empty()));
                sheet.frame = Cow::Owned(exchange::storyboard(of));
            }
            Frame::Film(film) => {
                if let Some(still) = film.at(film.cover) {
                    let mut inner = Self::of(&still.frame, scene);
                    inner.above.insert(0, outline::still(film, film.cover));
                    return inner;
                }
            }
            Frame::Table(table) if !table.notes.is_empty() => {
                let (table, notes) = table.numbered();
                sheet.frame = Cow::Owned(Frame::Table(table));
                sheet.below = notes;
            }
            Frame::Graph(graph) => {
                sheet.view.graph =
                    Sight { steps: graph.walk.len(), form: Some(Form::Airy), ..Sight::default() };
                sheet.below = walk(graph);
            }
            Frame::HeatMap(_)
            | Frame::Bars(_)
            | Frame::Stacks(_)
            | Frame::Histogram(_)
            | Frame::Scatter(_)
            | Frame::Table(_)
            | Frame::Cells(_)
            | Frame::Images(_)
            | Frame::Timeline(_)
            | Frame::Panes(_)
            | Frame::Passage(_)
            | Frame::Text(_) => {}
        }
        sheet
    }
}

/// The steps of a walk, each with its number, under the names of its passes.
fn walk(graph: &Graph) -> Vec<String> {
    let mut lines = Vec::new();
    let mut now = None;
    for (place, step) in graph.walk.iter().take(STEPS).enumerate() {
        if now.replace(step.pass) != Some(step.pass) {
            lines.push(format!("{}:", pass(step.pass)));
        }
        lines.push(format!("{}. {}", place + 1, step.text));
    }
    if graph.walk.len() > STEPS {
        lines.push(format!("and {} more steps", graph.walk.len() - STEPS));
    }
    lines
}

/// The columns and rows that a picture takes on a page of so many columns.
fn size(frame: &Frame, columns: u16) -> (u16, u16) {
    let count = |count: usize| u16::try_from(count).unwrap_or(u16::MAX);
    let lines = |text: &str| match text {
        "" => 0,
        text => count(wrap(text, columns).len()),
    };
    let rows = |rows: usize| if rows <= 24 { count(rows).saturating_mul(2) } else { count(rows) };
    let (wide, high) = match frame {
        Frame::HeatMap(map) if !map.row_labels.is_empty() && !map.column_labels.is_empty() => {
            (columns, rows(map.rows).saturating_add(3))
        }
        Frame::HeatMap(_) | Frame::Histogram(_) | Frame::Scatter(_) => (columns, 30),
        Frame::Bars(bars) => (columns, rows(bars.bars.len()).saturating_add(2)),
        Frame::Stacks(stacks) => {
            let note = lines(&stacks.note);
            (columns, rows(stacks.stacks.len()).saturating_add(5).saturating_add(note))
        }
        Frame::Timeline(timeline) => {
            let total = if timeline.total.is_some() { 9 } else { 0 };
            (columns, rows(timeline.lanes.len()).saturating_add(6 + total))
        }
        Frame::Cells(cells) => {
            let across = count(cells.columns()).div_ceil(columns.saturating_sub(20).max(1)).max(1);
            let body = rows(cells.rows.len()).saturating_mul(across);
            (columns, body.saturating_add(6).saturating_add(lines(&cells.note)))
        }
        Frame::Images(images) => {
            let wide = count(images.width.div_ceil(2)).max(4);
            let in_row = (columns / (wide + 2)).max(1);
            let in_row = match count(images.together) {
                together if together > 1 && together < in_row => in_row / together * together,
                _ => in_row,
            };
            let down = count(images.images.len().min(60)).div_ceil(in_row);
            let high = count(images.height.div_ceil(4)).max(2) + 1;
            (columns, down.max(1).saturating_mul(high) + 1)
        }
        Frame::Graph(graph) => {
            let sight =
                Sight { form: Some(Form::Airy), steps: graph.walk.len(), ..Sight::default() };
            let layout = Drawing::fitting(graph, &sight, (usize::MAX, usize::MAX)).layout;
            (count(layout.width).max(columns), count(layout.height))
        }
        Frame::Panes(panes) => {
            let across = count(panes.len()).clamp(1, if panes.len() <= 4 { 2 } else { 3 });
            let wide = columns / across;
            let high = panes.iter().map(|pane| size(&pane.frame, wide).1.min(wide / 2 + 4));
            let down = count(panes.len()).div_ceil(across);
            (columns, down.saturating_mul(high.max().unwrap_or(1).saturating_add(2)))
        }
        Frame::Table(table) => {
            let wide = |column: usize| {
                let title = table.columns.get(column).map_or(0, |title| title.width());
                let cells = table.rows.iter().take(MOST.1.into());
                let cells = cells.filter_map(|row| row.get(column));
                cells.map(|value| value.to_string().width()).max().unwrap_or(0).max(title).min(48)
                    + 2
            };
            let wide = (0..table.columns.len()).map(wide).sum::<usize>();
            (count(wide).max(columns), count(table.rows.len()).saturating_add(4))
        }
        Frame::Passage(of) => {
            let paragraphs = of.paragraphs.iter();
            let rows =
                paragraphs.map(|p| crate::figure::passage::rows(of, p, columns.into()).len());
            (columns, count(rows.sum()).saturating_add(5).saturating_add(lines(&of.note)))
        }
        Frame::Text(text) => {
            let rows: u16 =
                text.lines().map(|line| lines(line).max(1)).fold(1, u16::saturating_add);
            (columns, rows)
        }
        Frame::Exchange(_) | Frame::Film(_) | Frame::Kernel(_) => (columns, 30),
    };
    (wide.min(MOST.0), high.clamp(1, MOST.1))
}

/// A document being written.
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
        let mut page = Self {
            body: String::new(),
            y: MARGIN + 16.0,
            title: format!("{}: {}", scene.schema.title, scene.panel.name),
            about: scene.panel.shows.clone(),
            paper: hex(theme.defaults().1),
            ink: color(theme.text),
            dim: color(theme.dim),
        };
        let title = crate::table::cell(&page.title, 80);
        page.line(&title, "t", &page.ink.clone());
        page.y += 4.0;
        for line in wrap(&page.about.clone(), COLUMNS + 12).iter().take(2) {
            page.line(line, "", &page.dim.clone());
        }
        page
    }

    /// A line of text; moves down.
    fn line(&mut self, text: &str, class: &str, color: &str) {
        let class = match class {
            "" => String::new(),
            class => format!(" class=\"{class}\""),
        };
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

    fn picture(&mut self, frame: &Frame, scene: &Scene<'_>, look: &Look) {
        let sheet = Sheet::of(frame, scene);
        self.lines(&sheet.above);
        let size = size(&sheet.frame, COLUMNS);
        let mut canvas = Canvas::vector(size, Vector::new(&look.theme));
        let area = Rect::new(0, 0, size.0, size.1);
        draw_frame(area, &mut canvas, &sheet.frame, &sheet.view, Focus::Aside, look);
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

    /// The document, with the line that says where the picture comes from.
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
