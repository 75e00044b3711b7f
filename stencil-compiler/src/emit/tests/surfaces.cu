struct Uniforms {
  float k;
};
__constant__ Uniforms c;

static __device__ __forceinline__ float read_value(cudaSurfaceObject_t from, int x, int y, int z) {
  float value;
  surf3Dread(&value, from, x * 4, y, z, cudaBoundaryModeTrap);
  return value;
}

static __device__ __forceinline__ void write_value(cudaSurfaceObject_t to, int x, int y, int z, float value) {
  surf3Dwrite(value, to, x * 4, y, z, cudaBoundaryModeTrap);
}

// ddt(u) = k * lap(u)
extern "C" __global__ void __launch_bounds__(256, 2) heat(
    const cudaSurfaceObject_t u,
    const cudaSurfaceObject_t u_next,
    const int n0, const int n1, const int n2, const int pitch, const int plane,
    const int first0, const int first1, const int first2) {
  const int bx = blockIdx.x;
  const int tx = threadIdx.x;
  const int by = blockIdx.y;
  const int ty = threadIdx.y;
  const int bz = blockIdx.z;
  const int x = bx * 32 + tx;
  const int y = by * 8 + ty;
  const int at_x = x + first0;
  const int at_y = y + first1;
  const int at_z = bz + first2;
  if (x < n0 && y < n1) {
    const float u0 = read_value(u, at_x, at_y, at_z);
    // the sum of the neighbours
    const float plus = read_value(u, at_x + 1, at_y, at_z);
    const float minus = read_value(u, at_x - 1, at_y, at_z);
    const float plus_2 = read_value(u, at_x, at_y + 1, at_z);
    const float minus_2 = read_value(u, at_x, at_y - 1, at_z);
    const float plus_3 = read_value(u, at_x, at_y, at_z + 1);
    const float minus_3 = read_value(u, at_x, at_y, at_z - 1);
    const float sum_3 = u0 * -6e0f + (plus + minus) + (plus_2 + minus_2);
    write_value(u_next, at_x, at_y, at_z, fmaf(c.k, sum_3 + (plus_3 + minus_3), u0));
  }
}
