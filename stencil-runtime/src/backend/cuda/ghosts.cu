// Ghost cells beyond the faces of a patch, each from interior cells alone, so that one launch
// fills them all. A corner follows the faces in the order x, y, z: the last one acts on what the
// ones before have made.

enum Kind { PERIODIC, NEAREST, MIRROR, NEGATIVE, EXTRAPOLATE, DIRICHLET, NEUMANN };

// What lies beyond one face; a table of numbers on the face begins at `table`, if that is not
// negative, and has a number for each line of cells, ghost cells included.
struct Rule {
  int kind, table;
  double number;
};

// Ghost cells of one array: the first of them, and how many there are.
struct Box {
  int array, rules, lo[3], size[3];
};

struct Patch {
  int n[3], halo[3], pitch, plane;
  double h[3];
};

struct Arrays {
  real* at[ARRAYS];
};

struct Field {
  const real* values;
  const Rule* rules;
  const double* tables;
  const Patch& patch;
};

template <int Axis>
static __device__ __forceinline__ double number(const Field& field, const Rule& rule, const int (&c)[3]) {
  if (rule.table < 0) return rule.number;
  constexpr int a = Axis == 0 ? 1 : 0, b = Axis == 2 ? 1 : 2;
  const Patch& p = field.patch;
  return field.tables[rule.table + c[a] + p.halo[a] + (c[b] + p.halo[b]) * (p.n[a] + 2 * p.halo[a])];
}

template <int Axis>
struct Along {
  static __device__ real value(const Field& field, int (&c)[3]) {
    const int n = field.patch.n[Axis], i = c[Axis], last = n - 1;
    if (i >= 0 && i < n) return Along<Axis - 1>::value(field, c);
    const bool hi = i >= n;
    const int k = hi ? i - n : -1 - i;
    const Rule rule = field.rules[2 * Axis + hi];
    int from = hi ? max(last - k, 0) : min(k, last);
    if (rule.kind == PERIODIC) from = hi ? k % n : last - k % n;
    if (rule.kind == NEAREST || rule.kind == EXTRAPOLATE) from = hi ? last : 0;
    c[Axis] = from;
    real ghost = Along<Axis - 1>::value(field, c);
    if (rule.kind == NEGATIVE) ghost = -ghost;
    if (rule.kind == EXTRAPOLATE) {
      c[Axis] = hi ? max(last - 1, 0) : min(1, last);
      const real next = Along<Axis - 1>::value(field, c);
      ghost = real(k + 1) * (ghost - next) + ghost;
    }
    c[Axis] = i;
    if (rule.kind == DIRICHLET) ghost = real(2.0 * number<Axis>(field, rule, c)) - ghost;
    if (rule.kind == NEUMANN) {
      const double distance = double(2 * k + 1) * field.patch.h[Axis];
      ghost = real(number<Axis>(field, rule, c) * distance) + ghost;
    }
    return ghost;
  }
};

template <>
struct Along<-1> {
  static __device__ real value(const Field& field, int (&c)[3]) {
    return field.values[c[0] + c[1] * field.patch.pitch + c[2] * field.patch.plane];
  }
};

extern "C" __global__ void __launch_bounds__(256) fill_ghosts(
    const Box* __restrict__ boxes, const Rule* __restrict__ rules, const double* __restrict__ tables,
    const __grid_constant__ Arrays arrays, const __grid_constant__ Patch patch) {
  const Box box = boxes[blockIdx.y];
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= box.size[0] * box.size[1] * box.size[2]) return;
  int c[3] = {box.lo[0] + i % box.size[0], box.lo[1] + i / box.size[0] % box.size[1],
              box.lo[2] + i / box.size[0] / box.size[1]};
  real* const values = arrays.at[box.array];
  const Field field = {values, rules + 6 * box.rules, tables, patch};
  values[c[0] + c[1] * patch.pitch + c[2] * patch.plane] = Along<2>::value(field, c);
}

// The first cell that is infinite or not a number, counted over all arrays in order.
extern "C" __global__ void __launch_bounds__(256) find_bad(
    const __grid_constant__ Arrays arrays, const __grid_constant__ Patch patch, unsigned long long* first) {
  const int rows = patch.n[1] * patch.n[2];
  const real* const values = arrays.at[blockIdx.y];
  for (int row = blockIdx.x; row < rows; row += gridDim.x) {
    const real* const at = values + row % patch.n[1] * patch.pitch + row / patch.n[1] * patch.plane;
    for (int x = threadIdx.x; x < patch.n[0]; x += 256) {
      const real value = at[x];
      if (!(value * real(0) == real(0)))
        atomicMin(first, (blockIdx.y * (unsigned long long)rows + row) * patch.n[0] + x);
    }
  }
}
