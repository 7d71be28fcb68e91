//! Counts which kernels of public code read: `cargo run -p mlsys-kernel --release --example reads -- FOLDER..`
//!
//! Each `__global__` function of a folder is given to the reader as it stands, in the text of its file with the files
//! that it includes by `#include "name"` put in, each once. A header's kernels are read in files that include it, so
//! that their launches say what the arguments of templates are; one that reads in any of them counts. Of a text above
//! the reader's bound only the functions and declarations are left that the kernel's own words lead to.
//!
//! A kernel that is a template, and of which the text says no arguments, is read with float for types and 32 for numbers.
//!
//! A line for each kernel goes to standard output: folder, file, kernel, and `reads` or the first complaint.

use mlsys_kernel::{Kernel, MOST_BYTES};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Files that include a header, of those that its kernels are tried in.
const MOST_CONTEXTS: usize = 8;

const EXTENSIONS: [&str; 6] = ["cu", "cuh", "h", "hpp", "inl", "cpp"];

fn main() {
    let mut total = Count::default();
    for folder in std::env::args().skip(1) {
        let count = count(Path::new(&folder));
        eprintln!("{folder}: {}", told(count));
        add(&mut total, count);
    }
    eprintln!("together: {}", told(total));
}

/// Kernels that read, all kernels, files of which all kernels read, and files with kernels.
type Count = [usize; 4];

fn told([read, kernels, whole, files]: Count) -> String {
    format!("{read} of {kernels} kernels read, {whole} of {files} files as a whole")
}

fn add(total: &mut Count, more: Count) {
    total.iter_mut().zip(more).for_each(|(total, more)| *total += more);
}

fn count(folder: &Path) -> Count {
    let mut files = BTreeMap::new();
    collect(folder, &mut files);
    let flat: BTreeMap<&PathBuf, (String, BTreeSet<PathBuf>)> =
        files.keys().map(|path| (path, flattened(path, &files))).collect();
    let mut total = Count::default();
    for (path, text) in &files {
        let is_header = path.extension().is_none_or(|end| end != "cu");
        let including = flat.iter().filter(|(other, (_, inner))| {
            is_header
                && *other != &path
                && other.extension().is_some_and(|end| end == "cu")
                && inner.contains(path)
        });
        let own = flat.get(path).into_iter();
        let contexts: Vec<&str> = including
            .map(|(_, flat)| flat)
            .take(MOST_CONTEXTS)
            .chain(own)
            .map(|(text, _)| text.as_str())
            .collect();
        let kernels: BTreeSet<String> =
            items(text).into_iter().filter_map(|item| item.kernel).collect();
        let mut own = Count::default();
        for kernel in kernels {
            let outcomes = contexts.iter().map(|text| outcome(text, &kernel));
            let mut outcomes: Vec<Option<String>> = outcomes.collect();
            outcomes.sort_by_key(|outcome| {
                outcome.as_ref().is_some_and(|told| told.contains("there is no kernel"))
            });
            let found = if outcomes.contains(&None) { None } else { outcomes.swap_remove(0) };
            // What `#if` leaves out is no kernel.
            if found.as_ref().is_some_and(|told| told.contains("there is no kernel")) {
                continue;
            }
            add(&mut own, [usize::from(found.is_none()), 1, 0, 0]);
            let file = path.strip_prefix(folder).unwrap_or(path);
            let told = found.as_deref().unwrap_or("reads");
            println!("{}\t{}\t{kernel}\t{told}", folder.display(), file.display());
        }
        let [read, all, ..] = own;
        add(&mut total, own);
        add(&mut total, [0, 0, usize::from(all > 0 && read == all), usize::from(all > 0)]);
    }
    total
}

/// What is complained of first, or nothing.
fn outcome(text: &str, kernel: &str) -> Option<String> {
    let text = if text.len() + 100 > MOST_BYTES { cut(text, kernel) } else { text.to_owned() };
    let read = |choice: &str| Kernel::parse("k.cu", &format!("{text}\n#pragma kernel {choice}\n"));
    let mut refused = read(kernel).err()?;
    if let Some(arguments) = usual_arguments(&text, kernel) {
        refused = read(&format!("{kernel}<{arguments}>")).err()?;
    }
    let first = refused.diagnostics.first()?;
    let line = refused.lines.first().map_or("", |line| line.trim());
    Some(format!("{}\t{}", first.message, line.replace('\t', " ")))
}

/// Arguments of a kernel that is a template: float for a type, 32 for a number.
fn usual_arguments(text: &str, kernel: &str) -> Option<String> {
    let items = items(text);
    let piece = items.iter().find(|piece| piece.kernel.as_deref() == Some(kernel))?;
    let own = without_comments(&text[piece.range.clone()]);
    let list = own.trim_start().strip_prefix("template")?.trim_start().strip_prefix('<')?;
    let mut depth = 0_i32;
    let end = list.find(|c| {
        depth += match c {
            '<' | '(' => 1,
            '>' | ')' => -1,
            _ => 0,
        };
        depth < 0
    })?;
    let params = list[..end].split(',').take_while(|param| !param.contains('='));
    let argument = |param: &str| match words(param).next() {
        Some("typename" | "class") => "float",
        Some("bool") => "true",
        _ => "32",
    };
    Some(params.map(argument).collect::<Vec<_>>().join(", "))
}

fn collect(folder: &Path, files: &mut BTreeMap<PathBuf, String>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|end| EXTENSIONS.iter().any(|one| end == *one))
            && let Ok(bytes) = fs::read(&path)
        {
            files.insert(path, String::from_utf8_lossy(&bytes).replace("\r\n", "\n"));
        }
    }
}

/// A file's text with what it includes, and which files those are.
fn flattened(path: &Path, files: &BTreeMap<PathBuf, String>) -> (String, BTreeSet<PathBuf>) {
    let (mut text, mut seen) = (String::new(), BTreeSet::new());
    include(path, files, &mut text, &mut seen);
    (text, seen)
}

fn include(
    path: &Path,
    files: &BTreeMap<PathBuf, String>,
    out: &mut String,
    seen: &mut BTreeSet<PathBuf>,
) {
    let Some(text) = files.get(path).filter(|_| seen.insert(path.to_owned())) else { return };
    for line in text.lines() {
        let directive = line.trim_start().strip_prefix('#').map(str::trim_start);
        let name = directive.and_then(|rest| rest.strip_prefix("include")).map(str::trim_start);
        let name = name
            .and_then(|rest| rest.strip_prefix(['"', '<']))
            .and_then(|rest| rest.split(['"', '>']).next());
        let found = name.and_then(|name| resolved(path, name, files));
        match found {
            Some(found) => include(&found, files, out, seen),
            None => {
                out.push_str(line);
                out.push('\n');
            }
        }
    }
}

/// The file that an include means: from its own folder, or the one file of the repository with that name.
fn resolved(from: &Path, name: &str, files: &BTreeMap<PathBuf, String>) -> Option<PathBuf> {
    let mut near = from.parent()?.to_owned();
    for part in Path::new(name).components() {
        match part {
            std::path::Component::ParentDir => near = near.parent()?.to_owned(),
            std::path::Component::Normal(part) => near.push(part),
            std::path::Component::Prefix(_)
            | std::path::Component::RootDir
            | std::path::Component::CurDir => {}
        }
    }
    if files.contains_key(&near) {
        return Some(near);
    }
    let mut same = files.keys().filter(|path| path.ends_with(name));
    same.next().filter(|_| same.next().is_none()).cloned()
}

/// A function or declaration outside of functions, or a directive.
struct Piece {
    range: Range<usize>,
    is_directive: bool,
    /// Its words before the first brace.
    head: BTreeSet<String>,
    /// Its name, if it is a kernel with a body.
    kernel: Option<String>,
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty())
}

/// A text with blanks in place of comments and texts in quotes.
fn without_comments(text: &str) -> String {
    let mut out: Vec<u8> =
        text.bytes().map(|byte| if byte.is_ascii() { byte } else { b'x' }).collect();
    let mut at = 0;
    while at < out.len() {
        let end = match (out[at], out.get(at + 1)) {
            (b'/', Some(b'/')) => {
                text.as_bytes()[at..].iter().position(|b| *b == b'\n').map(|by| at + by)
            }
            (b'/', Some(b'*')) => text.as_bytes()[at + 2..]
                .windows(2)
                .position(|two| two == b"*/")
                .map(|by| at + by + 4),
            (b'"', _) => {
                let mut end = at + 1;
                while end < out.len() && !matches!(out[end], b'"' | b'\n') {
                    end += 1 + usize::from(out[end] == b'\\');
                }
                Some(end + 1)
            }
            _ => {
                at += 1;
                continue;
            }
        };
        let end = end.unwrap_or(out.len()).min(out.len());
        out[at..end].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
        at = end;
    }
    String::from_utf8_lossy(&out).into_owned()
}

fn items(text: &str) -> Vec<Piece> {
    let clean = without_comments(text);
    let bytes = clean.as_bytes();
    let (mut pieces, mut begin, mut at, mut depth) = (Vec::new(), 0, 0, 0_usize);
    let mut is_line_start = true;
    while at < bytes.len() {
        if bytes[at] == b'#' && is_line_start {
            let mut end = at;
            while end < bytes.len() && !(bytes[end] == b'\n' && bytes[end - 1] != b'\\') {
                end += 1;
            }
            if depth == 0 {
                pieces.push(piece(&clean, begin..at));
                let mut name = words(&clean[at..end]).skip_while(|word| *word == "define");
                let is_define = words(&clean[at..end]).next() == Some("define");
                let head = name.next().filter(|_| is_define).map(str::to_owned);
                let (head, kernel) = (head.into_iter().collect(), None);
                pieces.push(Piece { range: at..end, is_directive: true, head, kernel });
                begin = end;
            }
            at = end;
            continue;
        }
        is_line_start = bytes[at] == b'\n' || (is_line_start && bytes[at].is_ascii_whitespace());
        let byte = bytes[at];
        at += 1;
        let head = &clean[begin..at];
        let is_open = depth == 0
            && (words(head).next() == Some("namespace")
                || head.trim_start().starts_with("extern "))
            && !head.contains('(');
        let is_end = match byte {
            b'{' if is_open => true,
            b'{' | b'(' | b'[' => {
                depth += 1;
                false
            }
            b')' | b']' => {
                depth = depth.saturating_sub(1);
                false
            }
            b'}' => {
                depth = depth.saturating_sub(1);
                let is_type = words(head)
                    .any(|word| matches!(word, "struct" | "class" | "union" | "enum" | "typedef"));
                depth == 0
                    && (head.split('{').next().is_some_and(|head| head.contains('(')) || !is_type)
            }
            b';' => depth == 0,
            _ => false,
        };
        if is_end {
            pieces.push(piece(&clean, begin..at));
            begin = at;
        }
    }
    pieces.push(piece(&clean, begin..bytes.len()));
    pieces
}

fn piece(clean: &str, range: Range<usize>) -> Piece {
    let text = &clean[range.clone()];
    let head_text = text.split('{').next().unwrap_or_default();
    let head: BTreeSet<String> = words(head_text).map(str::to_owned).collect();
    let kernel =
        (head.contains("__global__") && text.ends_with('}')).then(|| name_of(head_text)).flatten();
    Piece { range, is_directive: false, head, kernel }
}

/// The word before the arguments, which are the last brackets of a head.
fn name_of(head: &str) -> Option<String> {
    let mut depth = 0_usize;
    let open = head.char_indices().rev().find(|(_, c)| {
        match c {
            ')' => depth += 1,
            '(' => depth = depth.saturating_sub(1),
            _ => return false,
        }
        depth == 0
    });
    words(head.get(..open?.0)?).last().map(str::to_owned)
}

/// The parts of a text that a kernel's words lead to, and its directives but the `#define` of other words.
fn cut(text: &str, kernel: &str) -> String {
    let pieces = items(text);
    let mut wanted: BTreeSet<String> = BTreeSet::from([kernel.to_owned()]);
    let mut is_kept = vec![false; pieces.len()];
    let common = [
        "static",
        "inline",
        "__device__",
        "__host__",
        "__forceinline__",
        "const",
        "template",
        "typename",
    ];
    let types = [
        "void",
        "int",
        "float",
        "double",
        "unsigned",
        "struct",
        "class",
        "typedef",
        "using",
        "constexpr",
    ];
    loop {
        let mut is_changed = false;
        for (number, piece) in pieces.iter().enumerate() {
            let is_named = piece
                .head
                .iter()
                .any(|word| wanted.contains(word) && !common.contains(&word.as_str()));
            let is_other_kernel = piece.kernel.as_ref().is_some_and(|name| name != kernel);
            let own = &text[piece.range.clone()];
            if piece.is_directive {
                if !is_kept[number] && is_named {
                    (is_kept[number], is_changed) = (true, true);
                    wanted.extend(words(own).map(str::to_owned));
                }
                continue;
            }
            let is_host_code = own.contains("cuda")
                && own.contains('{')
                && !piece.head.contains("__device__")
                && piece.kernel.is_none()
                && !own.contains(&format!("{kernel}<"));
            if !is_kept[number] && is_named && !is_other_kernel && !is_host_code {
                is_kept[number] = true;
                is_changed = true;
                let is_device = piece.head.contains("__device__")
                    || piece.kernel.is_some()
                    || !own.contains('{')
                    || piece.head.contains("struct");
                let new = words(own).filter(|_| is_device).filter(|word| !types.contains(word));
                wanted.extend(new.filter(|word| !common.contains(word)).map(str::to_owned));
            }
        }
        if !is_changed {
            break;
        }
    }
    let kept = pieces
        .iter()
        .zip(is_kept)
        .filter(|(piece, kept)| *kept || piece.is_directive && piece.head.is_empty());
    kept.map(|(piece, _)| format!("{}\n", &text[piece.range.clone()])).collect()
}
