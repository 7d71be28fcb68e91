//! Courses as archives: files that travel in one tar.gz, with a hash of each, read into memory and never unpacked.

mod gzip;
mod pack;
mod tar;
#[cfg(test)]
mod tests;

use std::path::Path;

use mlsys_lesson::{CourseFile, CourseFiles, MAX_FILE_BYTES};

use crate::exit::Failure;
use crate::library::bytes_of;

pub use pack::{MANIFEST, Manifest, Withheld};

/// The largest archive that is read, in bytes.
const MOST_PACKED: u64 = 16 << 20;

/// The largest archive when unpacked, in bytes.
const MOST_UNPACKED: usize = 64 << 20;

const LIMITS: tar::Limits = tar::Limits { files: 2_000, file_bytes: MAX_FILE_BYTES };

/// Why an archive is not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It begins like something else.
    #[error("it is no gzip file")]
    NotGzip,
    /// It ends too early.
    #[error("it is cut off; have it sent or packed again")]
    CutOff,
    /// It ends too early, inside an entry.
    #[error("it is cut off inside the entry '{}'; have it sent or packed again", .entry.escape_debug())]
    CutEntry {
        /// The entry.
        entry: String,
    },
    /// A checksum is wrong.
    #[error("it is damaged: a checksum in it is wrong; have it sent or packed again")]
    Damaged,
    /// It unpacks to more than a course is.
    #[error("it unpacks to more than {most} bytes, which is no course")]
    TooLarge {
        /// The limit.
        most: usize,
    },
    /// A file is larger than it may be.
    #[error("its entry '{}' has more than {most} bytes", .entry.escape_debug())]
    LargeEntry {
        /// The entry.
        entry: String,
        /// The limit.
        most: usize,
    },
    /// It has too many files.
    #[error("it has more than {most} files, which is no course")]
    TooMany {
        /// The limit.
        most: usize,
    },
    /// Two entries have one path.
    #[error("its entry '{}' is there twice", .entry.escape_debug())]
    Twice {
        /// The entry.
        entry: String,
    },
    /// A path is not UTF-8.
    #[error("the name of its entry '{entry}' is not UTF-8 text")]
    NotText {
        /// The entry, escaped.
        entry: String,
    },
    /// A path does not stay inside.
    #[error("the path of its entry '{}' could lead out of the folder it is meant for", .entry.escape_debug())]
    LeadsOut {
        /// The entry.
        entry: String,
    },
    /// An entry is no file.
    #[error("its entry '{}' is {kind}; a course has plain files alone", .entry.escape_debug())]
    Kind {
        /// The entry.
        entry: String,
        /// What it is.
        kind: &'static str,
    },
    /// A path does not fit a header.
    #[error("the path '{}' is too long to be packed", .entry.escape_debug())]
    LongName {
        /// The path.
        entry: String,
    },
    /// There is no list of its files.
    #[error("there is no {MANIFEST} in it; `mlsys course pack` writes one")]
    NoManifest,
    /// The list of its files does not read.
    #[error("its {MANIFEST} does not read: {0}")]
    BadManifest(String),
    /// A later program wrote it.
    #[error("it is of format {0}, and this version of mlsys reads format 1")]
    Newer(u32),
    /// A file is not the one that was packed.
    #[error("its file '{}' is not the one that was packed: its hash is another", .entry.escape_debug())]
    Tampered {
        /// The file.
        entry: String,
    },
    /// A file that was packed is gone.
    #[error("its file '{}' is missing", .entry.escape_debug())]
    Missing {
        /// The file.
        entry: String,
    },
    /// A file was added.
    #[error("its file '{}' is not in its {MANIFEST}", .entry.escape_debug())]
    Added {
        /// The file.
        entry: String,
    },
}

/// Reads the archive of a course.
pub fn open(path: &Path) -> Result<CourseFiles, Failure> {
    let bytes = bytes_of(path, "course", MOST_PACKED)?;
    read(&bytes, &path.display().to_string()).map_err(|refused| {
        Failure::Usage(format!("the course '{}' is refused: {refused}", path.display()))
    })
}

/// Reads an archive whose hashes hold, without the list of its files; messages about its files begin with its name.
fn read(bytes: &[u8], name: &str) -> Result<CourseFiles, Refused> {
    let unpacked = gzip::decompress(bytes, MOST_UNPACKED)?;
    let entries = tar::read(&unpacked, LIMITS)?;
    let manifest = Manifest::of(&entries)?;
    manifest.verify(&entries)?;
    Ok(entries
        .into_iter()
        .filter(|(path, _)| path != MANIFEST)
        .map(|(path, bytes)| {
            let file = CourseFile { name: format!("{name}/{path}"), bytes: bytes.to_vec() };
            (path, file)
        })
        .collect())
}
