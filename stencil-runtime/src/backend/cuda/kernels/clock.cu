// The state of a run in the memory of a card: the numbers that the length of a step, the times of its
// substeps and their uniforms are made of, at the places that the text before this one names. That
// text also defines step_length, step_end, substep_time and uniform over them.

// Of several steps that adapt, the text before this one names more places: the longest stable step has the Courant
// number LIMIT; so many steps are BEGUN, and so many of them ACCEPTED; no more are begun once they are STOPPED. The time
// and the length of each step follow at STEPS.

static __device__ __forceinline__ double never() { return __longlong_as_double(0x7ff0000000000000LL); }

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
  for (int i = SPEED; i < NUMBERS; ++i) all = all && a[i] >= 0.0 && a[i] < never();
  return all;
}

// Accepts the last step, unless the speeds at its end allow no step of its length. Returns whether steps go on.
static __device__ __forceinline__ bool accept(const double* a, double* several) {
  double b[NUMBERS];
  load(b, a);
  b[END] = b[MOST] = never();
  b[NUMBER] = several[LIMIT];
  const bool goes_on = several[STOPPED] == 0.0;
  const double begun = several[BEGUN];
  const bool is_limited = several[LIMIT] < never() && begun > 0.0 && has_speeds(a);
  const bool is_accepted = !is_limited || a[DT] <= step_length(b);
  __syncwarp();
  if (threadIdx.x == 0 && goes_on) {
    if (is_accepted) several[ACCEPTED] = begun;
    if (!is_accepted) several[STOPPED] = 1.0;
  }
  return goes_on && is_accepted;
}

// Accepts the last step and begins the next one. A step that the host has to look at is not begun: the run has ended, or
// there is no length.
extern "C" __global__ void __launch_bounds__(32) begin_next(
    double* state, double* times, const int* __restrict__ order, int count, real* taken, double* several) {
  double a[NUMBERS];
  load(a, state);
  const int begun = int(several[BEGUN]);
  __syncwarp();
  if (!accept(a, several)) return;
  const double dt = step_length(a);
  if (!(has_speeds(a) && a[T] < a[END] && dt < never() && a[T] + dt > a[T])) {
    if (threadIdx.x == 0) several[STOPPED] = 1.0;
    return;
  }
  a[DT] = dt;
  if (threadIdx.x == 0) {
    several[STEPS + 2 * begun] = a[T];
    several[STEPS + 2 * begun + 1] = dt;
    several[BEGUN] = begun + 1;
  }
  begin(a, state, times, order, count, taken);
}

// Accepts the last of several steps.
extern "C" __global__ void __launch_bounds__(32) accept_last(const double* state, double* several) {
  double a[NUMBERS];
  load(a, state);
  __syncwarp();
  accept(a, several);
}

// Takes the numbers of a step, which the first card has made, into the memory of another card.
extern "C" __global__ void __launch_bounds__(32) take_over(const real* taken, int count, real* own) {
  for (int k = threadIdx.x; k < count; k += 32) own[k] = taken[k];
}
