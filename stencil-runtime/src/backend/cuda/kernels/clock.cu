// The state of a run in the memory of a card: the numbers that the length of a step, the times of its
// substeps and their uniforms are made of, at the places that the text before this one names. That
// text also defines step_length, step_end, substep_time and uniform over them.

// Begins a step: finds its length and writes what its substeps take. The time becomes that of the end
// of the step, which is also when the next thing is evaluated between steps. Number k of what kernels take is the uniform order[k] % UNIFORMS of the substep order[k] /
// UNIFORMS.
extern "C" __global__ void __launch_bounds__(32) begin_step(
    double* state, double* times, const int* __restrict__ order, int count, real* taken) {
  double a[NUMBERS];
  for (int i = 0; i < NUMBERS; ++i) a[i] = state[i];
  __syncwarp();
  a[DT] = step_length(a);
  const double begin = a[T];
  if (threadIdx.x == 0) {
    state[DT] = a[DT];
    state[T] = times[SUBSTEPS] = step_end(a);
  }
  if (threadIdx.x < SUBSTEPS) times[threadIdx.x] = substep_time(threadIdx.x, a);
  for (int k = threadIdx.x; k < count; k += 32) {
    const int substep = order[k] / UNIFORMS;
    a[T] = begin;
    a[T] = substep_time(substep, a);
    taken[k] = real(uniform(order[k] % UNIFORMS, a));
  }
}
