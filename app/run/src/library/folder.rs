//! A course in a folder.

use std::fs;
use std::path::Path;

use mlsys_lesson::{COURSE_FILE, CourseFile, CourseFiles, MAX_FILE_BYTES};

use crate::exit::Failure;

/// The most files in a course; more are another folder, such as a home folder.
const MOST_FILES: usize = 2_000;

/// The texts of a course that lies in a folder: `course.toml`, Markdown and licences. Hidden folders and links are passed over.
pub fn files(folder: &Path) -> Result<CourseFiles, Failure> {
    let course = folder.join(COURSE_FILE);
    if !folder.is_dir() {
        return Err(Failure::Usage(format!(
            "there is no course '{}': no such folder or file",
            folder.display()
        )));
    }
    if !course.is_file() {
        return Err(Failure::Usage(format!(
            "'{}' is no course: there is no {COURSE_FILE} in it; `mlsys course new FOLDER` writes a course to start from",
            folder.display()
        )));
    }
    let mut files = CourseFiles::new();
    collect(folder, "", &mut files)?;
    Ok(files)
}

fn collect(folder: &Path, prefix: &str, files: &mut CourseFiles) -> Result<(), Failure> {
    let failed = |error: std::io::Error| {
        Failure::Usage(format!("'{}' cannot be read: {error}", folder.display()))
    };
    let mut entries =
        fs::read_dir(folder).and_then(Iterator::collect::<Result<Vec<_>, _>>).map_err(failed)?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let name = entry.file_name();
        let kind = entry.file_type().map_err(failed)?;
        let Some(name) = name.to_str().filter(|name| !name.starts_with('.')) else {
            continue;
        };
        let path = format!("{prefix}{name}");
        if kind.is_dir() {
            collect(&entry.path(), &format!("{path}/"), files)?;
        } else if kind.is_file() && belongs(&path) {
            if files.len() == MOST_FILES {
                return Err(Failure::Usage(format!(
                    "'{}' has more than {MOST_FILES} texts, which is no course",
                    folder.display()
                )));
            }
            let bytes = bytes_of(&entry.path(), "file of a course", MAX_FILE_BYTES as u64)?;
            let name = entry.path().display().to_string();
            files.insert(path, CourseFile { name, bytes });
        }
    }
    Ok(())
}

/// Whether a file can be part of a course.
fn belongs(path: &str) -> bool {
    path == COURSE_FILE
        || path.ends_with(".md")
        || path.starts_with("LICENSE")
        || super::labs::is_lab(path)
}

/// A file's bytes; what is no file, or is larger than it may be, is refused.
pub fn bytes_of(path: &Path, what: &str, most: u64) -> Result<Vec<u8>, Failure> {
    let failed = |reason: String| {
        Failure::Usage(format!("{what} '{}' cannot be read: {reason}", path.display()))
    };
    match fs::metadata(path) {
        // A pipe or a device may never end.
        Ok(about) if !about.is_file() => return Err(failed("it is not a file".to_owned())),
        Ok(about) if about.len() > most => {
            return Err(failed(format!(
                "it has {} bytes, and a {what} has at most {most}",
                about.len()
            )));
        }
        Ok(_) => {}
        Err(error) => return Err(failed(error.to_string())),
    }
    fs::read(path).map_err(|error| failed(error.to_string()))
}
