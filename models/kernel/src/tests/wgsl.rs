//! Translations: every built-in kernel has one, what C has and WGSL has not is written out, and the rest is named.

use crate::examples::EXAMPLES;
use crate::tests::*;
use crate::types::{Access, Scalar};

const TARGET: Target =
    Target { block_dim: [32, 4, 1], dynamic_shared: 128, subgroups: Subgroups::Of32 };

fn translated(text: &str) -> Wgsl {
    let kernel = Kernel::parse("k.cu", text).unwrap_or_else(|refused| panic!("{refused}"));
    kernel.wgsl(TARGET).unwrap_or_else(|diagnostics| panic!("{diagnostics:?}"))
}

/// Names that stand in a text, without what follows a number, a dot or an at sign.
fn words(text: &str) -> Vec<&str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.' || c == '@';
    let words = text.split(|c: char| !is_part(c));
    words
        .filter(|word| word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'))
        .map(|word| word.split('.').next().unwrap_or_default())
        .collect()
}

/// What a validator of WGSL would look at first: brackets that match and no name declared twice.
fn sound(wgsl: &Wgsl) {
    let text = &wgsl.text;
    let mut open = Vec::new();
    for c in text.chars() {
        match c {
            '(' | '[' | '{' => open.push(c),
            ')' | ']' | '}' => {
                let begun = open.pop();
                assert!(
                    matches!((begun, c), (Some('('), ')') | (Some('['), ']') | (Some('{'), '}')),
                    "{text}"
                );
            }
            _ => {}
        }
    }
    assert!(open.is_empty(), "{text}");
    assert!(!text.contains("untranslated"), "{text}");
    let mut declared = std::collections::BTreeSet::new();
    for line in text.lines() {
        let line = line.trim().trim_start_matches("for (");
        if let Some(rest) = line.strip_prefix("let ").or_else(|| line.strip_prefix("var ")) {
            let name = words(rest).into_iter().next().unwrap_or_default();
            assert!(declared.insert(name), "{name} is declared twice:\n{text}");
        }
    }
}

#[test]
fn every_built_in_kernel_has_a_translation() {
    for example in EXAMPLES {
        let wgsl = translated(example.source);
        sound(&wgsl);
        let arguments = Kernel::parse("k.cu", example.source).map(|kernel| kernel.params().count());
        assert_eq!(
            arguments.ok(),
            Some(wgsl.buffers.len() + wgsl.numbers.len()),
            "{}",
            example.name
        );
        assert!(wgsl.text.contains("@compute @workgroup_size(32, 4, 1)"));
        assert!(wgsl.text.contains(&format!("fn {}(", wgsl.entry)));
        assert_eq!(wgsl.subgroups, Subgroups::Other, "{}", example.name);
    }
}

#[test]
fn bindings_follow_argument_order() {
    let wgsl = translated(
        "__global__ void add(const float *A, int n, float *C, bool twice, float by) { if (threadIdx.x < n) C[threadIdx.x] = twice ? by * A[threadIdx.x] : A[threadIdx.x]; }",
    );
    let binding =
        |name: &str, access: Access| Binding { name: name.to_owned(), of: Scalar::Float, access };
    assert_eq!(wgsl.buffers, [binding("A", Access::Constant), binding("C", Access::Mutable)]);
    let number = |name: &str, of: Scalar| (name.to_owned(), of);
    assert_eq!(
        wgsl.numbers,
        [number("n", Scalar::Int), number("twice", Scalar::Bool), number("by", Scalar::Float)]
    );
    for line in [
        "@group(0) @binding(0) var<storage, read> A: array<f32>;",
        "@group(0) @binding(1) var<storage, read_write> C: array<f32>;",
        "@group(0) @binding(2) var<uniform> arguments: Arguments;",
        "  twice: u32,",
        "  let twice = (arguments.twice != 0u);",
    ] {
        assert!(wgsl.text.contains(line), "{line}\n{}", wgsl.text);
    }
}

#[test]
fn what_wgsl_lacks_but_can_say_is_written_out() {
    let everything = translated(include_str!("everything.cu"));
    sound(&everything);
    assert_eq!(everything.subgroups, Subgroups::Of32);
    for [body, wanted] in table(include_str!("translations.txt")) {
        let wgsl = translated(&format!("__global__ void k(int *a, int n) {{ {body} }}"));
        sound(&wgsl);
        let wanted = wanted.replace("\\n", "\n");
        assert!(wgsl.text.contains(&wanted), "{body}\n{}", wgsl.text);
    }
}

#[test]
fn a_helper_is_written_once_for_each_array_it_is_given() {
    let wgsl = translated(
        "__device__ float at(const float *p, int i) { return p[i]; }
__device__ int where() { return blockIdx.x * blockDim.x + threadIdx.x; }
__global__ void k(float *out, const float *x) {
  __shared__ float tile[32];
  tile[threadIdx.x] = at(x, where());
  __syncthreads();
  out[where()] = at(tile, 3) + at(x + 1, 4);
}",
    );
    sound(&wgsl);
    for (text, times) in [
        ("fn at(p: i32, i: i32) -> f32 {\n  return x[p + i];", 1),
        ("fn at_2(p_2: i32, i_2: i32) -> f32 {\n  return tile[p_2 + i_2];", 1),
        ("at(1i, 4i)", 1),
        ("where_(threadIdx, blockIdx, gridDim)", 2),
        ("fn at", 2),
    ] {
        assert_eq!(wgsl.text.matches(text).count(), times, "{text}\n{}", wgsl.text);
    }
}

#[test]
fn helper_runs_before_the_target_address() {
    let wgsl = translated(
        "__device__ int next(int *a) { return a[0]++; }
__global__ void k(int *a) { a[a[0]] = next(a); a[1] = next(a); }",
    );
    sound(&wgsl);
    for line in ["= next(0i);\n  a[a[0i]] = t", "  a[1i] = next(0i);"] {
        assert!(wgsl.text.contains(line), "{line}\n{}", wgsl.text);
    }
}

#[test]
fn untranslatable_code_gives_place_and_reason() {
    for [body, at, fragment] in table(include_str!("untranslatable.txt")) {
        let text = format!("__global__ void k(int *a, const int *b, int n) {{ {body} }}");
        let kernel = Kernel::parse("k.cu", &text).unwrap_or_else(|refused| panic!("{refused}"));
        let diagnostics = match kernel.wgsl(TARGET) {
            Ok(wgsl) => panic!("{body} is translated:\n{}", wgsl.text),
            Err(diagnostics) => diagnostics,
        };
        let found = diagnostics.iter().find(|complaint| complaint.message.contains(fragment));
        let Some(found) = found else { panic!("{body}: {diagnostics:?}") };
        let column = text.find(at).map(|at| at as u32 + 1);
        assert_eq!(Some(found.place.column), column, "{body}: {diagnostics:?}");
    }
    let votes = "__global__ void k(int *a) { a[0] = __any_sync(0xffffffff, threadIdx.x); }";
    let kernel = Kernel::parse("k.cu", votes).unwrap_or_else(|refused| panic!("{refused}"));
    let other = Target { subgroups: Subgroups::Other, ..TARGET };
    let diagnostics = kernel.wgsl(other).expect_err("a device without groups of 32");
    assert!(diagnostics[0].message.contains("a warp of 32 threads"), "{diagnostics:?}");
    assert!(kernel.wgsl(TARGET).is_ok());
}
