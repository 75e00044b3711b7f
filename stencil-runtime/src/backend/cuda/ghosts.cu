// Ghost cells around patches, each from interior cells alone, so that one launch fills them all.
// A ghost cell is looked at as a cell of the mesh: beyond a face of the mesh the rules say what it
// follows, and whatever is found in the mesh is read from the patch that has it. A corner follows
// the faces in the order x, y, z: the last one acts on what the ones before have made.

enum Kind { PERIODIC, NEAREST, MIRROR, NEGATIVE, DIRICHLET, NEUMANN, EXTENDED, FROM_VALUE, FROM_SLOPE };

// What lies beyond one face; a table of numbers on the face begins at `table`, if that is not
// negative, and has a number for each line of cells, ghost cells included. There is room for some
// more around all tables: rows that are widened to whole sectors go on beyond them. A polynomial goes
// through so many cells; its weights begin at `weights`, those of a ghost cell behind each other: of the
// number on the face, then of the cells.
struct Rule {
  int kind, table;
  double number;
  int cells, weights;
};

// Ghost cells of one array of any patch: the first of them, and how many there are. The box is filled
// by `blocks` blocks from `block` on; 2^shift threads take a row.
struct Box {
  int array, rules, lo[3], size[3], block, blocks, shift;
};

struct Arrays {
  Array at[ARRAYS];
};

// An array of all patches, and the first cell of the patch that is looked at.
struct Field {
  Pointer values;
  const Rule* rules;
  const double* tables;
  const double* weights;
  const Mesh& mesh;
  int first[3];
};

template <int Axis>
static __device__ __forceinline__ double number(const Field& field, const Rule& rule, const int (&c)[3]) {
  if (rule.table < 0) return rule.number;
  constexpr int a = Axis == 0 ? 1 : 0, b = Axis == 2 ? 1 : 2;
  const Mesh& m = field.mesh;
  const int line = m.all[a] + 2 * m.halo[a];
  return field.tables[rule.table + c[a] + m.halo[a] + (c[b] + m.halo[b]) * line];
}

template <int Axis>
struct Along {
  static __device__ real value(const Field& field, int (&c)[3]) {
    const int n = field.mesh.all[Axis], i = c[Axis], last = n - 1;
    if (i >= 0 && i < n) return Along<Axis - 1>::value(field, c);
    const bool hi = i >= n;
    const int k = hi ? i - n : -1 - i;
    const Rule rule = field.rules[2 * Axis + hi];
    int from = hi ? max(last - k, 0) : min(k, last);
    if (rule.kind == PERIODIC) from = hi ? k % n : last - k % n;
    if (rule.kind == NEAREST || rule.kind >= EXTENDED) from = hi ? last : 0;
    c[Axis] = from;
    real ghost = Along<Axis - 1>::value(field, c);
    if (rule.kind == NEGATIVE) ghost = -ghost;
    if (rule.kind >= EXTENDED) {
      const double* const w = field.weights + rule.weights + min(k, DEEPEST - 1) * (rule.cells + 1);
      const real nearest = ghost;
      if (rule.kind == FROM_VALUE) {
        const real value = real(number<Axis>(field, rule, c));
        // The number alone, to the bit, where there are no cells.
        ghost = rule.cells == 0 ? value : real(w[0]) * (value - nearest) + nearest;
      }
      if (rule.kind == FROM_SLOPE) {
        const double distance = w[0] * field.mesh.h[Axis];
        ghost = real(number<Axis>(field, rule, c) * distance) + nearest;
      }
      // Unrolled at each axis it takes many times as long to compile.
#pragma unroll 1
      for (int cell = 1; cell < rule.cells; ++cell) {
        c[Axis] = hi ? max(last - cell, 0) : min(cell, last);
        ghost = real(w[cell + 1]) * (Along<Axis - 1>::value(field, c) - nearest) + ghost;
      }
    }
    c[Axis] = i;
    if (rule.kind == DIRICHLET) ghost = real(2.0 * number<Axis>(field, rule, c)) - ghost;
    if (rule.kind == NEUMANN) {
      const double distance = double(2 * k + 1) * field.mesh.h[Axis];
      ghost = real(number<Axis>(field, rule, c) * distance) + ghost;
    }
    return ghost;
  }
};

template <>
struct Along<-1> {
  static __device__ real value(const Field& field, int (&c)[3]) {
    return field.values[place<0>(field.mesh, c[0]) + place<1>(field.mesh, c[1]) + place<2>(field.mesh, c[2])];
  }
};

// The one cell along an axis that a ghost cell follows, and whether with the other sign.
struct Source {
  int from;
  bool negative;
};

static __device__ __forceinline__ bool has_source(const Rule& rule) { return rule.kind <= NEGATIVE; }

static __device__ __forceinline__ Source source(const Rule& lo, const Rule& hi, int n, int i) {
  if (i >= 0 && i < n) return {i, false};
  const bool above = i >= n;
  const int kind = above ? hi.kind : lo.kind, last = n - 1;
  int k = above ? i - n : -1 - i;
  if (kind == PERIODIC && k >= n) k %= n;
  // Counted from this face for mirrors, from the other one for what is periodic.
  const int inner = kind == NEAREST ? 0 : min(k, last);
  return {above == (kind == PERIODIC) ? inner : last - inner, kind == NEGATIVE};
}

// A row of ghost cells, one after the other, whatever their rules.
static __device__ void fill_row(const Field& field, const Box& box, Pointer values, int row, int lane, int lanes) {
  const int y = box.lo[1] + row % box.size[1], z = box.lo[2] + row / box.size[1];
  for (int x = box.lo[0] + lane; x < box.lo[0] + box.size[0]; x += lanes) {
    int c[3] = {x + field.first[0], y + field.first[1], z + field.first[2]};
    values[row_of(field.mesh, y, z) + in_row(field.mesh, x)] = Along<2>::value(field, c);
  }
}

// Where a row of ghost cells is in its patch, and in all patches the row that it follows.
struct Row {
  InPatch to;
  Place from;
  bool exists, negative, simple;
};

static __device__ __forceinline__ Row find_row(const Field& field, const Box& box, int row) {
  const Mesh& m = field.mesh;
  int y = box.lo[1] + row % box.size[1], z = box.lo[2] + row / box.size[1];
  Row found = {row_of(m, y, z), Place(), row < box.size[1] * box.size[2], false, true};
  y += field.first[1];
  z += field.first[2];
  Source along_y = {y, false}, along_z = {z, false};
  if (y < 0 || y >= m.all[1]) {
    along_y = source(field.rules[2], field.rules[3], m.all[1], y);
    found.simple &= has_source(field.rules[2 + (y >= 0)]);
  }
  if (z < 0 || z >= m.all[2]) {
    along_z = source(field.rules[4], field.rules[5], m.all[2], z);
    found.simple &= has_source(field.rules[4 + (z >= 0)]);
  }
  found.from = place<1>(m, along_y.from) + place<2>(m, along_z.from);
  found.negative = along_y.negative != along_z.negative;
  return found;
}

// Some rows, and some cells of each, at once: so many loads are under way. `block` is one of those
// of the box, `values` are those of the patch.
template <int Rows, int Steps>
static __device__ __forceinline__ void fill_rows(const Field& field, const Box& box, int block, Pointer values) {
  const int id = block * 256 + threadIdx.x;
  const int lanes = 1 << box.shift, lane = id & (lanes - 1), groups = box.blocks * 256 >> box.shift;
  const int begin = box.lo[0] + lane, end = box.lo[0] + box.size[0];
  const Rule left = field.rules[0], right = field.rules[1];
  for (int first = id >> box.shift; first < box.size[1] * box.size[2]; first += Rows * groups) {
    Row rows[Rows];
    // Rows of a patch may lie within the mesh, where no rule of its ends is asked.
    bool simple = (has_source(left) || MANY && begin + field.first[0] >= 0) &&
                  (has_source(right) || MANY && end + field.first[0] <= field.mesh.all[0]);
#pragma unroll
    for (int r = 0; r < Rows; ++r) {
      rows[r] = find_row(field, box, first + r * groups);
      simple &= rows[r].simple || !rows[r].exists;
    }
    if (!simple) {
      for (int r = 0; r < Rows; ++r)
        if (first + r * groups < box.size[1] * box.size[2]) fill_row(field, box, values, first + r * groups, lane, lanes);
      continue;
    }
    for (int x = begin; x < end; x += Steps * lanes) {
      real ghosts[Rows][Steps];
#pragma unroll
      for (int s = 0; s < Steps; ++s) {
        const Source along_x = source(left, right, field.mesh.all[0], x + s * lanes + field.first[0]);
        const Place from = place<0>(field.mesh, along_x.from);
#pragma unroll
        for (int r = 0; r < Rows; ++r)
          if (rows[r].exists && x + s * lanes < end) {
            const real value = field.values[rows[r].from + from];
            ghosts[r][s] = rows[r].negative != along_x.negative ? -value : value;
          }
      }
#pragma unroll
      for (int s = 0; s < Steps; ++s)
#pragma unroll
        for (int r = 0; r < Rows; ++r)
          if (rows[r].exists && x + s * lanes < end) values[rows[r].to + in_row(field.mesh, x + s * lanes)] = ghosts[r][s];
    }
  }
}

extern "C" __global__ void __launch_bounds__(256, MANY ? 4 : 5) fill_ghosts(
    const Box* __restrict__ boxes, int count, unsigned blocks, const Rule* __restrict__ rules,
    const double* __restrict__ tables, const double* __restrict__ weights,
    const __grid_constant__ Arrays arrays, const __grid_constant__ Mesh mesh) {
  const unsigned patch = MANY ? blockIdx.x / blocks : 0, block = MANY ? blockIdx.x % blocks : blockIdx.x;
  // Boxes stand in the order of their blocks: ours is the last that begins here or before.
  int begun = 0;
  for (int first = 0; first < count; first += 256) {
    const int at = first + threadIdx.x;
    begun += __syncthreads_count(at < count && (unsigned)boxes[at].block <= block);
  }
  const Box box = boxes[begun - 1];
  Pointer values = arrays.at[box.array];
  Field field = {values, rules + 6 * box.rules, tables, weights, mesh, {0, 0, 0}};
  if (MANY) {
    const unsigned row = patch / mesh.count[0];
    field.first[0] = patch % mesh.count[0] * mesh.n[0];
    field.first[1] = row % mesh.count[1] * mesh.n[1];
    field.first[2] = row / mesh.count[1] * mesh.n[2];
    values = values + corner(mesh, patch);
  }
  if (box.shift == 5)
    fill_rows<1, 4>(field, box, block - box.block, values);
  else
    fill_rows<4, 1>(field, box, block - box.block, values);
}

// Blocks take rows along x of their grid, and parts of each row along z.

// Copies the cells of a mesh from an array to one with other ghost cells.
extern "C" __global__ void __launch_bounds__(256) take_cells(
    const Array from, const __grid_constant__ Mesh theirs, const Array to, const __grid_constant__ Mesh own) {
  const int rows = own.all[1] * own.all[2];
  for (int row = blockIdx.x; row < rows; row += gridDim.x) {
    const int y = row % own.all[1], z = row / own.all[1];
    const Pointer source = from + place<1>(theirs, y) + place<2>(theirs, z);
    const Pointer at = to + place<1>(own, y) + place<2>(own, z);
    for (int x = blockIdx.z * 256 + threadIdx.x; x < own.all[0]; x += 256 * gridDim.z)
      at[place<0>(own, x)] = real(source[place<0>(theirs, x)]);
  }
}

// The first cell that is no number or larger than what fields may become, counted over all arrays in order.
extern "C" __global__ void __launch_bounds__(256) find_bad(
    const __grid_constant__ Arrays arrays, const __grid_constant__ Mesh mesh, const double most, unsigned long long* first) {
  const int rows = mesh.all[1] * mesh.all[2];
  const Pointer values = arrays.at[blockIdx.y];
  for (int row = blockIdx.x; row < rows; row += gridDim.x) {
    const Pointer at = values + place<1>(mesh, row % mesh.all[1]) + place<2>(mesh, row / mesh.all[1]);
    for (int x = blockIdx.z * 256 + threadIdx.x; x < mesh.all[0]; x += 256 * gridDim.z) {
      const real value = at[place<0>(mesh, x)];
      if (!((value < real(0) ? -value : value) <= real(most)))
        atomicMin(first, (blockIdx.y * (unsigned long long)rows + row) * mesh.all[0] + x);
    }
  }
}
