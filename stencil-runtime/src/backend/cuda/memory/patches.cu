// A mesh is made of patches of equal shape, `count` along each axis, `step` values from one to the
// next along each; a patch has n interior cells along each axis, the mesh has `all` of them. The values of
// an array are `apart` from one cell to the next, and `pitch` and `plane` from one row and plane to the next.
// In a surface the patches stand as they do in the mesh, each with its ghost cells: rows of `pitch` values, of which
// `before` are in front of cell 0.
struct Mesh {
  int n[3], halo[3], all[3], count[3], pitch, plane, apart, before;
  long long step[3];
  double h[3];
};

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
  const int patch = MANY ? i / mesh.n[Axis] : 0;
  const int extent = Axis == 0 ? mesh.pitch : mesh.n[Axis] + 2 * mesh.halo[Axis];
  const int first = Axis == 0 ? mesh.before : mesh.halo[Axis];
  const int at = first + patch * extent + (i - patch * mesh.n[Axis]);
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
  const int patch = i / mesh.n[Axis];
  return patch * mesh.step[Axis] + (i - patch * mesh.n[Axis]) * unit;
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

// The number, in the mesh, of a row of cells. It is counted patch by patch, from a row of patches along x on.
static __device__ __forceinline__ int row_of_mesh(const Mesh& mesh, int patches, int number) {
  if (!MANY) return number;
  const int of_patch = mesh.n[1] * mesh.n[2], at = number % of_patch;
  patches += number / of_patch;
  const int z = patches / mesh.count[1] * mesh.n[2] + at / mesh.n[1];
  return z * mesh.all[1] + patches % mesh.count[1] * mesh.n[1] + at % mesh.n[1];
}
