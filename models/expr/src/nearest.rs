//! The known name that an unknown one most likely meant.

/// The candidate nearest to `name`, if one is near enough to be worth suggesting.
///
/// Distance is the number of insertions, deletions, substitutions and swaps of neighbours (optimal string alignment).
/// Case does not count, nor does a hyphen in place of an underscore. A suggestion may differ in about a third of its
/// characters; of equally near candidates the first wins.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let fold = |name: &str| name.to_lowercase().replace('-', "_");
    let wanted = fold(name);
    let near = candidates.into_iter().filter_map(|candidate| {
        let known = fold(candidate);
        let [a, b] = [wanted.chars().count(), known.chars().count()];
        let limit = (a.max(b) + 1) / 3;
        // Telling that two lengths are too far apart is quicker than their distance.
        let distance = (a.abs_diff(b) <= limit).then(|| strsim::osa_distance(&wanted, &known))?;
        (distance <= limit).then_some((distance, candidate))
    });
    near.min_by_key(|(distance, _)| *distance).map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn only_near_names_are_suggested() {
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
