//! The operations, each with its count and its operands.

use mlsys_lab::{LabError, Params};

/// Sizes that a picture compares.
const SIZES: [f64; 8] = [1.0, 8.0, 32.0, 128.0, 512.0, 2048.0, 8192.0, 32768.0];

/// One operation with the sizes that it reads; lengths are whole numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Operation {
    /// [m, k] x [k, n]
    Matmul {
        m: f64,
        n: f64,
        k: f64,
        /// Bytes of an activation and of a weight.
        b: f64,
        w: f64,
    },
    /// The same few operations for each output.
    Elementwise { elements: f64, flops: f64, reads: f64, writes: f64, b: f64 },
    /// Two vectors of one length.
    Dot { length: f64, b: f64 },
    /// T queries of G heads against S keys and values of one head.
    Attention { queries: f64, keys: f64, group: f64, head_dim: f64, b: f64 },
    /// Counts that somebody knows.
    Counts { flops: f64, bytes: f64 },
}

/// A formula, the same with its numbers, and what comes of it.
pub(super) struct Counted {
    pub(super) formula: &'static str,
    pub(super) numbers: String,
    pub(super) value: f64,
}

/// Something that is read or written once.
pub(super) struct Operand {
    pub(super) name: &'static str,
    pub(super) formula: &'static str,
    pub(super) numbers: String,
    pub(super) bytes: f64,
}

impl Operation {
    pub(super) fn read(params: &Params) -> Result<Self, LabError> {
        let number = |name: &str| params.float(name);
        let b = number("bytes_per_element")?;
        Ok(match params.text("operation")? {
            "matmul" => Self::Matmul {
                m: number("m")?,
                n: number("n")?,
                k: number("k")?,
                b,
                w: params.optional_float("weight_bytes_per_element").unwrap_or(b),
            },
            "elementwise" => Self::Elementwise {
                elements: number("elements")?,
                flops: number("flops_per_element")?,
                reads: number("reads_per_element")?,
                writes: number("writes_per_element")?,
                b,
            },
            "dot" => Self::Dot { length: number("length")?, b },
            "attention" => Self::Attention {
                queries: number("query_tokens")?,
                keys: number("kv_tokens")?,
                group: number("queries_per_kv_head")?,
                head_dim: number("head_dim")?,
                b,
            },
            _ => Self::Counts { flops: number("flops")?, bytes: number("bytes")? },
        })
    }

    /// Its operations; a multiply-add is two.
    pub(super) fn flops(&self) -> Counted {
        let (formula, numbers, value) = match *self {
            Self::Matmul { m, n, k, .. } => ("2mnk", format!("2*{m}*{n}*{k}"), 2.0 * m * n * k),
            Self::Elementwise { elements, flops, .. } => {
                let numbers = format!("{elements}*{flops}");
                ("elements*flops_per_element", numbers, elements * flops)
            }
            // L products and L - 1 sums.
            Self::Dot { length, .. } => ("2L - 1", format!("2*{length} - 1"), 2.0 * length - 1.0),
            // Scores and their product with V, a multiply-add each.
            Self::Attention { queries: t, keys: s, group: g, head_dim: d, .. } => {
                ("4GTSd", format!("4*{g}*{t}*{s}*{d}"), 4.0 * g * t * s * d)
            }
            Self::Counts { flops, .. } => ("given", flops.to_string(), flops),
        };
        Counted { formula, numbers, value }
    }

    /// What it reads and writes, each once.
    pub(super) fn operands(&self) -> Vec<Operand> {
        let operand = |name, formula, numbers, bytes| Operand { name, formula, numbers, bytes };
        match *self {
            Self::Matmul { m, n, k, b, w } => vec![
                operand("activations, read", "b*mk", format!("{b}*{m}*{k}"), b * m * k),
                operand("weights, read", "w*kn", format!("{w}*{k}*{n}"), w * k * n),
                operand("outputs, written", "b*mn", format!("{b}*{m}*{n}"), b * m * n),
            ],
            Self::Elementwise { elements: e, reads, writes, b, .. } => vec![
                operand(
                    "inputs, read",
                    "b*elements*reads",
                    format!("{b}*{e}*{reads}"),
                    b * e * reads,
                ),
                operand(
                    "outputs, written",
                    "b*elements*writes",
                    format!("{b}*{e}*{writes}"),
                    b * e * writes,
                ),
            ],
            Self::Dot { length: l, b } => vec![
                operand("vectors, read", "b*2L", format!("{b}*2*{l}"), b * 2.0 * l),
                operand("sum, written", "b", b.to_string(), b),
            ],
            Self::Attention { queries: t, keys: s, group: g, head_dim: d, b } => {
                let (query, key) = (b * d * g * t, b * d * s);
                let (queries, keys) = (format!("{b}*{d}*{g}*{t}"), format!("{b}*{d}*{s}"));
                vec![
                    operand("queries, read", "bdGT", queries.clone(), query),
                    operand("keys, read", "bdS", keys.clone(), key),
                    operand("values, read", "bdS", keys, key),
                    operand("outputs, written", "bdGT", queries, query),
                ]
            }
            Self::Counts { bytes, .. } => {
                vec![operand("bytes, moved", "given", bytes.to_string(), bytes)]
            }
        }
    }

    /// The same operation at other values of the size that matters, its own among them.
    pub(super) fn at_other_sizes(&self) -> Vec<(String, Self)> {
        let own = self.telling();
        let mut sizes = SIZES.to_vec();
        let place = sizes.partition_point(|&size| size < own);
        if sizes.get(place) != Some(&own) {
            sizes.insert(place, own);
        }
        let other = |size: f64| match *self {
            Self::Matmul { n, k, b, w, .. } => {
                (format!("m = {size}"), Self::Matmul { m: size, n, k, b, w })
            }
            Self::Elementwise { flops, reads, writes, b, .. } => {
                let other = Self::Elementwise { elements: size, flops, reads, writes, b };
                (format!("{size} elements"), other)
            }
            Self::Dot { b, .. } => (format!("L = {size}"), Self::Dot { length: size, b }),
            Self::Attention { keys, group, head_dim, b, .. } => {
                let other = Self::Attention { queries: size, keys, group, head_dim, b };
                (format!("T = {size}"), other)
            }
            Self::Counts { .. } => ("as given".to_owned(), *self),
        };
        match self {
            // Counts have no size.
            Self::Counts { .. } => vec![other(own)],
            Self::Matmul { .. }
            | Self::Elementwise { .. }
            | Self::Dot { .. }
            | Self::Attention { .. } => sizes.into_iter().map(other).collect(),
        }
    }

    /// The size that is compared: rows of activations, elements, length, query tokens.
    fn telling(&self) -> f64 {
        match *self {
            Self::Matmul { m: size, .. }
            | Self::Elementwise { elements: size, .. }
            | Self::Dot { length: size, .. }
            | Self::Attention { queries: size, .. } => size,
            Self::Counts { .. } => 1.0,
        }
    }
}
