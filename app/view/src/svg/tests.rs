use ratatui::layout::Rect;
use ratatui::style::Style;

use super::*;
use crate::theme::{Background, ColorDepth};

fn theme() -> Theme {
    Theme::new(Background::Dark, ColorDepth::TrueColor)
}

/// Checks that elements nest and close, attributes are quoted, and nothing is left unescaped.
fn well_formed(svg: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = svg;
    while let Some(start) = rest.find('<') {
        let text = &rest[..start];
        assert!(!text.contains('>'), "{text}");
        for entity in text.split('&').skip(1) {
            assert!(["amp;", "lt;", "gt;"].iter().any(|e| entity.starts_with(e)), "{entity}");
        }
        let end = start + rest[start..].find('>').unwrap();
        let tag = &rest[start + 1..end];
        let name = tag.split([' ', '/']).find(|part| !part.is_empty()).unwrap();
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name));
        } else if !tag.ends_with('/') {
            open.push(name);
        }
        rest = &rest[end + 1..];
    }
    assert!(open.is_empty() && rest.trim().is_empty(), "{open:?} {rest}");
}

#[test]
fn text_is_escaped_and_stands_on_the_grid() {
    let mut buf = Buffer::empty(Rect::new(0, 0, 12, 2));
    buf.set_string(1, 1, "a<b> & 漢 \"", Style::new().add_modifier(Modifier::BOLD));
    let svg = to_svg(&buf, &theme());
    well_formed(&svg);
    assert!(svg.contains(">a&lt;b&gt;</text>"), "{svg}");
    assert!(svg.contains("<text x=\"23 32 41 50\" y=\"45.4\""), "{svg}");
    assert!(svg.contains(">漢</text>") && svg.contains("font-weight=\"bold\""), "{svg}");
}

#[test]
fn backgrounds_of_one_colour_are_one_shape() {
    let mut buf = Buffer::empty(Rect::new(0, 0, 10, 1));
    buf.set_style(Rect::new(2, 0, 5, 1), Style::new().bg(Color::Rgb(1, 2, 3)));
    let svg = to_svg(&buf, &theme());
    well_formed(&svg);
    assert!(svg.contains("<path fill=\"#010203\" d=\"M32 14h45v18h-45z\"/>"), "{svg}");
}

#[test]
fn halves_dots_and_lines_are_shapes() {
    let mut buf = Buffer::empty(Rect::new(0, 0, 3, 1));
    buf.set_string(0, 0, "▀⠁─", Style::new().fg(Color::Rgb(9, 9, 9)));
    let svg = to_svg(&buf, &theme());
    well_formed(&svg);
    assert!(!svg.contains("<text"), "{svg}");
    assert!(svg.contains("M14 14H23V23H14z"), "{svg}");
    assert!(svg.contains("M25.25 16.25h0"), "{svg}");
    assert!(svg.contains("M32 23L36.5 23"), "{svg}");
}

#[test]
fn reversed_text_changes_places_with_what_is_behind() {
    let mut buf = Buffer::empty(Rect::new(0, 0, 1, 1));
    buf.set_string(0, 0, "x", Style::new().add_modifier(Modifier::REVERSED));
    let svg = to_svg(&buf, &theme());
    let (text, screen) = theme().defaults();
    assert!(svg.contains(&format!("<path fill=\"{}\"", hex(text))), "{svg}");
    assert!(svg.contains(&format!("fill=\"{}\">x<", hex(screen))), "{svg}");
}
