//! Indices as the text of a kernel writes them.

/// The size that all indices into a buffer are multiplied by, if it is one: `columns` in `out[y * columns + x]`, also where
/// the index is a variable with that value.
pub(super) fn factor(source: &str, buffer: &str, sizes: &[(&str, usize)]) -> Option<usize> {
    let mut found: Option<usize> = None;
    for index in subscripts(source, buffer) {
        let text = if is_word(index) { assigned(source, index).unwrap_or(index) } else { index };
        let words: Vec<&str> = words(text).collect();
        let pairs = words.windows(2).filter_map(|pair| match *pair {
            ["*", name] | [name, "*"] => sizes.iter().find(|(known, _)| *known == name),
            _ => None,
        });
        for (_, size) in pairs {
            if *found.get_or_insert(*size) != *size {
                return None;
            }
        }
    }
    found
}

/// What stands in the brackets behind a name.
fn subscripts<'a>(source: &'a str, name: &str) -> Vec<&'a str> {
    let places = source.match_indices(name);
    let index = |(at, name): (usize, &str)| {
        let before = source[..at].chars().next_back();
        let rest = source[at + name.len()..].trim_start().strip_prefix('[')?;
        let mut depth = 1_usize;
        let end = rest.find(|c| {
            depth = match c {
                '[' => depth + 1,
                ']' => depth - 1,
                _ => depth,
            };
            depth == 0
        });
        (!before.is_some_and(is_letter)).then_some(rest[..end?].trim())
    };
    places.filter_map(index).collect()
}

/// The value that a variable is first given.
fn assigned<'a>(source: &'a str, variable: &str) -> Option<&'a str> {
    source.split([';', '{', '}']).find_map(|statement| {
        let (left, right) = statement.split_once('=')?;
        let name = left.trim_end().rsplit(|c| !is_letter(c)).next()?;
        (name == variable && !right.starts_with('=')).then(|| right.trim())
    })
}

pub(super) fn is_letter(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn is_word(text: &str) -> bool {
    text.chars().all(is_letter)
}

/// Names, numbers and signs.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text.trim_start();
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let end = match rest.find(|c| !is_letter(c)) {
            Some(0) => first.len_utf8(),
            Some(end) => end,
            None => rest.len(),
        };
        let (word, after) = rest.split_at(end);
        rest = after.trim_start();
        Some(word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_is_what_rows_are_multiplied_by() {
        let sizes = [("rows", 20), ("columns", 30), ("n", 20)];
        for (source, expected) in [
            ("out[y * columns + x] = 1;", Some(30)),
            ("out[x * rows + y] = in[y * columns + x];", Some(20)),
            ("int i = columns * y + x; out[i] = 2;", Some(30)),
            ("out[(y + k) * columns + x[2]] = 1;", Some(30)),
            ("shout[y * rows] = 1; out[y * columns] = 1;", Some(30)),
            ("out[y * columns] = out[y * rows];", None),
            ("out[y * rows] = out[y * n];", Some(20)),
            ("out[i] = 1;", None),
            ("out[i", None),
        ] {
            assert_eq!(factor(source, "out", &sizes), expected, "{source}");
        }
    }
}
