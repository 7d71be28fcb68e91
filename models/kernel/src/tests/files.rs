//! Whole `.cu` files, with the results of a reference on the host.

use crate::tests::*;

/// Runs a file with its arguments by name, and gives a buffer.
fn of_file(text: &str, launch: Launch, given: &[(&str, Argument)], buffer: &str) -> Vec<f64> {
    let kernel = Kernel::parse("file.cu", text).unwrap_or_else(|refused| panic!("{refused}"));
    let names: Vec<&str> = kernel.params().map(|(name, _)| name).collect();
    let given_names: Vec<&str> = given.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, given_names);
    let arguments: Vec<Argument> = given.iter().map(|(_, argument)| argument.clone()).collect();
    let machine = ran(text, launch.clone(), &arguments);
    assert!(machine.findings().is_clean(), "{:?}", machine.findings().first());
    // What a second compiler is given computes the same.
    let again = ran(kernel.cuda(), launch, &arguments);
    assert_eq!(all(&again, &format!("{buffer}_k")), all(&machine, buffer));
    all(&machine, buffer)
}

#[test]
fn a_matrix_by_value_is_multiplied() {
    let (rows, columns) = (100_usize, 40_usize);
    let mut dice = SplitMix64(3);
    let (mut offsets, mut places, mut values) = (vec![0], Vec::new(), Vec::new());
    for _ in 0..rows {
        for column in (0..columns).filter(|_| dice.below(8) == 0).collect::<Vec<_>>() {
            places.push(column as i32);
            values.push(dice.below(9) as f32 - 4.0);
        }
        offsets.push(places.len() as i32);
    }
    let x: Vec<f32> = (0..columns).map(|i| i as f32 / 2.0).collect();
    let want: Vec<f64> = (0..rows)
        .map(|row| {
            let own = offsets[row] as usize..offsets[row + 1] as usize;
            let sum: f32 = own.map(|i| values[i] * x[places[i] as usize]).sum();
            f64::from(3.0 * sum + 5.0 + 7.0)
        })
        .collect();
    let whole = |value: i64| Argument::Whole(value);
    let given = [
        ("m_rows", whole(rows as i64)),
        ("m_first", whole(7)),
        ("m_offsets", Argument::Buffer(Values::Int(offsets.clone()))),
        ("m_columns", Argument::Buffer(Values::Int(places.clone()))),
        ("m_values", Argument::Buffer(Values::Float(values.clone()))),
        ("x", Argument::Buffer(Values::Float(x.clone()))),
        ("y", poison(rows)),
        ("s_by_x", Argument::Real(3.0)),
        ("s_by_y", Argument::Real(0.0)),
        ("s_shift_0", whole(0)),
        ("s_shift_1", whole(5)),
        ("grid_x", whole(2)),
        ("grid_y", whole(1)),
        ("grid_z", whole(1)),
    ];
    assert_eq!(of_file(include_str!("spmv.cu"), Launch::line(2, 64), &given, "y"), want);
}

#[test]
fn classes_and_functors_draw_a_sphere() {
    let (width, height) = (24_usize, 10_usize);
    let real = Argument::Real;
    let given = [
        ("image", poison(width * height)),
        ("width", Argument::Whole(width as i64)),
        ("height", Argument::Whole(height as i64)),
        ("sphere_center_x", real(4.0)),
        ("sphere_center_y", real(2.0)),
        ("sphere_center_z", real(8.0)),
        ("sphere_radius", real(2.0)),
        ("sphere_material", Argument::Whole(3)),
        ("shade_light", real(5.0)),
    ];
    let want = (0..width * height).map(|at| {
        let (x, y) = ((at % width) as f64 / 2.0 - 4.0, (at / width) as f64 / 2.0 - 2.0);
        if x * x + y * y < 4.0 { 5.0 * 3.0 - 8.0 } else { 0.0 }
    });
    let want: Vec<f64> = want.collect();
    assert!(want.contains(&7.0) && want.contains(&0.0));
    let mut launch = Launch::line(1, 1);
    (launch.block_dim, launch.grid_dim) = ([8, 8, 1], [3, 2, 1]);
    assert_eq!(of_file(include_str!("spheres.cu"), launch, &given, "image"), want);
}

#[test]
fn a_structure_of_the_kernels_own_type_is_shared_memory() {
    let text = "template <class T> struct SharedMemory {
  __device__ inline operator T *() { extern __shared__ int __smem[]; return (T *)__smem; }
};
template <> struct SharedMemory<double> {
  __device__ inline operator double *() { extern __shared__ double __smem_d[]; return (double *)__smem_d; }
};
template <class T, unsigned N> struct Pair { T values[N]; };
template <class T> __global__ void total(const T *in, T *out) {
  T *s = SharedMemory<T>();
  Pair<T, 2> own;
  for (int i = 0; i < 2; i++) own.values[i] = in[2 * threadIdx.x + i];
  s[threadIdx.x] = own.values[0] + own.values[1];
  __syncthreads();
  if (threadIdx.x == 0) for (unsigned i = 1; i < blockDim.x; i++) s[0] += s[i];
  if (threadIdx.x == 0) out[0] = s[0];
}
int main() { total<float><<<1, 32, 128>>>(in, out); }
";
    let input = Argument::Buffer(Values::Float((0..64).map(|i| i as f32).collect()));
    let mut launch = Launch::line(1, 32);
    launch.dynamic_shared = 128;
    let given = [("in", input), ("out", poison(1))];
    assert_eq!(of_file(text, launch, &given, "out"), [2016.0]);
}

#[test]
fn rows_of_an_array_argument_have_their_extent() {
    let text = "__device__ float first(const float b[][4], int i) { return b[i][0]; }
__global__ void twice(const float a[][4], float out[][4], int n) {
  extern __shared__ float tile[][4];
  int i = threadIdx.x / 4, j = threadIdx.x % 4;
  if (i < n) tile[i][j] = a[i][j] + first(a, i);
  __syncthreads();
  if (i < n) out[i][j] = tile[i][3 - j];
}
";
    let launch = Launch { dynamic_shared: 96, ..Launch::line(1, 32) };
    let input = Argument::Buffer(Values::Float((0..24).map(|i| i as f32).collect()));
    let given = [("a", input.clone()), ("out", poison(24)), ("n", Argument::Whole(6))];
    let want = (0..24).map(|at| f64::from(at / 4 * 4 * 2 + 3 - at % 4)).collect::<Vec<_>>();
    assert_eq!(of_file(text, launch.clone(), &given, "out"), want);
    let beyond = text.replace("a[i][j]", "a[i][j + 1]");
    let machine = ran(&beyond, launch, &[input, poison(24), Argument::Whole(5)]);
    assert_eq!(machine.findings().count(Fault::OutOfBounds), 5);
}

/// A texture's value at a place, by the formulas of the CUDA guide.
fn sampled(
    texels: impl Fn(i64, i64) -> f64,
    [width, height]: [i64; 2],
    [x, y]: [f64; 2],
    [filter, address, normalized]: [i64; 3],
) -> f64 {
    let place = |at: i64, size: i64| match (address, normalized) {
        (3, _) => (0..size).contains(&at).then_some(at),
        (0, 1) => Some(at.rem_euclid(size)),
        (2, 1) => Some(at.rem_euclid(2 * size)).map(|at| at.min(2 * size - 1 - at)),
        (..) => Some(at.clamp(0, size - 1)),
    };
    let texel = |x: i64, y: i64| match (place(x, width), place(y, height)) {
        (Some(x), Some(y)) => texels(x, y),
        (..) => 0.0,
    };
    let [x, y] = if normalized == 1 { [x * width as f64, y * height as f64] } else { [x, y] };
    if filter == 0 {
        return texel(x.floor() as i64, y.floor() as i64);
    }
    let split = |at: f64| ((at - 0.5).floor() as i64, (at - 0.5).rem_euclid(1.0));
    let ((i, a), (j, b)) = (split(x), split(y));
    (1.0 - b) * ((1.0 - a) * texel(i, j) + a * texel(i + 1, j))
        + b * ((1.0 - a) * texel(i, j + 1) + a * texel(i + 1, j + 1))
}

#[test]
fn textures_are_sampled_as_the_cuda_guide_says() {
    let text = "cudaTextureObject_t tex;
__device__ float2 both(float x, float y, const cudaTextureObject_t t) { return tex2D<float2>(t, x, y); }
__global__ void look(const float *x, const float *y, float *out, cudaTextureObject_t tex) {
  int i = threadIdx.x, n = blockDim.x;
  out[i] = tex2D<float>(tex, x[i], y[i]);
  float2 two = both(x[i], y[i], tex);
  out[n + i] = two.x - two.y;
  out[2 * n + i] = tex1Dfetch<float>(tex, i - 2) + tex1D<float>(tex, x[i]);
}
int main() { look<<<1, 64>>>(x, y, out, tex); }
";
    let size @ [width, height] = [5_i64, 3];
    let texels: Vec<f64> = (0..30).map(|i| f64::from(i * 7 % 11)).collect();
    // Sixty-fourths, so that nothing is rounded.
    let at = |i: i64, by: i64| (i * by % 769 - 256) as f64 / 64.0;
    let places: Vec<[f64; 2]> = (0..64).map(|i| [at(i, 101), at(i, 37)]).collect();
    let floats = |values: &mut dyn Iterator<Item = f64>| {
        Argument::Buffer(Values::Float(values.map(|value| value as f32).collect()))
    };
    for mode in (0..16).map(|mode| [mode & 1, mode >> 1 & 3, mode >> 3]) {
        let [filter, address, normalized] = mode.map(Argument::Whole);
        let given = [
            ("x", floats(&mut places.iter().map(|place| place[0]))),
            ("y", floats(&mut places.iter().map(|place| place[1]))),
            ("out", poison(192)),
            ("tex_texels", floats(&mut texels.iter().copied())),
            ("tex_width", Argument::Whole(width)),
            ("tex_height", Argument::Whole(height)),
            ("tex_filter", filter),
            ("tex_address", address),
            ("tex_normalized", normalized),
        ];
        let got = of_file(text, Launch::line(1, 64), &given, "out");
        let one = |x: i64, y: i64| texels[(y * width + x) as usize];
        let two = |x: i64, y: i64| {
            let first = 2 * (y * width + x) as usize;
            texels[first] - texels[first + 1]
        };
        let row = if mode[2] == 1 { 0.5 / height as f64 } else { 0.5 };
        for (i, place) in places.iter().enumerate() {
            let fetched = i.checked_sub(2).filter(|i| *i < 5).map_or(0.0, |i| texels[i]);
            let want = [
                sampled(one, size, *place, mode),
                sampled(two, size, *place, mode),
                fetched + sampled(one, size, [place[0], row], mode),
            ];
            for (part, want) in want.into_iter().enumerate() {
                let got = got[64 * part + i];
                assert!((got - want).abs() < 1e-5, "{mode:?} {place:?} {part}: {got}, not {want}");
            }
        }
    }
}
