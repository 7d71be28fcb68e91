//! Kind `double-binary-tree`: the two trees that an all-reduce can run over at once.

mod pictures;

use mlsys_lab::{LabError, Run, Value};

use crate::closed_form::Values;
use mlsys_lab::picture;
use mlsys_sim::collective::Tree;

pub(crate) fn run(run: &mut Run<'_>) -> Result<Values, LabError> {
    let mut values = Values::default();
    let pair = Pair::of(run.params.size("ranks")?);
    values.set("first_parent", parents(&pair.first));
    values.set("second_parent", parents(&pair.second));
    values.set("shared_inner_ranks", pair.shared() as i64);
    values.set("first_depth", pair.first.depth as i64);
    values.set("second_depth", pair.second.depth as i64);
    picture::offer(run, "trees", || pair.graph());
    picture::offer(run, "roles", || pair.roles());
    picture::offer(run, "ranks", || pair.table());
    picture::offer(run, "levels", || pair.levels());
    picture::offer(run, "steps", || pair.steps());
    Ok(values)
}

/// Both trees over the same ranks.
struct Pair {
    ranks: usize,
    first: Tree,
    second: Tree,
}

impl Pair {
    fn of(ranks: usize) -> Self {
        Self { ranks, first: Tree::first(ranks), second: Tree::second(ranks) }
    }

    /// Ranks that have children in both trees.
    fn shared(&self) -> usize {
        let (first, second) = (self.first.inner(), self.second.inner());
        let both = first.iter().zip(&second);
        both.filter(|(first, second)| **first && **second).count()
    }
}

/// The parent of each rank, -1 for the root.
fn parents(tree: &Tree) -> Value {
    let parent = |up: &Option<usize>| Value::Int(up.map_or(-1, |up| up as i64));
    Value::Array(tree.parent.iter().map(parent).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_tree_reaches_everybody_in_as_few_levels_as_a_binary_tree_can() {
        for ranks in 2_usize..=600 {
            let pair = Pair::of(ranks);
            let levels = ranks.next_power_of_two().ilog2() as usize;
            for tree in [&pair.first, &pair.second] {
                let roots = tree.parent.iter().filter(|up| up.is_none()).count();
                assert_eq!(roots, 1, "{ranks}");
                assert_eq!(tree.depth, levels, "{ranks}");
                let mut children = vec![0; ranks];
                for up in tree.parent.iter().flatten() {
                    children[*up] += 1;
                }
                assert!(children.iter().all(|count| *count <= 2), "{ranks}");
            }
        }
    }

    #[test]
    fn of_an_even_number_of_ranks_none_is_inner_twice_and_of_an_odd_number_at_most_one() {
        for ranks in 2..=600 {
            let shared = Pair::of(ranks).shared();
            assert!(shared <= ranks % 2, "{ranks}: {shared}");
        }
    }
}
