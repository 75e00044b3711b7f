// Ghost cells around patches, each from interior cells alone, so that one launch fills them all. Boxes of
// them follow the cells of one patch each: `shift` cells away along an axis, or, beyond a face of the mesh,
// by the rule of the face. A corner follows the faces in the order x, y, z: the last one acts on what the
// ones before have made.

enum Kind { PERIODIC, NEAREST, MIRROR, NEGATIVE, DIRICHLET, NEUMANN, EXTENDED, FROM_VALUE, FROM_SLOPE, LINEAR };

// What lies beyond one face; a table of numbers on the face begins at `table`, if that is not
// negative, and has a number for each line of cells, ghost cells included. There is room for some
// more around all tables: rows that are widened to whole sectors go on beyond them. A polynomial goes
// through so many cells; its weights begin at `weights`, those of a ghost cell behind each other: of the
// number on the face, then of the cells. A linear rule has so many components in place of cells, and three
// numbers for each: its place, its weight and its far value.
struct Rule {
  int kind, table;
  double number;
  int cells, weights;
};

// Ghost cells of one array of the patch `to`: the first of them, and how many there are. They follow cells of the
// patch `from`. Along an axis, `face` is 0 or 1 where a rule of the lower or upper face acts, and negative where
// none does. The box is filled by `blocks` blocks from `block` on; 2^lanes threads take a row. Its values for another
// process follow each other, row by row, from `packed` on.
struct Box {
  int array, rules, to, from, lo[3], size[3], shift[3], face[3], block, blocks, lanes, packed;
};

// The first cell of a patch in the mesh, and its cells.
struct Patch {
  int first[3], n[3];
};

struct Arrays {
  Array at[ARRAYS];
};

#if ACROSS
#define OTHERS , arrays, array_of, rules
#else
#define OTHERS
#endif

// The patch that ghost cells follow.
struct Field {
  Pointer values;
  const Rule* rules;
  const double* tables;
  const double* weights;
  const Mesh& mesh;
  const Box& box;
  const Patch* patches;
#if ACROSS
  // The arrays of all components, and the rules of the first.
  const Arrays& arrays;
  const int* array_of;
  const Rule* all;
#endif
  // Its cells along an axis.
  __device__ __forceinline__ int cells(int axis) const { return MANY ? patches[box.from].n[axis] : mesh.n[axis]; }
  __device__ __forceinline__ int first(int patch, int axis) const { return MANY ? patches[patch].first[axis] : 0; }
};

static __device__ __forceinline__ const Rule& rule_of(const Field& field, int axis) {
  return field.rules[2 * axis + field.box.face[axis]];
}

// A cell is counted from `to` along the axes up to `Axis`, and from `from` along those behind it.
template <int Axis>
static __device__ __forceinline__ double number(const Field& field, const Rule& rule, const int (&c)[3]) {
  if (rule.table < 0) return rule.number;
  constexpr int a = Axis == 0 ? 1 : 0, b = Axis == 2 ? 1 : 2;
  const Mesh& m = field.mesh;
  const Box& box = field.box;
  const int i = c[a] + field.first(a < Axis ? box.to : box.from, a);
  const int j = c[b] + field.first(b < Axis ? box.to : box.from, b);
  return field.tables[rule.table + i + m.halo[a] + (j + m.halo[b]) * (m.all[a] + 2 * m.halo[a])];
}

#if ACROSS
template <int Axis>
struct Along;

// The sum over components of the cell next to the face.
template <int Axis>
static __device__ __noinline__ real linear(const Field& field, const Rule rule, int (&c)[3]) {
  double sum = rule.number;
#pragma unroll 1
  for (int part = 0; part < rule.cells; ++part) {
    const double* const w = field.weights + rule.weights + 3 * part;
    const int component = int(w[0]);
    const Pointer values = field.arrays.at[field.array_of[component]];
    const Field other = {MANY ? values + corner(field.mesh, field.box.from) : values,
                         field.all + 6 * component, field.tables, field.weights, field.mesh, field.box, field.patches,
                         field.arrays, field.array_of, field.all};
    sum = sum + w[1] * (double(Along<Axis - 1>::value(other, c)) - w[2]);
  }
  return real(sum);
}
#endif

template <int Axis>
struct Along {
  static __device__ real value(const Field& field, int (&c)[3]) {
    const int own = c[Axis], i = own + field.box.shift[Axis];
    c[Axis] = i;
    if (field.box.face[Axis] < 0) {
      const real value = Along<Axis - 1>::value(field, c);
      c[Axis] = own;
      return value;
    }
    const int n = field.cells(Axis), last = n - 1;
    const bool hi = field.box.face[Axis];
    const int k = hi ? i - n : -1 - i;
    const Rule rule = rule_of(field, Axis);
    int from = hi ? max(last - k, 0) : min(k, last);
    if (rule.kind == NEAREST || rule.kind >= EXTENDED) from = hi ? last : 0;
    c[Axis] = from;
#if ACROSS
    if (rule.kind == LINEAR) {
      const real ghost = linear<Axis>(field, rule, c);
      c[Axis] = own;
      return ghost;
    }
#endif
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
    c[Axis] = own;
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
    return field.values[row_of(field.mesh, c[1], c[2]) + in_row(field.mesh, c[0])];
  }
};

// The one cell along an axis that a ghost cell follows, and whether with the other sign.
struct Source {
  int from;
  bool negative;
};

// Is there one along an axis?
static __device__ __forceinline__ bool has_source(const Field& field, int axis) {
  return field.box.face[axis] < 0 || rule_of(field, axis).kind <= NEGATIVE;
}

static __device__ __forceinline__ Source source(const Field& field, int kind, int axis, int i) {
  i += field.box.shift[axis];
  if (field.box.face[axis] < 0) return {i, false};
  const int n = field.cells(axis), last = n - 1;
  const bool hi = field.box.face[axis];
  const int inner = kind == NEAREST ? 0 : min(hi ? i - n : -1 - i, last);
  return {hi ? last - inner : inner, kind == NEGATIVE};
}

// Where a row of ghost cells is in its patch, or in the box for another process, and the part that x makes.
static __device__ __forceinline__ InPatch row_of_ghosts(const Field& field, int row, int y, int z) {
#if PACKED
  return row * field.box.size[0] - field.box.lo[0];
#else
  return row_of(field.mesh, y, z);
#endif
}
static __device__ __forceinline__ InPatch in_row_of_ghosts(const Field& field, int x) {
#if PACKED
  return x;
#else
  return in_row(field.mesh, x);
#endif
}

// A row of ghost cells, one after the other, whatever their rules.
static __device__ void fill_row(const Field& field, Pointer values, int row, int lane, int lanes) {
  const Box& box = field.box;
  const int y = box.lo[1] + row % box.size[1], z = box.lo[2] + row / box.size[1];
  for (int x = box.lo[0] + lane; x < box.lo[0] + box.size[0]; x += lanes) {
    int c[3] = {x, y, z};
    values[row_of_ghosts(field, row, y, z) + in_row_of_ghosts(field, x)] = Along<2>::value(field, c);
  }
}

// Where a row of ghost cells is in its patch, and the row that it follows in the other.
struct Row {
  InPatch to, from;
  bool exists, negative;
};

static __device__ __forceinline__ Row find_row(const Field& field, const int (&kinds)[3], int row) {
  const Box& box = field.box;
  const int y = box.lo[1] + row % box.size[1], z = box.lo[2] + row / box.size[1];
  const Source along_y = source(field, kinds[1], 1, y), along_z = source(field, kinds[2], 2, z);
  return {row_of_ghosts(field, row, y, z), row_of(field.mesh, along_y.from, along_z.from),
          row < box.size[1] * box.size[2], along_y.negative != along_z.negative};
}

// Some rows, and some cells of each, at once: so many loads are under way. `block` is one of those
// of the box, `values` are those of the patch.
template <int Rows, int Steps>
static __device__ __forceinline__ void fill_rows(const Field& field, int block, Pointer values) {
  const Box& box = field.box;
  const int id = block * 256 + threadIdx.x;
  const int lanes = 1 << box.lanes, lane = id & (lanes - 1), groups = box.blocks * 256 >> box.lanes;
  const int begin = box.lo[0] + lane, end = box.lo[0] + box.size[0];
  const bool simple = has_source(field, 0) && has_source(field, 1) && has_source(field, 2);
  int kinds[3];
#pragma unroll
  for (int axis = 0; axis < 3; ++axis) kinds[axis] = box.face[axis] < 0 ? 0 : rule_of(field, axis).kind;
  for (int first = id >> box.lanes; first < box.size[1] * box.size[2]; first += Rows * groups) {
    if (!simple) {
      for (int r = 0; r < Rows; ++r)
        if (first + r * groups < box.size[1] * box.size[2]) fill_row(field, values, first + r * groups, lane, lanes);
      continue;
    }
    Row rows[Rows];
#pragma unroll
    for (int r = 0; r < Rows; ++r) rows[r] = find_row(field, kinds, first + r * groups);
    for (int x = begin; x < end; x += Steps * lanes) {
      real ghosts[Rows][Steps];
#pragma unroll
      for (int s = 0; s < Steps; ++s) {
        const Source along_x = source(field, kinds[0], 0, x + s * lanes);
#pragma unroll
        for (int r = 0; r < Rows; ++r)
          if (rows[r].exists && x + s * lanes < end) {
            const real value = field.values[rows[r].from + in_row(field.mesh, along_x.from)];
            ghosts[r][s] = rows[r].negative != along_x.negative ? -value : value;
          }
      }
#pragma unroll
      for (int s = 0; s < Steps; ++s)
#pragma unroll
        for (int r = 0; r < Rows; ++r)
          if (rows[r].exists && x + s * lanes < end) values[rows[r].to + in_row_of_ghosts(field, x + s * lanes)] = ghosts[r][s];
    }
  }
}

#if PACKED

// Puts the values of ghost cells that another process has behind each other.
extern "C" __global__ void __launch_bounds__(256, 3) pack_ghosts(
    const Box* __restrict__ boxes, const int* __restrict__ box_of_block, const Rule* __restrict__ rules,
    const double* __restrict__ tables, const double* __restrict__ weights, const Patch* __restrict__ patches,
    const int* __restrict__ array_of, const __grid_constant__ Arrays arrays, const __grid_constant__ Mesh mesh,
    real* packed) {
  const Box box = boxes[box_of_block[blockIdx.x]];
  const Pointer values = arrays.at[box.array] + corner(mesh, box.from);
  const Field field = {values, rules + 6 * box.rules, tables, weights, mesh, box, patches OTHERS};
  const int block = blockIdx.x - box.block;
  if (box.lanes == 5)
    fill_rows<1, 4>(field, block, packed + box.packed);
  else
    fill_rows<4, 1>(field, block, packed + box.packed);
}

// Fills ghost cells with values that another process has put behind each other.
extern "C" __global__ void __launch_bounds__(256) unpack_ghosts(
    const Box* __restrict__ boxes, const int* __restrict__ box_of_block, const __grid_constant__ Arrays arrays,
    const __grid_constant__ Mesh mesh, const real* __restrict__ packed) {
  const Box box = boxes[box_of_block[blockIdx.x]];
  const Pointer values = arrays.at[box.array] + corner(mesh, box.to);
  const int id = (blockIdx.x - box.block) * 256 + threadIdx.x, lanes = 1 << box.lanes;
  for (int row = id >> box.lanes; row < box.size[1] * box.size[2]; row += box.blocks * 256 >> box.lanes) {
    const int y = box.lo[1] + row % box.size[1], z = box.lo[2] + row / box.size[1];
    for (int x = id & (lanes - 1); x < box.size[0]; x += lanes)
      values[row_of(mesh, y, z) + in_row(mesh, box.lo[0] + x)] = packed[box.packed + row * box.size[0] + x];
  }
}

#else

extern "C" __global__ void __launch_bounds__(256, MANY ? 4 : 5) fill_ghosts(
    const Box* __restrict__ boxes, const int* __restrict__ box_of_block, const Rule* __restrict__ rules,
    const double* __restrict__ tables, const double* __restrict__ weights, const Patch* __restrict__ patches,
    const int* __restrict__ array_of, const __grid_constant__ Arrays arrays, const __grid_constant__ Mesh mesh) {
  const Box box = boxes[box_of_block[blockIdx.x]];
  Pointer values = arrays.at[box.array];
  Field field = {values, rules + 6 * box.rules, tables, weights, mesh, box, patches OTHERS};
  if (MANY) {
    field.values = values + corner(mesh, box.from);
    values = values + corner(mesh, box.to);
  }
  const int block = blockIdx.x - box.block;
  if (box.lanes == 5)
    fill_rows<1, 4>(field, block, values);
  else
    fill_rows<4, 1>(field, block, values);
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

// The first cell of a card that is no number or larger than what fields may become, counted over all arrays in order.
extern "C" __global__ void __launch_bounds__(256) find_bad(
    const __grid_constant__ Arrays arrays, const __grid_constant__ Mesh mesh, const Owned own, const double most,
    unsigned long long* first) {
  const int rows = mesh.all[1] * mesh.all[2], of_patch = mesh.n[1] * mesh.n[2], across = mesh.count[0];
  const int patches = own.first / across;
  const int own_rows = MANY ? ((own.end - 1) / across + 1 - patches) * of_patch : rows;
  const Pointer values = arrays.at[blockIdx.y];
  for (int number = blockIdx.x; number < own_rows; number += gridDim.x) {
    const int row = row_of_mesh(mesh, patches, number);
    int begin = 0, end = mesh.all[0];
    if (MANY) {
      const int before = (patches + number / of_patch) * across;
      begin = first_cell(mesh, 0, max(own.first - before, 0));
      end = first_cell(mesh, 0, min(own.end - before, across));
    }
    const Pointer at = values + place<1>(mesh, row % mesh.all[1]) + place<2>(mesh, row / mesh.all[1]);
    for (int x = begin + blockIdx.z * 256 + threadIdx.x; x < end; x += 256 * gridDim.z) {
      const real value = at[place<0>(mesh, x)];
      if (!((value < real(0) ? -value : value) <= real(most)))
        atomicMin(first, (blockIdx.y * (unsigned long long)rows + row) * mesh.all[0] + x);
    }
  }
}

#endif
