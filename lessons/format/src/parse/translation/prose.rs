//! Prose and notes between directives: those of a translation in the place of the original's.

use std::collections::BTreeMap;

use crate::model::Block;

/// The blocks in the original's order, with each stretch of prose before a directive replaced by the translation's.
/// `missing` hears of stretches that the translation lacks: the directive they stand before, and their line.
pub(super) fn merge(
    blocks: Vec<Block>,
    mut runs: BTreeMap<Option<String>, Vec<Block>>,
    mut missing: impl FnMut(Option<&str>, usize),
) -> Vec<Block> {
    let mut merged = Vec::new();
    let mut stretch = Vec::new();
    for block in blocks {
        match block.id().map(str::to_owned) {
            None => stretch.push(block),
            Some(id) => {
                let own = runs.remove(&Some(id.clone())).unwrap_or_default();
                let stretch = std::mem::take(&mut stretch);
                merged.extend(one(stretch, own, |line| missing(Some(&id), line)));
                merged.push(block);
            }
        }
    }
    let own = runs.remove(&None).unwrap_or_default();
    merged.extend(one(stretch, own, |line| missing(None, line)));
    merged
}

/// One stretch: the translation's prose if it has any, and its notes if it has any.
fn one(original: Vec<Block>, own: Vec<Block>, missing: impl FnOnce(usize)) -> Vec<Block> {
    let is_prose = |block: &&Block| matches!(block, Block::Prose(_));
    let is_notes = |block: &&Block| matches!(block, Block::Notes(_));
    let has_prose = own.iter().any(|block| is_prose(&block));
    if !has_prose {
        if let Some(Block::Prose(first)) = original.iter().find(is_prose) {
            missing(first.line);
        }
        // Notes in the other language go with the original's prose.
        let (notes, _): (Vec<_>, Vec<_>) = own.into_iter().partition(|b| is_notes(&b));
        if notes.is_empty() {
            return original;
        }
        let prose = original.into_iter().filter(|block| is_prose(&block));
        return prose.chain(notes).collect();
    }
    if own.iter().any(|block| is_notes(&block)) {
        return own;
    }
    let notes = original.into_iter().filter(|block| is_notes(&block));
    own.into_iter().chain(notes).collect()
}
