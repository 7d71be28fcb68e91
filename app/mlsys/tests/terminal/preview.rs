//! A lesson file followed while it is written, by a terminal that really watches it.

use std::fs;
use std::path::PathBuf;

use crate::screen::Screen;

const LESSON: &str = "+++\nformat = 1\nid = \"tests/followed\"\ntitle = \"Followed\"\nminutes = 1\n+++\n\
    The first version.\n\n```{lab} blocks\nkind = \"occupancy\"\n```\n\n```{notes}\nFor teachers.\n```\n";

/// A folder that goes with the test.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn what_an_author_saves_is_on_the_screen_and_mistakes_too() {
    let folder = Folder(std::env::temp_dir().join(format!("mlsys-author-{}", std::process::id())));
    fs::create_dir_all(&folder.0).unwrap();
    let file = folder.0.join("followed.md");
    fs::write(&file, LESSON).unwrap();
    let path = file.display().to_string();
    let mut screen = Screen::open(120, 40, &["lesson", "preview", &path]);
    screen.wait_for("The first version.");
    screen.keys("i");
    screen.wait_for("For teachers.");

    // As editors save: a new file over the old one.
    let other = folder.0.join("followed.md.new");
    fs::write(&other, LESSON.replace("first", "second")).unwrap();
    fs::rename(&other, &file).unwrap();
    screen.wait_for("The second version.");

    fs::write(&file, LESSON.replace("minutes", "minuets")).unwrap();
    screen.wait_for("the last good version stays on the screen");
    screen.wait_for("did you mean `minutes`?");

    fs::remove_file(&file).unwrap();
    screen.wait_for("is not there any more");
    fs::write(&file, LESSON.replace("first", "third")).unwrap();
    screen.wait_for("The third version.");

    screen.keys("\x03");
    assert_eq!(screen.exit_code(), Some(0));
    screen.is_given_back();
}
