struct Uniforms {
  float k;
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

// Some arrays as the copy engine sees them; only the driver knows what is in it.
struct __align__(64) TensorMap {
  unsigned long long opaque[16];
};

// Has a box of all arrays of a map copied, from where it begins in each; its bytes count on the barrier.
static __device__ __forceinline__ void copy_box(
    void* to, const TensorMap* from, int x, int y, int z, unsigned barrier) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5}], [%6];"
      ::"r"(shared_address(to)), "l"(from), "r"(x), "r"(y), "r"(z), "r"(0), "r"(barrier) : "memory");
}

// The phase awaits this many bytes more.
static __device__ __forceinline__ void expect_bytes(unsigned barrier, unsigned bytes) {
  asm volatile("mbarrier.expect_tx.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

// The phase awaits this many bytes more, and this thread has arrived.
static __device__ __forceinline__ void arrive_expecting(unsigned barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
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

extern "C" __global__ void __launch_bounds__(128, 2) boxes(
    const float* __restrict__ u,
    float* __restrict__ u_new,
    const int n0, const int n1, const int n2, const int pitch, const int plane,
    const __grid_constant__ TensorMap u_map,
    const int first0, const int first1, const int first2) {
  extern __shared__ __align__(128) unsigned char shared_[];
  float* const ring = reinterpret_cast<float*>(shared_ + 0);
  const unsigned full = shared_address(shared_ + 6656);
  const unsigned empty = shared_address(shared_ + 6688);
  const int bx = blockIdx.x;
  const int tx = threadIdx.x;
  const int by = blockIdx.y;
  const int ty = threadIdx.y;
  const int bz = blockIdx.z;
  const bool leads = (threadIdx.x + 16 * threadIdx.y) % 32 == 0;
  if (threadIdx.x + 16 * threadIdx.y == 0) {
    for (int i_ = 0; i_ < 4; ++i_) init_barrier(full + 8 * i_, 1);
    for (int i_ = 0; i_ < 4; ++i_) init_barrier(empty + 8 * i_, 4);
    fence_barriers();
  }
  __syncthreads();
  const int t = ty * 16 + tx;
  const int cx = bx * 32 - 4;
  const int cy = by * 8 - 1;
  const int z0 = bz * 8;
  const int n = min(n2 - z0, 8) + 2;
  const int at = (ty + 1) * 40 + tx * 2 + 4;
  const int x = bx * 32 + tx * 2;
  const int y = by * 8 + ty;
  // fill the ring
  if (t < 1) {
    #pragma unroll 1
    for (int j = 0; j < 3; ++j) {
      arrive_expecting(full + 8 * j, 1600);
      copy_box(&ring[j * 416], &u_map, cx + first0, cy + first1, z0 + j - 1 + first2, full + 8 * j);
    }
  }
  wait_phase(full, 0);
  wait_phase(full + 8 * 1, 0);
  #pragma unroll 1
  for (int i = 1; i < n - 1; ++i) {
    const int p = i + 2;
    if (t < 1 && p < n) {
      const int slot = p % 4;
      wait_phase(empty + 8 * slot, (p / 4 + 1) % 2);
      expect_bytes(full + 8 * slot, 1600);
      copy_box(&ring[slot * 416], &u_map, cx + first0, cy + first1, z0 + p - 1 + first2, full + 8 * slot);
      arrive_expecting(full + 8 * slot, 0);
    }
    wait_phase(full + 8 * ((i + 1) % 4), (i + 1) / 4 % 2);
    const int low = (i - 1) % 4 * 416 + at;
    const int mid = i % 4 * 416 + at;
    const int high = (i + 1) % 4 * 416 + at;
    const float2 v0_ = *reinterpret_cast<const float2*>(&ring[mid]);
    const float here0 = v0_.x;
    const float here1 = v0_.y;
    const float left = ring[mid - 1];
    const float right = ring[mid + 2];
    const float2 v1_ = *reinterpret_cast<const float2*>(&ring[mid - 40]);
    const float down0 = v1_.x;
    const float down1 = v1_.y;
    const float2 v2_ = *reinterpret_cast<const float2*>(&ring[mid + 40]);
    const float up0 = v2_.x;
    const float up1 = v2_.y;
    const float2 v3_ = *reinterpret_cast<const float2*>(&ring[low]);
    const float below0 = v3_.x;
    const float below1 = v3_.y;
    const float2 v4_ = *reinterpret_cast<const float2*>(&ring[high]);
    const float above0 = v4_.x;
    const float above1 = v4_.y;
    arrive(empty + 8 * ((i - 1) % 4), leads);
    const float a3 = left + here1 + down0 + up0;
    const float b3 = here0 + right + down1 + up1;
    const float a6 = fmaf(c.k, a3 + below0 + above0, here0);
    const float b6 = fmaf(c.k, b3 + below1 + above1, here1);
    const int c_2 = x + y * pitch + (z0 + i - 1) * plane;
    if (y < n1 && x < n0) {
      u_new[c_2] = a6;
    }
    if (y < n1 && x + 1 < n0) {
      u_new[c_2 + 1] = b6;
    }
  }
}
