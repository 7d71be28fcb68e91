//! Courses as archives: files in one tar.gz with a manifest of their SHA-256 hashes, read into memory, never unpacked to disk.
//!
//! `tar` and `flate2` read and write the formats. A course needs more than they do: limits before
//! anything is held (a bomb costs its limit), plain files and folders only, no path that leads outside, every file's
//! hash, and equal bytes for equal files (no times, no owners, no names of systems; the pure Rust deflate everywhere).

use std::collections::BTreeMap;
use std::io::{self, Read as _, Write as _};
use std::path::Path;

use flate2::Compression;
use flate2::bufread::GzDecoder;
use flate2::write::GzEncoder;
use mlsys_lesson::{CourseFile, CourseFiles, CourseId, LessonId, MAX_FILE_BYTES};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tar::EntryType;

use crate::process::Failure;
use crate::storage::read_bounded;

/// The list of an archive's files with their hashes, its first entry.
pub const MANIFEST: &str = "manifest.json";

const FORMAT: u32 = 1;

/// That of archives of courses with built-in lessons, which older programs would leave out.
const INCLUDING: u32 = 2;

/// The largest archive that is read, in bytes.
const MAX_PACKED: u64 = 16 << 20;

/// The largest archive when unpacked, in bytes.
const MAX_UNPACKED: usize = 64 << 20;

const MAX_FILES: usize = 2_000;

/// Modification time of all packed files: 2000-01-01.
const TIME: u64 = 946_684_800;

/// The size of a tar header, and the multiple that contents are padded to.
const BLOCK: usize = 512;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArchiveError {
    #[error("it is no gzip file")]
    NotGzip,
    #[error("it is cut off; have it sent or packed again")]
    Truncated,
    #[error("it is cut off inside the entry '{}'; have it sent or packed again", .entry.escape_debug())]
    TruncatedEntry { entry: String },
    #[error("it is damaged: a checksum in it is wrong; have it sent or packed again")]
    Damaged,
    #[error("it unpacks to more than {max} bytes, which is no course")]
    TooLarge { max: usize },
    #[error("its entry '{}' has more than {max} bytes", .entry.escape_debug())]
    LargeEntry { entry: String, max: usize },
    #[error("it has more than {max} files, which is no course")]
    TooManyFiles { max: usize },
    #[error("its entry '{}' is there twice", .entry.escape_debug())]
    DuplicateEntry { entry: String },
    #[error("the name of its entry '{entry}' is not UTF-8 text")]
    NotUtf8 { entry: String },
    #[error("the path of its entry '{}' could lead out of the folder it is meant for", .entry.escape_debug())]
    PathOutside { entry: String },
    #[error("its entry '{}' is {kind}; a course has plain files alone", .entry.escape_debug())]
    NotAFile { entry: String, kind: &'static str },
    #[error("the path '{}' is too long to be packed", .entry.escape_debug())]
    LongPath { entry: String },
    #[error("it cannot be packed: {0}")]
    Pack(String),
    #[error("there is no {MANIFEST} in it; `mlsys course pack` writes one")]
    NoManifest,
    #[error("its {MANIFEST} does not read: {0}")]
    BadManifest(String),
    #[error(
        "it is of format {0}, and this version of mlsys reads formats {FORMAT} and {INCLUDING}"
    )]
    UnknownFormat(u32),
    #[error("its file '{}' is not the one that was packed: its hash is another", .entry.escape_debug())]
    HashMismatch { entry: String },
    #[error("its file '{}' is missing", .entry.escape_debug())]
    MissingFile { entry: String },
    #[error("its file '{}' is not in its {MANIFEST}", .entry.escape_debug())]
    UnlistedFile { entry: String },
}

/// A packed course.
#[derive(Debug, PartialEq)]
pub struct Archive {
    /// Without the manifest.
    pub files: CourseFiles,
    /// The built-in lessons that it includes, with the versions it was packed with.
    pub built_in: BTreeMap<LessonId, String>,
}

pub fn open(path: &Path) -> Result<Archive, Failure> {
    let bytes = read_bounded(path, "course", MAX_PACKED)?;
    read(&bytes, &path.display().to_string()).map_err(|error| {
        Failure::Usage(format!("the course '{}' is refused: {error}", path.display()))
    })
}

/// Reads an archive and verifies its hashes; messages about its files begin with its name.
fn read(bytes: &[u8], name: &str) -> Result<Archive, ArchiveError> {
    let unpacked = decompress(bytes)?;
    let entries = entries(&unpacked)?;
    let manifest = Manifest::find(&entries)?;
    manifest.verify(&entries)?;
    let files = entries.into_iter().filter(|(path, _)| path != MANIFEST).map(|(path, bytes)| {
        let file = CourseFile { name: format!("{name}/{path}"), bytes: bytes.to_vec().into() };
        (path, file)
    });
    Ok(Archive { files: files.collect(), built_in: manifest.built_in })
}

fn decompress(packed: &[u8]) -> Result<Vec<u8>, ArchiveError> {
    if !packed.starts_with(&[0x1f, 0x8b]) {
        return Err(ArchiveError::NotGzip);
    }
    let mut decoder = GzDecoder::new(packed);
    let mut unpacked = Vec::new();
    let read = decoder.by_ref().take(MAX_UNPACKED as u64 + 1).read_to_end(&mut unpacked);
    read.map_err(|error| {
        if error.kind() == io::ErrorKind::UnexpectedEof {
            ArchiveError::Truncated
        } else if decoder.header().is_none() {
            ArchiveError::NotGzip
        } else {
            ArchiveError::Damaged
        }
    })?;
    if unpacked.len() > MAX_UNPACKED {
        return Err(ArchiveError::TooLarge { max: MAX_UNPACKED });
    }
    if decoder.into_inner().is_empty() { Ok(unpacked) } else { Err(ArchiveError::Damaged) }
}

/// The files of a tar archive, in its order; `raw` hands out extended headers as entries, which are refused as others are.
fn entries(unpacked: &[u8]) -> Result<Vec<(String, &[u8])>, ArchiveError> {
    // Reading from memory fails only for the archive itself: a header with a wrong checksum or number, or half a header.
    let damaged = |error: io::Error| match error.to_string().as_str() {
        "failed to read entire block" => ArchiveError::Truncated,
        _ => ArchiveError::Damaged,
    };
    let mut files: Vec<(String, &[u8])> = Vec::new();
    let mut end = 0;
    let mut archive = tar::Archive::new(unpacked);
    for entry in archive.entries().map_err(damaged)?.raw(true) {
        let entry = entry.map_err(damaged)?;
        let (path, is_file) = checked_path(&entry)?;
        let start = to_usize(entry.raw_file_position());
        let length = to_usize(entry.size());
        if is_file && length > MAX_FILE_BYTES {
            return Err(ArchiveError::LargeEntry { entry: path, max: MAX_FILE_BYTES });
        }
        let contents = start.checked_add(length).and_then(|end| unpacked.get(start..end));
        let Some(contents) = contents else {
            return Err(ArchiveError::TruncatedEntry { entry: path });
        };
        end = start + length.next_multiple_of(BLOCK);
        if !is_file {
            continue;
        }
        if files.len() == MAX_FILES {
            return Err(ArchiveError::TooManyFiles { max: MAX_FILES });
        }
        if files.iter().any(|(known, _)| *known == path) {
            return Err(ArchiveError::DuplicateEntry { entry: path });
        }
        files.push((path, contents));
    }
    // The crate takes the end of the input for the end of the archive; a whole archive says its end by a block of zeros.
    if unpacked.get(end..end + BLOCK).is_some() { Ok(files) } else { Err(ArchiveError::Truncated) }
}

/// The path of a file or folder that stays inside the course, and whether it is a file.
fn checked_path(entry: &tar::Entry<'_, &[u8]>) -> Result<(String, bool), ArchiveError> {
    let header = entry.header();
    if header.as_ustar().is_none() && header.as_gnu().is_none() {
        return Err(ArchiveError::Damaged);
    }
    let path = String::from_utf8(header.path_bytes().into_owned()).map_err(|error| {
        ArchiveError::NotUtf8 { entry: error.into_bytes().escape_ascii().to_string() }
    })?;
    let kind = header.entry_type();
    let plain = if kind.is_file() {
        path.as_str()
    } else if kind.is_dir() {
        path.trim_end_matches('/')
    } else {
        return Err(ArchiveError::NotAFile { entry: path, kind: kind_name(kind) });
    };
    if mlsys_lesson::is_inside(plain) {
        Ok((path, kind.is_file()))
    } else {
        Err(ArchiveError::PathOutside { entry: path })
    }
}

/// A size or position, as large as can be where it does not fit, which is beyond every limit.
fn to_usize(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

fn kind_name(kind: EntryType) -> &'static str {
    match kind.as_byte() {
        b'1' => "a hard link",
        b'2' => "a symbolic link",
        b'3' | b'4' => "a device",
        b'6' => "a pipe",
        b'x' | b'g' | b'L' | b'K' => "an extended header",
        _ => "of an unknown kind",
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    pub format: u32,
    pub course: CourseId,
    pub answers: Withheld,
    pub files: BTreeMap<String, Contents>,
    /// The versions of the built-in lessons that the course includes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub built_in: BTreeMap<LessonId, String>,
}

/// Whether a packed course holds its answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Withheld {
    Included,
    /// In an answer key apart.
    Withheld,
}

/// The contents of a file when it was packed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contents {
    pub bytes: usize,
    pub sha256: String,
}

pub struct Packed {
    pub bytes: Vec<u8>,
    /// The SHA-256 of its manifest, which holds those of all files.
    pub hash: String,
}

impl Manifest {
    pub fn new(
        course: CourseId,
        answers: Withheld,
        files: &BTreeMap<String, Vec<u8>>,
        built_in: BTreeMap<LessonId, String>,
    ) -> Self {
        let files = files.iter().map(|(path, bytes)| (path.clone(), Contents::new(bytes)));
        let format = if built_in.is_empty() { FORMAT } else { INCLUDING };
        Self { format, course, answers, files: files.collect(), built_in }
    }

    /// Packs files; the same files give the same bytes, on every machine and at every time.
    pub fn pack(&self, files: &BTreeMap<String, Vec<u8>>) -> Result<Packed, ArchiveError> {
        let list = serde_json::to_string_pretty(self)
            .map_err(|error| ArchiveError::BadManifest(error.to_string()))?
            + "\n";
        let entries = [(MANIFEST, list.as_bytes())]
            .into_iter()
            .chain(files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice())));
        Ok(Packed { bytes: compress(entries)?, hash: sha256(list.as_bytes()) })
    }

    fn find(entries: &[(String, &[u8])]) -> Result<Self, ArchiveError> {
        /// Read first, so that an archive of a later format is named as one.
        #[derive(Deserialize)]
        struct Head {
            format: u32,
        }
        let bad = |error: serde_json::Error| ArchiveError::BadManifest(error.to_string());
        let list = entries.iter().find(|(path, _)| path == MANIFEST);
        let (_, list) = list.ok_or(ArchiveError::NoManifest)?;
        let Head { format } = serde_json::from_slice(list).map_err(bad)?;
        if ![FORMAT, INCLUDING].contains(&format) {
            return Err(ArchiveError::UnknownFormat(format));
        }
        serde_json::from_slice(list).map_err(bad)
    }

    fn verify(&self, entries: &[(String, &[u8])]) -> Result<(), ArchiveError> {
        for (path, bytes) in entries.iter().filter(|(path, _)| path != MANIFEST) {
            let entry = path.clone();
            match self.files.get(path) {
                None => return Err(ArchiveError::UnlistedFile { entry }),
                Some(contents) if *contents != Contents::new(bytes) => {
                    return Err(ArchiveError::HashMismatch { entry });
                }
                Some(_) => {}
            }
        }
        let is_there = |path: &str| entries.iter().any(|(entry, _)| entry == path);
        match self.files.keys().find(|path| !is_there(path)) {
            Some(path) => Err(ArchiveError::MissingFile { entry: path.clone() }),
            None => Ok(()),
        }
    }
}

impl Contents {
    fn new(bytes: &[u8]) -> Self {
        Self { bytes: bytes.len(), sha256: sha256(bytes) }
    }
}

/// The SHA-256 of bytes, in hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    let hash = Sha256::digest(bytes);
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A tar.gz of these files in their order; equal files give equal bytes.
fn compress<'a>(files: impl Iterator<Item = (&'a str, &'a [u8])>) -> Result<Vec<u8>, ArchiveError> {
    let failed = |error: io::Error| ArchiveError::Pack(error.to_string());
    let mut archive = tar::Builder::new(Vec::new());
    for (path, bytes) in files {
        let mut header = tar::Header::new_ustar();
        let long = |_| ArchiveError::LongPath { entry: path.to_owned() };
        header.set_path(path).map_err(long)?;
        header.set_mode(0o644);
        header.set_uid(0);
        header.set_gid(0);
        header.set_mtime(TIME);
        header.set_size(bytes.len() as u64);
        header.set_cksum();
        archive.append(&header, bytes).map_err(failed)?;
    }
    gzip(&archive.into_inner().map_err(failed)?).map_err(failed)
}

/// Compresses without name and time, hard: a course is packed seldom and carried often.
fn gzip(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    encoder.finish()
}

#[cfg(test)]
mod tests;
