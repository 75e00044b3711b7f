// The barriers of a march, as small as they can be: planes come by asynchronous copies, two iterations
// ahead, and are read in the iteration that they come for and in the next one. What is read is ordered
// before the copy that overwrites it: each thread arrives on `done` after its reads (built with -DEACH),
// or one of each warp does, after __syncwarp, which orders the reads of the whole warp before it.
//
//   nvcc -arch=sm_90 [-DEACH] racecheck.cu -o racecheck && compute-sanitizer --tool racecheck ./racecheck
#include <cstdio>
static __device__ void wait(unsigned barrier, unsigned parity) {
  asm volatile("{\n\t.reg .pred p;\nTRY:\n\tmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n\t@!p bra TRY;\n\t}" ::"r"(barrier), "r"(parity) : "memory");
}
constexpr int SLOTS = 4, PHASES = 3, AHEAD = 2;
#ifdef EACH
constexpr int ARRIVALS = 64;
static __device__ void arrive(unsigned barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
#else
constexpr int ARRIVALS = 2;
static __device__ void arrive(unsigned barrier) {
  __syncwarp();
  if (threadIdx.x % 32 == 0) asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
#endif
__global__ void least(const float4* from, float* to, int rounds) {
  __shared__ __align__(128) float4 ring[SLOTS][64];
  __shared__ unsigned long long full[PHASES], done[PHASES];
  const unsigned f = (unsigned)__cvta_generic_to_shared(full), d = (unsigned)__cvta_generic_to_shared(done);
  if (threadIdx.x == 0) {
    for (int i = 0; i < PHASES; ++i) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 64;" ::"r"(f + 8 * i) : "memory");
      asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(d + 8 * i), "r"(ARRIVALS) : "memory");
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  auto issue = [&](int n) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(&ring[n % SLOTS][threadIdx.x])), "l"(from + n * 64 + threadIdx.x));
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(f + 8 * (n % PHASES)) : "memory");
  };
  for (int n = 0; n < AHEAD; ++n) issue(n);
  float sum = 0;
  for (int i = 0; i < rounds; ++i) {
    const int n = i + AHEAD;
    wait(d + 8 * (n % PHASES), (n / PHASES + 1) % 2);  // iteration i - 1 is done
    issue(n);
    wait(f + 8 * (i % PHASES), i / PHASES % 2);
    sum += ring[i % SLOTS][63 - threadIdx.x].x;
    if (i > 0) sum += ring[(i - 1) % SLOTS][63 - threadIdx.x].y;
    arrive(d + 8 * (i % PHASES));
  }
  to[threadIdx.x] = sum;
}
int main() {
  const int rounds = 20; static float in[64 * 4 * (rounds + 2)];
  float4* a; float* b; float h[64];
  for (int i = 0; i < 64 * 4 * (rounds + 2); ++i) in[i] = i;
  cudaMalloc(&a, sizeof in); cudaMalloc(&b, 256); cudaMemcpy(a, in, sizeof in, cudaMemcpyHostToDevice);
  least<<<1, 64>>>(a, b, rounds);
  cudaMemcpy(h, b, 256, cudaMemcpyDeviceToHost);
  float want = 0; for (int i = 0; i < rounds; ++i) { want += 4.f * (i * 64 + 63); if (i > 0) want += 4.f * ((i - 1) * 64 + 63) + 1; }
  printf("%s %g want %g\n", cudaGetErrorString(cudaGetLastError()), h[0], want);
}
