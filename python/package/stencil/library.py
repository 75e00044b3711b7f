"""The library: systems as attributes, such as `stencil.library.IsothermalNs`, and problems by name.

A system is read when it is asked for. In another number of dimensions than two it is `system("Wave", 3)`.
"""

import functools

from . import _settings, _stencil
from ._problem import Problem
from ._system import System


@functools.cache
def _dimensions():
    found = {}
    for name, dimension in _stencil.systems():
        found.setdefault(name, []).append(dimension)
    return {name: sorted(dimensions) for name, dimensions in sorted(found.items())}


def systems():
    """Returns the names of all systems, each with its numbers of dimensions."""
    return {name: list(dimensions) for name, dimensions in _dimensions().items()}


def system(name, dimension=None, scheme=None):
    """Returns a system by its name; case, `_` and `-` do not matter."""
    return System._of_library(name, dimension, scheme)


def problems():
    """Returns the names of all problems, each with its title."""
    return dict(_stencil.problems())


def problem(name, **settings):
    """Returns a problem by its name, with some settings changed."""
    return Problem._of_library(name, settings)


def __getattr__(name):
    known = systems()
    if name in known:
        return system(name)
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(str(_settings.unknown("the library", "system", name, list(known))))


def __dir__():
    return ["problem", "problems", "system", "systems", *systems()]
