//! Whole screens of panels with their styles, compared with files beside this one.
//!
//! `MLSYS_BLESS=1 cargo test` writes the files anew; their difference is then to be read like any other change.

use std::fmt::Write as _;
use std::path::Path;

use mlsys_lab::report::RunData;
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Rect;

use super::fixtures::{diverging, learning, schema, steered};
use super::{Scene, draw_panel, look, rows};
use crate::ui::glyphs::GlyphSet;
use crate::ui::theme::{ColorDepth, Look};

/// Draws panels in a grid of so many columns.
fn screen(size: (u16, u16), columns: u16, panels: &[&str], data: &RunData, look: &Look) -> Buffer {
    let (schema, previous) = (schema(), learning(250));
    let mut buf = Buffer::empty(Rect::new(0, 0, size.0, size.1));
    let rows = (panels.len() as u16).div_ceil(columns);
    let (width, height) = (size.0 / columns, size.1 / rows);
    for (place, name) in (0..).zip(panels) {
        let (x, y) = (place % columns * width, place / columns * height);
        let area = Rect::new(x, y, width - 2, height - 1);
        let panel = schema.panel(name).unwrap();
        let scene = Scene {
            schema: &schema,
            panel,
            data,
            previous: Some(&previous),
        };
        draw_panel(area, &mut buf, &scene, look);
    }
    buf
}

/// The text, then one sign for the style of each cell, then what the signs mean.
fn listing(buf: &Buffer) -> String {
    const SIGNS: &str = ".abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-*/=%&@!";
    let mut styles: Vec<String> = vec![said(&Cell::default())];
    let mut listing = rows(buf).join("\n");
    listing.push_str("\n\n");
    let width = usize::from(buf.area.width);
    for row in buf.content.chunks(width) {
        let sign = |cell: &Cell| {
            let style = said(cell);
            let place = styles.iter().position(|s| *s == style).unwrap_or_else(|| {
                styles.push(style);
                styles.len() - 1
            });
            SIGNS.chars().nth(place).unwrap_or('?')
        };
        let row: String = row.iter().map(sign).collect();
        writeln!(listing, "{row}").unwrap();
    }
    for (sign, style) in SIGNS.chars().zip(&styles) {
        writeln!(listing, "{sign} {style}").unwrap();
    }
    listing
}

fn said(cell: &Cell) -> String {
    format!("{} on {} {:?}", cell.fg, cell.bg, cell.modifier)
}

fn compare(name: &str, buf: &Buffer) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/ui/panel/tests/snapshots");
    let file = folder.join(name).with_extension("txt");
    let now = listing(buf);
    if std::env::var_os("MLSYS_BLESS").is_some() {
        std::fs::write(&file, &now).unwrap();
    }
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    let differs = kept.lines().zip(now.lines()).position(|(a, b)| a != b);
    assert!(
        kept == now,
        "{name} differs from line {differs:?} on; now:\n{now}"
    );
}

#[test]
fn a_small_screen_in_full_colour() {
    let look = look(ColorDepth::TrueColor, GlyphSet::Unicode);
    compare(
        "curve-80x24",
        &screen((80, 24), 1, &["loss-curve"], &steered(400), &look),
    );
    let panels = ["loss-curve", "loss-log", "gradient-flow", "numbers"];
    compare(
        "diverging-120x40",
        &screen((120, 40), 2, &panels, &diverging(60), &look),
    );
}

#[test]
fn a_large_screen_in_sixteen_colours() {
    let look = look(ColorDepth::Ansi16, GlyphSet::Unicode);
    let panels = [
        "loss-curve",
        "decision-boundary",
        "samples",
        "gradient-flow",
        "memory",
        "confusion",
        "devices",
        "numbers",
        "text",
    ];
    compare(
        "all-200x60",
        &screen((200, 60), 3, &panels, &steered(400), &look),
    );
}

#[test]
fn a_small_screen_in_ascii_without_colour() {
    let look = look(ColorDepth::None, GlyphSet::Ascii);
    let panels = [
        "loss-curve",
        "decision-boundary",
        "gradient-flow",
        "samples",
    ];
    compare(
        "ascii-80x24",
        &screen((80, 24), 2, &panels, &steered(400), &look),
    );
}

#[test]
fn the_smallest_screen() {
    let look = look(ColorDepth::TrueColor, GlyphSet::Unicode);
    compare(
        "curve-20x5",
        &screen((22, 6), 1, &["loss-curve"], &steered(400), &look),
    );
    compare(
        "bars-20x5",
        &screen((22, 6), 1, &["gradient-flow"], &steered(400), &look),
    );
}
