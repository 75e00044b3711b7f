struct Uniforms {
  float k;
};
__constant__ Uniforms c;

// ddt(u) = k * lap(u)
extern "C" __global__ void __launch_bounds__(256, 2) heat(
    const float* __restrict__ u,
    float* __restrict__ u_next,
    const int n0, const int n1, const int n2, const int pitch, const int plane) {
  const int bx = blockIdx.x;
  const int tx = threadIdx.x;
  const int by = blockIdx.y;
  const int ty = threadIdx.y;
  const int bz = blockIdx.z;
  const int x = bx * 32 + tx;
  const int y = by * 8 + ty;
  const int at = x + y * pitch + bz * plane;
  if (x < n0 && y < n1) {
    const float u0 = u[at];
    // the sum of the neighbours
    const float plus = u[at + 1];
    const float minus = u[at - 1];
    const float plus_2 = u[at + pitch];
    const float minus_2 = u[at - pitch];
    const float plus_3 = u[at + plane];
    const float minus_3 = u[at - plane];
    const float sum_3 = u0 * -6e0f + (plus + minus) + (plus_2 + minus_2);
    u_next[at] = fmaf(c.k, sum_3 + (plus_3 + minus_3), u0);
  }
}
