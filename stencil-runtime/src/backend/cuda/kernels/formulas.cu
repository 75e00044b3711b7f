// Formulas on the mesh, in f64: sources in cells and ghost cells, numbers on faces. The text of the
// formulas stands before this one; `formula` evaluates one of them over PARAMS parameters, x, y, z and
// the time. The time lies in memory, so that a captured step can be replayed at another one.

// Where cells are: cell i is at origin + (i + shift) * spacing.
struct Points {
  double origin[3], spacing[3], shift;
  int periodic[4];
};

static __device__ __forceinline__ double coordinate(const Points& points, int axis, int cell) {
  return points.origin[axis] + (double(cell) + points.shift) * points.spacing[axis];
}

// A formula at a point, with the parameters.
static __device__ __forceinline__ double value_at(
    int which, const double (&point)[3], const double* params, const double* time) {
  double a[PARAMS + 4];
#pragma unroll
  for (int i = 0; i < PARAMS; ++i) a[i] = params[i];
#pragma unroll
  for (int axis = 0; axis < 3; ++axis) a[PARAMS + axis] = point[axis];
  a[PARAMS + 3] = *time;
  return formula(which, a);
}

// A component of a source in all cells and ghost cells of the patches of a card, each as long as the largest. A ghost
// cell beyond a periodic face has the value of the cell that it stands for.
extern "C" __global__ void __launch_bounds__(256) sample_source(
    int which, real* values, const __grid_constant__ Mesh mesh, const __grid_constant__ Points points,
    const Owned own, const double* __restrict__ params, const double* __restrict__ time) {
  const int width = mesh.n[0] + 2 * mesh.halo[0], height = mesh.n[1] + 2 * mesh.halo[1];
  const int rows = height * (mesh.n[2] + 2 * mesh.halo[2]);
  for (long long row = blockIdx.x; row < (long long)rows * (own.end - own.first); row += gridDim.x) {
    const int patch = own.first + int(row / rows), in_patch = int(row % rows);
    const int in_row = patch % mesh.count[0], in_plane = patch / mesh.count[0];
    const int first[3] = {first_cell(mesh, 0, in_row), first_cell(mesh, 1, in_plane % mesh.count[1]),
                          first_cell(mesh, 2, in_plane / mesh.count[1])};
    const int y = in_patch % height - mesh.halo[1], z = in_patch / height - mesh.halo[2];
    real* const to = values + patch * mesh.step[0] + y * mesh.pitch + (long long)z * mesh.plane;
    for (int i = threadIdx.x; i < width; i += 256) {
      const int c[3] = {i - mesh.halo[0], y, z};
      double point[3];
#pragma unroll
      for (int axis = 0; axis < 3; ++axis) {
        int cell = first[axis] + c[axis];
        const int n = mesh.all[axis];
        if (points.periodic[axis]) cell = (cell % n + n) % n;
        point[axis] = coordinate(points, axis, cell);
      }
      to[c[0] * APART(mesh)] = real(value_at(which, point, params, time));
    }
  }
}

// The numbers on a face, one for each line of cells, ghost cells included.
extern "C" __global__ void __launch_bounds__(256) sample_face(
    int which, double* table, int axis, double wall, const __grid_constant__ Mesh mesh,
    const __grid_constant__ Points points, const double* __restrict__ params,
    const double* __restrict__ time) {
  const int a = axis == 0 ? 1 : 0, b = axis == 2 ? 1 : 2;
  const int width = mesh.all[a] + 2 * mesh.halo[a], height = mesh.all[b] + 2 * mesh.halo[b];
  for (int at = blockIdx.x * 256 + threadIdx.x; at < width * height; at += gridDim.x * 256) {
    const double i = coordinate(points, a, at % width - mesh.halo[a]);
    const double j = coordinate(points, b, at / width - mesh.halo[b]);
    const double point[3] = {axis == 0 ? wall : i, axis == 1 ? wall : axis == 0 ? i : j, axis == 2 ? wall : j};
    table[at] = value_at(which, point, params, time);
  }
}
