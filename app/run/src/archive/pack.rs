//! What is packed, and the list of it that the archive begins with.

use std::collections::BTreeMap;

use mlsys_lesson::CourseId;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{Refused, gzip, tar};

/// The list of an archive's files with their hashes.
pub const MANIFEST: &str = "manifest.json";

const FORMAT: u32 = 1;

/// What an archive says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The version of the archive.
    pub format: u32,
    /// The course in it.
    pub course: CourseId,
    /// Whether answers are in it.
    pub answers: Withheld,
    /// Its files by path.
    pub files: BTreeMap<String, Contents>,
}

/// Whether a packed course holds its answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Withheld {
    /// It does.
    Included,
    /// Somebody else keeps them.
    Withheld,
}

/// What a file held when it was packed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contents {
    /// How many bytes.
    pub bytes: usize,
    /// Their SHA-256, in hexadecimal.
    pub sha256: String,
}

/// An archive and the hash that stands for all of it.
pub struct Packed {
    /// The tar.gz.
    pub bytes: Vec<u8>,
    /// The SHA-256 of its list of files, which holds theirs.
    pub hash: String,
}

impl Manifest {
    /// The list of these files.
    pub fn new(course: CourseId, answers: Withheld, files: &BTreeMap<String, Vec<u8>>) -> Self {
        let files = files.iter().map(|(path, bytes)| (path.clone(), Contents::of(bytes)));
        Self { format: FORMAT, course, answers, files: files.collect() }
    }

    /// Packs files; the same files give the same bytes, on every machine and at every time.
    pub fn pack(&self, files: &BTreeMap<String, Vec<u8>>) -> Result<Packed, Refused> {
        let list = serde_json::to_string_pretty(self)
            .map_err(|error| Refused::BadManifest(error.to_string()))?
            + "\n";
        let entries = [(MANIFEST, list.as_bytes())]
            .into_iter()
            .chain(files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice())));
        Ok(Packed { bytes: gzip::compress(&tar::write(entries)?), hash: sha256(list.as_bytes()) })
    }

    /// The list among an archive's entries.
    pub(super) fn of(entries: &[(String, &[u8])]) -> Result<Self, Refused> {
        /// What is read before anything else, so that a later archive is named as one.
        #[derive(Deserialize)]
        struct Head {
            format: u32,
        }
        let bad = |error: serde_json::Error| Refused::BadManifest(error.to_string());
        let list = entries.iter().find(|(path, _)| path == MANIFEST);
        let (_, list) = list.ok_or(Refused::NoManifest)?;
        let Head { format } = serde_json::from_slice(list).map_err(bad)?;
        if format != FORMAT {
            return Err(Refused::Newer(format));
        }
        serde_json::from_slice(list).map_err(bad)
    }

    /// Compares an archive's entries with the list.
    pub(super) fn verify(&self, entries: &[(String, &[u8])]) -> Result<(), Refused> {
        for (path, bytes) in entries.iter().filter(|(path, _)| path != MANIFEST) {
            let entry = path.clone();
            match self.files.get(path) {
                None => return Err(Refused::Added { entry }),
                Some(contents) if *contents != Contents::of(bytes) => {
                    return Err(Refused::Tampered { entry });
                }
                Some(_) => {}
            }
        }
        let is_there = |path: &str| entries.iter().any(|(entry, _)| entry == path);
        match self.files.keys().find(|path| !is_there(path)) {
            Some(path) => Err(Refused::Missing { entry: path.clone() }),
            None => Ok(()),
        }
    }
}

impl Contents {
    fn of(bytes: &[u8]) -> Self {
        Self { bytes: bytes.len(), sha256: sha256(bytes) }
    }
}

/// The SHA-256 of bytes, in hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    let hash = Sha256::digest(bytes);
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}
