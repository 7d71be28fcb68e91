//! A figure as a standalone SVG document.

mod bars;
mod cells;
mod graph;
mod grid;
mod heat;
mod histogram;
mod images;
mod lines;
mod marks;
mod page;
mod panes;
mod passage;
mod plot;
mod reduce;
mod scatter;
mod stacks;
mod timeline;

use mlsys_lab::frame::Frame;

use super::{Content, Figure, Nothing, kernel};
use page::Page;

/// The figure as a document: title, picture, legend and a line that says where it comes from.
pub fn svg(figure: &Figure<'_>) -> Result<String, Nothing> {
    let content = figure.content()?;
    let mut page = Page::new(figure);
    match &content {
        Content::Lines(names) => lines::draw(&mut page, figure, names),
        Content::Frame(picture) => frame(&mut page, picture.as_ref()),
    }
    Ok(page.finish(&figure.source.line(figure.schema)))
}

/// A picture below what has been drawn.
fn frame(page: &mut Page, frame: &Frame) {
    match frame {
        Frame::HeatMap(map) => heat::draw(page, map),
        Frame::Bars(bars) => bars::draw(page, bars),
        Frame::Stacks(stacks) => stacks::draw(page, stacks),
        Frame::Histogram(histogram) => histogram::draw(page, histogram),
        Frame::Scatter(scatter) => scatter::draw(page, scatter),
        Frame::Table(table) => cells::table(page, table),
        Frame::Cells(cells) => grid::draw(page, cells),
        Frame::Images(images) => images::draw(page, images),
        Frame::Graph(graph) => graph::draw(page, graph),
        Frame::Timeline(timeline) => timeline::draw(page, timeline),
        Frame::Exchange(exchange) => {
            let said = [super::exchange::kind(exchange), exchange.note.clone()];
            for line in said.iter().filter(|line| !line.is_empty()) {
                page.told(line);
            }
            self::frame(page, &super::exchange::storyboard(exchange));
        }
        Frame::Film(film) => {
            if let Some(still) = film.at(film.cover) {
                page.told(&super::outline::still(film, film.cover));
                self::frame(page, &still.frame);
            }
        }
        Frame::Kernel(kernel) => self::frame(page, &kernel::picture(kernel, None)),
        Frame::Panes(panes) => panes::draw(page, panes),
        Frame::Passage(of) => passage::draw(page, of),
        Frame::Text(text) => cells::text(page, text),
    }
}
