//! The rules of C: a table by hand, and random expressions against the host.

use crate::tests::*;
use mlsys_lab::random::SplitMix64;

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
    ran(&text, Launch::line(1, 1), &arguments).element("o", 0).expect("a value")
}

#[test]
fn expressions_have_the_values_that_c_gives_them() {
    for (ty, expression, want) in [
        ("int", "seven / 2", 3.0),
        ("int", "-seven / 2", -3.0),
        ("int", "-seven % 3", -1.0),
        ("int", "seven / -2 * 2 + seven % -2", -5.0),
        ("float", "seven / 2", 3.0),
        ("float", "seven / 2.0f", 3.5),
        ("float", "1 / 2 * half", 0.0),
        ("int", "-1 < 1u", 0.0),
        ("int", "(unsigned)-1 > 0", 1.0),
        ("int", "-1 < (long long)1u", 1.0),
        ("unsigned", "big + big", 3_705_032_704.0),
        ("long long", "(long long)big + big", 8e9),
        ("long long", "far * 2", -1e10),
        ("int", "(int)far", -705_032_704.0),
        ("int", "big >> 31", 1.0),
        ("int", "-8 >> 1", -4.0),
        ("unsigned", "-8 >> 1", 4_294_967_292.0),
        ("int", "1 << 31 >> 31", -1.0),
        ("int", "~seven", -8.0),
        ("int", "!seven + !!seven", 1.0),
        ("int", "true + true", 2.0),
        ("int", "(half > 0) + (seven == 7)", 2.0),
        ("int", "seven & 3 | 8 ^ 1", 11.0),
        ("int", "1 + 2 * 3 - 4", 3.0),
        ("int", "seven > 3 ? 1 : 2.5", 1.0),
        ("float", "seven > 9 ? 1 : 2.5", 2.5),
        ("float", "0.1f + 0.2f", f64::from(0.1_f32 + 0.2_f32)),
        ("double", "0.1 + 0.2", 0.1 + 0.2),
        ("float", "0.1 + 0.2", f64::from((0.1 + 0.2) as f32)),
        ("float", "16777216.0f + half + half", 16_777_216.0),
        ("float", "16777216.0f + (half + half)", 16_777_216.0),
        ("float", "big", f64::from(4_000_000_000_u32 as f32)),
        ("int", "3.99f", 3.0),
        ("int", "-3.99", -3.0),
        ("int", "sizeof(double) + sizeof(int)", 12.0),
        ("int", "0x10 + 010 + 0b11", 27.0),
        ("int", "0xffffffff > 0", 1.0),
        ("float", "sqrtf(2.0f)", f64::from(2.0_f32.sqrt())),
        ("double", "sqrt(2)", 2.0_f64.sqrt()),
        ("double", "pow(half + 0.1f, 2)", f64::from(0.5_f32 + 0.1_f32).powi(2)),
        ("float", "fmaxf(half, -1.0f) + min(3, seven) + abs(-2)", 5.5),
        ("int", "max(big, 1) > 5", 1.0),
        ("int", "__popc(255u) + __clz(1) + __ffs(8)", 43.0),
        ("float", "fmaf(2.0f, 3.0f, half)", 6.5),
        ("int", "(seven, 4)", 4.0),
        ("int", "isnan(0.0f / (half - half))", 1.0),
        ("bool", "half", 1.0),
        ("int", "blockDim.x * gridDim.z + warpSize + threadIdx.y", 33.0),
    ] {
        assert_eq!(value(ty, expression), want, "{ty}: {expression}");
    }
}

#[test]
fn statements_do_what_c_says() {
    for (body, want) in [
        (
            "int s = 0; for (int i = 0; i < 10; i++) { if (i == 3) continue; if (i > t + 5) break; s += i; } o[t] = s;",
            [12., 18., 25., 33.],
        ),
        ("int s = 0, i = t; while (i-- > 0) s += i; o[t] = s;", [0., 0., 1., 3.]),
        ("int s = 0; do { s += 2; } while (s < t); o[t] = s;", [2., 2., 2., 4.]),
        ("int i = t; int j = i++ + 10; o[t] = i * 100 + j;", [110., 211., 312., 413.]),
        ("int i = t; int j = ++i + 10; o[t] = i * 100 + j;", [111., 212., 313., 414.]),
        (
            "int a[2][3]; for (int i = 0; i < 6; i++) a[i / 3][i % 3] = i * t; o[t] = a[1][2];",
            [0., 5., 10., 15.],
        ),
        ("int *p = o + t; *p++ = 5; p[-1] += t; o[t] += p - o;", [6., 8., 10., 12.]),
        ("o[t] = f(t) + g(t);", [1., 3., 7., 13.]),
        ("int x = t; x <<= 2; x |= 1; x ^= 3; x %= 5; o[t] = x;", [2., 1., 0., 4.]),
        ("bool b = t; b &= 1; o[t] = b + (b ? 10 : 20);", [20., 11., 11., 11.]),
        (
            "int s = 0; for (int i = 0; i < 3; i++) for (int j = 0; j < 3; j++) { if (j == t) break; if (i == 1) continue; s++; } o[t] = s;",
            [0., 2., 4., 6.],
        ),
        ("int x = t; { int x = 5; x++; } o[t] = x;", [0., 1., 2., 3.]),
        ("int x = 0; if (t > 0 && x++ < 5 || t == 0) x += 10; o[t] = x;", [10., 11., 11., 11.]),
        (
            "float x = 7; x /= 2; int y = 7; y /= 2; y *= 1.5f; o[t] = (int)(x * 10) + y;",
            [39., 39., 39., 39.],
        ),
        ("unsigned i = 3; int n = 0; while (i-- > 0u) n += t; o[t] = n;", [0., 3., 6., 9.]),
        // The value is worked out before the place it goes to.
        ("int i = t; o[i++] = i; o[t] += i * 10;", [10., 21., 32., 43.]),
        ("int i = t; o[i++] = i * 2; o[t] += i * 10;", [10., 22., 34., 46.]),
        ("unsigned i = t; o[i++] += i; o[t] += i * 10;", [10., 21., 32., 43.]),
    ] {
        let text = format!(
            "__device__ int g(int x) {{ if (x > 1) {{ return x * x; }} return x; }}\n__device__ int f(int x) {{ for (int i = 0; ; i++) if (i >= x) return i + (x == 0); }}\n__global__ void k(int *o) {{ int t = threadIdx.x; {body} }}"
        );
        let text = text.replace("(x == 0); }", "(x == 0 ? 1 : x == 1 ? 1 : 1); return 0; }");
        let machine = ran(&text, Launch::line(1, 4), &[Argument::Buffer(Values::Int(vec![0; 8]))]);
        let got: Vec<f64> = all(&machine, "o").into_iter().take(4).collect();
        let want: Vec<f64> =
            if body.contains("f(t)") { vec![1., 3., 7., 13.] } else { want.to_vec() };
        assert_eq!(got, want, "{body}");
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
        (Int(p), Int(q)) => match operator {
            "+" => Int(p.wrapping_add(q)),
            "-" => Int(p.wrapping_sub(q)),
            "*" => Int(p.wrapping_mul(q)),
            "<" => Int(i32::from(p < q)),
            "==" => Int(i32::from(p == q)),
            "&" => Int(p & q),
            _ => Int(if p < 3 { p } else { q }),
        },
        _ => {
            let (p, q) = (bits(x), bits(y));
            match operator {
                "+" => Unsigned(p.wrapping_add(q)),
                "-" => Unsigned(p.wrapping_sub(q)),
                "*" => Unsigned(p.wrapping_mul(q)),
                "<" => Int(i32::from(p < q)),
                "==" => Int(i32::from(p == q)),
                "&" => Unsigned(p & q),
                _ => {
                    let less = match x {
                        Int(x) => x < 3,
                        Unsigned(_) | Float(_) => p < 3,
                    };
                    Unsigned(if less { p } else { q })
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
        for element in 0..3 {
            let got = machine.element("o", element).expect("a value");
            assert!(
                got == want || got.is_nan() && want.is_nan(),
                "round {round}: {expression} with a={a} b={b} c={c}: {got} is not {want}"
            );
        }
    }
}
