use mlsys_lab::frame::table::{Sort, SortOrder};
use mlsys_lab::{Tables, Value};

use super::sourced::Sourced;
use super::subject::{Subject, list, text};

fn all() -> &'static [Subject] {
    Subject::all().unwrap()
}

fn sourced(name: &str) -> Sourced {
    Sourced::new(Subject::find(name).unwrap())
}

#[test]
fn every_cell_of_every_table_says_whose_it_is() {
    for subject in all() {
        let whole = Sourced::new(subject);
        assert!(!whole.table.rows.is_empty(), "{}", subject.name);
        assert_eq!(whole.noted(), whole.cells(), "{}", subject.name);
        for note in whole.table.notes.all() {
            let bare = note.split(", from: ").last().unwrap().trim();
            assert!(bare.len() > 8, "{}: {note}", subject.name);
        }
    }
}

#[test]
fn entries_and_corrections_name_their_sources() {
    let tables = Tables::landscape();
    let known: Vec<String> = tables.all("source").iter().filter_map(|s| text(s, "name")).collect();
    for table in tables.tables().filter(|table| *table != "source") {
        for entry in tables.all(table) {
            let slides = text(&entry, "slide").unwrap_or_else(|| panic!("{table}: {entry}"));
            for slide in slides.split("; ") {
                assert!(known.iter().any(|name| name == slide), "{table}: {entry}");
            }
            let concerned = entry.at("concerns").map(list).unwrap_or_default();
            for field in concerned {
                let field = field.as_str().unwrap();
                assert!(entry.at(field).is_some(), "{table}: {field} in {entry}");
                assert!(entry.at("correct").is_some(), "{table}: {entry}");
            }
        }
    }
    let constants = Tables::builtin();
    for table in constants.tables() {
        for entry in constants.all(table) {
            assert!(text(&entry, "source").is_some_and(|said| said.len() > 8), "{table}: {entry}");
        }
    }
}

#[test]
fn every_correction_reaches_a_cell() {
    for subject in all() {
        let entries = subject.tables().all(&subject.entries);
        let corrections = entries.iter().filter(|entry| entry.at("correct").is_some());
        let whole = Sourced::new(subject);
        assert!(whole.corrected >= corrections.count(), "{}", subject.name);
        let noted = whole.table.notes.all().iter();
        let noted = noted.filter(|note| note.contains("Corrected: ")).count();
        assert_eq!(noted > 0, whole.corrected > 0, "{}", subject.name);
    }
}

#[test]
fn every_field_of_a_table_is_one_that_some_entry_has() {
    for subject in all() {
        let entries = subject.tables().all(&subject.entries);
        for column in &subject.columns {
            for field in std::iter::once(&column.field).chain(&column.over) {
                let has = entries.iter().any(|entry| entry.at(field).is_some());
                assert!(has, "{}: nothing has {field}", subject.name);
            }
        }
        let whole = Sourced::new(subject);
        for title in subject.plotted.iter().chain(&subject.grouped) {
            whole.table.column(title).unwrap();
        }
    }
}

#[test]
fn no_price_stands_without_date_and_source() {
    let whole = sourced("price");
    let column = |title: &str| whole.table.column(title).unwrap();
    let (date, source) = (column("date"), column("source"));
    for row in 0..whole.table.rows.len() {
        assert!(whole.table.cell(row, date).is_some(), "{row}");
        assert!(whole.table.cell(row, source).is_some(), "{row}");
        // What stays in sight whatever is scrolled, and what a point is called.
        let name = whole.table.cell(row, 0).unwrap().to_string();
        assert!(
            name.ends_with(", 2023)") && name.contains("slides") | name.contains("talk"),
            "{name}"
        );
        let note = whole.table.notes.at(row, column("claim")).unwrap();
        assert!(note.contains("2023"), "{note}");
    }
}

#[test]
fn values_are_those_of_the_files_and_quotients_say_so() {
    let gpu = sourced("gpu");
    let cell = |chip: &str, title: &str| {
        let row = gpu.table.rows.iter().position(|row| row[0].to_string().contains(chip));
        let column = gpu.table.column(title).unwrap();
        (row.unwrap(), column)
    };
    let value = |(row, column)| gpu.table.cell(row, column).cloned();
    assert_eq!(value(cell("H200", "memory")), Some(Value::Float(141.0)));
    assert_eq!(value(cell("H100", "BF16 (TFLOP/s)")), Some(Value::Float(989.4)));
    assert_eq!(value(cell("V100", "BF16 (TFLOP/s)")), None);
    assert_eq!(value(cell("TPU v3", "SMs")), None);
    let ridge = cell("H100", "BF16 ridge");
    assert_eq!(value(ridge), Some(Value::Float(295.343)));
    let note = gpu.table.notes.at(ridge.0, ridge.1).unwrap();
    assert!(note.starts_with("worked out here") && note.contains("H100 datasheet"), "{note}");
    // What a link's latency is not known to be is no zero.
    let link = sourced("link");
    let sort = Sort { column: link.table.column("latency").unwrap(), order: SortOrder::Ascending };
    let first = link.table.shown(Some(sort), None)[0];
    assert_eq!(link.table.cell(first, sort.column), Some(&Value::Float(0.2)));
}
