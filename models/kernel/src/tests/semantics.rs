//! The rules of C: a table by hand, and random expressions against the host.

use crate::tests::*;
use mlsys_lab::Value;
use mlsys_lab::random::SplitMix64;
use std::path::Path;

/// The value of an expression that a kernel stores into a buffer of a type.
fn value(ty: &str, expression: &str) -> f64 {
    let text = format!(
        "__global__ void k({ty} *o, int seven, float half, unsigned big, long long far) {{ o[0] = {expression}; }}"
    );
    let arguments = [
        poison(1),
        Argument::Whole(7),
        Argument::Real(0.5),
        Argument::Whole(4_000_000_000),
        Argument::Whole(-5_000_000_000),
    ];
    ran(&text, Launch::line(1, 1), &arguments).elements("o", 0..1).next().expect("a value")
}

#[test]
fn expressions_have_the_values_that_c_gives_them() {
    for [ty, expression, want] in table(include_str!("expressions.txt")) {
        assert_eq!(value(ty, expression), want.parse::<f64>().unwrap(), "{ty}: {expression}");
    }
    let square = f64::from(0.5_f32 + 0.1_f32).powi(2);
    assert_eq!(value("double", "pow(half + 0.1f, 2)"), square);
}

#[test]
fn statements_do_what_c_says() {
    for [body, want] in table(include_str!("statements.txt")) {
        let body = body.replace("\\n", "\n");
        let text = format!(
            "__device__ int g(int x) {{ if (x > 1) {{ return x * x; }} return x; }}
__device__ int f(int x) {{ for (int i = 0; ; i++) if (i >= x) return i + 1; return 0; }}
__global__ void k(int *o) {{ int t = threadIdx.x; {body} }}"
        );
        let machine = ran(&text, Launch::line(1, 4), &[Argument::Buffer(Values::Int(vec![0; 8]))]);
        let want: Vec<f64> = want.split(' ').map(|value| value.parse().unwrap()).collect();
        assert_eq!(all(&machine, "o")[..4], want, "{body}");
    }
}

#[test]
fn programs_have_the_results_that_c_gives_them() {
    for [declarations, body, want] in table(include_str!("programs.txt")) {
        let text =
            format!("{declarations}\n__global__ void k(int *o) {{ int t = threadIdx.x; {body} }}");
        let machine =
            ran(&text, Launch::line(1, 32), &[Argument::Buffer(Values::Int(vec![0; 32]))]);
        let want: Vec<f64> = want.split(' ').map(|value| value.parse().unwrap()).collect();
        assert_eq!(all(&machine, "o")[..want.len()], want, "{text}");
        assert!(machine.findings().is_clean(), "{text}: {:?}", machine.findings().first());
        let kernel = Kernel::parse("k.cu", &text).expect("a kernel");
        assert_eq!(compiled(kernel.cuda()), compiled(&text), "{}", kernel.cuda());
        try_out(&text);
    }
}

#[derive(Clone, Copy, Debug)]
enum Host {
    Int(i32),
    Unsigned(u32),
    Float(f32),
}

/// A random expression in `a` (int), `b` (unsigned) and `c` (float), and its value by the same rules on the host.
fn random(dice: &mut SplitMix64, depth: u64, a: i32, b: u32, c: f32) -> (String, Host) {
    use Host::{Float, Int, Unsigned};
    if depth == 0 || dice.below(6) == 0 {
        return match dice.below(5) {
            0 => ("a".into(), Int(a)),
            1 => ("b".into(), Unsigned(b)),
            2 => ("c".into(), Float(c)),
            3 => {
                let value = dice.below(100) as i32;
                (value.to_string(), Int(value))
            }
            _ => {
                let value = dice.below(100) as f32 / 8.0;
                (format!("{value:?}f"), Float(value))
            }
        };
    }
    let (left, x) = random(dice, depth - 1, a, b, c);
    let (right, y) = random(dice, depth - 1, a, b, c);
    let float = |x: Host| match x {
        Int(x) => x as f32,
        Unsigned(x) => x as f32,
        Float(x) => x,
    };
    let bits = |x: Host| match x {
        Int(x) => x as u32,
        Unsigned(x) => x,
        Float(_) => 0,
    };
    let operator = ["+", "-", "*", "<", "==", "&", "?"][dice.below(7)];
    let text = match operator {
        "?" => format!("({left} < 3 ? {left} : {right})"),
        _ => format!("({left} {operator} {right})"),
    };
    let result = match (x, y) {
        (Float(_), _) | (_, Float(_)) => {
            let (p, q) = (float(x), float(y));
            match operator {
                "+" => Float(p + q),
                "-" => Float(p - q),
                "*" => Float(p * q),
                "<" => Int(i32::from(p < q)),
                "==" => Int(i32::from(p == q)),
                "?" => {
                    let less = match x {
                        Int(x) => x < 3,
                        Unsigned(x) => x < 3,
                        Float(x) => x < 3.0,
                    };
                    Float(if less { p } else { q })
                }
                _ => return (left, x),
            }
        }
        _ => {
            let (p, q) = (bits(x), bits(y));
            let both = matches!((x, y), (Int(_), Int(_)));
            let whole = |bits: u32| if both { Int(bits as i32) } else { Unsigned(bits) };
            let less = |a: u32, b: u32| if both { (a as i32) < b as i32 } else { a < b };
            match operator {
                "+" => whole(p.wrapping_add(q)),
                "-" => whole(p.wrapping_sub(q)),
                "*" => whole(p.wrapping_mul(q)),
                "<" => Int(i32::from(less(p, q))),
                "==" => Int(i32::from(p == q)),
                "&" => whole(p & q),
                _ => {
                    let first = match x {
                        Int(x) => x < 3,
                        Unsigned(_) | Float(_) => p < 3,
                    };
                    whole(if first { p } else { q })
                }
            }
        }
    };
    (text, result)
}

#[test]
fn random_expressions_agree_with_the_host_bit_for_bit() {
    let mut dice = SplitMix64(7);
    for round in 0..400 {
        let (a, b, c) = (
            dice.below(200) as i32 - 100,
            dice.bits() as u32,
            dice.below(1000) as f32 / 7.0 - 50.0,
        );
        let (expression, want) = random(&mut dice, 4, a, b, c);
        let ty = match want {
            Host::Int(_) => "int",
            Host::Unsigned(_) => "unsigned",
            Host::Float(_) => "float",
        };
        let text = format!(
            "__global__ void k({ty} *o, int a, unsigned b, float c) {{ o[threadIdx.x] = {expression}; }}"
        );
        let arguments = [
            poison(3),
            Argument::Whole(i64::from(a)),
            Argument::Whole(i64::from(b)),
            Argument::Real(f64::from(c)),
        ];
        let machine = ran(&text, Launch::line(1, 3), &arguments);
        let want = match want {
            Host::Int(x) => f64::from(x),
            Host::Unsigned(x) => f64::from(x),
            Host::Float(x) => f64::from(x),
        };
        let found = all(&machine, "o");
        assert_eq!(found.len(), 3);
        for got in found {
            assert!(
                got == want || got.is_nan() && want.is_nan(),
                "round {round}: {expression} with a={a} b={b} c={c}: {got} is not {want}"
            );
        }
    }
}

/// What runs: instructions, values of registers, and the line of each instruction.
fn compiled(text: &str) -> String {
    let kernel = Kernel::parse("k.cu", text).unwrap_or_else(|refused| panic!("{refused}\n{text}"));
    let code = kernel.code;
    let lines: Vec<u32> = code.places.iter().map(|place| place.line).collect();
    format!("{:?}\n{:?}\n{lines:?}", code.instrs, code.presets)
}

#[test]
fn splices_and_comments_are_those_of_cpp() {
    for row in table::<2>(include_str!("splices.txt")) {
        let [text, same] = row.map(|text| text.replace("\\r", "\r").replace("\\n", "\n"));
        let kernel = |body: &str| format!("__global__ void k(int *o) {{ {body} }}");
        assert_eq!(compiled(&kernel(&text)), compiled(&kernel(&same)), "{text}");
    }
}

#[test]
fn text_written_from_the_tokens_is_the_same_program() {
    let mut texts: Vec<String> = EXAMPLES.iter().map(|example| example.source.into()).collect();
    texts.push(include_str!("everything.cu").into());
    texts.push(
        "\\\n__device__ float max(float a, int b) { return a; } __global__ void x(float *x, int linux) {\n/*\n*/ x[threadIdx.x] = max(0x7fffffffu, linux) + 1e-45f + 1e16 + 017ll; }".into(),
    );
    texts.push(
        "typedef struct P { float x; int n; } P; struct Q { P p; float y; }; __device__ P half(const P p, float &y) { y = p.n; P r = p; r.x /= 2; return r; } __global__ void k(P *x, Q *q) { P n = half(x[0], q->y); x[1] = n; q->p = x[threadIdx.x]; }".into(),
    );
    // The kernels of the course stand in texts of TOML; those that a learner is to mend may not read.
    let library = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lessons/library/gpu");
    for lesson in std::fs::read_dir(library).expect("a folder").flatten() {
        let lesson = std::fs::read_to_string(lesson.path()).expect("a lesson");
        let kernels = lesson.split("\"\"\"").filter(|part| part.contains("__global__"));
        texts.extend(kernels.filter(|text| Kernel::parse("k.cu", text).is_ok()).map(str::to_owned));
    }
    assert!(texts.len() > EXAMPLES.len() + 5, "{}", texts.len());
    for text in texts {
        let kernel = Kernel::parse("k.cu", &text).expect("a kernel");
        assert_eq!(compiled(kernel.cuda()), compiled(&text), "{text}");
        let foreign = ["/*", "//", "\\", "#", "\r", "linux "];
        assert!(!foreign.iter().any(|mark| kernel.cuda().contains(mark)), "{}", kernel.cuda());
    }
}

#[test]
fn unsigned_numbers_of_64_bits_are_shown_unsigned() {
    let text = "__global__ void k(unsigned long long *o) { o[0] = 0ull - 1ull; o[1] = 7; }";
    let machine = ran(text, Launch::line(1, 1), &[poison(2)]);
    let shown = [Value::Text("18446744073709551615".into()), Value::Int(7)];
    assert_eq!(machine.contents("o", 2), shown);
}

#[test]
fn of_a_whole_file_the_chosen_kernel_and_what_it_reaches_are_read() {
    let text = include_str!("whole-file.cu");
    for (choice, want) in [("scale", [0.0, 3.0, 6.0]), ("offset<float, 4>", [4.0, 5.0, 6.0])] {
        let kernel = format!("{text}\n#pragma kernel {choice}\n");
        let input = Argument::Buffer(Values::Float(vec![0.0, 1.0, 2.0]));
        let machine = ran(&kernel, Launch::line(1, 3), &[input, Argument::Whole(3)]);
        assert_eq!(all(&machine, "a"), want, "{choice}");
        let kernel = Kernel::parse("k.cu", &kernel).expect("a kernel");
        assert!(!kernel.cuda().contains("main"), "{}", kernel.cuda());
    }
    // The launch in the text says which arguments the template has; alone in it, the kernel needs no choice.
    let alone = text.replace("extern \"C\" __global__", "");
    let input = Argument::Buffer(Values::Float(vec![0.0, 1.0, 2.0]));
    let machine = ran(&alone, Launch::line(1, 3), &[input, Argument::Whole(3)]);
    assert_eq!(all(&machine, "a"), [8.0, 9.0, 10.0]);
}

#[test]
fn variables_outside_of_functions_keep_their_values() {
    let text = "__constant__ float w[2][2] = {1, 2, 3, 4}; __device__ int n = 5; static __device__ int sum[4];
        __device__ float at(int i) { return w[i / 2][i % 2] * n; }
        __global__ void k(float *o) { int t = threadIdx.x; atomicAdd(&sum[1], t); o[t] = at(t); }";
    let machine = ran(text, Launch::line(1, 4), &[poison(4)]);
    assert_eq!(all(&machine, "o"), [5.0, 10.0, 15.0, 20.0]);
    assert_eq!(all(&machine, "sum"), [0.0, 6.0, 0.0, 0.0]);
    assert!(machine.findings().is_clean());
    // A launch may say what they hold.
    let [w, n] = [Values::Float(vec![2.0; 4]), Values::Int(vec![3])];
    let given = [poison(4), Argument::Buffer(w), Argument::Buffer(n), poison(4)];
    let machine = ran(text, Launch::line(1, 4), &given);
    assert_eq!(all(&machine, "o"), [6.0; 4]);
    let target = Target { block_dim: [4, 1, 1], dynamic_shared: 0, subgroups: Subgroups::Of32 };
    let wgsl = Kernel::parse("k.cu", text).expect("a kernel").wgsl(target).expect("WGSL");
    let names: Vec<&str> = wgsl.buffers.iter().map(|buffer| buffer.name.as_str()).collect();
    assert_eq!(names, ["o", "w", "n", "sum"]);
}

#[test]
fn records_are_passed_by_value_and_by_reference() {
    let text = "struct P { float x; int n; double d; }; struct Q { P p; int3 at; };
        __device__ P twice(P p, int &calls) { calls++; p.x *= 2; p.n += 1; p.d = p.x + p.n; return p; }
        __device__ float length(const float2 &v) { return sqrtf(v.x * v.x + v.y * v.y); }
        __device__ void swap(float &a, float &b) { float t = a; a = b; b = t; }
        __global__ void k(float *o) {
            int calls = 0; P p = {1.5f, 3, 0.25}; P q = twice(twice(p, calls), calls);
            Q w; w.p = q; w.at = make_int3(4, 5, 6); Q v = w;
            o[0] = q.x; o[1] = q.n; o[2] = q.d; o[3] = p.x; o[4] = calls; o[5] = v.p.d + v.at.z; o[6] = sizeof(Q);
            o[7] = length(make_float2(3.0f, 4.0f)); swap(o[7], o[0]);
        }";
    let machine = ran(text, Launch::line(1, 1), &[poison(8)]);
    assert_eq!(all(&machine, "o"), [5.0, 5.0, 11.0, 1.5, 2.0, 17.0, 32.0, 6.0]);
    assert!(machine.findings().is_clean(), "{:?}", machine.findings().listed());
}

#[test]
fn a_vector_is_moved_by_one_access() {
    let text = "__global__ void k(const float4 *a, float4 *o) { o[threadIdx.x] = a[threadIdx.x]; }";
    let input = Argument::Buffer(Values::Float((0..128_u8).map(f32::from).collect()));
    let machine = ran(text, Launch::line(1, 32), &[input, poison(128)]);
    let totals = machine.totals();
    for traffic in [totals.load, totals.store] {
        assert_eq!((traffic.accesses, traffic.elements, traffic.sectors), (1, 128, 16));
        assert_eq!(traffic.used, 512);
    }
    assert!(all(&machine, "o").into_iter().eq((0..128_u8).map(f64::from)));
    // Aligned as on hardware: a float4 at a multiple of 4 bytes that is none of 16.
    let text = "__global__ void k(float *o) { *(float4 *)(o + 1) = make_float4(1, 2, 3, 4); }";
    let machine = ran(text, Launch::line(1, 1), &[poison(8)]);
    assert_eq!(machine.findings().count(Fault::Misaligned), 1);
    // Four passes of eight lanes each are no conflict.
    let text = "__global__ void k(float *o) { __shared__ float4 s[32]; int t = threadIdx.x;
        s[t] = make_float4(t, t, t, t); __syncthreads(); o[t] = s[31 - t].w; }";
    let machine = ran(text, Launch::line(1, 32), &[poison(32)]);
    assert_eq!(all(&machine, "o")[..3], [31.0, 30.0, 29.0]);
}

/// Size, alignment and offset, as g++ 12 gives them with the vectors as in vector_types.h.
const LAYOUT: [u8; 63] = [
    32, 16, 16, 16, 4, 12, 24, 8, 8, 24, 8, 16, 20, 4, 4, 20, 4, 16, 80, 16, 16, 24, 8, 8, 24, 8,
    16, 16, 16, 0, 32, 16, 16, 16, 16, 4, 48, 16, 16, 48, 16, 24, 48, 16, 32, 80, 16, 16, 80, 16,
    64, 10, 2, 6, 10, 2, 8, 40, 8, 24, 40, 8, 28,
];

#[test]
fn structures_are_laid_out_as_in_c() {
    let declarations = include_str!("alignment.cu");
    let text = format!(
        "{declarations}
#define PUT(T, field) {{ T x; *o++ = sizeof(T); *o++ = alignof(T); *o++ = (char *)&x.field - (char *)&x; }}
__global__ void k(int *o) {{ LAYOUT(PUT) }}"
    );
    let machine = ran(&text, Launch::line(1, 1), &[poison(LAYOUT.len())]);
    assert!(all(&machine, "o").into_iter().eq(LAYOUT.map(f64::from)), "{:?}", all(&machine, "o"));
    assert!(machine.findings().is_clean(), "{:?}", machine.findings().listed());
}

#[test]
fn variables_begin_where_their_types_are_aligned() {
    let declarations = include_str!("alignment.cu");
    for body in [
        "uchar2 c; c.x = t; float4 v = make_float4(t, c.x, 2, 3); o[t] = v.y + v.x;",
        "char c = t; char *p = &c; double2 v; v = make_double2(*p, t); o[t] = v.x + v.y;",
        "uchar3 c[3]; c[2].y = t; A a[2]; a[1].v = make_float4(t, 0, 0, 0); o[t] = c[2].y + a[1].v.x;",
        "char c[3] = {1, 2, 3}; E e; e.a[1].c = make_uchar2(1, 1); e.a[1].v = make_float4(t, 0, 0, 0); A b = e.a[1]; o[t] = b.v.x * c[1];",
        "char c = 2; char *p = &c; __align__(16) float a[4]; *(float4 *)a = make_float4(t, t, 0, 0); o[t] = *p * a[1];",
        "char c = 2; char *p = &c; alignas(float4) short a[8]; *(int4 *)a = make_int4(t, 0, 0, 0); o[t] = *p * a[0];",
        "__shared__ char c; __shared__ E e[32]; if (t == 0) c = 2; __syncthreads(); e[t].a[0].v = make_float4(t, 0, 0, 0); o[t] = c * e[t].a[0].v.x;",
    ] {
        let text =
            format!("{declarations}__global__ void k(float *o) {{ int t = threadIdx.x; {body} }}");
        let machine = ran(&text, Launch::line(1, 4), &[poison(4)]);
        assert_eq!(
            machine.findings().listed().len(),
            0,
            "{body}: {:?}",
            machine.findings().listed()
        );
        assert_eq!(all(&machine, "o"), [0.0, 2.0, 4.0, 6.0], "{body}");
    }
    // A plain array is aligned to its numbers alone.
    let text = "__global__ void k(float *o) { char c = 1; char *p = &c; float a[8];
        for (int i = 0; i < 8; i++) a[i] = i; float4 v = *(float4 *)(a + *p), w = *(float4 *)a; o[0] = v.x + w.x; }";
    let machine = ran(text, Launch::line(1, 1), &[poison(1)]);
    assert!(machine.findings().count(Fault::Misaligned) > 0);
}
