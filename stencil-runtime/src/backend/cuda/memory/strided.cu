// Moves all values of an array from where they lie so far apart to where they lie otherwise, of some patches
// that are so many values from each other.
extern "C" __global__ void __launch_bounds__(256) move_values(
    const real* from, int from_apart, long long from_step, real* to, int to_apart, long long to_step,
    long long length, long long patches) {
  for (long long i = blockIdx.x * 256ll + threadIdx.x; i < length * patches; i += gridDim.x * 256ll) {
    const long long patch = i / length, at = i - patch * length;
    to[patch * to_step + at * to_apart] = from[patch * from_step + at * from_apart];
  }
}
