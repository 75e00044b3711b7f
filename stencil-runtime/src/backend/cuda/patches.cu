// A mesh is made of patches of equal shape, `count` along each axis, `step` values from one to the
// next along each; a patch has n interior cells along each axis, the mesh has `all` of them. The values of
// an array are `apart` from one cell to the next, and `pitch` and `plane` from one row and plane to the next.
struct Mesh {
  int n[3], halo[3], all[3], count[3], pitch, plane, apart, unused;
  long long step[3];
  double h[3];
};

#if BESIDE
#define APART(mesh) (mesh).apart
#else
#define APART(mesh) 1
#endif

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
