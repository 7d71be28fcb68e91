use super::*;

fn table() -> Table {
    let row = |name: &str, memory: i64, rate: Value| vec![name.into(), memory.into(), rate];
    Table::new(
        ["device", "memory (GB)", "rate"].map(str::to_owned).to_vec(),
        vec![
            row("A100", 80, 2039.0.into()),
            row("H200", 141, "not finite".into()),
            row("T4", 16, 320.0.into()),
            row("a10", 24, "600 GB/s".into()),
        ],
    )
}

fn names(sort: Option<Sort>, filter: Option<&Filter>) -> String {
    let table = table();
    let shown = table.shown(sort, filter);
    let names = shown.iter().map(|row| table.rows[*row][0].to_string());
    names.collect::<Vec<_>>().join(" ")
}

#[test]
fn a_column_sorts_up_then_down_then_not() {
    let mut sort = None;
    let mut seen = Vec::new();
    for _ in 0..3 {
        sort = Sort::next(sort, 2);
        seen.push(names(sort, None));
    }
    assert_eq!(seen, ["T4 a10 A100 H200", "H200 A100 a10 T4", "A100 H200 T4 a10"]);
    let other = Sort::next(Sort::next(None, 1), 0);
    assert_eq!(names(other, None), "A100 H200 T4 a10");
    assert_eq!(names(Sort::next(None, 99), None), "A100 H200 T4 a10");
}

#[test]
fn what_has_no_value_stays_at_the_end_both_ways() {
    let row = |name: &str, value: Value| vec![name.into(), value];
    let rows = vec![row("none", "".into()), row("large", 3_i64.into()), row("small", 1_i64.into())];
    let table = Table::new(["name", "value"].map(str::to_owned).to_vec(), rows);
    let upwards = Sort::next(None, 1);
    assert_eq!(table.shown(upwards, None), [2, 1, 0]);
    assert_eq!(table.shown(Sort::next(upwards, 1), None), [1, 2, 0]);
}

#[test]
fn notes_belong_to_cells_and_equal_ones_are_kept_once() {
    let mut table = table();
    assert_eq!(table.notes.of(0, 0), None);
    table.notes.put(0, 1, "datasheet");
    table.notes.put(2, 1, "datasheet");
    table.notes.put(2, 2, "measured here");
    assert_eq!(table.notes.of(2, 1), Some("datasheet"));
    assert_eq!(table.notes.of(2, 0), None);
    assert_eq!(table.notes.of(9, 9), None);
    assert_eq!(table.notes.all(), ["datasheet", "measured here"]);
    let written = serde_json::to_string(&table).unwrap();
    assert_eq!(serde_json::from_str::<Table>(&written).unwrap(), table);
    let plain = serde_json::to_string(&self::table()).unwrap();
    assert!(!plain.contains("notes"), "{plain}");
    assert_eq!(serde_json::from_str::<Table>(&plain).unwrap(), self::table());
}

#[test]
fn filters_compare_or_look_for_text_and_say_what_is_wrong() {
    let table = table();
    for (text, expected) in [
        ("", "A100 H200 T4 a10"),
        ("a1", "A100 a10"),
        ("memory > 20", "A100 H200 a10"),
        ("memory (GB) <= 24", "T4 a10"),
        ("mem>=1_41", "H200"),
        ("rate != 320", "A100 H200 a10"),
        ("rate >= 600", "A100 a10"),
        ("device = t4", "T4"),
        ("device != t4", "A100 H200 a10"),
        ("rate > 1e9", ""),
    ] {
        let filter = Filter::read(text, &table.columns).unwrap();
        assert_eq!(names(None, filter.as_ref()), expected, "{text}");
    }
    for (text, reason) in [
        ("memry > 3", "there is no column 'memry'; there are: device, memory (GB), rate"),
        ("> 3", "a column stands before the comparison: device, memory (GB), rate"),
        ("rate >", "a number stands behind >, such as > 3"),
        ("rate < fast", "'fast' is not a number, and < compares numbers"),
        ("rate < nan", "'nan' is not a number, and < compares numbers"),
        ("=", "a column stands before the comparison: device, memory (GB), rate"),
    ] {
        assert_eq!(Filter::read(text, &table.columns).unwrap_err(), reason);
    }
    let columns = ["rate a", "rate b"].map(str::to_owned);
    let error = Filter::read("ra > 1", &columns).unwrap_err();
    assert_eq!(error, "several columns begin with 'ra': rate a, rate b");
}

#[test]
fn notes_become_a_column_by_number_or_in_words() {
    let mut table = table();
    assert_eq!(table.numbered().0, table);
    for column in 0..3 {
        table.notes.put(0, column, "datasheet");
        table.notes.put(1, column, "slides");
    }
    table.notes.put(1, 2, "measured");
    let (numbered, notes) = table.numbered();
    assert_eq!(notes, ["1  datasheet", "2  slides", "3  measured"]);
    assert_eq!(numbered.columns.last().unwrap(), "source");
    let last = |table: &Table, row: usize| table.rows[row].last().unwrap().to_string();
    assert_eq!(last(&numbered, 0), "1");
    assert_eq!(last(&numbered, 1), "2; rate: 3");
    assert_eq!(last(&numbered, 2), "");
    assert_eq!(last(&table.annotated(), 1), "slides; rate: measured");
}
