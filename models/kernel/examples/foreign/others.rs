//! The worklog on products of matrices, and samples of NVIDIA.

use crate::{Case, empty, floats, line, numbers, plane, whole};
use mlsys_kernel::{Argument, Values};

pub(crate) fn cases() -> impl Iterator<Item = Case> {
    products().chain(reductions()).chain(transposes()).chain(samples())
}

/// `alpha A B + beta C`, rows one after the other.
fn product(sizes: [usize; 3], a: &[f64], b: &[f64], c: &[f64], by: [f64; 2]) -> Vec<f64> {
    let [rows, columns, inner] = sizes;
    let cell = |at: usize| {
        let (row, column) = (at / columns, at % columns);
        let sum: f64 = (0..inner).map(|i| a[row * inner + i] * b[i * columns + column]).sum();
        by[0] * sum + by[1] * c.get(at).copied().unwrap_or(0.0)
    };
    (0..rows * columns).map(cell).collect()
}

/// The kernels of the worklog on products of matrices, with the launches that its host code gives them.
fn products() -> impl Iterator<Item = Case> {
    let sizes @ [rows, columns, inner] = [128, 256, 32];
    let [a, b, c] = [(rows * inner, 12), (inner * columns, 13), (rows * columns, 14)]
        .map(|(count, seed)| numbers(count, seed));
    let want = product(sizes, &a, &b, &c, [0.5, 3.0]);
    let kernels = [
        ("1_naive", "sgemm_naive", plane([4, 8], [32, 32])),
        ("2_kernel_global_mem_coalesce", "sgemm_global_mem_coalesce<32>", plane([4, 8], [1024, 1])),
        ("3_kernel_shared_mem_blocking", "sgemm_shared_mem_block<32>", plane([4, 8], [1024, 1])),
        ("4_kernel_1D_blocktiling", "sgemm1DBlocktiling<64, 64, 8, 8>", plane([4, 2], [512, 1])),
        (
            "5_kernel_2D_blocktiling",
            "sgemm2DBlocktiling<128, 128, 8, 8, 8>",
            plane([2, 1], [256, 1]),
        ),
        ("6_kernel_vectorize", "sgemmVectorize<128, 128, 8, 8, 8>", plane([2, 1], [256, 1])),
        (
            "7_kernel_resolve_bank_conflicts",
            "sgemmResolveBankConflicts<128, 128, 8, 8, 8>",
            plane([2, 1], [256, 1]),
        ),
        (
            "8_kernel_bank_extra_col",
            "sgemmResolveBankExtraCol<128, 128, 8, 8, 8>",
            plane([2, 1], [256, 1]),
        ),
        ("9_kernel_autotuned", "sgemmAutotuned<128, 128, 16, 8, 8>", plane([2, 1], [256, 1])),
        (
            "10_kernel_warptiling",
            "sgemmWarptiling<128, 128, 16, 64, 64, 4, 8, 4, 128>",
            plane([2, 1], [128, 1]),
        ),
    ];
    kernels.into_iter().map(move |(file, kernel, launch)| Case {
        file: format!("src/kernels/{file}.cuh"),
        kernel: kernel.to_owned(),
        launch,
        arguments: vec![
            whole(rows),
            whole(columns),
            whole(inner),
            Argument::Real(0.5),
            floats(&a),
            floats(&b),
            Argument::Real(3.0),
            floats(&c),
        ],
        output: "C",
        want: want.clone(),
        tolerance: 1e-6,
    })
}

fn reductions() -> impl Iterator<Item = Case> {
    const THREADS: usize = 128;
    let input: Vec<i32> = (0..1024).map(|i| i * 31 % 97 - 40).collect();
    let kernels = [
        ("reduce0<int>", 1),
        ("reduce1<int>", 1),
        ("reduce2<int>", 1),
        ("reduce3<int>", 2),
        ("reduce4<int, 128>", 2),
        ("reduce5<int, 128>", 2),
        ("reduce6<int, 128, true>", 8),
        ("reduce7<int, 128, true>", 8),
    ];
    kernels.into_iter().map(move |(kernel, each)| {
        let parts =
            input.chunks(THREADS * each).map(|part| part.iter().map(|x| f64::from(*x)).sum());
        let want: Vec<f64> = parts.collect();
        Case {
            file: "Samples/2_Concepts_and_Techniques/reduction/reduction_kernel.cu".to_owned(),
            kernel: kernel.to_owned(),
            launch: line(want.len() as u32, THREADS as u32, 4 * THREADS as u32),
            arguments: vec![
                Argument::Buffer(Values::Int(input.clone())),
                empty(want.len()),
                whole(input.len()),
            ],
            output: "g_odata",
            want,
            tolerance: 0.0,
        }
    })
}

fn transposes() -> impl Iterator<Item = Case> {
    const SIDE: usize = 96;
    let input = numbers(SIDE * SIDE, 15);
    let turned: Vec<f64> = (0..SIDE * SIDE).map(|at| input[at % SIDE * SIDE + at / SIDE]).collect();
    let kernels = [
        "copy",
        "copySharedMem",
        "transposeNaive",
        "transposeCoalesced",
        "transposeNoBankConflicts",
        "transposeDiagonal",
    ];
    kernels.into_iter().map(move |kernel| Case {
        file: "Samples/6_Performance/transpose/transpose.cu".to_owned(),
        kernel: kernel.to_owned(),
        launch: plane([3, 3], [32, 16]),
        arguments: vec![empty(SIDE * SIDE), floats(&input), whole(SIDE), whole(SIDE)],
        output: "odata",
        want: if kernel.starts_with("copy") { input.clone() } else { turned.clone() },
        tolerance: 0.0,
    })
}

fn samples() -> impl Iterator<Item = Case> {
    let counts: Vec<u32> = (0..2048).map(|i| i * 29 % 101).collect();
    let before = counts.chunks(1024).flat_map(|part| {
        part.iter().scan(0.0, |sum, next| {
            let before = *sum;
            *sum += f64::from(*next);
            Some(before)
        })
    });
    let scan = Case {
        file: "Samples/2_Concepts_and_Techniques/scan/scan.cu".to_owned(),
        kernel: "scanExclusiveShared".to_owned(),
        launch: line(2, 256, 0),
        arguments: vec![
            empty(2048),
            Argument::Buffer(Values::Unsigned(counts.clone())),
            whole(1024),
        ],
        output: "d_Dst",
        want: before.collect(),
        tolerance: 0.0,
    };
    let sizes @ [rows, columns, inner] = [64, 96, 32];
    let [a, b] =
        [(rows * inner, 16), (inner * columns, 17)].map(|(count, seed)| numbers(count, seed));
    let multiplied = Case {
        file: "Samples/0_Introduction/matrixMul/matrixMul.cu".to_owned(),
        kernel: "MatrixMulCUDA<32>".to_owned(),
        launch: plane([3, 2], [32, 32]),
        arguments: vec![
            empty(rows * columns),
            floats(&a),
            floats(&b),
            whole(inner),
            whole(columns),
        ],
        output: "C",
        want: product(sizes, &a, &b, &[], [1.0, 0.0]),
        tolerance: 1e-6,
    };
    let [one, other] = [18, 19].map(|seed| numbers(1000, seed));
    let added = Case {
        file: "Samples/0_Introduction/vectorAdd/vectorAdd.cu".to_owned(),
        kernel: "vectorAdd".to_owned(),
        launch: line(4, 256, 0),
        arguments: vec![floats(&one), floats(&other), empty(1000), whole(1000)],
        output: "C",
        want: one.iter().zip(&other).map(|(one, other)| one + other).collect(),
        tolerance: 0.0,
    };
    [scan, multiplied, added].into_iter()
}
