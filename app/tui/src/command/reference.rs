//! The table of commands as a page to read: `docs/keys.md` and `mlsys keys`.

use super::{Binding, Place, TABLE};

/// The pages, as against what lies over them.
const PAGES: [Place; 5] = [Place::Course, Place::Text, Place::Lab, Place::Picture, Place::Kernel];

/// Rows that hold at the same places, and the words for these.
pub struct Section {
    pub title: String,
    pub rows: Vec<&'static Binding>,
}

/// The table by places: where most keys hold first, then each page, then what lies over them.
pub fn sections() -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    for row in TABLE {
        let title = title(row);
        match sections.iter_mut().find(|section| section.title == title) {
            Some(section) => section.rows.push(row),
            None => sections.push(Section { title, rows: vec![row] }),
        }
    }
    sections.sort_by_key(|section| {
        let places = section.rows.first().map_or(&[][..], |row| row.places);
        let home = Place::ALL.iter().position(|place| places.contains(place));
        let over = !places.iter().any(|place| PAGES.contains(place));
        (over, std::cmp::Reverse(places.len()), home)
    });
    sections
}

fn title(row: &Binding) -> String {
    let pages: Vec<&str> =
        PAGES.iter().filter(|place| row.places.contains(place)).map(|place| place.word()).collect();
    match pages.as_slice() {
        [] => {
            let over: Vec<&str> = row.places.iter().map(|place| place.word()).collect();
            format!("Over a page: {}", over.join(", "))
        }
        ["course", "text", "lab", "picture", ..] => "On every page".to_owned(),
        ["kernel"] => "In a kernel that is being written".to_owned(),
        ["text", "lab", "picture"] => "In a lesson".to_owned(),
        pages => format!("On a page: {}", pages.join(", ")),
    }
}

pub fn markdown() -> String {
    let mut page = String::from(
        "# Keys\n\nThis page is made from the table of commands that the workbench itself reads: \
         `mlsys keys --markdown` prints it, and a test fails where it has fallen behind.\n\n\
         `?` shows the keys of the place you are at, `:` finds any command by some letters of its name.\n",
    );
    for Section { title, rows } in sections() {
        page.push_str(&format!(
            "\n## {title}\n\n| keys | command | what it does |\n| --- | --- | --- |\n"
        ));
        for row in rows {
            let keys: Vec<String> = row.keys.iter().map(|key| format!("`{key}`")).collect();
            let keys = keys.join(" ").replace('|', "\\|");
            page.push_str(&format!("| {keys} | {} | {} |\n", row.label, row.help));
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn the_page_of_keys_is_that_of_the_table() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/keys.md");
        if std::env::var_os("MLSYS_BLESS").is_some() {
            std::fs::write(&file, markdown()).unwrap();
        }
        let kept = std::fs::read_to_string(&file).unwrap_or_default();
        assert!(
            kept == markdown(),
            "docs/keys.md has fallen behind: MLSYS_BLESS=1 cargo test writes it anew"
        );
    }

    #[test]
    fn every_row_stands_in_one_section() {
        let rows: usize = sections().iter().map(|section| section.rows.len()).sum();
        assert_eq!(rows, TABLE.len());
    }
}
