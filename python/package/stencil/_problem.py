"""Problems: a system with a mesh, boundaries, initial values and the end of a run."""

import html
import os

from . import _settings, _stencil
from ._system import System


class Problem:
    """A problem, read from a file in TOML with some settings changed: `Problem("heat.toml", cells=64)`.

    `Simulation(problem)` runs it.
    """

    def __init__(self, path, **settings):
        path = os.fspath(path)
        self._origin = (_stencil.Problem.open, path)
        self._read(settings)

    @classmethod
    def _of_library(cls, name, settings):
        problem = cls.__new__(cls)
        problem._origin = (_stencil.Problem.library, name)
        problem._read(settings)
        return problem

    def _read(self, settings):
        read, name = self._origin
        self._settings = settings
        # A condition for all faces needs the number of axes.
        dimension = read(name, []).system.dimension if "boundary" in settings else 0
        changes = _settings.changes(_settings.sections(settings, dimension))
        # A number of steps stands in place of the file's end, and the other way round.
        for one, other in (("steps", "end"), ("end", "steps")):
            if one in settings and other not in settings:
                changes.append((f"time.{other}", None))
        self._native = read(name, changes)

    def changed(self, **settings):
        """Returns the same problem with some settings changed."""
        problem = type(self).__new__(type(self))
        problem._origin = self._origin
        problem._read({**self._settings, **settings})
        return problem

    @property
    def name(self):
        """Its name."""
        return self._native.name

    @property
    def title(self):
        """One line that describes it."""
        return self._native.title

    @property
    def system(self):
        """Its system."""
        native = self._native.system
        return System._of(native, {"system": native.text, "dimension": native.dimension})

    @property
    def cells(self):
        """Cells along its axes."""
        return tuple(self._native.cells)

    @property
    def params(self):
        """Its parameters with their values."""
        return dict(self._native.params)

    @property
    def end(self):
        """The time at which a run ends, or None."""
        return self._native.end

    @property
    def steps(self):
        """The number of steps after which a run ends, or None."""
        return self._native.steps

    def to_toml(self):
        """Returns the problem file with everything resolved."""
        return self._native.to_toml()

    def __repr__(self):
        return f"<Problem {self.name}: {self.title}>"

    def __str__(self):
        return self._native.summary()

    def _repr_html_(self):
        return f"<b>{html.escape(self.title)}</b><pre>{html.escape(str(self))}</pre>"
