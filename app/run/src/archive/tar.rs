//! tar (POSIX ustar) of plain files, in memory. Whatever else a tar archive can hold is refused by name: nothing here
//! is ever unpacked to disk, but the same archive may be elsewhere.

use super::Refused;

const BLOCK: usize = 512;

/// Midnight that began 2000, as all packed files' time.
const TIME: u64 = 946_684_800;

/// Where a header's fields lie.
const NAME: std::ops::Range<usize> = 0..100;
const SIZE: std::ops::Range<usize> = 124..136;
const CHECKSUM: std::ops::Range<usize> = 148..156;
const KIND: usize = 156;
const MAGIC: std::ops::Range<usize> = 257..263;
const PREFIX: std::ops::Range<usize> = 345..500;

/// How much an archive may hold.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Files.
    pub files: usize,
    /// Bytes in one file.
    pub file_bytes: usize,
}

/// An archive of these files, in the order given; equal files give equal bytes.
pub fn write<'a>(files: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Result<Vec<u8>, Refused> {
    let mut archive = Vec::new();
    for (path, bytes) in files {
        archive.extend(
            header(path, bytes.len())
                .ok_or_else(|| Refused::LongName { entry: path.to_owned() })?,
        );
        archive.extend(bytes);
        archive.resize(archive.len().next_multiple_of(BLOCK), 0);
    }
    archive.resize(archive.len() + 2 * BLOCK, 0);
    Ok(archive)
}

/// A header, unless the path is too long for one.
fn header(path: &str, length: usize) -> Option<[u8; BLOCK]> {
    let (prefix, name) = divided(path)?;
    let mut header = [0; BLOCK];
    let mut put = |at: usize, text: &str| {
        for (to, from) in header.iter_mut().skip(at).zip(text.bytes()) {
            *to = from;
        }
    };
    put(NAME.start, name);
    put(100, "0000644\0");
    put(108, "0000000\0");
    put(116, "0000000\0");
    put(SIZE.start, &format!("{length:011o}\0"));
    put(136, &format!("{TIME:011o}\0"));
    put(CHECKSUM.start, "        ");
    put(KIND, "0");
    put(MAGIC.start, "ustar\0");
    put(263, "00");
    put(PREFIX.start, prefix);
    let sum = sum(&header);
    for (to, from) in header.iter_mut().skip(CHECKSUM.start).zip(format!("{sum:06o}\0 ").bytes()) {
        *to = from;
    }
    Some(header)
}

/// A path as prefix and name, divided at a slash where it does not fit the name alone.
fn divided(path: &str) -> Option<(&str, &str)> {
    if path.len() <= NAME.len() {
        return Some(("", path));
    }
    let slashes = path.match_indices('/');
    let mut cuts = slashes.filter_map(|(at, _)| Some((path.get(..at)?, path.get(at + 1..)?)));
    cuts.find(|(prefix, name)| prefix.len() <= PREFIX.len() && name.len() <= NAME.len())
}

/// The files of an archive, in its order, none of which leads out of the folder it is meant for.
pub fn read(archive: &[u8], limits: Limits) -> Result<Vec<(String, &[u8])>, Refused> {
    let mut files: Vec<(String, &[u8])> = Vec::new();
    let mut at = 0;
    loop {
        let header: &[u8; BLOCK] =
            archive.get(at..).and_then(|rest| rest.first_chunk()).ok_or(Refused::CutOff)?;
        if header.iter().all(|&byte| byte == 0) {
            return Ok(files);
        }
        let entry = Entry::read(header)?;
        at += BLOCK;
        if let Kind::Folder = entry.kind {
            continue;
        }
        if entry.length > limits.file_bytes {
            return Err(Refused::LargeEntry { entry: entry.path, most: limits.file_bytes });
        }
        if files.len() == limits.files {
            return Err(Refused::TooMany { most: limits.files });
        }
        if files.iter().any(|(path, _)| *path == entry.path) {
            return Err(Refused::Twice { entry: entry.path });
        }
        let bytes = archive
            .get(at..at + entry.length)
            .ok_or_else(|| Refused::CutEntry { entry: entry.path.clone() })?;
        at += entry.length.next_multiple_of(BLOCK);
        files.push((entry.path, bytes));
    }
}

struct Entry {
    path: String,
    kind: Kind,
    length: usize,
}

enum Kind {
    File,
    Folder,
}

impl Entry {
    fn read(header: &[u8; BLOCK]) -> Result<Self, Refused> {
        let checksum = number(&header[CHECKSUM]).ok_or(Refused::Damaged)?;
        if checksum != sum(header) || !header[MAGIC].starts_with(b"ustar") {
            return Err(Refused::Damaged);
        }
        let raw = raw_path(header);
        let path = String::from_utf8(raw).map_err(|error| Refused::NotText {
            entry: error.into_bytes().escape_ascii().to_string(),
        })?;
        let kind = match header[KIND] {
            b'0' | 0 => Kind::File,
            b'5' => Kind::Folder,
            other => {
                return Err(Refused::Kind { entry: path, kind: kind_name(other) });
            }
        };
        let plain = match kind {
            Kind::File => path.as_str(),
            Kind::Folder => path.trim_end_matches('/'),
        };
        if !mlsys_lesson::is_inside(plain) {
            return Err(Refused::LeadsOut { entry: path });
        }
        // A size in base 256, which is how sizes beyond octal are written, is beyond every limit too.
        let length = number(&header[SIZE]).and_then(|size| usize::try_from(size).ok());
        Ok(Self { length: length.unwrap_or(usize::MAX), path, kind })
    }
}

fn raw_path(header: &[u8; BLOCK]) -> Vec<u8> {
    let field = |range: std::ops::Range<usize>| {
        let field = &header[range];
        let end = field.iter().position(|&byte| byte == 0);
        field.get(..end.unwrap_or(field.len())).unwrap_or_default()
    };
    // GNU's own format, which has a space where POSIX has a zero, keeps times in the prefix.
    let prefix = if header[MAGIC] == *b"ustar\0" { field(PREFIX) } else { &[] };
    let mut path = prefix.to_vec();
    if !path.is_empty() {
        path.push(b'/');
    }
    path.extend(field(NAME));
    path
}

/// What an entry is that is neither file nor folder.
fn kind_name(kind: u8) -> &'static str {
    match kind {
        b'1' => "a hard link",
        b'2' => "a symbolic link",
        b'3' | b'4' => "a device",
        b'6' => "a pipe",
        b'x' | b'g' | b'L' | b'K' => "an extended header",
        _ => "of an unknown kind",
    }
}

/// An octal number, with spaces before and a space or zero behind it.
fn number(field: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(field).ok()?;
    let digits = text.trim_start_matches(' ').trim_end_matches(['\0', ' ']);
    if digits.bytes().all(|byte| (b'0'..=b'7').contains(&byte)) {
        u64::from_str_radix(digits, 8).ok()
    } else {
        None
    }
}

/// The sum of a header's bytes, those of the checksum itself as spaces.
fn sum(header: &[u8; BLOCK]) -> u64 {
    let value =
        |(at, &byte): (usize, &u8)| u64::from(if CHECKSUM.contains(&at) { b' ' } else { byte });
    header.iter().enumerate().map(value).sum()
}
