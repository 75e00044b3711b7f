//! Kernels over rows as C: the program of the host's processor for systems that are read at run time.
//!
//! As in Rust, the text computes as many neighbouring cells as a register has lanes, and the runtime says which. It
//! takes nothing from a declaration but identifiers, each with a suffix, and numbers.

use super::cells::{Cells, Language};
use super::dialect::{Native, Numbers, literal, real, suffix};
use super::functions;
use super::infix::SUM;
use super::rows::row_access;
use super::{EmitError, RowAccess};
use crate::expr::Op;
use crate::expr::real::Precision;
use crate::kernel::Kernel;

/// Options for compilers like GCC's, without which the text does not have the bits of the algorithm, or no vectors.
pub const C_OPTIONS: &[&str] = &[
    "-x",
    "c",
    "-std=c11",
    "-nostdinc",
    "-w",
    "-O2",
    "-ftree-vectorize",
    "-ffp-contract=off",
    "-fno-fast-math",
    "-fno-math-errno",
    "-fno-trapping-math",
];

const KEYWORDS: &[&str] = &[
    "alignas",
    "alignof",
    "asm",
    "auto",
    "bool",
    "break",
    "case",
    "char",
    "const",
    "constexpr",
    "continue",
    "default",
    "do",
    "double",
    "else",
    "enum",
    "extern",
    "false",
    "float",
    "for",
    "goto",
    "if",
    "inline",
    "int",
    "long",
    "nullptr",
    "register",
    "restrict",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "static_assert",
    "struct",
    "switch",
    "thread_local",
    "true",
    "typedef",
    "typeof",
    "typeof_unqual",
    "union",
    "unsigned",
    "void",
    "volatile",
    "while",
];

/// The text above the kernels: an instruction for fused multiply-adds is asked for, since a function is slow.
const HEAD: &str = "\
#if !defined(__FMA__) && !defined(__FP_FAST_FMA) && !defined(__ARM_FEATURE_FMA)
#error \"the processor has no fused multiply-adds\"
#endif
#if defined(__clang__)
#define EACH_LANE _Pragma(\"clang loop vectorize(assume_safety) vectorize_width(LANES) interleave(disable) unroll(disable)\")
#else
#define EACH_LANE _Pragma(\"GCC ivdep\") _Pragma(\"GCC unroll 1\")
#endif
typedef __SIZE_TYPE__ size;
/* Cells from x on, whose values go to a place of the rows, or of memory aside. */
typedef struct {
  size x, to, at;
  _Bool looks_ahead;
} Step;
";

const FUNCTIONS_F32: &str = "\
float fmaf(float, float, float), sqrtf(float), fabsf(float), copysignf(float, float);
typedef union {
  float value;
  unsigned bits;
} Bits;
";
const FUNCTIONS_F64: &str = "\
double fma(double, double, double), sqrt(double), fabs(double), copysign(double, double);
typedef union {
  double value;
  unsigned long long bits;
} Bits;
";

// Integers pass through the low bits of a large number, as on every device.
const EXPONENT_F32: &str = "\
static inline __attribute__((always_inline)) float stencil_exponentf(float x) {
  Bits b = {x};
  b.bits = b.bits >> 23 | 0x4b000000u;
  return b.value - 8388735.0f;
}
";
const EXPONENT_F64: &str = "\
static inline __attribute__((always_inline)) double stencil_exponent(double x) {
  Bits b = {x};
  b.bits = b.bits >> 52 | 0x4330000000000000ull;
  return b.value - 4503599627371519.0;
}
";
const SIGNIFICAND_F32: &str = "\
static inline __attribute__((always_inline)) float stencil_significandf(float x) {
  Bits b = {x};
  b.bits = (b.bits & 0x007fffffu) | 0x3f800000u;
  return b.value;
}
";
const SIGNIFICAND_F64: &str = "\
static inline __attribute__((always_inline)) double stencil_significand(double x) {
  Bits b = {x};
  b.bits = (b.bits & 0x000fffffffffffffull) | 0x3ff0000000000000ull;
  return b.value;
}
";
const POWER_OF_TWO_F32: &str = "\
static inline __attribute__((always_inline)) float stencil_power_of_twof(float n) {
  Bits b = {n + 12583039.0f};
  b.bits <<= 23;
  return b.value;
}
";
const POWER_OF_TWO_F64: &str = "\
static inline __attribute__((always_inline)) double stencil_power_of_two(double n) {
  Bits b = {n + 6755399441056767.0};
  b.bits <<= 52;
  return b.value;
}
";

const NATIVE: Native = Native {
    reciprocal: None,
    exponent: [EXPONENT_F32, EXPONENT_F64],
    significand: [SIGNIFICAND_F32, SIGNIFICAND_F64],
    power_of_two: [POWER_OF_TWO_F32, POWER_OF_TWO_F64],
};

/// C over one lane.
struct C(Precision);

impl Numbers for C {
    fn keywords(&self) -> &'static [&'static str] {
        KEYWORDS
    }
    fn function(&self) -> &'static str {
        "static inline __attribute__((always_inline))"
    }
    fn called(&self) -> &'static str {
        "static __attribute__((noinline))"
    }
    fn native(&self) -> &'static Native {
        &NATIVE
    }
    fn infinity(&self, precision: Precision) -> &'static str {
        match precision {
            Precision::F32 => "__builtin_inff()",
            Precision::F64 => "__builtin_inf()",
        }
    }
    fn nan(&self, precision: Precision) -> &'static str {
        match precision {
            Precision::F32 => "__builtin_nanf(\"\")",
            Precision::F64 => "__builtin_nan(\"\")",
        }
    }
}

impl Language for C {
    fn keywords(&self) -> &'static [&'static str] {
        KEYWORDS
    }
    fn reserved(&self) -> &'static [&'static str] {
        // Names of values end otherwise than those of the text.
        &[]
    }
    fn literal(&self, value: f64) -> Result<(u8, String), EmitError> {
        literal(value, self.0)
    }
    fn op(&self, op: Op, args: &[String]) -> String {
        op.c(args, suffix(self.0))
    }
    fn argument(&self, _: usize) -> u8 {
        SUM
    }
    fn named(&self, name: &str, value: &str) -> String {
        format!("const {} {name} = {value};", real(self.0))
    }
    fn load(&self, input: usize, x: i64) -> String {
        match x {
            0 => format!("r{input}[l]"),
            x if x < 0 => format!("r{input}[l - {}]", x.unsigned_abs()),
            x => format!("r{input}[l + {x}]"),
        }
    }
    fn old(&self, output: usize) -> String {
        format!("o{output}[l]")
    }
    fn has_notes(&self) -> bool {
        // Whatever they say, it cannot continue a comment or close it.
        false
    }
}

/// Kernels over rows as C for registers of so many lanes, to be compiled with [`C_OPTIONS`].
///
/// Kernel i is a function `stencil_rows_{i}`. It takes the first cells of the rows that it reads (see
/// [`row_access`](super::row_access)); those of the rows that it writes, followed by two more lists of memory aside; the
/// uniforms; the steps, each of which computes a register of neighbouring cells, and their number; addresses to prefetch
/// with the steps that look ahead, and their number.
///
/// # Errors
/// If a kernel is not over rows, a name is not an identifier, a literal is not finite in this precision or a position is
/// not at a constant distance from the own cell.
pub fn c(kernels: &[&Kernel], precision: Precision, lanes: usize) -> Result<String, EmitError> {
    let language = C(precision);
    let mut out = HEAD.to_string();
    out += match precision {
        Precision::F32 => FUNCTIONS_F32,
        Precision::F64 => FUNCTIONS_F64,
    };
    out += &format!("enum {{ LANES = {lanes} }};\n\n");
    out += &functions::definitions(kernels, precision, &language)?;
    for (i, kernel) in kernels.iter().enumerate() {
        function(&mut out, (i, kernel), &row_access(kernel)?, &language)?;
    }
    Ok(out)
}

fn function(
    out: &mut String,
    (number, kernel): (usize, &Kernel),
    access: &RowAccess,
    language: &C,
) -> Result<(), EmitError> {
    let mut cells = Cells::new(kernel, access, language)?;
    let body = cells.body("      ")?;
    let (real, count) = (real(language.0), access.outputs.len());
    *out += &format!(
        "__attribute__((visibility(\"default\"))) void stencil_rows_{number}(\n    const {real} *const *in, {real} *const *out, const {real} *c, const Step *steps, size count,\n    const {real} *const *ahead, size aheads) {{\n"
    );
    for (at, name) in cells.uniforms.iter().enumerate() {
        *out += &format!("  const {real} {name} = c[{at}];\n");
    }
    *out += "  for (size s = 0; s < count; ++s) {\n    const size x = steps[s].x;\n";
    *out += "    if (steps[s].looks_ahead)\n      for (size i = 0; i < aheads; ++i) __builtin_prefetch(ahead[i] + x, 0, 2);\n";
    for at in 0..access.inputs.len() {
        *out += &format!("    const {real} *const r{at} = in[{at}] + x;\n");
    }
    for at in 0..count {
        *out += &format!("    const {real} *const o{at} = out[{at}] + x;\n");
        *out += &format!(
            "    {real} *const w{at} = out[steps[s].to * {count} + {at}] + steps[s].at;\n"
        );
    }
    *out += "    EACH_LANE\n    for (int l = 0; l < LANES; ++l) {\n";
    *out += &body;
    for (at, new) in cells.results().enumerate() {
        let old = language.old(at);
        *out += &format!("      w{at}[l] = {};\n", new.unwrap_or(&old));
    }
    *out += "    }\n  }\n}\n\n";
    Ok(())
}
