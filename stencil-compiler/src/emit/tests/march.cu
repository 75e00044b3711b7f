struct Uniforms {
  float w0;
  float w1;
  float w2;
  float w3;
  float nu;
};
__constant__ Uniforms c;

static __device__ __forceinline__ unsigned shared_address(const void* at) {
  return static_cast<unsigned>(__cvta_generic_to_shared(at));
}

static __device__ __forceinline__ void init_barrier(unsigned barrier, unsigned arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}
// Before clusters, the block's own barrier behind it is enough.
static __device__ __forceinline__ void fence_barriers() {
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
}

// Starts to copy 16 bytes; a later arrive_copies of this thread covers it.
static __device__ __forceinline__ void copy_16(void* to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from));
}

// Arrives once all copies that this thread has started are complete.
static __device__ __forceinline__ void arrive_copies(unsigned barrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(barrier) : "memory");
}

// One arrival of the warp, after all its threads have done what comes before.
static __device__ __forceinline__ void arrive(unsigned barrier, bool leads) {
  __syncwarp();
  if (leads) asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

// Waits until the phase of this parity has completed.
static __device__ __forceinline__ void wait_phase(unsigned barrier, unsigned parity) {
  asm volatile(
      "{\n\t.reg .pred complete;\n"
#if __CUDA_ARCH__ >= 900
      "TRY:\n\tmbarrier.try_wait.parity.shared::cta.b64 complete, [%0], %1;\n\t@!complete bra TRY;\n\t}"
#else
      "TRY:\n\tmbarrier.test_wait.parity.shared::cta.b64 complete, [%0], %1;\n\t@!complete bra TRY;\n\t}"
#endif
      ::"r"(barrier), "r"(parity) : "memory");
}

extern "C" __global__ void __launch_bounds__(256, 2) march(
    const float* __restrict__ u0,
    float* __restrict__ u0_next,
    const int n0, const int n1, const int n2, const int pitch, const int plane) {
  extern __shared__ __align__(128) unsigned char shared_[];
  float* const ring = reinterpret_cast<float*>(shared_ + 0);
  const unsigned full = shared_address(shared_ + 17920);
  const unsigned empty = shared_address(shared_ + 17984);
  const int bx = blockIdx.x;
  const int tx = threadIdx.x;
  const int by = blockIdx.y;
  const int ty = threadIdx.y;
  const int bz = blockIdx.z;
  const bool leads = (threadIdx.x + 32 * threadIdx.y) % 32 == 0;
  if (threadIdx.x + 32 * threadIdx.y == 0) {
    for (int i_ = 0; i_ < 8; ++i_) init_barrier(full + 8 * i_, 256);
    for (int i_ = 0; i_ < 8; ++i_) init_barrier(empty + 8 * i_, 8);
    fence_barriers();
  }
  __syncthreads();
  float u0_z0 = 0;
  float u0_z1 = 0;
  float u0_z2 = 0;
  float u0_z3 = 0;
  float u0_z4 = 0;
  float u0_z5 = 0;
  float sum0_z0 = 0;
  float sum0_z1 = 0;
  float sum0_z2 = 0;
  const int own = (ty + 3) * 40 + tx + 4;
  const int z0 = bz * 64;
  const int planes = min(64, n2 - z0) + 6;
  #pragma unroll 1
  for (int q = 0; q < 7; ++q) {
    if (ty * 32 + tx < 140) {
      copy_16(&ring[q % 8 * 560 + (ty * 32 + tx) * 4], &u0[bx * 32 - 4 + (ty * 32 + tx) % 10 * 4 + (by * 8 - 3 + (ty * 32 + tx) / 10) * pitch + (z0 + q - 3) * plane]);
    }
    arrive_copies(full + 8 * (q % 8));
  }
  #pragma unroll 1
  for (int p = 0; p < planes; ++p) {
    // the next plane, into the slot of the one before this
    const int next_2 = p + 7;
    if (next_2 < planes) {
      wait_phase(empty + 8 * (next_2 % 8), (next_2 / 8 + 1) % 2);
      if (ty * 32 + tx < 140) {
        copy_16(&ring[next_2 % 8 * 560 + (ty * 32 + tx) * 4], &u0[bx * 32 - 4 + (ty * 32 + tx) % 10 * 4 + (by * 8 - 3 + (ty * 32 + tx) / 10) * pitch + (z0 + next_2 - 3) * plane]);
      }
      arrive_copies(full + 8 * (next_2 % 8));
    }
    wait_phase(full + 8 * (p % 8), p / 8 % 2);
    const int here = p % 8 * 560 + own;
    const float newest = ring[here];
    const float plus = ring[here + 1];
    const float minus = ring[here - 1];
    const float plus_2 = ring[here + 40];
    const float minus_2 = ring[here - 40];
    const float plus_3 = ring[here + 2];
    const float minus_3 = ring[here - 2];
    const float sum_3 = fmaf(c.w1, plus_2 + minus_2, fmaf(c.w1, plus + minus, newest * -5e0f));
    const float plus_4 = ring[here + 80];
    const float minus_4 = ring[here - 80];
    const float plus_5 = ring[here + 3];
    const float minus_5 = ring[here - 3];
    const float sum_5 = fmaf(c.w2, plus_4 + minus_4, fmaf(c.w2, plus_3 + minus_3, sum_3));
    const float plus_6 = ring[here + 120];
    const float minus_6 = ring[here - 120];
    const float sum_7 = fmaf(c.w3, plus_6 + minus_6, fmaf(c.w3, plus_5 + minus_5, sum_5));
    const float total_2 = fmaf(c.w2, u0_z5 + u0_z1, fmaf(c.w1, u0_z4 + u0_z2, sum0_z0));
    const float next = fmaf(c.nu, fmaf(c.w3, newest + u0_z0, total_2), u0_z3);
    u0_z0 = u0_z1;
    u0_z1 = u0_z2;
    u0_z2 = u0_z3;
    u0_z3 = u0_z4;
    u0_z4 = u0_z5;
    u0_z5 = newest;
    sum0_z0 = sum0_z1;
    sum0_z1 = sum0_z2;
    sum0_z2 = sum_7;
    arrive(empty + 8 * (p % 8), leads);
    if (p >= 6) {
      const int at = bx * 32 + tx + (by * 8 + ty) * pitch + (z0 + p - 6) * plane;
      u0_next[at] = next;
    }
  }
}
