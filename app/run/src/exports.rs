//! Files a learner asks for: a picture as drawing and as values, in the data folder, never over another.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The letters of a name that are kept; a path may not be longer than file systems take.
const LONGEST: usize = 100;
/// A second in which more than this is exported under one name is a mistake.
const MOST: u32 = 1000;

/// A picture to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// What it shows: lesson or lab, and panel.
    pub name: String,
    /// The drawing.
    pub svg: String,
    /// The values.
    pub csv: String,
}

/// Writes drawing and values side by side into a folder and returns their path without the ending.
pub fn write(folder: &Path, export: &Export, now: SystemTime) -> io::Result<PathBuf> {
    fs::create_dir_all(folder)?;
    let time = humantime::format_rfc3339_seconds(now).to_string();
    let name = format!("{}-{}", file_name(&export.name), time.replace(':', "-"));
    for count in 1..=MOST {
        let stem = folder.join(if count == 1 { name.clone() } else { format!("{name}-{count}") });
        let mut drawing = match create(&stem, "svg") {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            file => file?,
        };
        let mut values = match create(&stem, "csv") {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                // Ours and empty: without its values the drawing would be taken for a whole export.
                fs::remove_file(stem.with_extension("svg"))?;
                continue;
            }
            file => file?,
        };
        drawing.write_all(export.svg.as_bytes())?;
        values.write_all(export.csv.as_bytes())?;
        return Ok(stem);
    }
    Err(io::Error::other(format!("there are already {MOST} exports called {name}")))
}

fn create(stem: &Path, ending: &str) -> io::Result<File> {
    // The name has no dot of its own: what follows the time is the ending.
    File::options().write(true).create_new(true).open(stem.with_extension(ending))
}

/// A name that every file system takes.
fn file_name(name: &str) -> String {
    let letters = name.chars().take(LONGEST);
    let safe = letters.map(|c| match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '_' => c,
        _ => '-',
    });
    let safe: String = safe.collect();
    match safe.trim_matches('-') {
        "" => "picture".to_owned(),
        safe => safe.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};
    use std::{env, process};

    use super::*;

    fn export(name: &str) -> Export {
        Export { name: name.to_owned(), svg: "<svg/>".to_owned(), csv: "a\r\n".to_owned() }
    }

    #[test]
    fn nothing_is_written_over() {
        let folder = env::temp_dir().join(format!("mlsys-exports-{}", process::id()));
        let _ = fs::remove_dir_all(&folder);
        let now = UNIX_EPOCH + Duration::from_secs(1_700_000_000);
        let first = write(&folder, &export("a/b loss"), now).unwrap();
        assert!(first.ends_with("a-b-loss-2023-11-14T22-13-20Z"), "{first:?}");
        fs::write(folder.join("a-b-loss-2023-11-14T22-13-20Z-2.csv"), "kept").unwrap();
        let second = write(&folder, &export("a/b loss"), now).unwrap();
        assert!(second.ends_with("a-b-loss-2023-11-14T22-13-20Z-3"), "{second:?}");
        let kept = fs::read_to_string(folder.join("a-b-loss-2023-11-14T22-13-20Z-2.csv"));
        assert_eq!(kept.unwrap(), "kept");
        let mut names: Vec<_> = fs::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(names.len(), 5, "{names:?}");
        let _ = fs::remove_dir_all(&folder);
    }

    #[test]
    fn every_name_is_a_file_name() {
        for (name, expected) in [
            ("../../etc/passwd", "etc-passwd"),
            ("", "picture"),
            ("\u{1b}漢", "picture"),
            ("systems/training-loop loss.curve", "systems-training-loop-loss-curve"),
        ] {
            assert_eq!(file_name(name), expected);
        }
        assert!(file_name(&"x".repeat(5000)).len() <= LONGEST);
    }
}
