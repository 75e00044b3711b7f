// A mesh is made of patches in arrays of equal shape, `count` along each axis, `step` values from one to the next along
// each. The mesh has `all` cells along an axis, and patch p of them begins at cell p * all / count, rounded down; the
// largest has n. The values of an array are `apart` from one cell to the next, and `pitch` and `plane` from one row and
// plane to the next. In a surface the patches stand as they do in the mesh, each with its ghost cells: rows of `pitch`
// values, of which `before` are in front of cell 0. `by_all` and `by_count` are (2^64 - 1) / all and (2^64 - 1) / count.
struct Mesh {
  int n[3], halo[3], all[3], count[3], pitch, plane, apart, before;
  long long step[3];
  unsigned long long by_all[3], by_count[3];
  double h[3];
};

struct Divided {
  int whole, rest;
};

// Divides, with `by` = (2^64 - 1) / divisor: that is less than 2^64 / divisor by no more than 1, so the high half of the
// product is the quotient or one less.
static __device__ __forceinline__ Divided divide(unsigned long long number, int divisor, unsigned long long by) {
  const unsigned long long whole = __umul64hi(number, by);
  const unsigned rest = number - whole * divisor, most = divisor;
  return rest < most ? Divided{int(whole), int(rest)} : Divided{int(whole) + 1, int(rest - most)};
}

// The patch of a cell of the mesh along an axis, and the cell in it. Patch p begins at or before cell i if
// p * all < (i + 1) * count; the rest of that division is the distance of both in units of 1 / count.
struct Found {
  int patch, cell;
};

template <int Axis>
static __device__ __forceinline__ Found find(const Mesh& mesh, int i) {
  if (!MANY) return {0, i};
  const int count = mesh.count[Axis];
  const Divided patch = divide((i + 1ull) * count - 1, mesh.all[Axis], mesh.by_all[Axis]);
  return {patch.whole, divide(patch.rest, count, mesh.by_count[Axis]).whole};
}

// The first cell of a patch along an axis; `patch` is its place there.
static __device__ __forceinline__ int first_cell(const Mesh& mesh, int axis, int patch) {
  return MANY ? patch * (long long)mesh.all[axis] / mesh.count[axis] : 0;
}

#if SURFACE

// Where a cell of the mesh is in a surface, along each axis.
struct Place {
  int x, y, z;
};
typedef Place InPatch;

static __device__ __forceinline__ Place operator+(Place a, Place b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }

// A value of a surface. Texture units know none of 64 bits: such a value is two of 32.
struct Value {
  cudaSurfaceObject_t surface;
  Place at;
  __device__ __forceinline__ operator float() const {
    float value;
    surf3Dread(&value, surface, at.x * 4, at.y, at.z, cudaBoundaryModeTrap);
    return value;
  }
  __device__ __forceinline__ operator double() const {
    int2 halves;
    surf3Dread(&halves, surface, at.x * 8, at.y, at.z, cudaBoundaryModeTrap);
    return __hiloint2double(halves.y, halves.x);
  }
  __device__ __forceinline__ void operator=(float value) const {
    surf3Dwrite(value, surface, at.x * 4, at.y, at.z, cudaBoundaryModeTrap);
  }
  __device__ __forceinline__ void operator=(double value) const {
    const int2 halves = make_int2(__double2loint(value), __double2hiint(value));
    surf3Dwrite(halves, surface, at.x * 8, at.y, at.z, cudaBoundaryModeTrap);
  }
};

// What a pointer is to an array.
struct Pointer {
  cudaSurfaceObject_t surface;
  Place from;
  __device__ __forceinline__ Value operator[](Place at) const { return {surface, from + at}; }
};

static __device__ __forceinline__ Pointer operator+(Pointer a, Place by) { return {a.surface, a.from + by}; }

// What a kernel takes for an array.
struct Array {
  cudaSurfaceObject_t surface;
  __device__ __forceinline__ operator Pointer() const { return {surface, {0, 0, 0}}; }
};

// The part of a place that the coordinate along an axis makes.
template <int Axis>
static __device__ __forceinline__ Place place(const Mesh& mesh, int i) {
  const Found found = find<Axis>(mesh, i);
  const int extent = Axis == 0 ? mesh.pitch : mesh.n[Axis] + 2 * mesh.halo[Axis];
  const int first = Axis == 0 ? mesh.before : mesh.halo[Axis];
  const int at = first + found.patch * extent + found.cell;
  return {Axis == 0 ? at : 0, Axis == 1 ? at : 0, Axis == 2 ? at : 0};
}

// Where a row of a patch is in it, ghost cells included, and the part that x makes.
static __device__ __forceinline__ InPatch row_of(const Mesh& mesh, int y, int z) {
  return {mesh.before, y + mesh.halo[1], z + mesh.halo[2]};
}
static __device__ __forceinline__ InPatch in_row(const Mesh&, int x) { return {x, 0, 0}; }

// Where a patch begins.
static __device__ __forceinline__ Place corner(const Mesh& mesh, unsigned patch) {
  const int row = patch / mesh.count[0];
  return {int(patch % mesh.count[0]) * mesh.pitch, row % mesh.count[1] * (mesh.n[1] + 2 * mesh.halo[1]),
          row / mesh.count[1] * (mesh.n[2] + 2 * mesh.halo[2])};
}

#else

#if BESIDE
#define APART(mesh) (mesh).apart
#else
#define APART(mesh) 1
#endif

typedef real* Pointer;
typedef Pointer Array;
typedef int InPatch;

// Where a cell of the mesh is, counted in values from the first interior cell of the first patch.
#if MANY
typedef long long Place;
#else
typedef int Place;
#endif

// The part of it that the coordinate along an axis makes.
template <int Axis>
static __device__ __forceinline__ Place place(const Mesh& mesh, int i) {
  const int unit = Axis == 0 ? APART(mesh) : Axis == 1 ? mesh.pitch : mesh.plane;
  if (!MANY) return i * unit;
  const Found found = find<Axis>(mesh, i);
  return found.patch * mesh.step[Axis] + found.cell * unit;
}

// Where a row of a patch is in it, ghost cells included, and the part that x makes.
static __device__ __forceinline__ InPatch row_of(const Mesh& mesh, int y, int z) {
  return y * mesh.pitch + z * mesh.plane;
}
static __device__ __forceinline__ InPatch in_row(const Mesh& mesh, int x) { return x * APART(mesh); }

// Where a patch begins.
static __device__ __forceinline__ Place corner(const Mesh& mesh, unsigned patch) { return patch * mesh.step[0]; }

#endif

// The patches of a card: from one number to another.
struct Owned {
  int first, end;
};

// The number, in the mesh, of a row of cells. It is counted patch by patch, from a row of patches along x on, as if each
// had as many rows as the largest: the last row of a shorter patch counts twice.
static __device__ __forceinline__ int row_of_mesh(const Mesh& mesh, int patches, int number) {
  if (!MANY) return number;
  const int of_patch = mesh.n[1] * mesh.n[2], at = number % of_patch;
  patches += number / of_patch;
  const int q = patches % mesh.count[1], r = patches / mesh.count[1];
  const int y = min(first_cell(mesh, 1, q) + at % mesh.n[1], first_cell(mesh, 1, q + 1) - 1);
  const int z = min(first_cell(mesh, 2, r) + at / mesh.n[1], first_cell(mesh, 2, r + 1) - 1);
  return z * mesh.all[1] + y;
}
