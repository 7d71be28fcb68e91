//! The course's vocabulary, printed.

use crate::help::Folder;

#[test]
fn a_term_is_found_by_any_of_its_names() {
    let folder = Folder::new();
    for name in ["all-reduce", "ALL REDUCES", "allreduce"] {
        let ended = folder.run(&["glossary", name]);
        let printed = ended.did();
        assert!(printed.starts_with("all-reduce  (also: allreduce)\n"), "{printed}");
        assert!(printed.contains("lesson parallel/collectives; see "), "{printed}");
        assert!(printed.lines().all(|line| line.len() <= 80), "{printed}");
    }
}

#[test]
fn without_a_term_all_are_printed_and_json_is_one_object() {
    let folder = Folder::new();
    let all = folder.run(&["glossary", "--json"]).json();
    let count = all["terms"].as_array().unwrap().len();
    assert!(count >= 120, "{count}");
    assert!(folder.run(&["glossary"]).did().lines().count() > 2 * count);
    let part = folder.run(&["glossary", "batch", "--json"]).json();
    assert_eq!(part["terms"][0]["name"], "batch");
}

#[test]
fn a_part_of_a_name_finds_all_that_have_it_and_a_slip_is_guessed() {
    let folder = Folder::new();
    let part = folder.run(&["glossary", "parallelis", "--json"]).json();
    assert!(part["terms"].as_array().unwrap().len() >= 5, "{part}");
    folder
        .run(&["glossary", "atention"])
        .refused(2, &["no term 'atention'; did you mean 'attention'?"]);
    folder.run(&["glossary", "qqqqqq"]).refused(2, &["`mlsys glossary` prints them all"]);
}
