//! Kernels written at random, in which nothing goes wrong: indices are masked, divisors are above zero, signed numbers
//! stay small, loops are bounded, and barriers stand where all threads come by.

use std::fmt::Write;

use crate::entry::noise;

pub(crate) const BLOCK: u32 = 32;

/// Elements of each buffer that is read.
pub(crate) const INPUT: usize = 64;

const VARIABLES: u64 = 3;

pub(crate) struct Generator {
    state: u64,
    text: String,
    loops: u32,
}

/// What may stand where a statement is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inside {
    Straight,
    Loop,
}

impl Generator {
    pub(crate) fn kernel(number: u64) -> String {
        let mut writer = Self { state: noise(number + 1), text: String::new(), loops: 0 };
        writer.helper();
        writer.text.push_str(
            "__global__ void k(const unsigned *in, const float *real, unsigned *out, float *sums, unsigned *tally) {\n  __shared__ unsigned board[32];\n  unsigned t = threadIdx.x, at = blockIdx.x * blockDim.x + threadIdx.x;\n",
        );
        for index in 0..VARIABLES {
            let (a, b, c) = (writer.below(64), writer.below(64), writer.below(64));
            let _ = writeln!(
                writer.text,
                "  unsigned u{index} = in[(at + {a}u) & 63u];\n  int i{index} = (int)(in[(at + {b}u) & 63u] & 1023u) - 512;\n  float f{index} = real[(at + {c}u) & 63u];"
            );
        }
        for _ in 0..4 + writer.below(4) {
            writer.statement(2, 1, Inside::Straight);
            if writer.below(3) == 0 {
                writer.exchange();
            }
        }
        writer.text.push_str("  out[2 * at] = u0 ^ u1 + u2;\n  out[2 * at + 1] = (unsigned)(i0 + 3 * i1 - i2);\n  sums[at] = f0 + f1 * f2;\n}\n");
        writer.text
    }

    fn below(&mut self, most: u64) -> u64 {
        self.state = self.state.wrapping_add(1);
        noise(self.state) % most
    }

    fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len() as u64) as usize]
    }

    fn helper(&mut self) {
        let (a, b, c) = (self.below(31) + 1, self.below(1000), self.below(3));
        let _ = writeln!(
            self.text,
            "__device__ unsigned stir(unsigned x, unsigned y) {{\n  if (x % 3u == {c}u) return y + {b}u;\n  for (unsigned k = 0; k < (y & 3u); k++) {{\n    x ^= x << {a};\n    if (x & 16u) return x - y;\n  }}\n  return x * 5u + y;\n}}"
        );
    }

    /// Values pass from thread to thread through shared memory.
    fn exchange(&mut self) {
        let (from, to, by) = (self.below(VARIABLES), self.below(VARIABLES), self.below(32));
        let _ = writeln!(
            self.text,
            "  board[t] = u{from};\n  __syncthreads();\n  u{to} += board[(t + {by}u) & 31u];\n  __syncthreads();"
        );
    }

    fn statement(&mut self, depth: u32, indent: usize, inside: Inside) {
        let pad = "  ".repeat(indent);
        let variable = self.below(VARIABLES);
        let line = match self.below(if depth > 0 { 12 } else { 7 }) {
            0 | 1 => format!("u{variable} = {};", self.unsigned(3)),
            2 => {
                let sign = self.pick(&["+=", "-=", "*=", "^=", "|=", "&="]);
                format!("u{variable} {sign} {};", self.unsigned(2))
            }
            3 => format!("i{variable} = {};", self.signed(3)),
            4 => format!("f{variable} = {};", self.real(3)),
            5 => {
                let cell = self.below(4);
                match self.below(3) {
                    0 => format!("atomicAdd(&tally[{cell}], {});", self.unsigned(1)),
                    1 => format!("atomicMax(&tally[{}], {});", cell + 4, self.unsigned(1)),
                    _ => format!("atomicXor(&tally[{}], {});", cell + 8, self.unsigned(1)),
                }
            }
            6 if inside == Inside::Loop => {
                let word = self.pick(&["break", "continue"]);
                format!("if ({}) {word};", self.condition(2))
            }
            6 => format!("u{variable}++;"),
            7..=9 => {
                let condition = self.condition(2);
                let _ = writeln!(self.text, "{pad}if ({condition}) {{");
                self.body(depth, indent, inside);
                if self.below(2) == 0 {
                    let _ = writeln!(self.text, "{pad}}} else {{");
                    self.body(depth, indent, inside);
                }
                "}".to_owned()
            }
            10 => {
                self.loops += 1;
                let (k, bound) = (self.loops, self.unsigned(1));
                let _ = writeln!(
                    self.text,
                    "{pad}for (unsigned k{k} = 0; k{k} < ({bound}) % 6u; k{k}++) {{"
                );
                self.body(depth, indent, Inside::Loop);
                "}".to_owned()
            }
            _ => {
                self.loops += 1;
                let (k, turns, condition) = (self.loops, self.below(5), self.condition(1));
                let _ = writeln!(self.text, "{pad}int k{k} = {turns};\n{pad}do {{");
                self.body(depth, indent, Inside::Loop);
                format!("}} while (--k{k} > 0 && ({condition}));")
            }
        };
        let _ = writeln!(self.text, "{pad}{line}");
    }

    fn body(&mut self, depth: u32, indent: usize, inside: Inside) {
        for _ in 0..=self.below(2) {
            self.statement(depth - 1, indent + 1, inside);
        }
    }

    fn unsigned(&mut self, depth: u32) -> String {
        if depth == 0 || self.below(5) == 0 {
            return match self.below(5) {
                0 => format!("{}u", noise(self.state) as u32 >> (self.state % 32)),
                1 => "t".to_owned(),
                2 => format!("in[(u{} + at) & 63u]", self.below(VARIABLES)),
                _ => format!("u{}", self.below(VARIABLES)),
            };
        }
        match self.below(8) {
            0..=2 => {
                let sign = self.pick(&["+", "-", "*", "&", "|", "^"]);
                format!("({} {sign} {})", self.unsigned(depth - 1), self.unsigned(depth - 1))
            }
            3 => {
                let sign = self.pick(&["/", "%"]);
                let (a, b) = (self.unsigned(depth - 1), self.unsigned(depth - 1));
                format!("({a} {sign} (({b} & 255u) + 1u))")
            }
            4 => {
                let sign = self.pick(&["<<", ">>"]);
                let (a, b) = (self.unsigned(depth - 1), self.unsigned(depth - 1));
                format!("({a} {sign} ({b} & 31u))")
            }
            5 => format!("(unsigned){}", self.signed(depth - 1)),
            6 => {
                let (c, a, b) =
                    (self.condition(1), self.unsigned(depth - 1), self.unsigned(depth - 1));
                format!("({c} ? {a} : {b})")
            }
            _ => format!("stir({}, {})", self.unsigned(depth - 1), self.unsigned(depth - 1)),
        }
    }

    /// Between -1000 and 1000.
    fn signed(&mut self, depth: u32) -> String {
        if depth == 0 || self.below(4) == 0 {
            return match self.below(3) {
                0 => format!("{}", self.below(1999) as i64 - 999).replace('-', "0 - "),
                _ => format!("i{}", self.below(VARIABLES)),
            }
            .replace("0 - ", "-");
        }
        let (a, b) = (self.signed(depth - 1), self.signed(depth - 1));
        match self.below(6) {
            0 => format!("(({a} + {b}) % 1000)"),
            1 => format!("(({a} - ({b})) % 1000)"),
            2 => format!("(({a}) * ({b}) % 1000)"),
            3 => format!("(({a}) / (abs({b}) + 1))"),
            4 => format!("min({a}, {b})"),
            _ => format!("(({a}) >> {})", self.below(6)),
        }
    }

    fn real(&mut self, depth: u32) -> String {
        if depth == 0 || self.below(4) == 0 {
            return match self.below(4) {
                0 => format!("{:?}f", self.below(64) as f32 / 16.0),
                1 => format!("real[u{} & 63u]", self.below(VARIABLES)),
                _ => format!("f{}", self.below(VARIABLES)),
            };
        }
        let (a, b) = (self.real(depth - 1), self.real(depth - 1));
        match self.below(7) {
            0 => format!("({a} + {b})"),
            1 => format!("({a} - {b})"),
            2 => format!("({a} * {b})"),
            3 => format!("fminf({a}, {b})"),
            4 => format!("fmaxf(-{a}, 0.5f * {b})"),
            5 => format!("(float)({})", self.signed(depth - 1)),
            _ => format!("({} ? {a} : {b})", self.condition(1)),
        }
    }

    fn condition(&mut self, depth: u32) -> String {
        let sign = self.pick(&["<", "<=", ">", ">=", "==", "!="]);
        match self.below(if depth > 0 { 6 } else { 3 }) {
            0 => format!("{} {sign} {}", self.unsigned(1), self.unsigned(1)),
            1 => format!("{} {sign} {}", self.signed(1), self.signed(1)),
            2 => format!("{} {sign} {}", self.real(1), self.real(1)),
            3 => format!("!({})", self.condition(depth - 1)),
            4 => format!("({}) && ({})", self.condition(depth - 1), self.condition(depth - 1)),
            _ => format!("({}) || ({})", self.condition(depth - 1), self.condition(depth - 1)),
        }
    }
}
