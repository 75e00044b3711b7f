// Kernels that measure a card. A block tells how many cycles it took; all blocks are at work at once.

constexpr int CHAINS = 8;
constexpr int ROUND = 16;

static __device__ __forceinline__ float multiply_add(float a, float b, float c) { return __fmaf_rn(a, b, c); }
static __device__ __forceinline__ double multiply_add(double a, double b, double c) { return __fma_rn(a, b, c); }

// CHAINS * ROUND multiply-adds a round and thread; those of different chains do not wait for each other.
template <typename value>
static __device__ __forceinline__ void multiply_adds(
    value factor, int rounds, long long* cycles, double* never) {
  value x[CHAINS];
#pragma unroll
  for (int i = 0; i < CHAINS; ++i) x[i] = value(threadIdx.x) + value(i) / value(3);
  const value term = value(0.1) * value(blockIdx.x + 1);
  __syncthreads();
  const long long begin = clock64();
#pragma unroll 1
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int k = 0; k < ROUND; ++k) {
#pragma unroll
      for (int i = 0; i < CHAINS; ++i) x[i] = multiply_add(x[i], factor, term);
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) cycles[blockIdx.x] = clock64() - begin;
  value sum = 0;
#pragma unroll
  for (int i = 0; i < CHAINS; ++i) sum += x[i];
  // Nobody knows that no sum is this: the chains must be computed.
  if (sum == value(-1e30)) *never = double(sum);
}

extern "C" __global__ void __launch_bounds__(256) multiply_adds_f32(
    float factor, int rounds, long long* cycles, double* never) {
  multiply_adds<float>(factor, rounds, cycles, never);
}

extern "C" __global__ void __launch_bounds__(256) multiply_adds_f64(
    double factor, int rounds, long long* cycles, double* never) {
  multiply_adds<double>(factor, rounds, cycles, never);
}

// 4 * ROUND words a round and thread, in loads of 16 bytes without conflicts.
extern "C" __global__ void __launch_bounds__(256) shared_words(
    float factor, int rounds, long long* cycles, double* never) {
  __shared__ __align__(16) float tile[4 * 256];
  for (int i = threadIdx.x; i < 4 * 256; i += 256) tile[i] = factor * float(i);
  const unsigned at = (unsigned)__cvta_generic_to_shared(tile + 4 * threadIdx.x);
  float sum[4] = {0.0f, 0.0f, 0.0f, 0.0f};
  __syncthreads();
  const long long begin = clock64();
#pragma unroll 1
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int k = 0; k < ROUND; ++k) {
      float x, y, z, w;
      // What is not volatile would be loaded once.
      asm volatile("ld.volatile.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                   : "=f"(x), "=f"(y), "=f"(z), "=f"(w)
                   : "r"(at));
      sum[0] += x;
      sum[1] += y;
      sum[2] += z;
      sum[3] += w;
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) cycles[blockIdx.x] = clock64() - begin;
  if (sum[0] + sum[1] + sum[2] + sum[3] == -1e30f) *never = double(sum[0]);
}

// Takes so many cycles.
extern "C" __global__ void __launch_bounds__(256) wait_cycles(long long cycles) {
  const long long begin = clock64();
  while (clock64() - begin < cycles) {
  }
}

// Copies words of 16 bytes.
extern "C" __global__ void __launch_bounds__(256) copy_words(uint4* to, const uint4* from, long long words) {
  const long long step = (long long)gridDim.x * 256;
#pragma unroll 4
  for (long long i = (long long)blockIdx.x * 256 + threadIdx.x; i < words; i += step) to[i] = from[i];
}
