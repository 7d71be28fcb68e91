//! Whole screens with their styles, compared with files beside the tests.
//!
//! `MLSYS_BLESS=1 cargo test` writes the files anew; their difference is then to be read like any other change.

use std::fmt::Write as _;
use std::path::Path;

use ratatui::buffer::{Buffer, Cell};

/// Compares a screen with the file of a name in a folder.
pub fn compare(folder: &str, name: &str, buf: &Buffer) {
    let folder = Path::new(folder);
    let file = folder.join(name).with_extension("txt");
    let now = listing(buf);
    if std::env::var_os("MLSYS_BLESS").is_some() {
        std::fs::create_dir_all(folder).unwrap();
        std::fs::write(&file, &now).unwrap();
    }
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    let differs = kept.lines().zip(now.lines()).position(|(a, b)| a != b);
    assert!(kept == now, "{name} differs from line {differs:?} on; now:\n{now}");
}

/// A screen as text, row by row.
pub fn rows(buf: &Buffer) -> Vec<String> {
    let width = usize::from(buf.area.width).max(1);
    let symbols: Vec<&str> = buf.content.iter().map(|cell| cell.symbol()).collect();
    symbols.chunks(width).map(|row| row.concat().trim_end().to_owned()).collect()
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
