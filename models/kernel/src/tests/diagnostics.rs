//! Texts that are refused, and every kind of fault, where it happens and how often.

use crate::tests::*;

#[test]
fn unsupported_code_is_refused_with_help() {
    for [text, place, fragment] in table(include_str!("refusals.txt")) {
        let refused = Kernel::parse("k.cu", &text.replace("\\n", "\n")).expect_err(text);
        let message = refused.to_string();
        assert!(message.starts_with("k.cu:"), "{message}");
        let told = |c: &&Diagnostic| format!("{} {}", c.message, c.help).contains(fragment);
        let told = refused.diagnostics.iter().find(told);
        let at = told.unwrap_or_else(|| panic!("{message}\n for {text}")).place;
        assert_eq!(format!("{}:{}", at.line, at.column), place, "{message}");
    }
}

#[test]
fn all_mistakes_are_told_at_once_and_in_order() {
    let text =
        "__global__ void k(float *a) {\n  int i = j;\n  a[0] = ;\n  a[1.5f] = 2;\n  foo(3);\n}\n";
    let refused = Kernel::parse("k.cu", text).expect_err("refused");
    // Syntax errors are reported first; types are checked once there are none.
    assert_eq!(refused.diagnostics.iter().map(|c| c.place.line).collect::<Vec<_>>(), [3]);
    let refused = Kernel::parse("k.cu", &text.replace("= ;", "= 1;")).expect_err("refused");
    assert_eq!(refused.diagnostics.iter().map(|c| c.place.line).collect::<Vec<_>>(), [2, 4, 5]);
    assert_eq!(
        refused.to_string().lines().next(),
        Some("k.cu:2:11: 'j' is not declared"),
        "{refused}"
    );
    // A line after a forgotten semicolon is read as well.
    let text = "__global__ void k(float *a) {\n int i = ;\n a[0] = 1\n float x = (2;\n for (i = 0; i < 3, i++) a[i] = 1;\n}\n";
    let refused = Kernel::parse("k.cu", text).expect_err("refused");
    assert_eq!(refused.diagnostics.iter().map(|c| c.place.line).collect::<Vec<_>>(), [2, 3, 4, 5]);
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
    let selves = format!("#define a {}\n__global__ void k() {{ int x = a; }}", "a ".repeat(400));
    // Functions that double, that nest in their own arguments, or never close; conditions and templates without end.
    let calls: String = (1..60).map(|i| format!("#define f{i}(x) f{}(x x)\n", i - 1)).collect();
    let doubled = format!("#define f0(x) x\n{calls}__global__ void k() {{ f59(a) }}");
    let nested = format!("#define f(x) x\n__global__ void k() {{ {}1 }}", "f(".repeat(9_000));
    let closed = format!("{nested}{}", ")".repeat(9_000));
    let chain: String = (0..3_000).map(|i| format!("#define a{} a{i}\n", i + 1)).collect();
    let chain = format!("{chain}__global__ void k() {{ {} }}", "a2999 ".repeat(3_000));
    let conditions = format!("{}__global__ void k() {{ ; }}", "#if 1\n".repeat(4_000));
    let brackets = format!("#if {}1\n#endif\n__global__ void k() {{ a; }}", "(".repeat(9_000));
    let template = format!(
        "template <int A, int B = A A A A, int C = B B B B, int D = C C C C> __global__ void k() {{ {} }} void f() {{ k<1 {}",
        "D ".repeat(4_000),
        ",k<1".repeat(6_000),
    );
    let pasted =
        format!("#define p(a, b) a##b\n__global__ void k() {{ {} }}", "p(+, =)".repeat(4_000));
    // Structures by value that become many arguments, hold themselves, or others without end.
    let fields: String = (0..64).map(|i| format!("int *p{i};")).collect();
    let taken: String = (0..4_000).map(|i| format!("G g{i}, ")).collect();
    let wide = format!("struct G {{ {fields} }}; __global__ void k({taken} int x) {{ y; }}");
    let inner = |i: usize| format!("struct S{} {{ S{i} a, b; }};\n", i + 1);
    let inner: String = (0..40).map(inner).collect();
    let of = |field: &str| {
        format!("struct S0 {{ {field}; }};\n{inner}__global__ void k(S40 s) {{ y; }}")
    };
    let own = "struct A { A a; float b; }; __global__ void k(A a) { y; }".to_owned();
    // Groups among many arguments, calls of a barrier behind nothing, calls and reductions without end.
    let groups = |body: &str| {
        format!(
            "__global__ void k(int *o) {{ auto g = cg::this_thread_block(); auto t = cg::tiled_partition<32>(g); cuda::barrier<cuda::thread_scope_block> b; {body} }}"
        )
    };
    let reductions: String = (0..4_000).map(|i| format!("cg::reduce(t, 1, f{i}); ")).collect();
    let large = [
        groups(&format!("f({}1);", "g, ".repeat(30_000))),
        groups(&") .arrive() ".repeat(20_000)),
        groups(&"auto x = ( ".repeat(20_000)),
        groups(&"cuda::memcpy_async(o, ".repeat(20_000)),
        groups(&reductions),
        wide,
        of("int *p"),
        of("float x"),
        own,
        deep,
        long,
        minus,
        blocks,
        ifs,
        index,
        empty,
        selves,
        nested_helpers(9),
        doubled,
        nested,
        closed,
        chain,
        conditions,
        brackets,
        template,
        pasted,
    ];
    let small = ["\u{feff}é\0", "__global__ void k() { // a\rb\n}", "#", "#define"];
    for text in large.into_iter().chain(small.map(String::from)) {
        assert!(Kernel::parse("k.cu", &text).is_err(), "{}", &text[..text.len().min(60)]);
    }
    // A message quotes the text, without what a terminal would obey.
    let quoted =
        Kernel::parse("k.cu", "__global__ void k() { '\u{1b}[2J\0' }").expect_err("refused");
    assert!(!quoted.to_string().contains(|c: char| c.is_control() && c != '\n'), "{quoted}");
    let refused = Kernel::parse("k.cu", &nested_helpers(9)).expect_err("refused");
    let text = refused.to_string();
    assert!(text.starts_with("k.cu:6:77: with 'f4' inlined here, 'f5' has more"), "{text}");
    // A name that many blocks declare gets many names in WGSL.
    try_out(&format!("__global__ void k(int *o) {{ {} }}", "{int x=1;o[0]=x;}".repeat(3_800)));
    // Every beginning of a right text, and every text with one character taken out.
    let text = include_str!("../examples/softmax-row.cu");
    for at in 0..text.len() {
        let _ = Kernel::parse("k.cu", &text[..at]);
        let _ = Kernel::parse("k.cu", &format!("{}{}", &text[..at], &text[at + 1..]));
    }
}

fn faults(text: &str, threads: u32) -> Machine {
    ran(text, Launch::line(1, threads), &[poison(64)])
}

#[test]
fn every_fault_is_found_at_its_line_and_counted() {
    let machine = |body: &str| {
        let body = body.replace("\\n", "\n");
        faults(&format!("__global__ void k(int *o) {{ int t = threadIdx.x; {body} }}"), 4)
    };
    for [body, fault, count, line] in table(include_str!("faults.txt")) {
        let (machine, fault) = (machine(body), fault.parse().unwrap());
        let findings = machine.findings();
        assert_eq!(findings.count(fault).to_string(), count, "{body}: {:?}", findings.listed());
        let finding = findings.listed().iter().find(|one| one.fault == fault).expect("finding");
        assert_eq!(finding.place.line.to_string(), line, "{body}: {finding:?}");
        assert!(finding.sentence.len() > 10);
    }
    let wide = machine(
        "long long x = 9223372036854775807ll; o[t] = (int)(x - t * -1 + 1 - 0 + 0 * x + (x > 0 ? 1 : 0));",
    );
    assert!(wide.findings().count(Fault::Overflow) >= 1, "{:?}", wide.findings().listed());
}

#[test]
fn a_whole_warp_stays_in_the_shared_array_that_is_named() {
    for (index, wrong) in [("t", 0), ("t + 1", 1), ("t - 2", 2)] {
        let text = format!(
            "__global__ void k(int *o) {{ __shared__ int x[32], a[32], y[32]; int t = threadIdx.x; a[{index}] = t; }}"
        );
        let output = Argument::Buffer(Values::Int(vec![0; 64]));
        let machine = ran(&text, Launch::line(1, 32), &[output]);
        assert_eq!(machine.findings().count(Fault::OutOfBounds), wrong, "{index}");
    }
}

#[test]
fn what_is_right_is_no_fault() {
    for [body] in table(include_str!("right.txt")) {
        let text = format!("__global__ void k(int *o) {{ int t = threadIdx.x; {body} }}");
        let input = Argument::Buffer(Values::Int(vec![0; 64]));
        let machine = ran(&text, Launch::line(1, 4), &[input]);
        assert!(machine.findings().is_clean(), "{body}: {:?}", machine.findings().first());
    }
}

#[test]
fn races_do_not_depend_on_the_schedule() {
    let text = "__global__ void k(int *o) { __shared__ int s[64]; s[threadIdx.x] = 1; int x = s[63 - threadIdx.x]; o[blockIdx.x] = 1; }";
    for schedule in [Schedule::InOrder, Schedule::RoundRobin, Schedule::Random] {
        for seed in 0..5 {
            let mut launch = Launch::line(2, 64);
            launch.schedule = schedule;
            launch.seed = seed;
            let machine = ran(text, launch, &[poison(2)]);
            // Each of the 64 shared cells of two blocks; to the two outputs all 64 threads write 1.
            let counts = [Fault::Race, Fault::EqualWrites].map(|one| machine.findings().count(one));
            assert_eq!(counts, [128, 2], "{schedule:?} {seed}");
        }
    }
}

#[test]
fn a_thread_does_not_race_with_itself() {
    // Each thread is among the readers of the element that it then writes.
    let text = "__global__ void k(int *o) { __shared__ int s[64]; s[threadIdx.x] = 0; __syncthreads(); int x = 1; for (int i = 0; i < 64; i++) x += s[i]; s[threadIdx.x] = x; o[threadIdx.x] = x; }";
    let machine = ran(text, Launch::line(1, 64), &[poison(64)]);
    let first = machine.findings().first().expect("a race");
    assert_eq!((first.fault, first.thread), (Fault::Race, [32, 0, 0]));
    assert!(first.sentence.contains("and another thread reads it"), "{}", first.sentence);
}

#[test]
fn endless_loops_stop_and_nan_is_reported() {
    let mut machine =
        started("__global__ void k(int *o) { for (;;) ; }", Launch::line(1, 4), &[poison(1)]);
    assert_eq!(machine.run(1000), Progress::Going);
    assert_eq!(machine.clock(), 1000);
    let mut launch = Launch::line(1, 4);
    launch.nan = NanWatch::On;
    let machine = ran(
        "__global__ void k(float *o) { float z = threadIdx.x; o[threadIdx.x] = z / (z * 0.0f); }",
        launch,
        &[poison(4)],
    );
    assert_eq!(machine.findings().count(Fault::NotANumber), 1);
    assert!(machine.findings().is_clean());
}

#[test]
fn launches_that_cannot_be_are_refused() {
    let kernel = Kernel::parse("k.cu", "__global__ void k(float *o, int n) { }").expect("a kernel");
    let whole = Argument::Whole(1);
    for (grid, block, shared, arguments, word) in [
        ([1, 1, 1], [1025, 1, 1], 0, vec![poison(1), whole.clone()], "1024"),
        ([0, 1, 1], [1, 1, 1], 0, vec![poison(1), whole.clone()], "at least 1"),
        ([1, 70_000, 1], [1, 1, 1], 0, vec![poison(1), whole.clone()], "65535"),
        ([u32::MAX; 3], [u32::MAX; 3], 0, vec![poison(1), whole.clone()], "threads"),
        ([1, 1, 1], [1, 1, 1], 300_000, vec![poison(1), whole.clone()], "232448"),
        ([1, 1, 1], [1, 1, 1], 0, vec![poison(1)], "takes 2 arguments"),
        ([1, 1, 1], [1, 1, 1], 0, vec![whole.clone(), whole.clone()], "wants a buffer"),
        ([1, 1, 1], [1, 1, 1], 0, vec![poison(1), poison(1)], "not a buffer"),
        ([1, 1, 1], [1, 1, 1], 0, vec![poison(1), Argument::Real(0.5)], "no whole number"),
        (
            [1, 1, 1],
            [1, 1, 1],
            0,
            vec![Argument::Buffer(Values::Int(vec![1])), whole],
            "another type",
        ),
    ] {
        let mut launch = Launch::line(1, 1);
        (launch.grid_dim, launch.block_dim, launch.dynamic_shared) = (grid, block, shared);
        let error = kernel.launch(launch, &arguments).expect_err("refused").to_string();
        assert!(error.contains(word), "{error}");
    }
    // Arrays of a million threads at a time.
    let text =
        "__global__ void k(float *o) { float a[4096]; a[threadIdx.x] = 1; o[0] = a[threadIdx.x]; }";
    let kernel = Kernel::parse("k.cu", text).expect("a kernel");
    let mut launch = Launch { concurrent_blocks: 1024, ..Launch::line(1024, 1024) };
    let error = kernel.launch(launch.clone(), &[poison(1)]).expect_err("refused");
    assert!(error.message.contains("in flight take 32820 MiB"), "{error}");
    assert_eq!(error.params, ["concurrent_blocks", "block_dim"]);
    launch.concurrent_blocks = 2;
    assert!(kernel.launch(launch, &[poison(1)]).is_ok());
}

#[test]
fn a_finding_names_shared_memory_as_the_text_does() {
    for (body, name) in [
        ("__shared__ float tile[3][32]; o[0] = tile[1][2];", "reads tile[1][2],"),
        ("__shared__ float total; o[0] = total;", "reads total,"),
    ] {
        let machine = faults(&format!("__global__ void k(int *o) {{ {body} }}"), 1);
        let finding = machine.findings().first().map(|one| one.sentence.clone());
        assert!(finding.as_ref().is_some_and(|finding| finding.starts_with(name)), "{finding:?}");
    }
}

#[test]
fn contiguous_access_equals_lane_by_lane() {
    // The same accesses by an array's own index, which goes the short way, and by a pointer that may differ from lane to
    // lane, which does not: shared rows read before they are written, raced with no barrier, shifted and out of the banks'
    // order, and global rows of every kind.
    let body = |tile: &str, o: &str| {
        format!(
            "__global__ void k(const int *in, int *o) {{
                __shared__ int tile[160];
                int t = threadIdx.x;
                int *p = t < 0 ? 0 : tile;
                int *q = t < 0 ? 0 : o;
                int early = {tile}[t + 96];
                {tile}[t] = in[t];
                {tile}[t + 1] = in[t] + 2;
                __syncthreads();
                {o}[t] = {tile}[t + 1] + early * 0;
                {tile}[t + 32] = t;
                __syncthreads();
                {o}[t + 64] = {tile}[t + 32] + {tile}[127 - t];
            }}"
        )
    };
    let run = |text: &str| {
        let input = Argument::Buffer(Values::Int((0..64).collect()));
        ran(text, Launch::line(1, 64), &[input, poison(128)])
    };
    let (short, long) = (run(&body("tile", "o")), run(&body("p", "q")));
    assert_eq!(all(&short, "o"), all(&long, "o"));
    for fault in Fault::ALL {
        let counts = [&short, &long].map(|machine| machine.findings().count(fault));
        assert_eq!(counts[0], counts[1], "{fault:?}");
    }
    // tile[1] to tile[63] between two writers, tile[64] between its reader and the second row's writer.
    assert_eq!(short.findings().count(Fault::Race), 64);
    let totals = [&short, &long].map(Machine::totals);
    let moved = totals.map(|of| (of.shared, of.replays, of.load, of.store));
    assert_eq!(moved[0], moved[1]);
}

#[test]
fn a_run_that_is_stopped_keeps_the_read_that_went_wrong() {
    let text = "__global__ void k(int *o) {\nint stop;\nwhile (stop != 77) o[1] = 2; }";
    let mut machine = started(text, Launch::line(1, 1), &[poison(4)]);
    assert_eq!(machine.run(1000), Progress::Going);
    let problem = machine.findings().first_problem().expect("a problem");
    assert!(problem.starts_with("line 3, ") && problem.contains("'stop'"), "{problem}");
}

/// Each of the templates hands on the arguments of 64 others, three deep: all ways together are too many to follow.
#[test]
fn arguments_handed_on_by_many_templates_are_given_up() {
    let kernel = "template <int N> __global__ void k(int *a) { a[0] = N; }";
    let launch = |i: usize| format!("template <int N> void h{i}() {{ k<N><<<1, 1>>>(0); }}");
    let calls = |of: char| (0..64).map(|j| format!("{of}{j}<N>();")).collect::<String>();
    let layer = |name: char, of: char| {
        let body = calls(of);
        (0..64)
            .map(|i| format!("template <int N> void {name}{i}() {{ {body} }}"))
            .collect::<String>()
    };
    let launches: String = (0..64).map(launch).collect();
    let text = [kernel, &launches, &layer('g', 'h'), &layer('f', 'g'), &layer('e', 'f')].join("\n");
    let refused = Kernel::parse("k.cu", &text).unwrap_err();
    assert!(refused.to_string().contains("nothing says what 'N' is"), "{refused}");
}
