"""Runs of a system or a problem."""

import html
import os
import warnings

import numpy as np

from . import _settings, _stencil
from ._figure import Figure
from ._problem import Problem
from ._progress import Progress
from ._system import System, as_system
from ._verify import verified
from .errors import SettingError

# Seconds of steps between two looks at signals and at the progress.
SLICE = 0.1


class Simulation:
    """A run of a system on a box of equal cells.

    `system` is a `System`, a declaration, or a `Problem`. Settings are those of problem files; those of a problem are
    changed by them. Values and sources may be numbers, formulas such as ``"exp(-x^2)"``, functions of the coordinates,
    or arrays in the order of the axes ``[z, y, x]``. The other arguments change no bit of a result: `backend` is
    ``"auto"`` (a card if there is one), ``"cpu"``, ``"compiled"``, ``"rows"`` or ``"cuda"``; `schedule` is a preset, a file or a text.

    >>> run = Simulation("system Heat in 1d { field T: scalar; ddt(T) = lap(T); }", cells=16, backend="cpu")
    >>> run["T"] = lambda x: np.sin(2*np.pi*x)
    >>> run.until(0.01).t
    0.01
    """

    def __init__(
        self,
        system,
        *,
        backend="auto",
        card=None,
        schedule=None,
        threads=None,
        evaluates=(),
        progress=None,
        scheme=None,
        **settings,
    ):
        given = {name: settings.pop(name) for name in ("init", "source") if settings.get(name) is not None}
        texts, values = {}, {}
        for section, entries in given.items():
            if not isinstance(entries, dict):
                raise SettingError(f"`{section}` takes a dictionary of names and values, not {entries!r}")
            texts[section] = {k: v for k, v in entries.items() if _is_text(v)}
            values[section] = {k: v for k, v in entries.items() if not _is_text(v)}
        arrays = values.get("source", {})
        if arrays:
            known = (system.system if isinstance(system, Problem) else as_system(system)).sources
            # Places for the arrays.
            texts["source"] |= {part: 0 for name in arrays for part in _parts(name, known)}
        self._problem = _problem(system, scheme, {**settings, **texts})
        system = self._problem.system
        self._fields = [name for name, _ in system.fields]
        self._components, self._sources = system.components, system.sources
        self._grid = [np.array(axis) for axis in self._problem.axes]
        self._progress = progress
        sources = []
        for name, value in arrays.items():
            sources += self._given(name, value)
        evaluates = [evaluates] if isinstance(evaluates, str) else list(evaluates)
        self._build = lambda backend, schedule: _stencil.Run(
            self._problem, backend, card, schedule, threads, sources, evaluates
        )
        self._native = self._build(backend, schedule)
        self._series = {}
        for name, value in values.get("init", {}).items():
            self[name] = value

    # The state.

    @property
    def t(self):
        """The time."""
        return self._native.t

    @property
    def step_count(self):
        """The number of steps done."""
        return self._native.step

    @property
    def dt(self):
        """The length of a step: the fixed one, or the last one if steps adapt. Setting it fixes all further steps."""
        return self._native.dt

    @dt.setter
    def dt(self, dt):
        self._native.dt = float(dt)

    @property
    def system(self):
        """The system."""
        native = self._native.system
        return System._of(native, {"system": native.text, "dimension": native.dimension})

    @property
    def components(self):
        """The names of the arrays, such as `u_x`."""
        return list(self._components)

    @property
    def params(self):
        """The parameters with their values."""
        return dict(self._problem.params)

    @property
    def cells(self):
        """Cells along the axes of the system, x first."""
        return tuple(self._problem.cells)

    @property
    def shape(self):
        """The shape of arrays: cells along the axes, x last."""
        return self.cells[::-1]

    @property
    def dtype(self):
        """The type of values: `float32` or `float64`."""
        return np.dtype("f4" if self._problem.precision == "f32" else "f8")

    @property
    def coordinates(self):
        """Coordinates of all cells along each axis, x first: arrays of the run's shape."""
        return tuple(np.meshgrid(*self._grid[::-1], indexing="ij")[::-1])

    @property
    def axes(self):
        """Coordinates of cells along each axis, x first: arrays of one dimension."""
        return tuple(axis.copy() for axis in self._grid)

    def coordinates_of(self, component):
        """Coordinates of the values of a component along each axis, x first: arrays of the run's shape.

        Those of a component on faces or edges of cells lie half a cell above `coordinates` along some axes.
        """
        return tuple(np.meshgrid(*self.axes_of(component)[::-1], indexing="ij")[::-1])

    def axes_of(self, component):
        """Coordinates of the values of a component along each axis, x first: arrays of one dimension."""
        parts = self._parts(component)
        if parts != [component]:
            raise SettingError(f"`{component}` has {len(parts)} components ({', '.join(parts)}); name one")
        return tuple(np.array(axis) for axis in self._problem.axes_of(component))

    @property
    def engine(self):
        """The engine of the steps: `compiled`, `rows` or `cuda`."""
        return self._native.engine

    @property
    def card(self):
        """The name of the card that runs it, or None."""
        return self._native.card

    @property
    def schedule(self):
        """The text of the schedule. Setting it to a preset, a file or a text changes no bit of a result."""
        return self._native.schedule

    @schedule.setter
    def schedule(self, wanted):
        self._native.reschedule(os.fspath(wanted))

    @property
    def remarks(self):
        """Warnings about the precision, each with the way out."""
        return self._native.remarks

    @property
    def nbytes(self):
        """The bytes of all arrays, ghost cells included."""
        return self._native.nbytes

    # Values.

    def __getitem__(self, name):
        """Returns a copy of a component, or of all components of a field along the first axis of an array."""
        parts = self._parts(name)
        if parts == [name]:
            return np.array(self.view(name))
        values = np.empty((len(parts), *self.shape), self.dtype)
        for at, part in enumerate(parts):
            values[at] = self.view(part)
        return values

    def __setitem__(self, name, value):
        """Sets a component or a field from a number, a formula, a function of the coordinates, or an array.

        A function of a field whose components lie at different places is called for each, with the coordinates of its values.
        """
        parts = self._parts(name)
        if isinstance(value, str):
            if len(parts) > 1:
                raise SettingError(f"`{name}` has {len(parts)} components ({', '.join(parts)}); give a formula for each, as a list")
            self._native.set_text(parts[0], value)
            return
        if isinstance(value, (list, tuple)) and any(isinstance(part, str) for part in value):
            if len(value) != len(parts):
                raise SettingError(f"`{name}` has {len(parts)} components, not {len(value)}")
            for part, each in zip(parts, value):
                self[part] = each
            return
        for part, values in self._given(name, value, self.dtype):
            self._native.set_values(part, values)

    def __contains__(self, name):
        return name in self._fields or name in self._components

    def view(self, name):
        """Returns a component where the run has it: an array without a copy, which cannot be written.

        As long as the array or a part of it lives, calls that change the run raise `ViewsLive`. On a card it is of a copy
        in the memory of the host.
        """
        # Axes that the system does not have are of length 1.
        return np.asarray(self._native.view(name))[(0,) * (3 - len(self.cells))]

    def share(self, name):
        """Returns a component where the run has it, for other libraries, which may change it: an object with `__dlpack__` and,
        on a card, `__cuda_array_interface__`, on the processor `__array_interface__`.

        ``torch.from_dlpack(run.share("T"))`` is a tensor of the run's values on either. Calls that read values or do steps raise
        `ViewsLive` as long as it or an array made of it lives; the next one finds the changed values. The run has one patch on
        one device.
        """
        return self._native.share(name)

    def evaluate(self, expression):
        """Returns the values of an expression of the language, such as ``"d[x](u.y) - d[y](u.x)"``, in all cells."""
        return np.array(self._native.evaluate(expression)).reshape(self.shape)

    def observe(self):
        """Returns the observables of the system at this time, by name."""
        return self._native.observe()

    @property
    def series(self):
        """Times, steps and observables at the times that `until(.., every=..)` has yielded, by name."""
        return {name: np.array(values) for name, values in self._series.items()}

    def errors(self):
        """Returns the errors of components with an exact solution: dictionaries with `l1`, `l2` and `linf`."""
        names = ("l1", "l2", "linf")
        return {name: dict(zip(names, norms)) for name, norms in self._native.errors().items()}

    def repairs(self):
        """Returns how often the flux through the upper faces of each cell was repaired, or None."""
        found = self._native.repairs()
        return None if found is None else np.array(found).reshape(self.shape).astype("u8")

    def bits(self):
        """Returns the bits of all values: the same bytes for the same problem on any backend, by any schedule."""
        return self._native.bits()

    def verify(self, steps=2, backends=None, schedules=(None, "single_pass", "decomposed", "gpu")):
        """Compares the bits after so many steps from this state on: by each backend and schedule, against the row engine.

        `backends` are the processor and, where there is one, the card. The run itself does no step. Schedules are presets,
        files or texts; None is the usual one. The result is true if all bits are equal, and prints as a table.
        """

        def build(backend, schedule):
            other = object.__new__(Simulation)
            vars(other).update(vars(self), _series={}, _progress=False)
            other._native = self._build(backend, schedule)
            return other

        return verified(self, build, steps, backends, schedules)

    # Steps.

    def step(self, count=1):
        """Does so many steps; returns the run."""
        self._advance(None, self.step_count + _count(count))
        return self

    def until(self, end=None, every=None):
        """Does steps up to a time, at which the last one ends exactly; the problem's end if none is given.

        Without `every` it returns the run. With it, it returns an iterator which yields the run each time so much time has
        passed, and at the end. Ctrl-C raises `KeyboardInterrupt` between two steps: the run is good, and goes on by another
        call.
        """
        last = None
        if end is None:
            end, last = self._problem.end, self._problem.steps
            if end is None and last is None:
                raise SettingError("nothing says when the run ends; give a time: `until(0.5)`")
        if every is None:
            self._advance(end, last)
            return self
        if end is None:
            raise SettingError("the run ends after a number of steps; give a time beside `every`: `until(0.5, every=0.1)`")
        return Frames(self, float(end), _positive("every", every), last)

    def _advance(self, end, last, progress=None):
        """Does steps, some at a time, without Python's lock. Signals arrive in between."""
        own = progress is None
        if own:
            progress = Progress(self, end, last, self._progress)
        end = None if end is None else float(end)
        try:
            while not self._native.advance(end, last, SLICE):
                progress.update()
        finally:
            if own:
                progress.finish()

    def _record(self):
        """Adds the observables to the series."""
        row = {"t": self.t, "step": self.step_count, **self.observe()}
        for name, value in row.items():
            self._series.setdefault(name, []).append(value)

    # Files, pictures and words.

    def save(self, path):
        """Writes the state as `.npz`, which `restore` goes on from, bit for bit."""
        self._native.save(os.fspath(path))

    def restore(self, path):
        """Goes on from a state; returns a line for each setting that differs from those of the run that wrote it."""
        changed = self._native.restore(os.fspath(path))
        self._series = {}
        return changed

    def plot(self, values=None, **options):
        """Returns a picture of components or expressions, beside each other: ``run.plot("T", map="magma")``.

        Without values it shows those of the problem's file, or all components. Options are those of `[[plot]]` in problem
        files: `slice`, `title`, `label`, `map`, `log`, `range`.
        """
        if values is None and not options and self._of_file:
            drawn = self._native.pictures(self._problem)
            if drawn:
                return Figure(drawn[0][1].save)
        values = self.components if values is None else values
        values = [values] if isinstance(values, str) else list(values)
        if not values:
            raise SettingError("`plot` got no values; name a component or an expression")
        plots = [{"value": value, "file": "plot", **options} for value in values]
        problem = self._problem.with_plots("\n".join(_settings.plots(plots)))
        return Figure(self._native.pictures(problem)[0][1].save)

    @property
    def _of_file(self):
        return "[[plot]]" in self._problem.to_toml()

    def __repr__(self):
        cells = " × ".join(str(n) for n in self.cells)
        return f"<Simulation of {self._problem.system.name}, {cells} cells, {self.dtype}, on {self.card or self.engine}: step {self.step_count}, t = {self.t:g}>"

    def __str__(self):
        return self._native.summary()

    def _repr_html_(self):
        return f"{html.escape(repr(self))}<pre>{html.escape(str(self))}</pre>"

    def _parts(self, name):
        """Returns the components of a field or a source, or the component itself."""
        return _parts(name, self._components + self._sources)

    def _given(self, name, value, dtype=np.dtype("f8")):
        """Returns the components of a value with their arrays `[z, y, x]`."""
        parts = self._parts(name)
        if callable(value):
            value = self._at_places(parts, value)
        if len(parts) > 1 and isinstance(value, (list, tuple)):
            if len(value) != len(parts):
                raise SettingError(f"`{name}` has {len(parts)} components, not {len(value)}")
            return [self._array(part, each, dtype) for part, each in zip(parts, value)]
        if len(parts) > 1:
            value = np.asarray(value)
            if value.ndim and value.shape[0] != len(parts):
                raise SettingError(f"`{name}` has {len(parts)} components along the first axis, not {value.shape[0]}")
            each = value if value.ndim else [value] * len(parts)
            return [self._array(part, values, dtype) for part, values in zip(parts, each)]
        return [self._array(parts[0], value, dtype)]

    def _at_places(self, parts, function):
        """Returns the values of a function of the coordinates, those of each component at its places."""
        places = [self._problem.axes_of(part) for part in parts]
        if all(place == places[0] for place in places):
            return function(*self.coordinates_of(parts[0]))
        values = []
        for at, part in enumerate(parts):
            value = function(*self.coordinates_of(part))
            is_one = not isinstance(value, (list, tuple)) and np.ndim(value) <= len(self.cells)
            if not is_one and len(value) != len(parts):
                raise SettingError(f"the function gives {len(value)} values for {len(parts)} components ({', '.join(parts)})")
            values.append(value if is_one else value[at])
        return values

    def _array(self, name, value, dtype):
        value = np.asarray(value)
        if value.dtype.kind not in "fiub":
            raise SettingError(f"`{name}` is set to values of type {value.dtype}; give real numbers")
        try:
            full = np.broadcast_to(value, self.shape)
        except ValueError:
            raise SettingError(
                f"`{name}` has the shape {self.shape}, x last, not {value.shape}"
            ) from None
        shape = (1,) * (3 - full.ndim) + full.shape
        return name, np.ascontiguousarray(full, dtype=dtype).reshape(shape)


class Frames:
    """The run at times that are equally far apart, and at its end."""

    def __init__(self, run, end, every, last):
        self._run, self._end, self._every, self._last = run, end, every, last
        self._first, self._count, self._begun = run.t, 0, False
        self._progress = None

    def __iter__(self):
        return self

    def __next__(self):
        run = self._run
        if not self._begun:
            self._begun = True
            self._progress = Progress(run, self._end, self._last, run._progress)
        if run.t >= self._end or (self._last is not None and run.step_count >= self._last):
            self._progress.finish()
            raise StopIteration
        # Times already passed are left out, as after a restored state.
        self._count = max(self._count + 1, int((run.t - self._first) / self._every + 1e-9) + 1)
        time = self._first + self._count * self._every
        # The last interval is no sliver.
        time = self._end if time > self._end - 1e-6 * self._every else time
        try:
            run._advance(time, self._last, self._progress)
        except BaseException:
            self._progress.finish()
            raise
        self._progress.update()
        run._record()
        return run

    def __del__(self):
        if not getattr(self, "_begun", True):
            warnings.warn("`until(.., every=..)` does steps as it is iterated, and nothing did: write `for state in ..`", stacklevel=2)


def _parts(name, known):
    """Returns the components of a field among known ones, or its name itself."""
    if name in known:
        return [name]
    rest = {part: part[len(name) + 1 :] for part in known if part.startswith(f"{name}_")}
    return [part for part, axes in rest.items() if axes and set(axes) <= set("xyz")] or [name]


def _is_text(value):
    """Is a value one that a problem file holds: a number, a formula, or a list of them?"""
    if isinstance(value, (list, tuple)):
        return all(isinstance(part, str) or _settings.number(part) for part in value) and any(isinstance(part, str) for part in value)
    return isinstance(value, (str, dict)) or _settings.number(value)


def _problem(system, scheme, settings):
    """Returns the problem of a run."""
    if isinstance(system, Problem):
        if scheme is not None:
            raise SettingError("the scheme of a problem is in its file; change it by `Problem(.., scheme=..)`")
        settings = {name: value for name, value in settings.items() if value is not None and value != {}}
        return (system.changed(**settings) if settings else system)._native
    system = as_system(system)
    sorted_ = _settings.sections(settings, system.dimension)
    time = sorted_.setdefault("time", {})
    time.setdefault("dt", "auto")
    is_open = "end" not in time and "steps" not in time
    if is_open:
        time["steps"] = 0
    _add_zeros(sorted_, system)
    top = dict(system._top)
    if scheme is not None:
        top["scheme"] = scheme
    return _stencil.Problem.parse(f"<{system.name}>", _settings.document(top, sorted_), "", is_open)


def _add_zeros(sorted_, system):
    """Sets components to zero that have no initial value: they are set after the run is made, or stay zero."""
    init = sorted_.setdefault("init", {})
    if "file" in init:
        return
    given = {*init, *sorted_.get("exact", {})}
    for field in system.fields:
        if field not in given:
            parts = _parts(field, system.components)
            init.update({part: 0 for part in parts if part not in given})


def _count(count):
    if isinstance(count, bool) or int(count) != count or count < 0:
        raise SettingError(f"{count!r} is no number of steps; give 0, 1, 2, ..")
    return int(count)


def _positive(name, value):
    if not (_settings.number(value) and 0 < value < float("inf")):
        raise SettingError(f"`{name}` is {value!r}; give a positive number")
    return float(value)
