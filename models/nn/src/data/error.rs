use std::path::{Path, PathBuf};

use super::digits::SIDE;
use super::idx::MOST_ITEMS;

/// Why MNIST-format files could not be read, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DataError {
    #[error(
        "data set idx reads MNIST-format files and was given no folder; name theirs with --data-dir FOLDER"
    )]
    NoFolder,
    #[error("cannot list the folder {}: {reason}; --data-dir names the folder that holds the four MNIST-format files", shown(.folder))]
    FolderUnreadable { folder: PathBuf, reason: String },
    #[error(
        "the folder {} lacks {}; it holds {}; put the missing files there (unpacked), or name another folder with --data-dir",
        shown(.folder), listed(.missing), listed(.found)
    )]
    FilesMissing { folder: PathBuf, missing: Vec<String>, found: Vec<String> },
    #[error("{}: {fault}", shown(.path))]
    File { path: PathBuf, fault: IdxFault },
    #[error(
        "{} holds {image_count} images, but {} holds {label_count} labels; take both from the same distribution",
        shown(.images), shown(.labels)
    )]
    CountsDiffer { images: PathBuf, labels: PathBuf, image_count: usize, label_count: usize },
    /// Of a model folder.
    #[error(
        "the model's folder has no tokenizer.json, so that no text can be read by it; put that file there"
    )]
    NoTokenizer,
    #[error("{0}")]
    Corpus(#[from] CorpusFault),
    #[error(
        "{tokens} tokens are less than one sequence of {context} and the token after it; make samples larger or context smaller"
    )]
    TooFewTokens { tokens: usize, context: usize },
    #[error("{}", .0.iter().map(DataError::to_string).collect::<Vec<_>>().join("\n"))]
    Several(Vec<DataError>),
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CorpusFault {
    #[error(
        "the text is empty; give one of at least some thousand characters, or leave corpus unset for the program's own"
    )]
    Empty,
    /// A file was meant, and its name was taken for the text.
    #[error(
        "'{0}' is taken for the text itself; give the text, or read a file where mlsys is started: --set corpus=@FILE"
    )]
    FileName(String),
    #[error(
        "the text is '{0}' over and over, and nothing else: there is nothing to foretell; give a text of words"
    )]
    OneCharacter(char),
    #[error(
        "line {line}, column {column} holds the character U+{code:04X}, which no text has; give a plain text, not a picture, \
         an archive or a word processor's file"
    )]
    NotText {
        /// From 1.
        line: usize,
        /// From 1, in characters.
        column: usize,
        code: u32,
    },
    #[error(
        "the text has {found} different characters, and each is a token of its own; {most} at most can be learned here"
    )]
    TooManyCharacters { found: usize, most: usize },
    /// It does not fill one window to train on and one to judge by.
    #[error(
        "the text has {characters} characters; with context {context} it needs at least {least}, and some thousand to learn anything"
    )]
    TooShort { characters: usize, least: usize, context: usize },
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IdxFault {
    #[error("cannot be read: {0}; check that it is a plain file that you may read")]
    Unreadable(String),
    #[error("is compressed by gzip; unpack it with `gunzip {0}`")]
    Gzip(String),
    #[error(
        "ends within its header: expected at least {expected} bytes, found {found}; copy or download it again"
    )]
    NoHeader { expected: usize, found: u64 },
    #[error("is not an IDX file: expected it to start with the bytes 00 00 08, found {}; download it again", hex(.0))]
    WrongMagic([u8; 4]),
    #[error("holds elements of type 0x{0:02x}, expected unsigned bytes, type 0x08; convert it")]
    WrongType(u8),
    #[error(
        "has {found} dimensions, expected {expected} (images have 3, labels 1); see that images and labels are not swapped"
    )]
    WrongDimensions { expected: u8, found: u8 },
    #[error("holds images of {rows}x{columns} pixels, expected {SIDE}x{SIDE}; resize them")]
    WrongSize { rows: u32, columns: u32 },
    #[error("holds no items, expected at least one; download it again")]
    Empty,
    #[error(
        "claims to hold {0} items, expected {MOST_ITEMS} at most; its header is damaged, or the file must be split"
    )]
    TooMany(u32),
    #[error(
        "is cut off: expected {expected} bytes by its header, found {found}; copy or download it again"
    )]
    Truncated { expected: u64, found: u64 },
    #[error(
        "goes on after its last item: expected {expected} bytes by its header, found {found}; copy or download it again"
    )]
    TrailingBytes { expected: u64, found: u64 },
    #[error(
        "has label {label} at item {index} (from 0), expected 0 to 9; this data set takes ten classes"
    )]
    LabelAboveNine { label: u8, index: usize },
}

/// A path as it can be shown safely on a terminal.
fn shown(path: &Path) -> String {
    harmless(&path.to_string_lossy())
}

fn harmless(text: &str) -> String {
    text.chars()
        .map(|c| if mlsys_lab::steers_terminal(c) { char::REPLACEMENT_CHARACTER } else { c })
        .collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ")
}

/// The first names of a list, and how many more there are.
fn listed(names: &[String]) -> String {
    const MOST: usize = 8;
    let first: Vec<String> = names.iter().take(MOST).map(|name| harmless(name)).collect();
    match names.len() {
        0 => "nothing".to_owned(),
        count if count > MOST => format!("{} and {} more", first.join(", "), count - MOST),
        _ => first.join(", "),
    }
}
