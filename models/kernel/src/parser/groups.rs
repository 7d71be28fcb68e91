//! Cooperative groups, written out as the barriers, indices and shuffles that they stand for. A helper that takes the
//! block, a tile or the grid is written without it, since its type says all of it. A group of lanes that is known only
//! while the kernel runs is the mask of these lanes, and a `thread_group` the threads of its tile, or 0 for the block.

use crate::lexer::{Lexeme, Token, words};
use crate::parser::group_calls::{Group, barrier, method};
use crate::parser::items::{LONGEST_CALL, behind_angle, behind_call, mark, word};
use std::collections::{BTreeMap, BTreeSet};

/// What the functions on tiles are, in the language itself.
const HELPERS: &str = include_str!("groups.cu");

/// Functions of a text that values are reduced by.
const MOST_REDUCING: usize = 16;

struct Writer {
    tokens: Vec<Lexeme>,
    /// The groups of the function at hand, by their names.
    groups: BTreeMap<String, Group>,
    out: Vec<Lexeme>,
    /// Where brackets close behind which more arguments stand: the width of a shuffle.
    closing: BTreeMap<usize, String>,
    /// Functions that take a `thread_group`.
    general: BTreeSet<String>,
    /// Functions of the text that a tile's values are reduced by.
    reducing: BTreeSet<String>,
    /// Where the function or declaration at hand begins in what is written.
    item: usize,
    /// Whether one of [`HELPERS`] is called.
    is_helped: bool,
}

/// The tokens with variables and arguments that are groups taken out, and their uses written out.
pub(super) fn written_out(tokens: Vec<Lexeme>) -> Vec<Lexeme> {
    const NAMED: [&str; 4] = ["this_thread_block", "coalesced_threads", "cooperative_groups", "cg"];
    let is_named = |at| NAMED.contains(&word(&tokens, at));
    if !(0..tokens.len()).any(is_named) {
        return tokens;
    }
    // Where the text begins, so that no line of it is written behind a later one.
    let place = tokens[0].place;
    let tokens = without_prefix(tokens);
    let mut writer = Writer {
        general: general(&tokens),
        tokens,
        groups: BTreeMap::new(),
        reducing: BTreeSet::new(),
        item: 0,
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
                writer.item = writer.out.len();
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
        if let Some(end) = self.lanes(at) {
            return end;
        }
        let before = at.checked_sub(1).map_or("", |before| mark(&self.tokens, before));
        if matches!(before, "(" | ",")
            && let Some((name, group, end)) = typed(&self.tokens, at)
            && matches!(mark(&self.tokens, end), "," | ")")
        {
            if matches!(group, Group::Lanes | Group::Any) {
                self.out.extend(words(&format!("unsigned {name}"), place));
                self.groups.insert(name, group);
                return end;
            }
            self.groups.insert(name, group);
            return self.without_argument(end);
        }
        let is_bracketed = mark(&self.tokens, at + 1) == "(";
        let argument =
            self.groups.get(word(&self.tokens, at + 2)).cloned().filter(|_| is_bracketed);
        match (word(&self.tokens, at), argument, mark(&self.tokens, at + 3)) {
            ("sync", Some(group), ")") => {
                let name = word(&self.tokens, at + 2).to_owned();
                self.put(&barrier(&group, &name), at);
                return at + 4;
            }
            ("reduce", Some(group @ (Group::Tile(_) | Group::Lanes)), ",") => {
                if let Some(end) = self.reduced(&group, at) {
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
        let name = word(&self.tokens, at);
        if is_method
            && let Some((text, has_arguments)) = method(&group, name, word(&self.tokens, at + 2))
        {
            self.put(&text, at);
            if !has_arguments {
                return at + 5;
            }
            if let (Group::Tile(width), true) = (&group, text.contains("shfl")) {
                let more = format!(", {width}");
                let end = behind_call(&self.tokens, at + 3);
                self.closing.extend(end.map(|end| (end - 1, more)));
            }
            return at + 4;
        }
        if matches!(before, "(" | ",") && matches!(mark(&self.tokens, at + 1), "," | ")") {
            let is_general = self.general.contains(self.called(at));
            match group {
                Group::Tile(width) if is_general => self.put(&width, at),
                Group::Block if is_general => self.put("0", at),
                Group::Lanes | Group::Any => self.out.push(self.tokens[at].clone()),
                Group::Block | Group::Tile(_) | Group::Grid => {
                    return self.without_argument(at + 1);
                }
            }
            return at + 1;
        }
        self.out.push(self.tokens[at].clone());
        at + 1
    }

    fn put(&mut self, text: &str, at: usize) {
        self.is_helped |= text.contains("tile_") || text.contains("lanes_");
        self.out.extend(words(text, self.tokens[at].place));
    }

    /// The function that is called with the argument at a place.
    fn called(&self, at: usize) -> &str {
        let mut depth = 0_usize;
        for at in (0..at).rev().take(LONGEST_CALL) {
            match mark(&self.tokens, at) {
                ")" => depth += 1,
                "(" if depth == 0 => return word(&self.tokens, at.saturating_sub(1)),
                "(" => depth -= 1,
                ";" | "{" | "}" => break,
                _ => {}
            }
        }
        ""
    }

    /// `auto active = coalesced_threads();` and groups of the lanes of one that agree in a value, as masks; a
    /// `thread_group` as the number of its threads.
    fn lanes(&mut self, begin: usize) -> Option<usize> {
        let at = begin + usize::from(word(&self.tokens, begin) == "const");
        let is_any = word(&self.tokens, at) == "thread_group";
        if !is_any && !matches!(word(&self.tokens, at), "coalesced_group" | "auto") {
            return None;
        }
        let name = word(&self.tokens, at + 1).to_owned();
        if mark(&self.tokens, at + 2) != "=" || name.is_empty() {
            return None;
        }
        let making = at + 3;
        let end = behind_call(&self.tokens, making + 1)?;
        let of = word(&self.tokens, making + 2);
        let lanes = match self.groups.get(of) {
            Some(Group::Lanes) => of,
            Some(Group::Tile(width)) if width == "32" => "0xffffffffu",
            _ => "",
        };
        // What stands before the argument behind the group, and behind it.
        let is_of_group = mark(&self.tokens, making + 3) == ",";
        let (value, close) = match word(&self.tokens, making) {
            "coalesced_threads" if !is_any => ("__activemask()".to_owned(), None),
            "binary_partition" if !lanes.is_empty() && is_of_group => {
                (format!("lanes_alike({lanes}, !!("), Some("))"))
            }
            "labeled_partition" if !lanes.is_empty() && is_of_group => {
                (format!("lanes_alike({lanes}, ("), Some("))"))
            }
            "this_thread_block" if is_any => ("0".to_owned(), None),
            "tiled_partition" if is_any && is_of_group => ("(".to_owned(), Some(")")),
            _ => return None,
        };
        self.put(&format!("unsigned {name} = {value}"), begin);
        if let Some(close) = close {
            let mut at = making + 4;
            while at < end - 1 {
                at = self.next(at);
            }
            self.put(close, begin);
        }
        let group = if is_any { Group::Any } else { Group::Lanes };
        self.groups.insert(name, group);
        Some(end)
    }

    /// Leaves an argument out that ends here, with one of the commas around it.
    fn without_argument(&mut self, end: usize) -> usize {
        if mark(&self.tokens, end) == "," {
            return end + 1;
        }
        self.out.pop_if(|last| last.token == Token::Mark(","));
        end
    }

    /// Writes the function that reduces by one of the text, which stands before the function at hand.
    fn reduce_by(&mut self, own: &str, at: usize) {
        if !self.reducing.insert(own.to_owned()) {
            return;
        }
        let text = format!(
            "template <int W, class T> __device__ T tile_by_{own}(T v) {{ for (int o = W / 2; o > 0; o /= 2) v = {own}(v, tile_other<W>(v, o)); return v; }}"
        );
        let place = self.out.get(self.item).unwrap_or(&self.tokens[at]).place;
        let function = words(&text, place);
        let end = self.item + function.len();
        self.out.splice(self.item..self.item, function);
        self.item = end;
    }

    /// `cg::reduce(tile, value, cg::plus<float>())` as a call of one of [`HELPERS`].
    fn reduced(&mut self, group: &Group, at: usize) -> Option<usize> {
        let close = behind_call(&self.tokens, at + 1)? - 1;
        let operator = (at + 4..close).rev().find(|at| {
            let is_alone = at + 1 == close || mark(&self.tokens, at + 1) == "<";
            mark(&self.tokens, at - 1) == "," && is_alone
        })?;
        let name = match word(&self.tokens, operator) {
            "plus" => "sum".to_owned(),
            "greater" => "max".to_owned(),
            "less" => "min".to_owned(),
            "bit_and" => "and".to_owned(),
            "bit_or" => "or".to_owned(),
            "bit_xor" => "xor".to_owned(),
            own if operator + 1 == close
                && matches!(group, Group::Tile(_))
                && (self.reducing.len() < MOST_REDUCING || self.reducing.contains(own)) =>
            {
                let own = own.to_owned();
                self.reduce_by(&own, at);
                format!("by_{own}")
            }
            _ => return None,
        };
        let place = self.tokens[at].place;
        let call = if let Group::Tile(width) = group {
            format!("tile_{name}<{width}>(")
        } else {
            format!("lanes_{name}({},", word(&self.tokens, at + 2))
        };
        self.put(&call, at);
        let mut value = at + 4;
        while value < operator - 1 {
            value = self.next(value);
        }
        self.out.extend(words(")", place));
        Some(close + 1)
    }
}

/// The functions that take a `thread_group`.
fn general(tokens: &[Lexeme]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut function = "";
    for at in 1..tokens.len() {
        match mark(tokens, at) {
            "(" => function = word(tokens, at - 1),
            ")" | "{" | "}" | ";" => function = "",
            _ if word(tokens, at) == "thread_group" && !function.is_empty() => {
                found.insert(function.to_owned());
            }
            _ => {}
        }
    }
    found
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
        "coalesced_group" => Group::Lanes,
        "thread_group" => Group::Any,
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
