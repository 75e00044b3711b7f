// Runs of values that become one number each, by a tree that does not depend on the threads: a run
// is halved, the first half as long as the second or one longer, down to runs of at most LEAF
// values, which are taken in order.

enum Reduction { SUM, MAX, MIN };

constexpr int LEAF = 16;
constexpr int AT_ONCE = 4;

// So many runs, of so many values each.
struct Runs {
  int length, count;
};

// Arrays that are reduced by one launch: gridDim.z of them. Their results lie one behind the other.
struct Together {
  Array at[AT_ONCE];
};

// A row of the mesh, through all patches that it crosses, of which every so manyth cell has a value.
struct RowOfMesh {
  Pointer values;
  const Mesh& mesh;
  int every;
  __device__ __forceinline__ real operator[](int i) const { return values[place<0>(mesh, i * every)]; }
};

// Of equal numbers the first, of what is no number that one: the rule of the host.
static __device__ __forceinline__ double both(int reduction, double a, double b) {
  if (reduction == SUM) return a + b;
  return (reduction == MAX ? b > a : b < a) || b != b ? b : a;
}

template <typename Values>
static __device__ double leaf(int reduction, const Values& values, int first, int length) {
  double all = reduction == SUM ? 0.0 + double(values[first]) : double(values[first]);
  for (int i = 1; i < length; ++i) all = both(reduction, all, double(values[first + i]));
  return all;
}

// A part of a run by one thread, leaf by leaf; `before` holds the first halves whose second ones are
// to come.
template <typename Values>
static __device__ double part_of(int reduction, const Values& values, int begin, int length) {
  if (length <= LEAF) return leaf(reduction, values, begin, length);
  double before[32];
  unsigned path = 0;
  for (int depth = 0;;) {
    int first = begin, left = length;
    for (int level = depth - 1; level >= 0; --level) {
      const int half = (left + 1) / 2;
      if (path >> level & 1) first += half;
      left = path >> level & 1 ? left - half : half;
    }
    for (; left > LEAF; left = (left + 1) / 2, ++depth) path <<= 1;
    double all = leaf(reduction, values, first, left);
    for (; path & 1; path >>= 1, --depth) all = both(reduction, before[depth], all);
    if (depth == 0) return all;
    before[depth] = all;
    path |= 1;
  }
}

// gridDim.y blocks, a power of two, take the parts of a run, blockDim.x threads, too, the parts of those, and each row of
// threads takes a run, which has a number among those that the results are of.
template <typename Run, typename Number>
static __device__ void reduce(const Run& run, const Number& number_of, const Runs& runs, int reduction, double* results) {
  __shared__ double parts[256];
  double* const part = parts + threadIdx.y * blockDim.x;
  const int at = blockIdx.x * blockDim.y + threadIdx.y;
  const bool exists = at < runs.count;
  const int number = number_of(at);
  const unsigned me = threadIdx.x;
  int first = 0, left = runs.length;
  for (unsigned bit = gridDim.y / 2; bit > 0; bit /= 2) {
    const int half = (left + 1) / 2;
    if (blockIdx.y & bit) first += half;
    left = blockIdx.y & bit ? left - half : half;
  }
  unsigned width = blockDim.x;
  while (width > 1 && left > LEAF) {
    width /= 2;
    const int half = (left + 1) / 2;
    if (me & width) first += half;
    left = me & width ? left - half : half;
  }
  if (exists && me % width == 0) {
    part[me] = part_of(reduction, run(number), first, left);
  }
  for (unsigned step = 1; step < blockDim.x; step *= 2) {
    __syncthreads();
    // Parts of a run that was not halved here have no neighbour.
    if (exists && me % (2 * step) == 0 && width <= step) part[me] = both(reduction, part[me], part[me + step]);
  }
  if (exists && me == 0) results[number * (long long)gridDim.y + blockIdx.y] = part[0];
}

// The rows of a card, from a row of patches along x on.
extern "C" __global__ void __launch_bounds__(256) reduce_values(
    const __grid_constant__ Together values, const __grid_constant__ Mesh mesh, const __grid_constant__ Runs runs, int patches,
    int every, int reduction, double* results) {
  results += blockIdx.z * (long long)(mesh.all[1] * mesh.all[2]) * gridDim.y;
  const auto row = [&](int number) {
    const int y = number % mesh.all[1], z = number / mesh.all[1];
    return RowOfMesh{Pointer(values.at[blockIdx.z]) + place<1>(mesh, y) + place<2>(mesh, z), mesh, every};
  };
  reduce(row, [&](int at) { return row_of_mesh(mesh, patches, at); }, runs, reduction, results);
}

extern "C" __global__ void __launch_bounds__(256) reduce_numbers(
    const double* values, const __grid_constant__ Runs runs, int reduction, double* results) {
  values += blockIdx.z * (long long)runs.count * runs.length;
  results += blockIdx.z * (long long)runs.count;
  const auto run = [&](int number) { return values + number * (long long)runs.length; };
  reduce(run, [](int at) { return at; }, runs, reduction, results);
}

// What the blocks of a run have made of its parts, of which a block of as many threads makes one number.
extern "C" __global__ void __launch_bounds__(256) reduce_parts(const double* values, int reduction, double* results) {
  __shared__ double parts[256];
  const unsigned me = threadIdx.x;
  parts[me] = values[blockIdx.x * (long long)blockDim.x + me];
  for (unsigned step = 1; step < blockDim.x; step *= 2) {
    __syncthreads();
    if (me % (2 * step) == 0) parts[me] = both(reduction, parts[me], parts[me + step]);
  }
  if (me == 0) results[blockIdx.x] = parts[0];
}
