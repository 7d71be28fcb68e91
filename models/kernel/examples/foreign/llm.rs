//! Kernels of karpathy/llm.c.

use crate::{Case, empty, floats, line, numbers, plane, whole};
use mlsys_kernel::types::Scalar;
use mlsys_kernel::{Argument, Values};

pub(crate) fn cases() -> impl Iterator<Item = Case> {
    softmax().chain(layer_norm()).chain(attention()).chain(the_rest())
}

fn softmax_of(row: &[f64]) -> Vec<f64> {
    let most = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = row.iter().map(|x| (x - most).exp()).sum();
    row.iter().map(|x| (x - most).exp() / sum).collect()
}

fn softmax() -> impl Iterator<Item = Case> {
    let (rows, columns) = (12, 100);
    let input = numbers(rows * columns, 1);
    let want: Vec<f64> = input.chunks(columns).flat_map(softmax_of).collect();
    let launches = [
        ("softmax_forward_kernel1", line(1, 32, 0)),
        ("softmax_forward_kernel2", line(12, 64, 256)),
        ("softmax_forward_kernel3", line(12, 32, 128)),
        ("softmax_forward_kernel4", line(12, 64, 16)),
        ("softmax_forward_online_kernel1", line(1, 32, 0)),
    ];
    launches.into_iter().map(move |(kernel, launch)| Case {
        file: "dev/cuda/softmax_forward.cu".to_owned(),
        kernel: kernel.to_owned(),
        launch,
        arguments: vec![empty(rows * columns), floats(&input), whole(rows), whole(columns)],
        output: "out",
        want: want.clone(),
        tolerance: 1e-6,
    })
}

fn layer_norm() -> impl Iterator<Item = Case> {
    let (rows, columns) = (9, 96);
    let [input, weight, bias] =
        [(rows * columns, 2), (columns, 3), (columns, 4)].map(|(count, seed)| numbers(count, seed));
    let normal = |row: &[f64]| {
        let mean = row.iter().sum::<f64>() / columns as f64;
        let variance = row.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / columns as f64;
        let scale = 1.0 / (variance + 1e-5).sqrt();
        row.iter()
            .zip(weight.iter().zip(&bias))
            .map(|(x, (weight, bias))| (x - mean) * scale * weight + bias)
            .collect::<Vec<_>>()
    };
    let want: Vec<f64> = input.chunks(columns).flat_map(normal).collect();
    let launches = [
        ("layernorm_forward_kernel1", line(1, 32, 0)),
        ("layernorm_forward_kernel3", line(5, 64, 0)),
        ("layernorm_forward_kernel4", line(5, 64, 0)),
        ("layernorm_forward_kernel5", line(9, 64, 0)),
    ];
    launches.into_iter().map(move |(kernel, launch)| Case {
        file: "dev/cuda/layernorm_forward.cu".to_owned(),
        kernel: kernel.to_owned(),
        launch,
        arguments: vec![
            empty(rows * columns),
            empty(rows),
            empty(rows),
            floats(&input),
            floats(&weight),
            floats(&bias),
            whole(rows),
            whole(columns),
        ],
        output: "out",
        want: want.clone(),
        tolerance: 2e-6,
    })
}

/// The three kernels of attention one after the other, each on what the one before must give.
fn attention() -> impl Iterator<Item = Case> {
    let [batch, time, width, heads] = [2, 10, 24, 3];
    let size = width / heads;
    let input = numbers(batch * time * 3 * width, 5);
    let at = |b: usize, t: usize, part: usize, h: usize, i: usize| {
        input[((b * time + t) * 3 + part) * width + h * size + i]
    };
    let rows =
        || (0..batch * heads * time).map(|at| (at / heads / time, at / time % heads, at % time));
    let score = |b, h, t, other| {
        let products = (0..size).map(|i| at(b, t, 0, h, i) * at(b, other, 1, h, i));
        products.sum::<f64>() / (size as f64).sqrt()
    };
    let (mut scores, mut weights) = (Vec::new(), Vec::new());
    for (b, h, t) in rows() {
        let row: Vec<f64> = (0..=t).map(|other| score(b, h, t, other)).collect();
        let later = time - 1 - t;
        weights.extend(softmax_of(&row).into_iter().chain(std::iter::repeat_n(0.0, later)));
        scores.extend(row.into_iter().chain(std::iter::repeat_n(f64::NEG_INFINITY, later)));
    }
    let mut out = vec![0.0; batch * time * width];
    for (b, h, t) in rows() {
        for i in 0..size {
            let weight = |other: usize| weights[((b * heads + h) * time + t) * time + other];
            let sum = (0..=t).map(|other| weight(other) * at(b, other, 2, h, i)).sum();
            out[(b * time + t) * width + h * size + i] = sum;
        }
    }
    let sizes = [batch, time, width, heads].map(whole);
    let [b, t, c, h] = sizes.clone();
    let squares = batch * heads * time * time;
    let cases = [
        (
            "attention_query_key_kernel1",
            vec![empty(squares), floats(&input)],
            sizes.to_vec(),
            "preatt",
            scores.clone(),
        ),
        (
            "attention_softmax_kernel1",
            vec![empty(squares), floats(&scores)],
            vec![b.clone(), t.clone(), h.clone()],
            "att",
            weights.clone(),
        ),
        (
            "attention_value_kernel1",
            vec![empty(out.len()), floats(&weights), floats(&input)],
            vec![b, t, c, h],
            "out",
            out,
        ),
    ];
    cases.into_iter().map(|(kernel, buffers, sizes, output, want)| Case {
        file: "dev/cuda/attention_forward.cu".to_owned(),
        kernel: kernel.to_owned(),
        launch: line(10, 64, 0),
        arguments: buffers.into_iter().chain(sizes).collect(),
        output,
        want,
        tolerance: 1e-6,
    })
}

fn the_rest() -> impl Iterator<Item = Case> {
    let [rows, width, outputs] = [40, 32, 48];
    let [input, weight, bias] = [(rows * width, 6), (outputs * width, 7), (outputs, 8)]
        .map(|(count, seed)| numbers(count, seed));
    let dot = |row: usize, column: usize| -> f64 {
        (0..width).map(|i| input[row * width + i] * weight[column * width + i]).sum()
    };
    let product =
        (0..rows * outputs).map(|at| dot(at / outputs, at % outputs) + bias[at % outputs]);
    let product = Case {
        file: "dev/cuda/matmul_forward.cu".to_owned(),
        kernel: "matmul_forward_kernel1".to_owned(),
        launch: plane([3, 3], [16, 16]),
        arguments: vec![
            empty(rows * outputs),
            floats(&input),
            floats(&weight),
            floats(&bias),
            whole(rows),
            whole(width),
            whole(outputs),
        ],
        output: "out",
        want: product.collect(),
        tolerance: 1e-6,
    };
    let (classes, tokens) = (20, 30);
    let likely: Vec<f64> = numbers(tokens * classes, 9).iter().map(|x| (x + 1.5) / 4.0).collect();
    let targets: Vec<usize> = (0..tokens).map(|at| at * 7 % classes).collect();
    let losses = (0..tokens).map(|at| -likely[at * classes + targets[at]].ln()).collect();
    let targets = Argument::Buffer(Values::Int(targets.iter().map(|at| *at as i32).collect()));
    let loss = Case {
        file: "dev/cuda/crossentropy_forward.cu".to_owned(),
        kernel: "crossentropy_forward_kernel1".to_owned(),
        launch: line(1, 32, 0),
        arguments: vec![
            empty(tokens),
            floats(&likely),
            targets,
            whole(3),
            whole(10),
            whole(classes),
        ],
        output: "losses",
        want: losses,
        tolerance: 1e-6,
    };
    // These keep what they read and write in bfloat16, the second of each eight at once.
    let half = |values: &[f64]| Argument::Buffer(Values::Small(Scalar::Bfloat16, values.to_vec()));
    let count = 512;
    let [one, other] = [10, 11].map(|seed| numbers(count, seed));
    let gelu = |x: &f64| {
        let inner = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x.powi(3));
        0.5 * x * (1.0 + inner.tanh())
    };
    let activated: Vec<f64> = one.iter().map(gelu).collect();
    let sums: Vec<f64> = one.iter().zip(&other).map(|(one, other)| one + other).collect();
    let elementwise = [
        (
            "gelu_forward.cu",
            "gelu_forward_kernel1",
            line(8, 64, 0),
            vec![half(&one)],
            activated.clone(),
        ),
        ("gelu_forward.cu", "gelu_forward_kernel2", line(1, 64, 0), vec![half(&one)], activated),
        (
            "residual_forward.cu",
            "residual_forward_kernel1",
            line(8, 64, 0),
            vec![half(&one), half(&other)],
            sums.clone(),
        ),
        (
            "residual_forward.cu",
            "residual_forward_kernel2",
            line(1, 64, 0),
            vec![half(&one), half(&other)],
            sums,
        ),
    ];
    let elementwise =
        elementwise.into_iter().map(move |(file, kernel, launch, inputs, want)| Case {
            file: format!("dev/cuda/{file}"),
            kernel: kernel.to_owned(),
            launch,
            arguments: std::iter::once(empty(count)).chain(inputs).chain([whole(count)]).collect(),
            output: "out",
            want,
            tolerance: 4e-3,
        });
    [product, loss].into_iter().chain(elementwise)
}
