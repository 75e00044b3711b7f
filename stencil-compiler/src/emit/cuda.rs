//! CUDA C++.

use super::dialect::{Dialect, Native, Numbers, Uses};
use crate::expr::real::Precision;
use crate::kernel::{Kernel, Mode};

/// CUDA's spelling, for compute capability 8.0 and, where boxes are copied, 9.0.
pub(super) struct Cuda;

const KEYWORDS: &[&str] = &[
    "alignas",
    "alignof",
    "and",
    "and_eq",
    "asm",
    "auto",
    "bitand",
    "bitor",
    "bool",
    "break",
    "case",
    "catch",
    "char",
    "char8_t",
    "char16_t",
    "char32_t",
    "class",
    "co_await",
    "co_return",
    "co_yield",
    "compl",
    "concept",
    "const",
    "const_cast",
    "consteval",
    "constexpr",
    "constinit",
    "continue",
    "decltype",
    "default",
    "delete",
    "do",
    "double",
    "dynamic_cast",
    "else",
    "enum",
    "explicit",
    "export",
    "extern",
    "false",
    "float",
    "for",
    "friend",
    "goto",
    "if",
    "inline",
    "int",
    "long",
    "mutable",
    "namespace",
    "new",
    "noexcept",
    "not",
    "not_eq",
    "nullptr",
    "operator",
    "or",
    "or_eq",
    "private",
    "protected",
    "public",
    "register",
    "reinterpret_cast",
    "requires",
    "restrict",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "static_assert",
    "static_cast",
    "struct",
    "switch",
    "template",
    "this",
    "thread_local",
    "throw",
    "true",
    "try",
    "typedef",
    "typeid",
    "typename",
    "union",
    "unsigned",
    "using",
    "virtual",
    "void",
    "volatile",
    "wchar_t",
    "while",
    "xor",
    "xor_eq",
    // Names that the language or the text uses for functions, types and variables.
    "fma",
    "fmaf",
    "sqrt",
    "sqrtf",
    "fabs",
    "fabsf",
    "copysign",
    "copysignf",
    "max",
    "threadIdx",
    "blockIdx",
    "blockDim",
    "gridDim",
    "warpSize",
    "float2",
    "float4",
    "double2",
    "asm_",
    "main",
    "std",
    "NULL",
    "INFINITY",
    "NAN",
];

const ADDRESS: &str = "\
static __device__ __forceinline__ unsigned shared_address(const void* at) {
  return static_cast<unsigned>(__cvta_generic_to_shared(at));
}
";

const INIT: &str = "\
static __device__ __forceinline__ void init_barrier(unsigned barrier, unsigned arrivals) {
  asm volatile(\"mbarrier.init.shared::cta.b64 [%0], %1;\" ::\"r\"(barrier), \"r\"(arrivals) : \"memory\");
}
// Before clusters, the block's own barrier behind it is enough.
static __device__ __forceinline__ void fence_barriers() {
#if __CUDA_ARCH__ >= 900
  asm volatile(\"fence.mbarrier_init.release.cluster;\" ::: \"memory\");
#endif
}
";

const COPY: &str = "\
// Starts to copy 16 bytes; a later arrive_copies of this thread covers it.
static __device__ __forceinline__ void copy_16(void* to, const void* from) {
  asm volatile(\"cp.async.cg.shared.global [%0], [%1], 16;\" ::\"r\"(shared_address(to)), \"l\"(from));
}
";

const TENSOR_MAP: &str = "\
// Some arrays as the copy engine sees them; only the driver knows what is in it.
struct __align__(64) TensorMap {
  unsigned long long opaque[16];
};
";

const COPY_BOX: &str = "\
// Has a box of all arrays of a map copied, from where it begins in each; its bytes count on the barrier.
static __device__ __forceinline__ void copy_box(
    void* to, const TensorMap* from, int x, int y, int z, unsigned barrier) {
  asm volatile(
      \"cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5}], [%6];\"
      ::\"r\"(shared_address(to)), \"l\"(from), \"r\"(x), \"r\"(y), \"r\"(z), \"r\"(0), \"r\"(barrier) : \"memory\");
}
";

const COPY_BOX_OF_PATCH: &str = "\
// Has a box of a patch and all arrays of a map copied, from where it begins in each; its bytes count on the barrier.
static __device__ __forceinline__ void copy_box(
    void* to, const TensorMap* from, int x, int y, int z, int patch, unsigned barrier) {
  asm volatile(
      \"cp.async.bulk.tensor.5d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5, %6}], [%7];\"
      ::\"r\"(shared_address(to)), \"l\"(from), \"r\"(x), \"r\"(y), \"r\"(z), \"r\"(0), \"r\"(patch), \"r\"(barrier) : \"memory\");
}
";

const EXPECT: &str = "\
// The phase awaits this many bytes more.
static __device__ __forceinline__ void expect_bytes(unsigned barrier, unsigned bytes) {
  asm volatile(\"mbarrier.expect_tx.shared::cta.b64 [%0], %1;\" ::\"r\"(barrier), \"r\"(bytes) : \"memory\");
}
";

const ARRIVE_EXPECTING: &str = "\
// The phase awaits this many bytes more, and this thread has arrived.
static __device__ __forceinline__ void arrive_expecting(unsigned barrier, unsigned bytes) {
  asm volatile(\"mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;\" ::\"r\"(barrier), \"r\"(bytes) : \"memory\");
}
";

const ARRIVE_COPIES: &str = "\
// Arrives once all copies that this thread has started are complete.
static __device__ __forceinline__ void arrive_copies(unsigned barrier) {
  asm volatile(\"cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];\" ::\"r\"(barrier) : \"memory\");
}
";

const ARRIVE: &str = "\
// One arrival of the warp, after all its threads have done what comes before.
static __device__ __forceinline__ void arrive(unsigned barrier, bool leads) {
  __syncwarp();
  if (leads) asm volatile(\"mbarrier.arrive.shared::cta.b64 _, [%0];\" ::\"r\"(barrier) : \"memory\");
}
";

const WAIT: &str = "\
// Waits until the phase of this parity has completed.
static __device__ __forceinline__ void wait_phase(unsigned barrier, unsigned parity) {
  asm volatile(
      \"{\\n\\t.reg .pred complete;\\n\"
#if __CUDA_ARCH__ >= 900
      \"TRY:\\n\\tmbarrier.try_wait.parity.shared::cta.b64 complete, [%0], %1;\\n\\t@!complete bra TRY;\\n\\t}\"
#else
      \"TRY:\\n\\tmbarrier.test_wait.parity.shared::cta.b64 complete, [%0], %1;\\n\\t@!complete bra TRY;\\n\\t}\"
#endif
      ::\"r\"(barrier), \"r\"(parity) : \"memory\");
}
";

const WRAP: &str = "\
// What lies less than n beyond one end is found at the other.
static __device__ __forceinline__ int wrap_index(int i, int n) {
  return i < 0 ? i + n : i >= n ? i - n : i;
}
";

// The threads of a warp have cells of one row, which follow each other; `left` of them lie from the cell of a thread to the
// end of the row. The first cell gets the value that the warp keeps: of equal ones the first, and a NaN before all others.
macro_rules! store_extreme {
    ($name:literal, $beyond:literal) => {
        concat!(
            "template <typename Value>\n",
            "static __device__ __forceinline__ void ",
            $name,
            "(Value* to, Value value, int left) {
  const int lane = threadIdx.x % 32;
  const int count = min(lane + left, 32);
  const unsigned all = 0xffffffffu >> (32 - count);
  for (int apart = 1; apart < 32; apart *= 2) {
    const Value other = __shfl_down_sync(all, value, apart);
    if (lane + apart < count && (other ",
            $beyond,
            " value || other != other)) value = other;
  }
  if (lane == 0) *to = value;
}
"
        )
    };
}

const STORE_LARGEST: &str = store_extreme!("store_largest", ">");
const STORE_SMALLEST: &str = store_extreme!("store_smallest", "<");

const READ_F32: &str = "\
static __device__ __forceinline__ float read_value(cudaSurfaceObject_t from, int x, int y, int z) {
  float value;
  surf3Dread(&value, from, x * 4, y, z, cudaBoundaryModeTrap);
  return value;
}
";

const WRITE_F32: &str = "\
static __device__ __forceinline__ void write_value(cudaSurfaceObject_t to, int x, int y, int z, float value) {
  surf3Dwrite(value, to, x * 4, y, z, cudaBoundaryModeTrap);
}
";

// No surface has values of 64 bits: such a value is two of 32.
const READ_F64: &str = "\
static __device__ __forceinline__ double read_value(cudaSurfaceObject_t from, int x, int y, int z) {
  int2 halves;
  surf3Dread(&halves, from, x * 8, y, z, cudaBoundaryModeTrap);
  return __hiloint2double(halves.y, halves.x);
}
";

const WRITE_F64: &str = "\
static __device__ __forceinline__ void write_value(cudaSurfaceObject_t to, int x, int y, int z, double value) {
  const int2 halves = make_int2(__double2loint(value), __double2hiint(value));
  surf3Dwrite(halves, to, x * 8, y, z, cudaBoundaryModeTrap);
}
";

// Integers pass through the low bits of a large number, as on every device.
const EXPONENT_F32: &str = "\
static __device__ __forceinline__ float stencil_exponentf(float x) {
  return __uint_as_float(__float_as_uint(x) >> 23 | 0x4b000000u) - 8388735.0f;
}
";
const EXPONENT_F64: &str = "\
static __device__ __forceinline__ double stencil_exponent(double x) {
  const unsigned long long bits = static_cast<unsigned long long>(__double_as_longlong(x));
  return __longlong_as_double(static_cast<long long>(bits >> 52 | 0x4330000000000000ull)) - 4503599627371519.0;
}
";
const SIGNIFICAND_F32: &str = "\
static __device__ __forceinline__ float stencil_significandf(float x) {
  return __uint_as_float((__float_as_uint(x) & 0x007fffffu) | 0x3f800000u);
}
";
const SIGNIFICAND_F64: &str = "\
static __device__ __forceinline__ double stencil_significand(double x) {
  return __longlong_as_double((__double_as_longlong(x) & 0x000fffffffffffffll) | 0x3ff0000000000000ll);
}
";
const POWER_OF_TWO_F32: &str = "\
static __device__ __forceinline__ float stencil_power_of_twof(float n) {
  return __uint_as_float(__float_as_uint(n + 12583039.0f) << 23);
}
";
const POWER_OF_TWO_F64: &str = "\
static __device__ __forceinline__ double stencil_power_of_two(double n) {
  const unsigned long long bits = static_cast<unsigned long long>(__double_as_longlong(n + 6755399441056767.0));
  return __longlong_as_double(static_cast<long long>(bits << 52));
}
";

// The first guess is infinite or zero for numbers below the normal range and for those whose reciprocals are.
// In double precision it has no lower half: it begins above the reciprocal of a fraction of ones, which would round to the wrong side.
const RECIPROCAL_F32: &str = "\
static __device__ __forceinline__ float stencil_reciprocalf(float x) {
  float guess;
  asm(\"rcp.approx.ftz.f32 %0, %1;\" : \"=f\"(guess) : \"f\"(x));
  const float value = fmaf(guess, fmaf(-x, guess, 1.0f), guess);
  return (__float_as_uint(x) & 0x7fffffffu) - 0x00800000u <= 0x7e000000u ? value : guess;
}
";
const RECIPROCAL_F64: &str = "\
static __device__ __forceinline__ double stencil_reciprocal(double x) {
  double guess;
  asm(\"rcp.approx.ftz.f64 %0, %1;\" : \"=d\"(guess) : \"d\"(x));
  const double begin = __hiloint2double(__double2hiint(guess), 1);
  const double error = fma(-x, begin, 1.0);
  const double closer = fma(begin, fma(error, error, error), begin);
  const double value = fma(closer, fma(-x, closer, 1.0), closer);
  const unsigned size = static_cast<unsigned>(__double2hiint(x)) & 0x7fffffffu;
  return size - 0x00100000u <= 0x7fc00000u ? value : guess;
}
";

const NATIVE: Native = Native {
    reciprocal: Some([RECIPROCAL_F32, RECIPROCAL_F64]),
    exponent: [EXPONENT_F32, EXPONENT_F64],
    significand: [SIGNIFICAND_F32, SIGNIFICAND_F64],
    power_of_two: [POWER_OF_TWO_F32, POWER_OF_TWO_F64],
};

impl Numbers for Cuda {
    fn keywords(&self) -> &'static [&'static str] {
        KEYWORDS
    }

    fn function(&self) -> &'static str {
        "static __device__ __forceinline__"
    }

    fn called(&self) -> &'static str {
        "static __device__ __noinline__"
    }

    fn native(&self) -> &'static Native {
        &NATIVE
    }

    fn infinity(&self, precision: Precision) -> &'static str {
        match precision {
            Precision::F32 => "__uint_as_float(0x7f800000u)",
            Precision::F64 => "__longlong_as_double(0x7ff0000000000000ll)",
        }
    }

    fn nan(&self, precision: Precision) -> &'static str {
        match precision {
            Precision::F32 => "__uint_as_float(0x7fffffffu)",
            Precision::F64 => "__longlong_as_double(0x7fffffffffffffffll)",
        }
    }
}

impl Dialect for Cuda {
    fn entry(&self, kernel: &Kernel) -> String {
        let bounds = match kernel.launch.blocks_per_unit {
            0 => kernel.threads().to_string(),
            blocks => format!("{}, {blocks}", kernel.threads()),
        };
        format!("extern \"C\" __global__ void __launch_bounds__({bounds})")
    }

    fn buffer(&self, mode: Mode, value: &str, name: &str) -> String {
        match mode {
            Mode::Read => format!("const {value}* __restrict__ {name}"),
            Mode::Write => format!("{value}* __restrict__ {name}"),
            Mode::ReadWrite => format!("{value}* {name}"),
        }
    }

    fn surface(&self, name: &str) -> String {
        format!("const cudaSurfaceObject_t {name}")
    }

    fn map(&self, name: &str) -> String {
        format!("const __grid_constant__ TensorMap {name}")
    }

    fn needs(&self, uses: &Uses) -> (u32, u32) {
        if uses.boxes || uses.expect || uses.arrive_expecting { (9, 0) } else { (8, 0) }
    }

    fn uniforms(&self) -> &'static str {
        "__constant__ Uniforms c;"
    }

    fn shared(&self) -> &'static str {
        "extern __shared__ __align__(128) unsigned char shared_[];"
    }

    fn thread(&self, axis: usize) -> &'static str {
        ["threadIdx.x", "threadIdx.y", "threadIdx.z"].get(axis).copied().unwrap_or("0")
    }

    fn block(&self, axis: usize) -> &'static str {
        ["blockIdx.x", "blockIdx.y", "blockIdx.z"].get(axis).copied().unwrap_or("0")
    }

    fn sync(&self) -> &'static str {
        "__syncthreads();"
    }

    fn unroll(&self, whole: bool) -> &'static str {
        if whole { "#pragma unroll" } else { "#pragma unroll 1" }
    }

    fn vector(&self, precision: Precision, values: usize) -> Option<&'static str> {
        match (precision, values) {
            (Precision::F32, 2) => Some("float2"),
            (Precision::F32, 4) => Some("float4"),
            (Precision::F64, 2) => Some("double2"),
            _ => None,
        }
    }

    fn helpers(&self, uses: &Uses, precision: Precision) -> Vec<&'static str> {
        let (read, write) = match precision {
            Precision::F32 => (READ_F32, WRITE_F32),
            Precision::F64 => (READ_F64, WRITE_F64),
        };
        let all = [
            (uses.barriers || uses.copies || uses.boxes, ADDRESS),
            (uses.barriers, INIT),
            (uses.copies, COPY),
            (uses.boxes, TENSOR_MAP),
            (uses.boxes && !uses.patches, COPY_BOX),
            (uses.boxes && uses.patches, COPY_BOX_OF_PATCH),
            (uses.expect, EXPECT),
            (uses.arrive_expecting, ARRIVE_EXPECTING),
            (uses.arrive_copies, ARRIVE_COPIES),
            (uses.arrive, ARRIVE),
            (uses.wait, WAIT),
            (uses.wrap, WRAP),
            (uses.reads_surfaces, read),
            (uses.writes_surfaces, write),
            (uses.extremes[0], STORE_LARGEST),
            (uses.extremes[1], STORE_SMALLEST),
        ];
        all.into_iter().filter(|(used, _)| *used).map(|(_, text)| text).collect()
    }
}
