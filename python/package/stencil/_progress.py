"""The progress of a run: a line in a terminal, a bar in a notebook, nothing elsewhere."""

import html
import sys
import time

# Seconds before the progress appears: short runs show none.
DELAY = 1.0


def _notebook():
    """Is this a notebook, which shows HTML?"""
    shell = sys.modules.get("IPython")
    shell = shell and shell.get_ipython()
    return type(shell).__name__ == "ZMQInteractiveShell"


class Progress:
    """Shows how far a run is. `wanted` is True, False, or None for whether someone looks."""

    def __init__(self, run, end, last, wanted=None, out=None):
        self._run, self._end, self._last = run, end, last
        self._out = sys.stderr if out is None else out
        self._kind = None
        if wanted is not False:
            if _notebook():
                self._kind = "notebook"
            elif wanted or getattr(self._out, "isatty", lambda: False)():
                self._kind = "terminal"
        self._begun = time.perf_counter()
        self._first = (run.t, run.step_count)
        self._points = 1
        for cells in run.cells:
            self._points *= cells
        self._shown = None

    def share(self):
        """Returns the done part of the run, between 0 and 1."""
        first_t, first_step = self._first
        shares = [0.0]
        if self._end is not None and self._end > first_t:
            shares.append((self._run.t - first_t) / (self._end - first_t))
        if self._last is not None and self._last > first_step:
            shares.append((self._run.step_count - first_step) / (self._last - first_step))
        return min(max(shares), 1.0)

    def words(self):
        """Returns the progress in words."""
        seconds = max(time.perf_counter() - self._begun, 1e-9)
        steps, share = self._run.step_count - self._first[1], self.share()
        text = f"{100 * share:3.0f} %  step {self._run.step_count}, t = {self._run.t:.4g}, {steps * self._points / seconds / 1e6:.3g} Mpts/s"
        if 0 < share < 1:
            text += f", {seconds * (1 - share) / share:.0f} s left"
        return text

    def update(self):
        """Shows the progress, once the run has taken a while."""
        if self._kind is None or time.perf_counter() - self._begun < DELAY:
            return
        if self._kind == "terminal":
            self._out.write(f"\r\033[K{self.words()}")
            self._out.flush()
            self._shown = True
            return
        from IPython.display import HTML, display

        bar = HTML(f"<progress value='{self.share():.4f}' max='1'></progress> {html.escape(self.words())}")
        if self._shown is None:
            self._shown = display(bar, display_id=True)
        else:
            self._shown.update(bar)

    def finish(self):
        """Clears the line of a terminal; a bar in a notebook stays."""
        if self._shown and self._kind == "terminal":
            self._out.write("\r\033[K")
            self._out.flush()
            self._shown = None
