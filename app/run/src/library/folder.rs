//! The texts of a course that lies in a folder.

use std::fs::{self, FileType};
use std::io;
use std::path::{Path, PathBuf};

use mlsys_lesson::{COURSE_FILE, CourseFile, CourseFiles, MAX_FILE_BYTES};

use super::labs;
use crate::process::Failure;
use crate::storage::read_bounded;

/// The most files in a course; more are another folder, such as a home folder.
const MOST_FILES: usize = 2_000;

/// The texts of a course that lies in a folder: `course.toml`, Markdown and licences. Hidden folders and links are passed over.
pub(super) fn folder_files(folder: &Path) -> Result<CourseFiles, Failure> {
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

/// The contents of a folder in the order of their names.
pub fn entries(folder: &Path) -> Result<Vec<(PathBuf, FileType)>, Failure> {
    let read = || {
        let entries = fs::read_dir(folder)?.map(|entry| {
            let entry = entry?;
            Ok((entry.path(), entry.file_type()?))
        });
        entries.collect::<io::Result<Vec<_>>>()
    };
    let mut entries = read().map_err(|error| {
        Failure::Usage(format!("'{}' cannot be read: {error}", folder.display()))
    })?;
    entries.sort_by(|(one, _), (other, _)| one.cmp(other));
    Ok(entries)
}

fn collect(folder: &Path, prefix: &str, files: &mut CourseFiles) -> Result<(), Failure> {
    for (entry, kind) in entries(folder)? {
        let name = entry.file_name().and_then(|name| name.to_str());
        let Some(name) = name.filter(|name| !name.starts_with('.')) else { continue };
        let path = format!("{prefix}{name}");
        if kind.is_dir() {
            collect(&entry, &format!("{path}/"), files)?;
        } else if kind.is_file() && belongs(&path) {
            if files.len() == MOST_FILES {
                return Err(Failure::Usage(format!(
                    "'{}' has more than {MOST_FILES} texts, which is no course",
                    folder.display()
                )));
            }
            let bytes = read_bounded(&entry, "file of a course", MAX_FILE_BYTES as u64)?;
            let name = entry.display().to_string();
            files.insert(path, CourseFile { name, bytes: bytes.into() });
        }
    }
    Ok(())
}

/// Whether a file can be part of a course.
fn belongs(path: &str) -> bool {
    path == COURSE_FILE
        || path.ends_with(".md")
        || path.starts_with("LICENSE")
        || labs::is_lab(path)
}
