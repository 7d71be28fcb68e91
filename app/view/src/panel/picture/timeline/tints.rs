//! How bars look: by their fill what they are, by their colour that or their label.

use mlsys_lab::frame::Timeline;
use ratatui::style::{Modifier, Style};

use crate::panel::legend::Item;
use crate::panel::view::Tint;
use crate::theme::Look;

/// The style and the fill of a class.
pub(super) fn class(place: usize, look: &Look) -> (Style, &'static str) {
    let (styles, fills) = (&look.theme.curves, &look.glyphs.fills);
    (styles[place % styles.len()], fills[place % fills.len()])
}

/// Letters on a bar, which stays a bar behind them; without colour they stand in a gap of it.
pub(super) fn on_bar(style: Style) -> Style {
    match style.fg {
        Some(_) => style.add_modifier(Modifier::REVERSED),
        None => style,
    }
}

/// The style of all bars of one label: of neighbouring numbers it differs.
pub(super) fn by_label(label: &str, look: &Look) -> Style {
    let styles = &look.theme.curves;
    let digits: String = label.chars().filter(char::is_ascii_digit).collect();
    let place = match digits.parse::<usize>() {
        Ok(number) => number,
        Err(_) if label.is_empty() => return look.theme.dim,
        Err(_) => label.bytes().map(usize::from).sum(),
    };
    styles[place % styles.len()]
}

/// What the fills and colours of bars mean.
pub(super) fn classes(timeline: &Timeline, tint: Tint, look: &Look) -> Vec<Item> {
    let names = timeline.classes.iter().enumerate();
    let item = |(place, name): (usize, &String)| {
        let (style, fill) = class(place, look);
        let style = match tint {
            Tint::Class => style,
            Tint::Label => look.theme.text,
        };
        Item { mark: fill.repeat(2), style, text: name.clone(), text_style: look.theme.text }
    };
    let mut items: Vec<Item> = names.map(item).collect();
    if tint == Tint::Label {
        items.push(Item {
            mark: String::new(),
            style: look.theme.dim,
            text: "colour: label".to_owned(),
            text_style: look.theme.dim,
        });
    }
    items
}
