//! Whole screens with their styles, compared with files next to the tests.
//!
//! `MLSYS_BLESS=1 cargo test` writes the files anew; their difference is then to be read like any other change.
//! Each style has one letter in all files, by the list `styles.txt`, so that a new style changes only the lines
//! that use it. Blessing appends styles that the list lacks.

use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::{Read, Write as _};
use std::path::Path;

use ratatui::buffer::{Buffer, Cell};

const STYLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/styles.txt");

/// Compares a screen with the file of a name in a folder.
pub fn compare(folder: &str, name: &str, buf: &Buffer) {
    let folder = Path::new(folder);
    let file = folder.join(name).with_extension("txt");
    let is_blessing = std::env::var_os("MLSYS_BLESS").is_some();
    let now = listing(buf, &letters(buf, is_blessing));
    if is_blessing {
        fs::create_dir_all(folder).unwrap();
        fs::write(&file, &now).unwrap();
    }
    let kept = fs::read_to_string(&file).unwrap_or_default();
    let differs = kept.lines().zip(now.lines()).position(|(a, b)| a != b);
    assert!(kept == now, "{name} differs from line {differs:?} on; now:\n{now}");
}

/// A screen as text, row by row.
pub fn rows(buf: &Buffer) -> Vec<String> {
    let width = usize::from(buf.area.width).max(1);
    let symbols: Vec<&str> = buf.content.iter().map(|cell| cell.symbol()).collect();
    symbols.chunks(width).map(|row| row.concat().trim_end().to_owned()).collect()
}

/// The text, then one letter for the style of each cell, then what the letters mean.
fn listing(buf: &Buffer, letters: &[(char, String)]) -> String {
    let letter = |cell: &Cell| {
        let style = style(cell);
        letters.iter().find(|(_, known)| *known == style).map_or('?', |(letter, _)| *letter)
    };
    let mut listing = rows(buf).join("\n");
    listing.push_str("\n\n");
    let mut used = Vec::new();
    for row in buf.content.chunks(usize::from(buf.area.width)) {
        let row: String = row.iter().map(letter).collect();
        used.extend(row.chars());
        writeln!(listing, "{row}").unwrap();
    }
    for (letter, style) in letters.iter().filter(|(letter, _)| used.contains(letter)) {
        writeln!(listing, "{letter} {style}").unwrap();
    }
    listing
}

/// The list of styles, with those of a screen appended while blessing.
fn letters(buf: &Buffer, is_blessing: bool) -> Vec<(char, String)> {
    let mut file = OpenOptions::new().read(true).append(is_blessing).open(STYLES).unwrap();
    if is_blessing {
        // Tests run at once, in several processes.
        file.lock().unwrap();
    }
    let mut text = String::new();
    file.read_to_string(&mut text).unwrap();
    let read =
        |line: &str| Some((line.chars().next()?, line.get(line.find(' ')? + 1..)?.to_owned()));
    let mut letters: Vec<(char, String)> = text.lines().filter_map(read).collect();
    for cell in buf.content.iter().filter(|_| is_blessing) {
        let style = style(cell);
        if letters.iter().all(|(_, known)| *known != style) {
            let free = |c: &char| c.is_alphanumeric() && letters.iter().all(|(l, _)| l != c);
            let letter = ('\u{21}'..'\u{2000}').find(free).unwrap();
            writeln!(file, "{letter} {style}").unwrap();
            letters.push((letter, style));
        }
    }
    letters
}

fn style(cell: &Cell) -> String {
    format!("{} on {} {:?}", cell.fg, cell.bg, cell.modifier)
}
