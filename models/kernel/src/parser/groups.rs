//! Cooperative groups: the block and tiles of it, written out as the barriers, indices and shuffles that they stand for.

use crate::lexer::{Lexeme, words};
use crate::parser::items::{behind, mark, word};
use std::collections::BTreeMap;

#[derive(Clone, Copy)]
enum Group {
    Block,
    /// This many threads, a power of two up to 32.
    Tile(u32),
}

const RANK: &str = "(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z))";
const SIZE: &str = "(blockDim.x * blockDim.y * blockDim.z)";

/// The tokens with `thread_block` and `thread_block_tile` variables taken out, and their uses written out.
pub(super) fn written_out(tokens: Vec<Lexeme>) -> Vec<Lexeme> {
    if !(0..tokens.len()).any(|at| word(&tokens, at) == "this_thread_block") {
        return tokens;
    }
    let tokens = without_prefix(tokens);
    let mut groups: BTreeMap<&str, Group> = BTreeMap::new();
    let mut out = Vec::with_capacity(tokens.len());
    // Where brackets close that take the width of a shuffle.
    let mut widths: BTreeMap<usize, u32> = BTreeMap::new();
    let mut at = 0;
    while at < tokens.len() {
        if let Some((name, group, end)) = declared(&tokens, at) {
            groups.insert(name, group);
            at = end;
            continue;
        }
        let place = tokens[at].place;
        let synced = groups.get(word(&tokens, at + 2)).filter(|_| {
            word(&tokens, at) == "sync"
                && mark(&tokens, at + 1) == "("
                && mark(&tokens, at + 3) == ")"
        });
        if let Some(group) = synced {
            out.extend(words(barrier(*group), place));
            at += 4;
            continue;
        }
        let is_method = mark(&tokens, at + 1) == "." && mark(&tokens, at + 3) == "(";
        let group = groups.get(word(&tokens, at)).filter(|_| is_method);
        if let Some((group, (text, has_arguments))) =
            group.and_then(|group| Some((*group, method(*group, word(&tokens, at + 2))?)))
        {
            out.extend(words(&text, place));
            if has_arguments {
                if let (Group::Tile(width), true) = (group, text.contains("shfl")) {
                    widths.insert(behind(&tokens, at + 3) - 1, width);
                }
                at += 4;
            } else {
                at += 5;
            }
            continue;
        }
        if let Some(width) = widths.remove(&at) {
            out.extend(words(&format!(", {width}"), place));
        }
        out.push(tokens[at].clone());
        at += 1;
    }
    out
}

fn barrier(group: Group) -> &'static str {
    match group {
        Group::Block => "__syncthreads()",
        Group::Tile(_) => "__syncwarp()",
    }
}

/// What a call of a method stands for, and whether its arguments follow; else its bracket is left out.
fn method(group: Group, name: &str) -> Option<(String, bool)> {
    let plain = |text: &str| Some((text.to_owned(), false));
    match (group, name) {
        (_, "sync") => plain(barrier(group)),
        (Group::Block, "thread_rank") => plain(RANK),
        (Group::Block, "size" | "num_threads") => plain(SIZE),
        (Group::Block, "group_index") => plain("blockIdx"),
        (Group::Block, "thread_index") => plain("threadIdx"),
        (Group::Block, "group_dim" | "dim_threads") => plain("blockDim"),
        (Group::Tile(width), "thread_rank") => Some((format!("({RANK} % {width})"), false)),
        (Group::Tile(width), "size" | "num_threads") => Some((format!("{width}u"), false)),
        (Group::Tile(width), "meta_group_rank") => Some((format!("({RANK} / {width})"), false)),
        (Group::Tile(width), "meta_group_size") => {
            Some((format!("(({SIZE} + {}) / {width})", width - 1), false))
        }
        (Group::Tile(_), "shfl" | "shfl_down" | "shfl_up" | "shfl_xor") => {
            Some((format!("__{name}_sync(0xffffffffu,"), true))
        }
        (Group::Tile(32), "any" | "all" | "ballot") => {
            Some((format!("__{name}_sync(0xffffffffu,"), true))
        }
        (Group::Block | Group::Tile(_), _) => None,
    }
}

/// `cg::` and `cooperative_groups::` left out.
fn without_prefix(tokens: Vec<Lexeme>) -> Vec<Lexeme> {
    let mut out = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while at < tokens.len() {
        let is_prefix = matches!(word(&tokens, at), "cg" | "cooperative_groups");
        if is_prefix && mark(&tokens, at + 1) == "::" {
            at += 2;
        } else {
            out.push(tokens[at].clone());
            at += 1;
        }
    }
    out
}

/// A variable that is a group: its name, what it is, and where its declaration ends.
fn declared(tokens: &[Lexeme], begin: usize) -> Option<(&str, Group, usize)> {
    let mut at = begin + usize::from(word(tokens, begin) == "const");
    match word(tokens, at) {
        "thread_block" | "auto" => at += 1,
        "thread_block_tile" if mark(tokens, at + 1) == "<" => at += 4,
        _ => return None,
    }
    let name = word(tokens, at);
    if mark(tokens, at + 1) != "=" || name.is_empty() {
        return None;
    }
    let group = match word(tokens, at + 2) {
        "this_thread_block" => Group::Block,
        "tiled_partition" => Group::Tile(width(tokens.get(at + 4)?)?),
        _ => return None,
    };
    let semicolon = (at..tokens.len().min(at + 16)).find(|at| mark(tokens, *at) == ";")?;
    Some((name, group, semicolon + 1))
}

fn width(lexeme: &Lexeme) -> Option<u32> {
    let width = lexeme.token.whole()?;
    [1, 2, 4, 8, 16, 32].into_iter().find(|known| u64::from(*known) == width)
}
