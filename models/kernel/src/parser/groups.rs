//! Cooperative groups: the block, tiles of it and the grid, written out as the barriers, indices and shuffles that they
//! stand for. A helper that takes a group is written without it, since its type says all of it.

use crate::lexer::{Lexeme, Token, words};
use crate::parser::items::{behind, behind_angle, mark, word};
use std::collections::BTreeMap;

#[derive(Clone)]
enum Group {
    Block,
    /// This many threads, a power of two up to 32, or its name in a template.
    Tile(String),
    Grid,
}

const RANK: &str = "(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z))";
const SIZE: &str = "(blockDim.x * blockDim.y * blockDim.z)";
const BLOCKS: &str = "((unsigned long long)gridDim.x * gridDim.y * gridDim.z)";
const BLOCK: &str =
    "(blockIdx.x + (unsigned long long)gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z))";

/// What the functions on tiles are, in the language itself.
const HELPERS: &str = include_str!("groups.cu");

struct Writer {
    tokens: Vec<Lexeme>,
    /// The groups of the function at hand, by their names.
    groups: BTreeMap<String, Group>,
    out: Vec<Lexeme>,
    /// Where brackets close behind which more arguments stand: the width of a shuffle.
    closing: BTreeMap<usize, String>,
    /// Whether one of [`HELPERS`] is called.
    is_helped: bool,
}

/// The tokens with variables and arguments that are groups taken out, and their uses written out.
pub(super) fn written_out(tokens: Vec<Lexeme>) -> Vec<Lexeme> {
    let is_named =
        |at| matches!(word(&tokens, at), "this_thread_block" | "cooperative_groups" | "cg");
    let Some(first) = (0..tokens.len()).find(|at| is_named(*at)) else { return tokens };
    let place = tokens[first].place;
    let mut writer = Writer {
        tokens: without_prefix(tokens),
        groups: BTreeMap::new(),
        out: Vec::new(),
        closing: BTreeMap::new(),
        is_helped: false,
    };
    let mut depth = 0_usize;
    let mut at = 0;
    while at < writer.tokens.len() {
        let next = writer.next(at);
        for passed in at..next {
            match mark(&writer.tokens, passed) {
                "{" => depth += 1,
                "}" => depth = depth.saturating_sub(1),
                ";" => {}
                _ => continue,
            }
            if depth == 0 {
                writer.groups.clear();
            }
        }
        at = next;
    }
    if !writer.is_helped {
        return writer.out;
    }
    let mut out: Vec<Lexeme> = HELPERS.lines().flat_map(|line| words(line, place)).collect();
    out.extend(writer.out);
    out
}

impl Writer {
    /// Writes what stands at a place, and tells where it ends.
    fn next(&mut self, at: usize) -> usize {
        let place = self.tokens[at].place;
        if let Some((name, group, end)) = declared(&self.tokens, at) {
            self.groups.insert(name, group);
            return end;
        }
        let before = at.checked_sub(1).map_or("", |before| mark(&self.tokens, before));
        if matches!(before, "(" | ",")
            && let Some((name, group, end)) = typed(&self.tokens, at)
            && matches!(mark(&self.tokens, end), "," | ")")
        {
            self.groups.insert(name, group);
            return self.without_argument(end);
        }
        let is_bracketed = mark(&self.tokens, at + 1) == "(";
        let argument =
            self.groups.get(word(&self.tokens, at + 2)).cloned().filter(|_| is_bracketed);
        match (word(&self.tokens, at), argument, mark(&self.tokens, at + 3)) {
            ("sync", Some(group), ")") => {
                self.out.extend(words(barrier(&group), place));
                return at + 4;
            }
            ("reduce", Some(Group::Tile(width)), ",") => {
                if let Some(end) = self.reduced(&width, at) {
                    return end;
                }
            }
            _ => {}
        }
        let Some(group) = self.groups.get(word(&self.tokens, at)).cloned() else {
            if let Some(more) = self.closing.remove(&at) {
                self.out.extend(words(&more, place));
            }
            self.out.push(self.tokens[at].clone());
            return at + 1;
        };
        let is_method = mark(&self.tokens, at + 1) == "." && mark(&self.tokens, at + 3) == "(";
        if is_method && let Some((text, has_arguments)) = method(&group, word(&self.tokens, at + 2))
        {
            self.out.extend(words(&text, place));
            self.is_helped |= text.contains("tile_");
            if !has_arguments {
                return at + 5;
            }
            if let (Group::Tile(width), true) = (&group, text.contains("shfl")) {
                let more = format!(", {width}");
                self.closing.insert(behind(&self.tokens, at + 3) - 1, more);
            }
            return at + 4;
        }
        if matches!(before, "(" | ",") && matches!(mark(&self.tokens, at + 1), "," | ")") {
            return self.without_argument(at + 1);
        }
        self.out.push(self.tokens[at].clone());
        at + 1
    }

    /// Leaves an argument out that ends here, with one of the commas around it.
    fn without_argument(&mut self, end: usize) -> usize {
        if mark(&self.tokens, end) == "," {
            return end + 1;
        }
        self.out.pop_if(|last| last.token == Token::Mark(","));
        end
    }

    /// `cg::reduce(tile, value, cg::plus<float>())` as a call of one of [`HELPERS`].
    fn reduced(&mut self, width: &str, at: usize) -> Option<usize> {
        let close = behind(&self.tokens, at + 1) - 1;
        let operator = (at + 4..close)
            .rev()
            .find(|at| mark(&self.tokens, at - 1) == "," && mark(&self.tokens, at + 1) == "<")?;
        let name = match word(&self.tokens, operator) {
            "plus" => "tile_sum",
            "greater" => "tile_max",
            "less" => "tile_min",
            "bit_and" => "tile_and",
            "bit_or" => "tile_or",
            "bit_xor" => "tile_xor",
            _ => return None,
        };
        let place = self.tokens[at].place;
        self.is_helped = true;
        self.out.extend(words(&format!("{name}<{width}>("), place));
        let mut value = at + 4;
        while value < operator - 1 {
            value = self.next(value);
        }
        self.out.extend(words(")", place));
        Some(close + 1)
    }
}

fn barrier(group: &Group) -> &'static str {
    match group {
        Group::Block => "__syncthreads()",
        Group::Tile(_) => "__syncwarp()",
        Group::Grid => "grid_sync()",
    }
}

/// What a call of a method stands for, and whether its arguments follow; else its bracket is left out.
fn method(group: &Group, name: &str) -> Option<(String, bool)> {
    let plain = |text: &str| Some((text.to_owned(), false));
    match (group, name) {
        (_, "sync") => plain(barrier(group)),
        (Group::Block, "thread_rank") => plain(RANK),
        (Group::Block, "size" | "num_threads") => plain(SIZE),
        (Group::Block, "group_index") => plain("blockIdx"),
        (Group::Block, "thread_index") => plain("threadIdx"),
        (Group::Block, "group_dim" | "dim_threads") => plain("blockDim"),
        (Group::Grid, "thread_rank") => plain(&format!("({BLOCK} * {SIZE} + {RANK})")),
        (Group::Grid, "size" | "num_threads") => plain(&format!("({BLOCKS} * {SIZE})")),
        (Group::Grid, "block_rank") => plain(BLOCK),
        (Group::Grid, "num_blocks") => plain(BLOCKS),
        (Group::Tile(width), "thread_rank") => Some((format!("({RANK} % {width})"), false)),
        (Group::Tile(width), "size" | "num_threads") => {
            let is_number = width.starts_with(|first: char| first.is_ascii_digit());
            let text = if is_number { format!("{width}u") } else { format!("(unsigned){width}") };
            Some((text, false))
        }
        (Group::Tile(width), "meta_group_rank") => Some((format!("({RANK} / {width})"), false)),
        (Group::Tile(width), "meta_group_size") => {
            Some((format!("(({SIZE} + {width} - 1) / {width})"), false))
        }
        (Group::Tile(_), "shfl" | "shfl_down" | "shfl_up" | "shfl_xor") => {
            Some((format!("__{name}_sync(0xffffffffu,"), true))
        }
        (Group::Tile(width), "any" | "all" | "ballot") if width == "32" => {
            Some((format!("__{name}_sync(0xffffffffu,"), true))
        }
        (Group::Tile(width), "any" | "all" | "ballot") => {
            Some((format!("tile_{name}<{width}>("), true))
        }
        (Group::Block | Group::Tile(_) | Group::Grid, _) => None,
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
fn declared(tokens: &[Lexeme], begin: usize) -> Option<(String, Group, usize)> {
    let mut at = begin + usize::from(word(tokens, begin) == "const");
    match word(tokens, at) {
        "thread_block" | "grid_group" | "auto" => at += 1,
        "thread_block_tile" if mark(tokens, at + 1) == "<" => at = behind_angle(tokens, at + 1),
        _ => return None,
    }
    let name = word(tokens, at).to_owned();
    if !matches!(mark(tokens, at + 1), "=" | "(" | "{") || name.is_empty() {
        return None;
    }
    let group = match word(tokens, at + 2) {
        "this_thread_block" => Group::Block,
        "this_grid" => Group::Grid,
        "tiled_partition" if mark(tokens, at + 3) == "<" => {
            Group::Tile(width(tokens.get(at + 4)?)?)
        }
        _ => return None,
    };
    let semicolon = (at..tokens.len().min(at + 16)).find(|at| mark(tokens, *at) == ";")?;
    Some((name, group, semicolon + 1))
}

/// An argument that is a group by its type: its name, what it is, and where it ends.
fn typed(tokens: &[Lexeme], begin: usize) -> Option<(String, Group, usize)> {
    let mut at = begin + usize::from(word(tokens, begin) == "const");
    let group = match word(tokens, at) {
        "thread_block" => Group::Block,
        "grid_group" => Group::Grid,
        "thread_block_tile" if mark(tokens, at + 1) == "<" => {
            let group = Group::Tile(width(tokens.get(at + 2)?)?);
            at = behind_angle(tokens, at + 1) - 1;
            group
        }
        _ => return None,
    };
    at += 1;
    at += usize::from(word(tokens, at) == "const");
    at += usize::from(matches!(mark(tokens, at), "&" | "&&"));
    let name = word(tokens, at);
    (!name.is_empty()).then(|| (name.to_owned(), group, at + 1))
}

/// A width that groups may have, or the name of one.
fn width(lexeme: &Lexeme) -> Option<String> {
    if let Token::Name(name) = &lexeme.token {
        return Some(name.clone());
    }
    let width = lexeme.token.whole()?;
    [1, 2, 4, 8, 16, 32].contains(&width).then(|| width.to_string())
}
