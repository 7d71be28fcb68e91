//! Reports as HTML pages: one file, without scripts and without anything fetched from elsewhere.

use std::fmt::Write;

use mlsys_view::html::html;
use mlsys_view::xml::escaped;

const STYLE: &str = include_str!("page.css");

pub fn document(title: &str, body: &str) -> String {
    let title = escaped(title);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n{body}\
         <p class=\"dim\">Written by mlsys {}.</p>\n</body>\n</html>\n",
        env!("CARGO_PKG_VERSION")
    )
}

/// How a table keeps within a narrow screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// A row becomes a block with a line for each cell: for texts.
    Facts,
    /// It scrolls to the side: for columns of numbers that are compared.
    Scroll,
    /// It is narrow enough: a name and a value.
    Plain,
}

/// What a cell says by its colour, next to its words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Plain,
    Good,
    Bad,
    Dim,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    html: String,
    tone: Tone,
}

impl Cell {
    pub fn text(text: &str) -> Self {
        Self::toned(Tone::Plain, text)
    }

    pub fn toned(tone: Tone, text: &str) -> Self {
        Self { html: escaped(text), tone }
    }

    /// A text of a lesson.
    pub fn markdown(text: &str) -> Self {
        Self { html: html(text), tone: Tone::Plain }
    }

    /// An answer: one of several lines, such as a kernel, keeps its lines.
    pub fn answer(text: &str) -> Self {
        let html = match text.lines().count() {
            0 => String::new(),
            1 => format!("<span class=\"text\">{}</span>", escaped(text)),
            lines => format!(
                "<details><summary>({lines} lines)</summary><pre>{}</pre></details>",
                escaped(text)
            ),
        };
        Self { html, tone: Tone::Plain }
    }

    pub fn lines(lines: impl Iterator<Item = String>) -> Self {
        let html = lines.map(|line| format!("<div class=\"text\">{}</div>", escaped(&line)));
        Self { html: html.collect(), tone: Tone::Plain }
    }

    /// With another text below it, in a quieter colour.
    pub fn over(mut self, below: &Self) -> Self {
        if !below.html.is_empty() {
            let _ = write!(self.html, "<div class=\"dim\">{}</div>", below.html);
        }
        self
    }

    /// A place of the same page.
    pub fn link(anchor: &str, text: &str) -> Self {
        let html = format!("<a href=\"#{}\">{}</a>", escaped(anchor), escaped(text));
        Self { html, tone: Tone::Plain }
    }
}

pub fn section(
    title: &str,
    head: &[&str],
    rows: Vec<Vec<Cell>>,
    layout: Layout,
    body: &mut String,
) {
    if !rows.is_empty() {
        let _ = writeln!(body, "<h3>{}</h3>", escaped(title));
        table(head, &rows, layout, body);
    }
}

pub fn table(head: &[&str], rows: &[Vec<Cell>], layout: Layout, body: &mut String) {
    let class = match layout {
        Layout::Facts => "facts",
        Layout::Scroll => "scroll",
        Layout::Plain => "plain",
    };
    let _ = writeln!(body, "<div class=\"{class}\"><table>");
    if !head.is_empty() {
        let cells = head.iter().map(|name| format!("<th>{}</th>", escaped(name)));
        let _ = writeln!(body, "<tr>{}</tr>", cells.collect::<String>());
    }
    for row in rows {
        body.push_str("<tr>");
        for (index, Cell { html, tone }) in row.iter().enumerate() {
            let tone = match tone {
                Tone::Plain => "",
                Tone::Good => " class=\"good\"",
                Tone::Bad => " class=\"bad\"",
                Tone::Dim => " class=\"dim\"",
            };
            let name = match (layout, head.get(index)) {
                (Layout::Facts, Some(name)) => format!(" data-of=\"{}\"", escaped(name)),
                (Layout::Facts, None) | (Layout::Scroll | Layout::Plain, _) => String::new(),
            };
            let _ = write!(body, "<td{tone}{name}>{html}</td>");
        }
        body.push_str("</tr>\n");
    }
    body.push_str("</table></div>\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_title_or_a_cell_is_taken_for_markup() {
        let evil = "<script>alert(1)</script>\" & '";
        let mut body = String::new();
        let cells = [Cell::text, Cell::markdown, Cell::answer].map(|cell| cell(evil));
        table(&["<b>\""], &[cells.into()], Layout::Facts, &mut body);
        let page = document("</title><script src=x>", &body);
        assert!(!page.contains("<script") && !page.contains("<b>"), "{page}");
        assert_eq!(page.matches("&lt;script&gt;alert(1)&lt;/script&gt;").count(), 3, "{page}");
    }

    #[test]
    fn every_cell_names_its_column_where_rows_become_blocks() {
        let mut body = String::new();
        let kernel = Cell::answer("void f() {\n}");
        table(&["Asked", "Answered"], &[vec![Cell::text("a"), kernel]], Layout::Facts, &mut body);
        assert!(
            body.contains("<td data-of=\"Asked\">a</td><td data-of=\"Answered\"><details>"),
            "{body}"
        );
        assert!(body.contains("<pre>void f() {&#10;}</pre>"), "{body}");
    }
}
