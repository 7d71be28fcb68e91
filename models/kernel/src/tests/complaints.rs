//! Texts that are refused: where, and with which words.

use super::*;

#[test]
fn what_lies_outside_is_refused_at_its_place_with_a_way_out() {
    for (line, column, fragment, text) in [
        (1, 1, "templates are not part of this", "template <typename T>\n__global__ void k() {}"),
        (1, 23, "'x' is not declared", "__global__ void k() { x = 1; }"),
        (1, 30, "';' is missing", "__global__ void k() { int x = 1 }"),
        (2, 1, "#include is not part", "\n#include <math.h>\n__global__ void k() {}"),
        (1, 1, "takes arguments is not part", "#define F(x) x\n__global__ void k() {}"),
        (1, 23, "switch is not part", "__global__ void k() { switch (1) {} }"),
        (1, 25, "pointers to pointers", "__global__ void k(float **a) { }"),
        (1, 19, "32 bits on some systems", "__global__ void k(long n) { }"),
        (1, 23, "there is no loop", "__global__ void k() { break; }"),
        (1, 1, "there is no kernel", "__device__ int f(int x) { return x; }"),
        (
            1,
            34,
            "recursion is not part",
            "__device__ int f(int x) { return f(x); } __global__ void k() { f(1); }",
        ),
        (1, 43, "this is const", "__global__ void k(const float *a) { a[0] = 1; }"),
        (1, 42, "an index is a whole number", "__global__ void k(float *a) { float x; a[x] = 1; }"),
        (1, 35, "known before the kernel runs", "__global__ void k(int n) { float a[n]; }"),
        (1, 28, "did you mean 'sqrt", "__global__ void k() { float x = sqrtt(2.0f); }"),
        (1, 23, "kernels here print", "__global__ void k() { printf(\"x\"); }"),
        (1, 23, "write expf", "__global__ void k() { __expf(1.0f); }"),
        (1, 40, "takes no int* and int*", "__global__ void k(int *a, int *b) { a = a + b; }"),
        (1, 33, "'%' takes whole numbers", "__global__ void k() { float x = 1.0f % 2; }"),
        (1, 40, "49152", "__global__ void k() { __shared__ float t[20000]; }"),
        (1, 23, "comment never ends", "__global__ void k() { /* "),
        (1, 12, "may end without a value", "__device__ int f() { } __global__ void k() {}"),
        (1, 27, "is declared already", "__global__ void k() { int a, a; }"),
        (1, 23, "a value is missing", "__global__ void k() { + ; }"),
    ] {
        let refused = Kernel::parse("k.cu", text).expect_err(text);
        let said = refused.to_string();
        assert!(said.contains(fragment), "{said}\n for {text}");
        let at = refused
            .complaints
            .iter()
            .find(|c| format!("{} {}", c.message, c.help).contains(fragment))
            .expect("it");
        if at.place.line != line || at.place.column.abs_diff(column) > 8 {
            panic!("{said}\nexpected {line}:{column}");
        }
        assert!(said.starts_with("k.cu:"), "{said}");
    }
}

#[test]
fn all_mistakes_are_told_at_once_and_in_order() {
    let text =
        "__global__ void k(float *a) {\n  int i = j;\n  a[0] = ;\n  a[1.5f] = 2;\n  foo(3);\n}\n";
    let refused = Kernel::parse("k.cu", text).expect_err("refused");
    // What does not parse is told first; types are looked at once it does.
    assert_eq!(refused.complaints.iter().map(|c| c.place.line).collect::<Vec<_>>(), [3]);
    let refused = Kernel::parse("k.cu", &text.replace("= ;", "= 1;")).expect_err("refused");
    assert_eq!(refused.complaints.iter().map(|c| c.place.line).collect::<Vec<_>>(), [2, 4, 5]);
    assert_eq!(
        refused.to_string().lines().next(),
        Some("k.cu:2:11: 'j' is not declared"),
        "{refused}"
    );
}

#[test]
fn no_text_makes_it_panic_or_run_away() {
    let deep =
        format!("__global__ void k() {{ int x = {}1{}; }}", "(".repeat(5000), ")".repeat(5000));
    let long = format!("__global__ void k() {{ int x = 1{}; }}", " + 1".repeat(5000));
    let minus = format!("__global__ void k() {{ int x = {}1; }}", "-".repeat(9001));
    let blocks = format!("__global__ void k() {{ {} {} }}", "{".repeat(5000), "}".repeat(5000));
    let ifs = format!("__global__ void k() {{ {} ; }}", "if (1) ".repeat(5000));
    let index = format!("__global__ void k(int *a) {{ a{} = 1; }}", "[0]".repeat(5000));
    let bomb: String = (0..60).map(|i| format!("#define a{} a{i} a{i}\n", i + 1)).collect();
    let empty = format!("#define a0\n{bomb}__global__ void k() {{ a60 }}");
    let calls: String = (1..20)
        .map(|i| {
            format!("__device__ int f{i}(int x) {{ return f{0}(x) + f{0}(x) + f{0}(x); }}\n", i - 1)
        })
        .collect();
    let calls = format!(
        "__device__ int f0(int x) {{ return x; }}\n{calls}__global__ void k(int *a) {{ a[0] = f15(1); }}"
    );
    for text in [
        deep,
        long,
        minus,
        blocks,
        ifs,
        index,
        empty,
        calls,
        "\u{feff}é\0".into(),
        "#".into(),
        "#define".into(),
    ] {
        assert!(Kernel::parse("k.cu", &text).is_err(), "{}", &text[..text.len().min(60)]);
    }
    // Every beginning of a right text, and every text with one character taken out.
    let text = include_str!("../examples/softmax-row.cu");
    for at in 0..text.len() {
        let _ = Kernel::parse("k.cu", &text[..at]);
        let _ = Kernel::parse("k.cu", &format!("{}{}", &text[..at], &text[at + 1..]));
    }
}
