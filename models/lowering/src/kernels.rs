// Six kernels, written once. `#[cube]` makes of each function a program that builds cubecl's intermediate form.
// Included as text, under `cubecl` and its prelude: by `main.rs`, which writes the forms down, and by `mlsys-device`, which
// compiles the kernels for the device at hand and runs them. What follows a line `// kernel:` is what the lab shows.

// kernel: vector-add
#[cube(launch)]
pub fn vector_add<N: Size>(
    a: &[Vector<f32, N>],
    b: &[Vector<f32, N>],
    c: &mut [Vector<f32, N>],
) {
    let i = (CUBE_POS_X * CUBE_DIM_X + UNIT_POS_X) as usize;
    if i < c.len() {
        c[i] = a[i] + b[i];
    }
}

// kernel: relu
#[cube(launch)]
pub fn relu<N: Size>(
    x: &[Vector<f32, N>],
    y: &mut [Vector<f32, N>],
) {
    let i = (CUBE_POS_X * CUBE_DIM_X + UNIT_POS_X) as usize;
    if i < y.len() {
        y[i] = max(x[i], Vector::new(0.0));
    }
}

// kernel: saxpy
#[cube(launch)]
pub fn saxpy<N: Size>(
    x: &[Vector<f32, N>],
    y: &mut [Vector<f32, N>],
    s: f32,
) {
    let i = (CUBE_POS_X * CUBE_DIM_X + UNIT_POS_X) as usize;
    if i < y.len() {
        y[i] = Vector::new(s) * x[i] + y[i];
    }
}

// kernel: window-sum
#[cube(launch)]
pub fn window_sum(
    a: &[f32],
    b: &mut [f32],
    #[comptime] block: usize,
    #[comptime] radius: usize,
) {
    let mut tile = Shared::<[f32]>::new_slice(block + 2 * radius);
    let t = UNIT_POS_X as usize;
    let i = (CUBE_POS_X * CUBE_DIM_X + UNIT_POS_X) as usize;
    if i < a.len() {
        tile[t] = a[i];
    }
    if t < 2 * radius && i + block < a.len() {
        tile[t + block] = a[i + block];
    }
    sync_cube();
    if i < b.len() {
        let mut sum = 0.0f32;
        for k in 0..2 * radius + 1 {
            sum += tile[t + k];
        }
        b[i] = sum;
    }
}

// kernel: matmul-tile
#[cube(launch)]
pub fn matmul_tile(
    a: &[f32],
    b: &[f32],
    c: &mut [f32],
    n: usize,
    #[comptime] side: usize,
) {
    let mut left = Shared::<[f32]>::new_slice(side * side);
    let mut right = Shared::<[f32]>::new_slice(side * side);
    let x = UNIT_POS_X as usize;
    let y = UNIT_POS_Y as usize;
    let row = CUBE_POS_Y as usize * side + y;
    let column = CUBE_POS_X as usize * side + x;
    let mut sum = 0.0f32;
    for tile in 0..n / side {
        left[y * side + x] = a[row * n + tile * side + x];
        right[y * side + x] = b[(tile * side + y) * n + column];
        sync_cube();
        for k in 0..side {
            sum += left[y * side + k] * right[k * side + x];
        }
        sync_cube();
    }
    c[row * n + column] = sum;
}

// kernel: softmax-row
#[cube(launch)]
pub fn softmax_row(
    x: &[f32],
    y: &mut [f32],
    columns: usize,
    #[comptime] block: usize,
) {
    let mut part = Shared::<[f32]>::new_slice(block);
    let t = UNIT_POS_X as usize;
    let first = CUBE_POS_X as usize * columns;
    let mut largest = x[first];
    let mut j = t;
    while j < columns {
        largest = max(largest, x[first + j]);
        j += block;
    }
    part[t] = largest;
    sync_cube();
    let mut half = comptime!(block / 2).runtime();
    while half > 0 {
        if t < half {
            part[t] = max(part[t], part[t + half]);
        }
        sync_cube();
        half /= 2;
    }
    largest = part[0];
    sync_cube();
    let mut sum = 0.0f32;
    j = t;
    while j < columns {
        sum += (x[first + j] - largest).exp();
        j += block;
    }
    part[t] = sum;
    sync_cube();
    half = comptime!(block / 2).runtime();
    while half > 0 {
        if t < half {
            let other = part[t + half];
            part[t] += other;
        }
        sync_cube();
        half /= 2;
    }
    j = t;
    while j < columns {
        y[first + j] = (x[first + j] - largest).exp() / part[0];
        j += block;
    }
}
