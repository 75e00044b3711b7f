"""A loop of output times with frames, for those who know the controller of PyClaw."""

import os

from ._simulation import Simulation
from .errors import SettingError


class Frame:
    """The values of a run at one time. `frame["p"]` is an array."""

    def __init__(self, run, values):
        self.t, self.step_count = run.t, run.step_count
        self.observed = run.observe()
        self._values = values

    def __getitem__(self, name):
        return self._values[name]

    @property
    def components(self):
        """The names of the arrays."""
        return list(self._values)

    def __repr__(self):
        return f"<Frame at t = {self.t:g}, step {self.step_count}>"


class Controller:
    """Runs a simulation to `tfinal` with `num_output_times` frames after the first one.

    `frames` holds the values of all frames if `keep_copy` is set. With `outdir` each frame is a file
    `frame_0003.npz` there, which `Simulation.restore` goes on from.
    """

    def __init__(self, solution, tfinal=1.0, num_output_times=10, keep_copy=True, outdir=None):
        if not isinstance(solution, Simulation):
            raise SettingError(f"{solution!r} is no run; give a `Simulation`")
        if int(num_output_times) != num_output_times or num_output_times < 1:
            raise SettingError(f"`num_output_times` is {num_output_times!r}; give 1, 2, ..")
        if not tfinal > solution.t:
            raise SettingError(f"`tfinal` is {tfinal!r}; the run is at t = {solution.t:g}, so give a later time")
        self.solution = solution
        self.tfinal = float(tfinal)
        self.num_output_times = int(num_output_times)
        self.keep_copy = keep_copy
        self.outdir = outdir
        self.frames = []

    def run(self):
        """Runs to the end. Returns the number of steps, the time, and the last length of a step."""
        run = self.solution
        first, every = run.step_count, (self.tfinal - run.t) / self.num_output_times
        count = 0
        self._output(count)
        for _ in run.until(self.tfinal, every=every):
            count += 1
            self._output(count)
        return {"numsteps": run.step_count - first, "t": run.t, "dt": run.dt}

    def _output(self, count):
        run = self.solution
        if self.keep_copy:
            self.frames.append(Frame(run, {name: run[name] for name in run.components}))
        if self.outdir is not None:
            os.makedirs(self.outdir, exist_ok=True)
            run.save(os.path.join(self.outdir, f"frame_{count:04}.npz"))
