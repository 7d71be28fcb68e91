//! What the parts of a line of CUDA C are, so that they can look different.

use std::ops::Range;

/// What a part of a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    Plain,
    /// Words of the language, types and qualifiers.
    Keyword,
    Given,
    Number,
    Comment,
    Directive,
}

/// Whether a line begins inside a comment of several lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Inside {
    #[default]
    Code,
    Comment,
}

const KEYWORDS: &str = "__global__ __device__ __shared__ __restrict__ __host__ __constant__ __forceinline__ \
     void int unsigned long short char float double bool size_t const extern \
     if else for while do break continue return true false";

const GIVEN: [&str; 5] = ["threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize"];

fn class_of(word: &str) -> Class {
    if KEYWORDS.split(' ').any(|keyword| keyword == word) {
        Class::Keyword
    } else if GIVEN.contains(&word) || word.starts_with("__") || word.starts_with("atomic") {
        Class::Given
    } else if word.starts_with(|c: char| c.is_ascii_digit()) {
        Class::Number
    } else {
        Class::Plain
    }
}

/// The parts of a line, in order and without gaps, and what the next line begins inside of.
pub fn parts(line: &str, inside: Inside) -> (Vec<(Range<usize>, Class)>, Inside) {
    let mut parts: Vec<(Range<usize>, Class)> = Vec::new();
    let mut add = |range: Range<usize>, class: Class| match parts.last_mut() {
        Some((last, other)) if *other == class && last.end == range.start => last.end = range.end,
        Some(_) | None if range.is_empty() => {}
        Some(_) | None => parts.push((range, class)),
    };
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let directive = inside == Inside::Code && line.trim_start().starts_with('#');
    let mut inside = inside;
    let mut at = 0;
    while let Some(rest) = line.get(at..).filter(|rest| !rest.is_empty()) {
        let (length, class) = if inside == Inside::Comment {
            let end = rest.find("*/").map(|end| end + 2);
            inside = end.map_or(Inside::Comment, |_| Inside::Code);
            (end.unwrap_or(rest.len()), Class::Comment)
        } else if rest.starts_with("//") {
            (rest.len(), Class::Comment)
        } else if rest.starts_with("/*") {
            inside = Inside::Comment;
            (2, Class::Comment)
        } else {
            // A word, a number with its point and exponent, or one character that is neither.
            let is_number = rest.starts_with(|c: char| c.is_ascii_digit());
            let part = |c: char| is_word(c) || is_number && c == '.';
            let length = rest.find(|c: char| !part(c)).unwrap_or(rest.len());
            let length = length.max(rest.chars().next().map_or(1, char::len_utf8));
            (length, if directive { Class::Directive } else { class_of(&rest[..length]) })
        };
        add(at..at + length, class);
        at += length;
    }
    (parts, inside)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(line: &str, inside: Inside) -> (Vec<(&str, Class)>, Inside) {
        let (parts, next) = parts(line, inside);
        let said = parts.into_iter().map(|(range, class)| (&line[range], class));
        (said.collect(), next)
    }

    #[test]
    fn words_numbers_and_comments_are_told_apart() {
        use Class::{Comment, Directive, Given, Keyword, Number, Plain};
        let (line, next) = said("  int i = threadIdx.x * 2.5f; // ü", Inside::Code);
        let wanted = [
            ("  ", Plain),
            ("int", Keyword),
            (" i = ", Plain),
            ("threadIdx", Given),
            (".x * ", Plain),
            ("2.5f", Number),
            ("; ", Plain),
            ("// ü", Comment),
        ];
        assert_eq!((line.as_slice(), next), (wanted.as_slice(), Inside::Code));
        let (line, next) = said("a /* b", Inside::Code);
        assert_eq!(line, [("a ", Plain), ("/* b", Comment)]);
        assert_eq!(next, Inside::Comment);
        let (line, next) = said("c */ return", next);
        assert_eq!(line, [("c */", Comment), (" ", Plain), ("return", Keyword)]);
        assert_eq!(next, Inside::Code);
        assert_eq!(said("/*/ x", Inside::Code).1, Inside::Comment);
        assert_eq!(said("#define N 4", Inside::Code).0, [("#define N 4", Directive)]);
        assert_eq!(said("__syncthreads", Inside::Code).0, [("__syncthreads", Given)]);
    }

    #[test]
    fn the_parts_of_any_line_are_the_line() {
        for line in ["", "/*", "*/", "\t//", "日本 /* 語 */ x", "'\\\"", "1e-5", "a\u{301}b"] {
            for inside in [Inside::Code, Inside::Comment] {
                let (parts, _) = parts(line, inside);
                let whole: String = parts.iter().map(|(range, _)| &line[range.clone()]).collect();
                assert_eq!(whole, line);
            }
        }
    }
}
