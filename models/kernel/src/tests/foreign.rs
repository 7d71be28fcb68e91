//! Kernels of public repositories, word for word, against plain Rust. Two of them have a flaw that the results do not show.

use crate::tests::*;
use crate::types::Scalar;

const LLM: &str = include_str!("foreign/llm.cu");
const SGEMM: &str = include_str!("foreign/sgemm.cu");
const SGEMM_ASYNC: &str = include_str!("foreign/sgemm-async.cu");
const SAMPLES: &str = include_str!("foreign/samples.cu");

/// What a buffer holds in the end, to within a part of the larger of 1 and the value.
struct Expected {
    buffer: &'static str,
    values: Vec<f64>,
    tolerance: f64,
}

/// Runs a kernel of a text as it stands and as a second compiler is given it, compares its results, and gives what the
/// interpreter found.
fn compared(
    text: &str,
    kernel: &str,
    launch: Launch,
    arguments: &[Argument],
    want: &Expected,
) -> Option<Fault> {
    let text = format!("{text}\n#pragma kernel {kernel}\n");
    let read = Kernel::parse("foreign.cu", &text).unwrap_or_else(|refused| panic!("{refused}"));
    let machine = ran(&text, launch.clone(), arguments);
    let got = all(&machine, want.buffer);
    assert_eq!(got.len(), want.values.len(), "{kernel}");
    for (at, (got, want_value)) in got.iter().zip(&want.values).enumerate() {
        let is_near = (got - want_value).abs() <= want.tolerance * want_value.abs().max(1.0);
        assert!(is_near, "{kernel}: element {at} is {got}, not {want_value}");
    }
    let again = ran(read.cuda(), launch, arguments);
    assert_eq!(all(&again, &format!("{}_k", want.buffer)), got, "{kernel}");
    machine.findings().first().map(|finding| finding.fault)
}

/// Numbers from -1 to 1 in steps of 1/64, which float and bfloat16 hold.
fn numbers(count: usize, seed: usize) -> Vec<f64> {
    (0..count).map(|i| ((i * 37 + seed * 101 + i * i % 17) % 129) as f64 / 64.0 - 1.0).collect()
}

fn half(values: &[f64]) -> Argument {
    Argument::Buffer(Values::Small(Scalar::Bfloat16, values.to_vec()))
}

fn floats(values: &[f64]) -> Argument {
    Argument::Buffer(Values::Float(values.iter().map(|value| *value as f32).collect()))
}

fn whole(value: usize) -> Argument {
    Argument::Whole(value as i64)
}

fn line(blocks: usize, threads: u32, shared: u32) -> Launch {
    Launch { dynamic_shared: shared, ..Launch::line(blocks as u32, threads) }
}

fn plane(grid: [u32; 2], block: [u32; 2]) -> Launch {
    let mut launch = Launch::line(1, 1);
    (launch.grid_dim, launch.block_dim) = ([grid[0], grid[1], 1], [block[0], block[1], 1]);
    launch
}

/// The rows of a matrix, each brought to mean 0 and variance 1, then scaled and shifted by column.
fn normalized(input: &[f64], weight: &[f64], bias: &[f64]) -> Vec<f64> {
    let columns = weight.len();
    let row = |row: &[f64]| {
        let mean = row.iter().sum::<f64>() / columns as f64;
        let variance = row.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / columns as f64;
        let scaled = row.iter().map(|x| (x - mean) / (variance + 1e-5).sqrt());
        scaled.zip(weight.iter().zip(bias)).map(|(x, (w, b))| x * w + b).collect::<Vec<_>>()
    };
    input.chunks(columns).flat_map(row).collect()
}

#[test]
fn rows_of_llm_c() {
    let (rows, columns) = (9, 96);
    let [input, weight, bias] =
        [(rows * columns, 2), (columns, 3), (columns, 4)].map(|(count, seed)| numbers(count, seed));
    let softmax = |row: &[f64]| {
        let most = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = row.iter().map(|x| (x - most).exp()).sum();
        row.iter().map(|x| (x - most).exp() / sum).collect::<Vec<_>>()
    };
    let values = input.chunks(columns).flat_map(softmax).collect();
    let want = Expected { buffer: "out", values, tolerance: 1e-6 };
    let sizes = [whole(rows), whole(columns)];
    let arguments = [&[poison(rows * columns), floats(&input)], &sizes[..]].concat();
    let found = [
        ("softmax_forward_online_kernel1", line(1, 32, 0), None),
        ("softmax_forward_online_kernel2", line(3, 96, 0), None),
        // The first warp writes its part of the sum over the maximum that others still read.
        ("softmax_forward_kernel4", line(rows, 64, 16), Some(Fault::Race)),
    ];
    for (kernel, launch, found) in found {
        assert_eq!(compared(LLM, kernel, launch, &arguments, &want), found);
    }

    let values = normalized(&input, &weight, &bias);
    let want = Expected { buffer: "out", values, tolerance: 2e-6 };
    let outputs = [rows * columns, rows, rows].map(poison);
    let inputs = [&input, &weight, &bias].map(|values| floats(values));
    let arguments = [&outputs[..], &inputs, &sizes].concat();
    // All lanes of a warp write its sum into one cell.
    let found = compared(LLM, "layernorm_forward_kernel5", line(rows, 64, 0), &arguments, &want);
    assert_eq!(found, Some(Fault::EqualWrites));
}

/// Gradients of a layer norm by weight, bias and input, of which the first two are added up in bfloat16, two at a time.
#[test]
fn gradients_of_a_layer_norm_of_llm_c() {
    let (rows, columns) = (6, 64);
    let [input, weight, outer] = [(rows * columns, 5), (columns, 6), (rows * columns, 7)]
        .map(|(count, seed)| numbers(count, seed));
    let over = |values: &[f64]| values.iter().sum::<f64>() / columns as f64;
    let mean: Vec<f64> = input.chunks(columns).map(over).collect();
    let scale = |(row, mean): (&[f64], &f64)| {
        1.0 / (over(&row.iter().map(|x| (x - mean).powi(2)).collect::<Vec<_>>()) + 1e-5).sqrt()
    };
    let scale: Vec<f64> = input.chunks(columns).zip(&mean).map(scale).collect();
    let norm = |at: usize| (input[at] - mean[at / columns]) * scale[at / columns];
    let inner = |at: usize| weight[at % columns] * outer[at];
    let by_input = |at: usize| {
        let row = at / columns * columns..(at / columns + 1) * columns;
        let all = over(&row.clone().map(inner).collect::<Vec<_>>());
        let along = over(&row.map(|at| inner(at) * norm(at)).collect::<Vec<_>>());
        (inner(at) - all - norm(at) * along) * scale[at / columns]
    };
    let by_column = |term: &dyn Fn(usize) -> f64| {
        let column = |column| (0..rows).map(|row| term(row * columns + column)).sum();
        (0..columns).map(column).collect::<Vec<f64>>()
    };
    let zeros = |count| floats(&vec![0.0; count]);
    let empty = || half(&vec![0.0; columns]);
    let inputs = [floats(&outer), floats(&input), half(&weight), floats(&mean), floats(&scale)];
    let sizes = [2, rows / 2, columns].map(whole);
    let arguments = [&[zeros(rows * columns), empty(), empty()], &inputs[..], &sizes].concat();
    let kernel = "layernorm_backward_kernel3<float, __nv_bfloat16, float, float>";
    for (buffer, values, tolerance) in [
        ("dinp", (0..rows * columns).map(by_input).collect(), 1e-5),
        ("dbias", by_column(&|at| outer[at]), 1e-2),
        ("dweight", by_column(&|at| outer[at] * norm(at)), 1e-2),
    ] {
        let want = Expected { buffer, values, tolerance };
        let launch = line(1, 64, 2 * 4 * columns as u32);
        assert_eq!(compared(LLM, kernel, launch, &arguments, &want), None);
    }
}

#[test]
fn eight_bfloat16_at_once_of_llm_c() {
    const COUNT: usize = 512;
    let [one, other] = [10, 11].map(|seed| numbers(COUNT, seed));
    let gelu = |x: &f64| {
        let inner = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x.powi(3));
        0.5 * x * (1.0 + inner.tanh())
    };
    let kernels: [(_, _, Vec<f64>); 2] = [
        ("gelu_forward_kernel2", vec![half(&one)], one.iter().map(gelu).collect()),
        (
            "residual_forward_kernel2",
            vec![half(&one), half(&other)],
            one.iter().zip(&other).map(|(one, other)| one + other).collect(),
        ),
    ];
    for (kernel, inputs, values) in kernels {
        let want = Expected { buffer: "out", values, tolerance: 4e-3 };
        let arguments = [&[poison(COUNT)], &inputs[..], &[whole(COUNT)]].concat();
        assert_eq!(compared(LLM, kernel, line(1, 64, 0), &arguments, &want), None);
    }
}

#[test]
fn packed_rows_in_shared_memory_of_llm_c() {
    let (rows, columns) = (6, 256);
    let [input, weight, bias] =
        [(rows * columns, 2), (columns, 3), (columns, 4)].map(|(count, seed)| numbers(count, seed));
    let values = normalized(&input, &weight, &bias);
    let want = Expected { buffer: "out", values, tolerance: 4e-3 };
    let outputs = [poison(rows * columns), poison(rows), poison(rows)];
    let inputs = [half(&input), half(&weight), half(&bias)];
    let arguments = [&outputs[..], &inputs, &[whole(rows), whole(columns)]].concat();
    // Weights, biases and four rows, two bytes a number.
    let launch = Launch { dynamic_shared: 6 * 256 * 2, ..plane([2, 1], [32, 4]) };
    assert_eq!(compared(LLM, "layernorm_forward_kernel6", launch, &arguments, &want), None);
}

#[test]
fn triangular_products_of_llm_c() {
    let (side, channels) = (128, 4);
    let input = numbers(side * 3 * channels, 20);
    let part = |row: usize, which: usize| {
        let begin = row * 3 * channels + which * channels;
        &input[begin..begin + channels]
    };
    let cell = |at: usize| {
        let (row, column) = (at / side, at % side);
        let pairs = part(row, 0).iter().zip(part(column, 1));
        // Each thread computes eight rows and columns, or nothing.
        if column / 8 > row / 8 { 0.0 } else { pairs.map(|(q, k)| q * k).sum::<f64>() / 2.0 }
    };
    let values = (0..side * side).map(cell).collect();
    let want = Expected { buffer: "out", values, tolerance: 1e-6 };
    let sizes = [whole(side), whole(channels), whole(1)];
    let arguments = [&[floats(&vec![0.0; side * side]), floats(&input)], &sizes[..]].concat();
    // The first is what the first launch in the text says.
    for kernel in ["trimul_global", "trimul_global<matmul_tri_registers>"] {
        assert_eq!(compared(LLM, kernel, plane([1, 1], [16, 16]), &arguments, &want), None);
    }
}

#[test]
fn products_of_the_sgemm_worklog() {
    let [rows, columns, inner] = [128, 256, 32];
    let [a, b, c] = [(rows * inner, 12), (inner * columns, 13), (rows * columns, 14)]
        .map(|(count, seed)| numbers(count, seed));
    let cell = |at: usize| {
        let (row, column) = (at / columns, at % columns);
        let sum: f64 = (0..inner).map(|i| a[row * inner + i] * b[i * columns + column]).sum();
        0.5 * sum + 3.0 * c[at]
    };
    let values = (0..rows * columns).map(cell).collect();
    let want = Expected { buffer: "C", values, tolerance: 1e-6 };
    let sizes = [rows, columns, inner].map(whole);
    let by = [0.5, 3.0].map(Argument::Real);
    let inputs = [by[0].clone(), floats(&a), floats(&b), by[1].clone(), floats(&c)];
    let arguments = [&sizes[..], &inputs].concat();
    for (kernel, launch) in [
        ("sgemm_global_mem_coalesce<32>", plane([4, 8], [1024, 1])),
        ("sgemm_shared_mem_block<32>", plane([4, 8], [1024, 1])),
        ("sgemmWarptiling<128, 128, 16, 64, 64, 4, 8, 4, 128>", plane([2, 1], [128, 1])),
    ] {
        assert_eq!(compared(SGEMM, kernel, launch, &arguments, &want), None);
    }
    let kernel = "runSgemmDoubleBuffering2<128, 128, 16, 64, 64, 4, 8, 4, 128>";
    let launch = plane([2, 1], [128, 1]);
    assert_eq!(compared(SGEMM_ASYNC, kernel, launch, &arguments, &want), None);
}

#[test]
fn reductions_a_scan_and_a_transpose_of_the_cuda_samples() {
    let input: Vec<i32> = (0..1024).map(|i| i * 31 % 97 - 40).collect();
    let sum = |part: &[i32]| part.iter().map(|x| f64::from(*x)).sum();
    let want = Expected { buffer: "g_odata", values: vec![sum(&input)], tolerance: 0.0 };
    let arguments = [Argument::Buffer(Values::Int(input.clone())), poison(1), whole(input.len())];
    for kernel in ["reduce6<int, 128, true>", "reduce7<int, 128, true>"] {
        assert_eq!(compared(SAMPLES, kernel, line(1, 128, 512), &arguments, &want), None);
    }

    let counts: Vec<u32> = (0..2048).map(|i| i * 29 % 101).collect();
    let before = |part: &[u32]| {
        let mut sum = 0;
        let sums = part.iter().map(|next| {
            sum += next;
            f64::from(sum - next)
        });
        sums.collect::<Vec<_>>()
    };
    let values = counts.chunks(1024).flat_map(before).collect();
    let want = Expected { buffer: "d_Dst", values, tolerance: 0.0 };
    let arguments = [poison(2048), Argument::Buffer(Values::Unsigned(counts.clone())), whole(1024)];
    let found = compared(SAMPLES, "scanExclusiveShared", line(2, 256, 0), &arguments, &want);
    assert_eq!(found, None);

    let side = 96;
    let input = numbers(side * side, 15);
    let values = (0..side * side).map(|at| input[at % side * side + at / side]).collect();
    let want = Expected { buffer: "odata", values, tolerance: 0.0 };
    let arguments = [poison(side * side), floats(&input), whole(side), whole(side)];
    let launch = plane([3, 3], [32, 16]);
    assert_eq!(compared(SAMPLES, "transposeDiagonal", launch, &arguments, &want), None);
}
