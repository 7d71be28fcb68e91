//! Asynchronous copies, pipelines and `cuda::barrier`, written out as what they come to: a copy is made where it is
//! begun, a barrier that counts all threads of its block is `__syncthreads`, and a pipeline of one thread has nothing
//! left to wait for.
//!
//! Known misses: a thread that reads what it copies itself before it waits, and threads that `arrive` early, between
//! which and the `wait` other threads are taken to stand still.

use crate::diagnostic::Diagnostic;
use crate::lexer::{Lexeme, Token, words};
use crate::parser::items::{LONGEST_CALL, behind, behind_angle, behind_call, inside, mark, word};
use crate::parser::template::parts;
use std::collections::{BTreeMap, BTreeSet};

/// What copies are, in the language itself.
const HELPERS: &str = include_str!("async_copies.cu");

/// The bytes of a copy, and what divides both of its addresses.
#[derive(Clone)]
struct Size {
    bytes: Vec<Lexeme>,
    alignment: Vec<Lexeme>,
}

struct Writer<'d> {
    tokens: Vec<Lexeme>,
    out: Vec<Lexeme>,
    /// Variables that are sizes with an alignment.
    sizes: BTreeMap<String, Size>,
    /// Pipelines that all threads of a block share.
    shared: BTreeSet<String>,
    is_helped: bool,
    diagnostics: &'d mut Vec<Diagnostic>,
}

/// The tokens with copies written out; a text without any stays as it is.
pub(super) fn written_out(tokens: Vec<Lexeme>, diagnostics: &mut Vec<Diagnostic>) -> Vec<Lexeme> {
    if !(0..tokens.len()).any(|at| is_one(&tokens, at)) {
        return tokens;
    }
    let place = tokens[0].place;
    let mut writer = Writer {
        tokens,
        out: Vec::new(),
        sizes: BTreeMap::new(),
        shared: BTreeSet::new(),
        is_helped: false,
        diagnostics,
    };
    writer.write(0, writer.tokens.len());
    if !writer.is_helped {
        return writer.out;
    }
    let mut out: Vec<Lexeme> = HELPERS.lines().flat_map(|line| words(line, place)).collect();
    out.extend(writer.out);
    out
}

impl Writer<'_> {
    fn write(&mut self, begin: usize, end: usize) {
        let mut at = begin;
        while at < end {
            at = self.next(at);
        }
    }

    /// Writes what stands at a place, and tells where it ends.
    fn next(&mut self, at: usize) -> usize {
        let written = match word(&self.tokens, at) {
            "" => self.method(at),
            "barrier" | "pipeline" | "pipeline_shared_state" if is_scoped(&self.tokens, at + 1) => {
                self.put("int", at);
                Some(behind_angle(&self.tokens, at + 1))
            }
            "barrier" if word(&self.tokens, at + 2) == "arrival_token" => {
                self.put("int", at);
                Some(at + 3)
            }
            "init" if mark(&self.tokens, at + 1) == "(" => self.begun(at),
            "make_pipeline" if mark(&self.tokens, at + 1) == "(" => self.pipeline(at),
            "pipeline_consumer_wait_prior" if mark(&self.tokens, at + 1) == "<" => {
                let end = behind_call(&self.tokens, behind_angle(&self.tokens, at + 1));
                end.inspect(|_| self.put("0", at))
            }
            "__pipeline_commit" | "__pipeline_wait_prior" => {
                behind_call(&self.tokens, at + 1).inspect(|_| self.put("0", at))
            }
            "memcpy_async" | "__pipeline_memcpy_async" if mark(&self.tokens, at + 1) == "(" => {
                self.copied(at)
            }
            "wait" | "wait_prior" => self.waited(at),
            "const" | "auto" => self.size(at),
            _ => None,
        };
        written.unwrap_or_else(|| {
            self.out.push(self.tokens[at].clone());
            at + 1
        })
    }

    /// Whether `cg::` stands before a place.
    fn is_of_group(&self, at: usize) -> bool {
        at > 1 && matches!(word(&self.tokens, at - 2), "cg" | "cooperative_groups")
    }

    fn put(&mut self, text: &str, at: usize) {
        self.out.extend(words(text, self.tokens[at].place));
    }

    /// `init(&bar, block.size())`
    fn begun(&mut self, at: usize) -> Option<usize> {
        let end = behind_call(&self.tokens, at + 1)?;
        let given = parts(&self.tokens, at + 2..end - 1);
        let [barrier, count] = given.as_slice() else { return None };
        let counts: Vec<&str> = (0..count.len()).map(|at| word(count, at)).collect();
        let is_size = |word: &&str| matches!(*word, "size" | "num_threads" | "blockDim");
        if !counts.iter().any(is_size) {
            let message = "a barrier counts all threads of its block here";
            let help = "write init(&bar, block.size()), or take __syncthreads or __syncwarp";
            self.diagnostics.push(Diagnostic::new(self.tokens[at].place, message, help));
        }
        self.put("*", at);
        self.put("(", at);
        self.out.extend(barrier.iter().cloned());
        self.put(") = (int)(", at);
        self.out.extend(count.iter().cloned());
        self.put(")", at);
        Some(end)
    }

    /// `make_pipeline()`, or with a group: the threads of that group share the pipeline.
    fn pipeline(&mut self, at: usize) -> Option<usize> {
        let end = behind_call(&self.tokens, at + 1)?;
        let name = at.checked_sub(2).map_or("", |name| word(&self.tokens, name));
        if end > at + 3 && mark(&self.tokens, at.saturating_sub(1)) == "=" {
            self.shared.insert(name.to_owned());
        }
        self.put("0", at);
        Some(end)
    }

    /// `const auto shape = aligned_size_t<16>(16);`
    fn size(&mut self, at: usize) -> Option<usize> {
        let auto = at + usize::from(word(&self.tokens, at) == "const");
        let is_declared = word(&self.tokens, auto) == "auto" && mark(&self.tokens, auto + 2) == "=";
        if !is_declared || word(&self.tokens, auto + 3) != "aligned_size_t" {
            return None;
        }
        let end = (auto..self.tokens.len()).take(LONGEST_CALL);
        let end = end.into_iter().find(|at| mark(&self.tokens, *at) == ";")?;
        let size = aligned(&self.tokens[auto + 3..end])?;
        self.sizes.insert(word(&self.tokens, auto + 1).to_owned(), size);
        Some(end + 1)
    }

    /// `memcpy_async(to, from, bytes, barrier)`, or with a group before them, the threads of which share the work.
    fn copied(&mut self, at: usize) -> Option<usize> {
        let end = behind_call(&self.tokens, at + 1)?;
        let given = parts(&self.tokens, at + 2..end - 1);
        let is_of_group = self.is_of_group(at);
        let is_old = word(&self.tokens, at) == "__pipeline_memcpy_async";
        let is_group = |part: &[Lexeme]| part.len() == 1 && !word(part, 0).is_empty();
        match given.as_slice() {
            [group, to, from, bytes] if is_of_group && is_group(group) => {
                self.out.truncate(self.out.len() - 2);
                self.shared_copy(at, word(group, 0), [to, from, bytes]);
            }
            [group, to, from, bytes, _] if is_group(group) && !is_of_group => {
                self.shared_copy(at, word(group, 0), [to, from, bytes]);
            }
            [to, from, bytes, _] if !is_of_group && !is_old => self.own_copy(at, to, from, bytes),
            [to, from, bytes] if is_old => {
                let size = Size { bytes: bytes.clone(), alignment: bytes.clone() };
                self.sized_copy(at, to, from, &size);
            }
            _ => return None,
        }
        self.is_helped = true;
        Some(end)
    }

    fn own_copy(&mut self, at: usize, to: &[Lexeme], from: &[Lexeme], bytes: &[Lexeme]) {
        let named = if bytes.len() == 1 { self.sizes.get(word(bytes, 0)).cloned() } else { None };
        let none = words("1", self.tokens[at].place);
        let plain = || Size { bytes: bytes.to_vec(), alignment: none };
        let size = named.or_else(|| aligned(bytes)).unwrap_or_else(plain);
        self.sized_copy(at, to, from, &size);
    }

    fn sized_copy(&mut self, at: usize, to: &[Lexeme], from: &[Lexeme], size: &Size) {
        self.put("async_copied<(", at);
        self.out.extend(size.alignment.iter().cloned());
        self.put("), (", at);
        self.out.extend(size.bytes.iter().cloned());
        self.put(")>(", at);
        self.out.extend(to.iter().cloned());
        self.put(",", at);
        self.out.extend(from.iter().cloned());
        self.put(")", at);
    }

    fn shared_copy(&mut self, at: usize, group: &str, [to, from, bytes]: [&Vec<Lexeme>; 3]) {
        let bytes = aligned(bytes).map_or_else(|| bytes.clone(), |size| size.bytes);
        self.put("async_shared(", at);
        self.out.extend(to.iter().cloned());
        self.put(",", at);
        self.out.extend(from.iter().cloned());
        self.put(",", at);
        self.out.extend(bytes);
        self.put(&format!(", {group}.thread_rank(), {group}.size())"), at);
    }

    /// `cg::wait(group)` and `cg::wait_prior<1>(group)`: the group's barrier.
    fn waited(&mut self, at: usize) -> Option<usize> {
        let is_of_group = self.is_of_group(at);
        let open = match mark(&self.tokens, at + 1) {
            "<" => behind_angle(&self.tokens, at + 1),
            _ => at + 1,
        };
        let group = word(&self.tokens, open + 1).to_owned();
        if !is_of_group || mark(&self.tokens, open + 2) != ")" || group.is_empty() {
            return None;
        }
        self.out.truncate(self.out.len() - 2);
        self.put(&format!("{group}.sync()"), at);
        Some(open + 3)
    }

    /// A call of a function of a barrier or a pipeline, from its point on; what it is of has been written and goes.
    fn method(&mut self, at: usize) -> Option<usize> {
        let is_call =
            matches!(mark(&self.tokens, at), "." | "->") && mark(&self.tokens, at + 2) == "(";
        if !is_call {
            return None;
        }
        let own = self.out.last().map(|last| last.token.clone());
        let is_shared = matches!(&own, Some(Token::Name(name)) if self.shared.contains(name));
        let text = match word(&self.tokens, at + 1) {
            "arrive_and_wait" => "__syncthreads()",
            "wait" if !word(&self.tokens, at + 3).is_empty() => "__syncthreads()",
            "consumer_wait" | "consumer_release" if is_shared => "__syncthreads()",
            "arrive" | "producer_acquire" | "producer_commit" | "consumer_wait"
            | "consumer_release" => "0",
            _ => return None,
        };
        let end = behind_call(&self.tokens, at + 2)?;
        let begin = self.receiver()?;
        self.out.truncate(begin);
        self.put(text, at);
        Some(end)
    }

    /// Where the expression begins that was written last: a name, with an index or in brackets.
    fn receiver(&self) -> Option<usize> {
        let mut depth = 0_usize;
        for at in (0..self.out.len()).rev().take(LONGEST_CALL) {
            match mark(&self.out, at) {
                ")" | "]" => depth += 1,
                open @ ("(" | "[") => {
                    depth = depth.checked_sub(1)?;
                    if depth == 0 && open == "(" {
                        return Some(at);
                    }
                }
                _ if depth == 0 => return (!word(&self.out, at).is_empty()).then_some(at),
                _ => {}
            }
        }
        None
    }
}

/// Whether a word stands here that a text without any of this has not.
fn is_one(tokens: &[Lexeme], at: usize) -> bool {
    match word(tokens, at) {
        "barrier" | "pipeline" | "pipeline_shared_state" => is_scoped(tokens, at + 1),
        "memcpy_async" | "make_pipeline" | "__pipeline_memcpy_async" => mark(tokens, at + 1) == "(",
        _ => false,
    }
}

/// Whether `<thread_scope_..` stands here.
fn is_scoped(tokens: &[Lexeme], at: usize) -> bool {
    let is_scope = |at: usize| word(tokens, at).starts_with("thread_scope");
    mark(tokens, at) == "<" && (at + 1..at + 4).any(is_scope)
}

/// `aligned_size_t<16>(sizeof(float4))`
fn aligned(tokens: &[Lexeme]) -> Option<Size> {
    let is_aligned = word(tokens, 0) == "aligned_size_t" && mark(tokens, 1) == "<";
    let open = if is_aligned { behind_angle(tokens, 1) } else { return None };
    let end = behind(tokens, open);
    let is_closed = end == tokens.len() && end > 0 && mark(tokens, end - 1) == ")";
    let is_whole = mark(tokens, open) == "(" && is_closed;
    is_whole.then(|| Size {
        bytes: inside(tokens, open, end).to_vec(),
        alignment: inside(tokens, 1, open).to_vec(),
    })
}
