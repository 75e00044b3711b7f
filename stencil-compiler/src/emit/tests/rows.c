#if !defined(__FMA__) && !defined(__FP_FAST_FMA) && !defined(__ARM_FEATURE_FMA)
#error "the processor has no fused multiply-adds"
#endif
#if defined(__clang__)
#define EACH_LANE _Pragma("clang loop vectorize(assume_safety) vectorize_width(LANES) interleave(disable) unroll(disable)")
#else
#define EACH_LANE _Pragma("GCC ivdep") _Pragma("GCC unroll 1")
#endif
typedef __SIZE_TYPE__ size;
/* Cells from x on, whose values go to a place of the rows, or of memory aside. */
typedef struct {
  size x, to, at;
  _Bool looks_ahead;
} Step;
float fmaf(float, float, float), sqrtf(float), fabsf(float), copysignf(float, float);
typedef union {
  float value;
  unsigned bits;
} Bits;
enum { LANES = 16 };

__attribute__((visibility("default"))) void stencil_rows_0(
    const float *const *in, float *const *out, const float *c, const Step *steps, size count,
    const float *const *ahead, size aheads) {
  const float k_v = c[0];
  for (size s = 0; s < count; ++s) {
    const size x = steps[s].x;
    if (steps[s].looks_ahead)
      for (size i = 0; i < aheads; ++i) __builtin_prefetch(ahead[i] + x, 0, 2);
    const float *const r0 = in[0] + x;
    const float *const r1 = in[1] + x;
    const float *const r2 = in[2] + x;
    const float *const r3 = in[3] + x;
    const float *const r4 = in[4] + x;
    const float *const o0 = out[0] + x;
    float *const w0 = out[steps[s].to * 1 + 0] + steps[s].at;
    EACH_LANE
    for (int l = 0; l < LANES; ++l) {
      const float u0_v = r2[l];
      const float plus_v = r2[l + 1];
      const float minus_v = r2[l - 1];
      const float plus_2_v = r3[l];
      const float minus_2_v = r1[l];
      const float plus_3_v = r4[l];
      const float minus_3_v = r0[l];
      const float sum_3_v = u0_v * -6e0f + (plus_v + minus_v) + (plus_2_v + minus_2_v);
      const float u_next_result = fmaf(k_v, sum_3_v + (plus_3_v + minus_3_v), u0_v);
      w0[l] = u_next_result;
    }
  }
}

__attribute__((visibility("default"))) void stencil_rows_1(
    const float *const *in, float *const *out, const float *c, const Step *steps, size count,
    const float *const *ahead, size aheads) {
  const float alpha_v = c[0];
  const float beta_v = c[1];
  const float w0_v = c[2];
  const float w1_v = c[3];
  const float w2_v = c[4];
  const float w3_v = c[5];
  for (size s = 0; s < count; ++s) {
    const size x = steps[s].x;
    if (steps[s].looks_ahead)
      for (size i = 0; i < aheads; ++i) __builtin_prefetch(ahead[i] + x, 0, 2);
    const float *const r0 = in[0] + x;
    const float *const r1 = in[1] + x;
    const float *const r2 = in[2] + x;
    const float *const r3 = in[3] + x;
    const float *const r4 = in[4] + x;
    const float *const r5 = in[5] + x;
    const float *const r6 = in[6] + x;
    const float *const r7 = in[7] + x;
    const float *const r8 = in[8] + x;
    const float *const r9 = in[9] + x;
    const float *const r10 = in[10] + x;
    const float *const r11 = in[11] + x;
    const float *const r12 = in[12] + x;
    const float *const o0 = out[0] + x;
    float *const w0 = out[steps[s].to * 3 + 0] + steps[s].at;
    const float *const o1 = out[1] + x;
    float *const w1 = out[steps[s].to * 3 + 1] + steps[s].at;
    const float *const o2 = out[2] + x;
    float *const w2 = out[steps[s].to * 3 + 2] + steps[s].at;
    EACH_LANE
    for (int l = 0; l < LANES; ++l) {
      const float u0_v = r6[l];
      const float plus_v = r6[l + 1];
      const float minus_v = r6[l - 1];
      const float plus_2_v = r6[l + 2];
      const float minus_2_v = r6[l - 2];
      const float plus_3_v = r6[l + 3];
      const float minus_3_v = r6[l - 3];
      const float rhs_3_v = fmaf(w2_v, plus_2_v + minus_2_v, fmaf(w1_v, plus_v + minus_v, w0_v * u0_v));
      const float plus_4_v = r7[l];
      const float minus_4_v = r5[l];
      const float plus_5_v = r8[l];
      const float minus_5_v = r4[l];
      const float rhs_5_v = fmaf(w1_v, plus_4_v + minus_4_v, fmaf(w3_v, plus_3_v + minus_3_v, rhs_3_v));
      const float plus_6_v = r9[l];
      const float minus_6_v = r3[l];
      const float plus_7_v = r10[l];
      const float minus_7_v = r2[l];
      const float rhs_7_v = fmaf(w3_v, plus_6_v + minus_6_v, fmaf(w2_v, plus_5_v + minus_5_v, rhs_5_v));
      const float plus_8_v = r11[l];
      const float minus_8_v = r1[l];
      const float plus_9_v = r12[l];
      const float minus_9_v = r0[l];
      const float rhs_9_v = fmaf(w2_v, plus_8_v + minus_8_v, fmaf(w1_v, plus_7_v + minus_7_v, rhs_7_v));
      const float a_old_v = o0[l];
      const float a_new_v = fmaf(alpha_v, a_old_v, fmaf(w3_v, plus_9_v + minus_9_v, rhs_9_v));
      const float a_result = a_new_v;
      const float next_v = fmaf(beta_v, a_new_v, u0_v);
      const float u_next_result = next_v;
      const float size_v = fabsf(next_v);
      const float scaled_v = (5e-1f < size_v ? 5e-1f : size_v) * 3e0f;
      const float limited_result = -(2.5e-1f > scaled_v ? 2.5e-1f : scaled_v);
      w0[l] = a_result;
      w1[l] = u_next_result;
      w2[l] = limited_result;
    }
  }
}

