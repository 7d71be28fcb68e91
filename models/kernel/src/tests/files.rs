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
