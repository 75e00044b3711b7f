struct Uniforms {
  float k;
};
__constant__ Uniforms c;

// ddt(u) = k * lap(u)
extern "C" __global__ void __launch_bounds__(256, 2) heat(
    const float* __restrict__ u,
    float* __restrict__ u_next,
    const int n0, const int n1, const int n2, const int pitch, const int plane,
    const int* const listed, const int begin0, const int begin1, const int begin2,
    const unsigned blocks0, const unsigned blocks1, const unsigned blocks2, const long long stride) {
  const unsigned block = blockIdx.x;
  const int number = listed[block / (blocks0 * blocks1 * blocks2)];
  const long long patch = number * stride;
  u += patch;
  u_next += patch;
  const int bx = begin0 + block % blocks0;
  const int tx = threadIdx.x;
  const int by = begin1 + block / blocks0 % blocks1;
  const int ty = threadIdx.y;
  const int bz = begin2 + block / (blocks0 * blocks1) % blocks2;
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
