//! A figure as a standalone SVG document.

mod bars;
mod cells;
mod heat;
mod histogram;
mod images;
mod lines;
mod marks;
mod page;
mod plot;
mod reduce;
mod scatter;

use mlsys_lab::frame::Frame;

use super::{Content, Figure, Nothing, outline};
use page::Page;

/// The figure as a document: title, picture, legend and a line that says where it comes from.
pub fn svg(figure: &Figure<'_>) -> Result<String, Nothing> {
    let content = figure.content()?;
    let mut page = Page::new(figure);
    match &content {
        Content::Lines(names) => lines::draw(&mut page, figure, names),
        Content::Frame(frame) => match frame.as_ref() {
            Frame::HeatMap(map) => heat::draw(&mut page, map),
            Frame::Bars(bars) => bars::draw(&mut page, bars),
            Frame::Histogram(histogram) => histogram::draw(&mut page, histogram),
            Frame::Scatter(scatter) => scatter::draw(&mut page, scatter),
            Frame::Table(table) => cells::table(&mut page, table),
            Frame::Images(images) => images::draw(&mut page, images),
            Frame::Graph(graph) => {
                let lines = outline::graph(graph, graph.walk.len());
                cells::text(&mut page, &lines.join("\n"));
            }
            Frame::Timeline(timeline) => {
                let lines = outline::timeline(timeline, &super::glyphs());
                cells::text(&mut page, &lines.join("\n"));
            }
            Frame::Panes(panes) => {
                let titles: Vec<&str> = panes.iter().map(|pane| pane.title.as_str()).collect();
                cells::text(&mut page, &titles.join("\n"));
            }
            Frame::Text(text) => cells::text(&mut page, text),
        },
    }
    Ok(page.finish(&figure.source.line(figure.schema)))
}
