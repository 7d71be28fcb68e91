//! What kind of work an operation is, by burn's name for it, and how much.

use burn::backend::ir::OperationIr;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    Product,
    /// One result per number.
    Elementwise,
    Reduction,
    /// Reductions and elementwise work over rows, done as one.
    Rows,
    /// Numbers go from one place to another.
    Move,
    /// Another shape of the same memory.
    View,
    /// A tensor is made from nothing.
    Creation,
}

impl Class {
    pub fn of(name: &str) -> Self {
        match name {
            "matmul" | "linear" | "conv2d" => Self::Product,
            "linear_x_backward" | "linear_weight_backward" => Self::Product,
            "conv2d_x_backward" | "conv2d_weight_backward" => Self::Product,
            "reshape" | "swap_dims" | "permute" | "expand" | "slice" => Self::View,
            "empty" | "zeros" | "ones" | "full" | "init" | "random" => Self::Creation,
            "softmax" | "log_softmax" | "softmin" | "layer_norm" => Self::Rows,
            "sum"
            | "sum_dim"
            | "sum_dims"
            | "mean"
            | "mean_dim"
            | "max"
            | "max_dim"
            | "min"
            | "min_dim"
            | "arg_max"
            | "arg_min"
            | "all"
            | "any"
            | "linear_bias_backward"
            | "conv2d_bias_backward" => Self::Reduction,
            "gather" | "scatter" | "select" | "select_assign" | "embedding"
            | "embedding_backward" | "cat" | "repeat_dim" | "flip" | "cast" | "slice_assign"
            | "into_float" | "into_int" => Self::Move,
            _ => Self::Elementwise,
        }
    }

    /// Operations of its product, and operations besides, from the shapes of what it reads and writes.
    pub fn flops(self, name: &str, inputs: &[&[usize]], output: &[usize]) -> (u64, u64) {
        let numbers = |shape: &[usize]| shape.iter().map(|&size| size as u64).product::<u64>();
        let first = inputs.first().copied().unwrap_or(output);
        let read = numbers(first);
        let written = numbers(output);
        match self {
            Self::Product => {
                let bias =
                    if inputs.len() > 2 && !name.ends_with("_backward") { written } else { 0 };
                (2 * multiply_adds(name, inputs, output), bias)
            }
            Self::Elementwise => (0, written),
            Self::Reduction => (0, read),
            // Largest, minus it, exponential, sum, divided by it (or minus its logarithm, one more a row).
            Self::Rows => {
                let row = first.last().copied().unwrap_or(1).max(1) as u64;
                let logarithms = if name == "log_softmax" { read / row } else { 0 };
                (0, 5 * read + logarithms)
            }
            Self::Move | Self::View | Self::Creation => (0, 0),
        }
    }

    /// Whether neighbours of this kind can be done in one pass over memory.
    pub fn is_fusible(self) -> bool {
        match self {
            Self::Elementwise => true,
            Self::Product
            | Self::Reduction
            | Self::Rows
            | Self::Move
            | Self::View
            | Self::Creation => false,
        }
    }
}

/// Multiply-adds of a product. A convolution's weights are `[channels out, channels in, height, width]`, and every
/// output pixel takes one multiply-add per weight of its channel; its two backward products take as many.
fn multiply_adds(name: &str, inputs: &[&[usize]], output: &[usize]) -> u64 {
    let numbers = |shape: &[usize]| shape.iter().map(|&size| size as u64).product::<u64>();
    let of = |index: usize| inputs.get(index).copied().unwrap_or_default();
    let last = |index: usize| of(index).last().copied().unwrap_or_default() as u64;
    let of_a_channel = || numbers(of(1)) / (of(1).first().copied().unwrap_or(1).max(1) as u64);
    match name {
        "conv2d" => numbers(output) * of_a_channel(),
        // x, weight, gradient of the result.
        "conv2d_x_backward" | "conv2d_weight_backward" => numbers(of(2)) * of_a_channel(),
        // weight [in, out], gradient [.., out].
        "linear_x_backward" => numbers(output) * last(0),
        // x [.., in], gradient [.., out].
        "linear_weight_backward" => numbers(of(0)) * last(1),
        // [.., rows, inner] x [.., inner, columns].
        _ => numbers(output) * last(0),
    }
}

/// burn's name for an operation, such as `log_softmax`.
///
/// The record names it in its debug text, `Activation(LogSoftmax(DimOpIr { ..`: the word before the last one that
/// stands before the first brace. Only as much of the text is made.
pub fn name_of(operation: &OperationIr) -> String {
    use std::fmt::Write;
    struct Head(String);
    impl Write for Head {
        fn write_str(&mut self, text: &str) -> std::fmt::Result {
            match text.split_once('{') {
                Some((head, _)) => {
                    self.0.push_str(head);
                    Err(std::fmt::Error)
                }
                None => {
                    self.0.push_str(text);
                    Ok(())
                }
            }
        }
    }
    let mut head = Head(String::new());
    // The error is how the text is ended at the brace.
    let _ended = write!(head, "{operation:?}");
    let words = head.0.split(['(', ',', ' ']).filter(|word| !word.is_empty());
    let words: Vec<&str> = words.collect();
    let name = match words.as_slice() {
        [.., name, _] => name,
        [name] => name,
        [] => "",
    };
    snake_case(name)
}

fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    for (index, letter) in name.char_indices() {
        if letter.is_uppercase() && index > 0 {
            snake.push('_');
        }
        snake.extend(letter.to_lowercase());
    }
    snake
}
