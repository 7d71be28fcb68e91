//! The known name that an unknown one most likely meant.

/// The candidate nearest to `name`, if one is near enough to be worth suggesting.
///
/// Distance is the number of insertions, deletions, substitutions and swaps of neighbours (Damerau-Levenshtein,
/// optimal string alignment). Case does not count, nor does a hyphen in place of an underscore. A suggestion may
/// differ in about a third of its characters; of equally near candidates the first wins.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = folded(name);
    let mut best: Option<(usize, &'a str)> = None;
    for candidate in candidates {
        let known = folded(candidate);
        let longer = wanted.len().max(known.len());
        let limit = (longer + 1) / 3;
        if wanted.len().abs_diff(known.len()) > limit {
            continue;
        }
        let distance = distance(&wanted, &known);
        if distance <= limit && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

fn folded(name: &str) -> Vec<char> {
    name.chars().flat_map(char::to_lowercase).map(|c| if c == '-' { '_' } else { c }).collect()
}

/// Edit distance with three rolling rows: two back, one back, and the current one.
fn distance(from: &[char], to: &[char]) -> usize {
    let mut two_back: Vec<usize> = Vec::new();
    let mut one_back: Vec<usize> = (0..=to.len()).collect();
    let mut left_of_from: Option<char> = None;
    for (row, &a) in from.iter().enumerate() {
        let mut current = Vec::with_capacity(one_back.len());
        let mut left = row + 1;
        current.push(left);
        let mut left_of_to: Option<char> = None;
        for (column, (&b, above)) in to.iter().zip(one_back.windows(2)).enumerate() {
            let &[diagonal, up] = above else { continue };
            let mut cost = (diagonal + usize::from(a != b)).min(up + 1).min(left + 1);
            if left_of_from == Some(b)
                && left_of_to == Some(a)
                && let Some(&before_swap) = column.checked_sub(1).and_then(|c| two_back.get(c))
            {
                cost = cost.min(before_swap + 1);
            }
            current.push(cost);
            left = cost;
            left_of_to = Some(b);
        }
        two_back = std::mem::replace(&mut one_back, current);
        left_of_from = Some(a);
    }
    one_back.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{distance, nearest};

    fn between(from: &str, to: &str) -> usize {
        let from: Vec<char> = from.chars().collect();
        let to: Vec<char> = to.chars().collect();
        distance(&from, &to)
    }

    #[test]
    fn distance_counts_edits_and_swaps() {
        for (from, to, expected) in [
            ("", "", 0),
            ("", "abc", 3),
            ("abc", "", 3),
            ("loss", "loss", 0),
            ("loss", "lsos", 1),
            ("loss", "los", 1),
            ("kitten", "sitting", 3),
            ("ab", "ba", 1),
            ("sunday", "saturday", 3),
            ("ca", "abc", 3),
        ] {
            assert_eq!(between(from, to), expected, "{from} to {to}");
            assert_eq!(between(to, from), expected, "{to} to {from}");
        }
    }

    #[test]
    fn suggests_only_what_is_near() {
        let known = ["learning_rate", "batch_size", "loss", "log", "log2", "x"];
        for (name, expected) in [
            ("learning-rate", Some("learning_rate")),
            ("Learning_Rate", Some("learning_rate")),
            ("lerning_rate", Some("learning_rate")),
            ("batchsize", Some("batch_size")),
            ("lsos", Some("loss")),
            ("lg", Some("log")),
            ("X", Some("x")),
            ("y", None),
            ("momentum", None),
            ("", None),
        ] {
            assert_eq!(nearest(name, known), expected, "{name}");
        }
    }

    #[test]
    fn first_of_equally_near_candidates_wins() {
        assert_eq!(nearest("log3", ["log2", "log4"]), Some("log2"));
        assert_eq!(nearest("log3", ["log4", "log2"]), Some("log4"));
    }
}
