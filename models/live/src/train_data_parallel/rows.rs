//! Parts of weights put together.

use super::task::{Answer, Row};

/// The gradient and the weights of all, from parts of some: where several tell of the same number, their mean.
pub(super) struct Whole {
    pub(super) gradient: Vec<f32>,
    pub(super) weights: Vec<f32>,
}

impl Whole {
    /// Nothing if nobody tells anything.
    pub(super) fn of(answers: &[Answer], parameters: usize) -> Option<Self> {
        let rows: Vec<&Row> = answers.iter().filter_map(|answer| answer.row.as_ref()).collect();
        if let [row] = rows.as_slice()
            && row.range == (0..parameters)
        {
            return Some(Self { gradient: row.gradient.clone(), weights: row.weights.clone() });
        }
        (!rows.is_empty()).then(|| Self {
            gradient: mean(&rows, parameters, |row| &row.gradient),
            weights: mean(&rows, parameters, |row| &row.weights),
        })
    }
}

fn mean(rows: &[&Row], parameters: usize, of: impl Fn(&Row) -> &Vec<f32>) -> Vec<f32> {
    let mut sums = vec![(0.0_f64, 0_u32); parameters];
    for row in rows {
        let places = sums.get_mut(row.range.clone()).unwrap_or_default();
        for ((sum, count), value) in places.iter_mut().zip(of(row)) {
            *sum += f64::from(*value);
            *count += 1;
        }
    }
    let means = sums.into_iter();
    means.map(|(sum, count)| (sum / f64::from(count.max(1))) as f32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(range: std::ops::Range<usize>, value: f32) -> Answer {
        Answer {
            row: Some(Row {
                gradient: vec![value; range.len()],
                weights: vec![-value; range.len()],
                range,
            }),
            ..Answer::default()
        }
    }

    #[test]
    fn shards_are_joined_and_replicas_averaged() {
        let shards = [answer(0..2, 1.0), answer(2..3, 5.0), Answer::default()];
        let whole = Whole::of(&shards, 3).unwrap();
        assert_eq!(whole.gradient, [1.0, 1.0, 5.0]);
        let replicas = [answer(0..2, 1.0), answer(0..2, 4.0)];
        assert_eq!(Whole::of(&replicas, 2).unwrap().weights, [-2.5, -2.5]);
        assert!(Whole::of(&[Answer::default()], 2).is_none());
    }
}
