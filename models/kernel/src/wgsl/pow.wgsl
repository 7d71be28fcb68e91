
// powf of C: WGSL's pow is open for a negative base and for 0 to the power of 0.
fn c_pow(x: f32, y: f32) -> f32 {
  let size = pow(abs(x), y);
  if (y == 0.0f) {
    return 1.0f;
  }
  if ((bitcast<u32>(x) >> 31u) == 0u) {
    return size;
  }
  if (trunc(y) != y) {
    let is_open = x != 0.0f && (bitcast<u32>(x) & 0x7fffffffu) != 0x7f800000u;
    return select(size, bitcast<f32>(infinity_bits | 1u), is_open);
  }
  return select(size, -size, abs(y) < 16777216.0f && trunc(y * 0.5f) * 2.0f != y);
}
