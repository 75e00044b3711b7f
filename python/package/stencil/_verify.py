"""Comparisons of engines and schedules, bit for bit."""

import html
import os
import tempfile

from . import _settings, _stencil
from .errors import SettingError


class Verified:
    """The bits after some steps by engines and schedules, beside those of the row engine.

    It is true if all are equal. `rows` has a tuple for each: the backend, the schedule, and the number of bytes that differ.
    """

    def __init__(self, name, steps, compared, rows):
        self._name, self._steps, self._compared, self.rows = name, steps, compared, rows

    def __bool__(self):
        return all(differing == 0 for _, _, differing in self.rows)

    def __str__(self):
        lines = [f"{self._name}, {self._steps} steps, {self._compared} bytes of values and observables against `rows`"]
        lines += [f"  {backend:<9} {_short(schedule):<20} {_verdict(differing)}" for backend, schedule, differing in self.rows]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self):
        return f"<pre>{html.escape(str(self))}</pre>"


def verified(run, build, steps, backends, schedules):
    """Compares runs that `build` makes from a backend and a schedule, from the state of a run on."""
    if isinstance(steps, bool) or not isinstance(steps, int) or steps < 1:
        raise SettingError(f"{steps!r} is no number of steps to compare; give 1, 2, ..")
    if backends is None:
        backends = ("cpu", "cuda") if _stencil.cards() else ("cpu",)
    known = ("cpu", "rows", "cuda")
    for backend in backends:
        if backend not in known:
            raise _settings.unknown("a comparison", "backend", backend, list(known))
    with tempfile.TemporaryDirectory() as folder:
        state = os.path.join(folder, "state.npz")
        run.save(state)

        def bits(backend, schedule):
            other = build(backend, schedule)
            other.restore(state)
            return other.step(steps).bits()

        expected = bits("rows", None)
        rows = []
        for backend in backends:
            for schedule in schedules:
                found = bits(backend, schedule)
                rows.append((backend, schedule, sum(a != b for a, b in zip(expected, found, strict=True))))
    return Verified(run.system.name, steps, len(expected), rows)


def _short(schedule):
    """Returns a schedule's name in a line: the first line of a text."""
    return "the usual" if schedule is None else schedule.strip().splitlines()[0]


def _verdict(differing):
    return "equal" if differing == 0 else f"{differing} bytes differ"
