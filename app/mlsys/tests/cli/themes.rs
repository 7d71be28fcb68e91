//! Themes as files: checked, listed, printed.

use super::help::Folder;

#[test]
fn a_theme_is_printed_changed_checked_and_listed() {
    let folder = Folder::new();
    let light = folder.run(&["theme", "show", "light"]);
    let own = light.did().replace("#60666f", "#c8c8c8");
    std::fs::create_dir_all(folder.path("data/themes")).unwrap();
    let file = folder.file("data/themes/mine.toml", own);
    let checked = folder.run(&["theme", "check", &file]);
    assert!(checked.did().contains("one role is hard to see"), "{checked:?}");
    assert!(checked.err.contains("`dim` has a contrast of"), "{checked:?}");
    let listed = folder.run(&["theme", "list"]);
    for name in ["dark\n", "light\n", "paper\n", "mine\n"] {
        assert!(listed.did().contains(name), "{listed:?}");
    }
    let doctor = folder.run(&["doctor"]);
    assert!(doctor.did().contains("mine  `dim` has a contrast of"), "{doctor:?}");
    folder.run(&["theme", "show", "ligth"]).refused(2, &["did you mean 'light'?"]);
}

#[test]
fn a_theme_with_mistakes_is_refused_with_all_of_them_and_their_places() {
    let folder = Folder::new();
    let file = folder.file("bad.toml", "text = \"blue\"\ncolour = \"#000000\"\ndim = 3\n");
    folder.run(&["theme", "check", &file]).refused(
        2,
        &[
            "bad.toml:1:8",
            "\"blue\" is not a colour",
            "bad.toml:2:1",
            "there is no role `colour`",
            "bad.toml:3:7",
            "`dim` is one colour",
            "the theme has no `background`",
        ],
    );
    folder.run(&["theme", "check", "no-such.toml"]).refused(2, &["cannot be read"]);
}
