// The state of a run in the memory of a card: the numbers that the length of a step, the times of its
// substeps and their uniforms are made of, at the places that the text before this one names. That
// text also defines step_length, step_end, substep_time and uniform over them.

// The state of several steps that adapt: the longest stable step has the Courant number `limit`; so many steps are
// begun, and so many of them accepted; no more are begun once `stopped`. The times and lengths of the steps follow.
struct Several {
  double limit, begun, accepted, stopped;
  double steps[];
};

constexpr double NEVER = __builtin_huge_val();

static __device__ __forceinline__ void load(double* a, const double* state) {
  for (int i = 0; i < NUMBERS; ++i) a[i] = state[i];
}

// Begins a step of the length a[DT]: writes the numbers that its substeps take. The time becomes that of the end of the
// step, at which quantities are evaluated between steps. Number k of those that kernels take is the uniform
// order[k] % UNIFORMS of the substep order[k] / UNIFORMS.
static __device__ __forceinline__ void begin(
    double* a, double* state, double* times, const int* __restrict__ order, int count, real* taken) {
  const double t = a[T];
  if (threadIdx.x == 0) {
    state[DT] = a[DT];
    state[T] = times[SUBSTEPS] = step_end(a);
  }
  if (threadIdx.x < SUBSTEPS) times[threadIdx.x] = substep_time(threadIdx.x, a);
  for (int k = threadIdx.x; k < count; k += 32) {
    const int substep = order[k] / UNIFORMS;
    a[T] = t;
    a[T] = substep_time(substep, a);
    taken[k] = real(uniform(order[k] % UNIFORMS, a));
  }
}

// Begins a step whose length the host or the speeds give.
extern "C" __global__ void __launch_bounds__(32) begin_step(
    double* state, double* times, const int* __restrict__ order, int count, real* taken) {
  double a[NUMBERS];
  load(a, state);
  __syncwarp();
  a[DT] = step_length(a);
  begin(a, state, times, order, count, taken);
}

// Do all speeds limit a step? Those are numbers, and not negative.
static __device__ __forceinline__ bool has_speeds(const double* a) {
  bool all = true;
  for (int i = SPEED; i < NUMBERS; ++i) all = all && a[i] >= 0.0 && a[i] < NEVER;
  return all;
}

// Accepts the last step, unless the speeds at its end allow no step of its length. Returns whether steps go on.
static __device__ __forceinline__ bool accept(const double* a, Several* several) {
  double b[NUMBERS];
  load(b, a);
  b[END] = b[MOST] = NEVER;
  b[NUMBER] = several->limit;
  const bool goes_on = several->stopped == 0.0;
  const double begun = several->begun;
  const bool is_limited = several->limit < NEVER && begun > 0.0 && has_speeds(a);
  const bool is_accepted = !is_limited || a[DT] <= step_length(b);
  __syncwarp();
  if (threadIdx.x == 0 && goes_on) {
    if (is_accepted) several->accepted = begun;
    if (!is_accepted) several->stopped = 1.0;
  }
  return goes_on && is_accepted;
}

// Accepts the last step and begins the next one. A step that the host has to look at is not begun: the run has ended, or
// there is no length.
extern "C" __global__ void __launch_bounds__(32) begin_next(
    double* state, double* times, const int* __restrict__ order, int count, real* taken, Several* several) {
  double a[NUMBERS];
  load(a, state);
  const int begun = int(several->begun);
  __syncwarp();
  if (!accept(a, several)) return;
  const double dt = step_length(a);
  if (!(has_speeds(a) && a[T] < a[END] && dt < NEVER && a[T] + dt > a[T])) {
    if (threadIdx.x == 0) several->stopped = 1.0;
    return;
  }
  a[DT] = dt;
  if (threadIdx.x == 0) {
    several->steps[2 * begun] = a[T];
    several->steps[2 * begun + 1] = dt;
    several->begun = begun + 1;
  }
  begin(a, state, times, order, count, taken);
}

// Accepts the last of several steps.
extern "C" __global__ void __launch_bounds__(32) accept_last(const double* state, Several* several) {
  double a[NUMBERS];
  load(a, state);
  __syncwarp();
  accept(a, several);
}
