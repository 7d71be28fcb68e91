use std::path::{Path, PathBuf};

use super::digits::SIDE;
use super::idx::MOST_ITEMS;

/// Why MNIST-format files could not be read, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DataError {
    /// No folder was named.
    #[error(
        "data set idx reads MNIST-format files and was given no folder; name theirs with --data-dir FOLDER"
    )]
    NoFolder,
    /// The folder is missing or may not be listed.
    #[error("cannot list the folder {}: {reason}; --data-dir names the folder that holds the four MNIST-format files", shown(.folder))]
    FolderUnreadable {
        /// The folder named.
        folder: PathBuf,
        /// What the system says.
        reason: String,
    },
    /// Files are not there under either of their names.
    #[error(
        "the folder {} lacks {}; it holds {}; put the missing files there (unpacked), or name another folder with --data-dir",
        shown(.folder), listed(.missing), listed(.found)
    )]
    FilesMissing {
        /// The folder named.
        folder: PathBuf,
        /// The files looked for.
        missing: Vec<String>,
        /// What is there instead, in alphabetical order.
        found: Vec<String>,
    },
    /// One file is not what its name says.
    #[error("{}: {fault}", shown(.path))]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        fault: IdxFault,
    },
    /// Images and labels do not belong together.
    #[error(
        "{} holds {image_count} images, but {} holds {label_count} labels; take both from the same distribution",
        shown(.images), shown(.labels)
    )]
    CountsDiffer {
        /// The file of images.
        images: PathBuf,
        /// The file of labels.
        labels: PathBuf,
        /// Images in their file.
        image_count: usize,
        /// Labels in theirs.
        label_count: usize,
    },
    /// A text cannot be learned.
    #[error("{0}")]
    Corpus(#[from] CorpusFault),
    /// There is not one window of the sequence.
    #[error(
        "{tokens} tokens are less than one sequence of {context} and the token after it; make samples larger or context smaller"
    )]
    TooFewTokens {
        /// Tokens to train on.
        tokens: usize,
        /// Tokens of a sequence.
        context: usize,
    },
    /// More than one of the above.
    #[error("{}", .0.iter().map(DataError::to_string).collect::<Vec<_>>().join("\n"))]
    Several(Vec<DataError>),
}

/// What is wrong with a text to learn.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CorpusFault {
    /// There is none.
    #[error(
        "the text is empty; give one of at least some thousand characters, or leave corpus unset for the program's own"
    )]
    Empty,
    /// A file was meant, and its name was taken for the text.
    #[error(
        "'{0}' is taken for the text itself; give the text, or read a file where mlsys is started: --set corpus=@FILE"
    )]
    FileName(String),
    /// It has nothing to foretell.
    #[error(
        "the text is '{0}' over and over, and nothing else: there is nothing to foretell; give a text of words"
    )]
    OneCharacter(char),
    /// It is something else.
    #[error(
        "line {line}, column {column} holds the character U+{code:04X}, which no text has; give a plain text, not a picture, \
         an archive or a word processor's file"
    )]
    NotText {
        /// From 1.
        line: usize,
        /// From 1, in characters.
        column: usize,
        /// The character.
        code: u32,
    },
    /// Its alphabet is too large.
    #[error(
        "the text has {found} different characters, and each is a token of its own; {most} at most can be learned here"
    )]
    TooManyCharacters {
        /// Different characters.
        found: usize,
        /// The most there may be.
        most: usize,
    },
    /// It does not fill one window to train on and one to judge by.
    #[error(
        "the text has {characters} characters; with context {context} it needs at least {least}, and some thousand to learn anything"
    )]
    TooShort {
        /// Its characters.
        characters: usize,
        /// The fewest there may be.
        least: usize,
        /// Tokens of a sequence.
        context: usize,
    },
}

/// What is wrong with one IDX file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IdxFault {
    /// The system refuses to read it.
    #[error("cannot be read: {0}; check that it is a plain file that you may read")]
    Unreadable(String),
    /// It is still compressed.
    #[error("is compressed by gzip; unpack it with `gunzip {0}`")]
    Gzip(String),
    /// It ends within the header.
    #[error(
        "ends within its header: expected at least {expected} bytes, found {found}; copy or download it again"
    )]
    NoHeader {
        /// Bytes of the header.
        expected: usize,
        /// Bytes of the file.
        found: u64,
    },
    /// It does not start as IDX files do.
    #[error("is not an IDX file: expected it to start with the bytes 00 00 08, found {}; download it again", hex(.0))]
    WrongMagic([u8; 4]),
    /// Its elements are not unsigned bytes.
    #[error("holds elements of type 0x{0:02x}, expected unsigned bytes, type 0x08; convert it")]
    WrongType(u8),
    /// It has another number of dimensions.
    #[error(
        "has {found} dimensions, expected {expected} (images have 3, labels 1); see that images and labels are not swapped"
    )]
    WrongDimensions {
        /// Dimensions that belong in such a file.
        expected: u8,
        /// Dimensions in the header.
        found: u8,
    },
    /// Its images have another size.
    #[error("holds images of {rows}x{columns} pixels, expected {SIDE}x{SIDE}; resize them")]
    WrongSize {
        /// Rows of an image.
        rows: u32,
        /// Columns of an image.
        columns: u32,
    },
    /// It holds nothing.
    #[error("holds no items, expected at least one; download it again")]
    Empty,
    /// Its header claims more than is sensible.
    #[error(
        "claims to hold {0} items, expected {MOST_ITEMS} at most; its header is damaged, or the file must be split"
    )]
    TooMany(u32),
    /// It is shorter than its header says.
    #[error(
        "is cut off: expected {expected} bytes by its header, found {found}; copy or download it again"
    )]
    Truncated {
        /// Bytes by its header.
        expected: u64,
        /// Bytes of the file.
        found: u64,
    },
    /// It is longer than its header says.
    #[error(
        "goes on after its last item: expected {expected} bytes by its header, found {found}; copy or download it again"
    )]
    TrailingBytes {
        /// Bytes by its header.
        expected: u64,
        /// Bytes of the file.
        found: u64,
    },
    /// A label is not a digit.
    #[error(
        "has label {label} at item {index} (from 0), expected 0 to 9; this data set takes ten classes"
    )]
    LabelAboveNine {
        /// The label.
        label: u8,
        /// Its place in the file.
        index: usize,
    },
}

/// A path as it can be shown safely on a terminal.
fn shown(path: &Path) -> String {
    harmless(&path.to_string_lossy())
}

fn harmless(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c }).collect()
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
