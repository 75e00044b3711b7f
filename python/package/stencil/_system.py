"""Systems of equations."""

import html
import os

from . import _settings, _stencil
from ._figure import Figure
from .errors import SettingError

RANKS = ("scalar", "vector", "tensor")


class System:
    """A system of partial differential equations with its scheme.

    `declaration` is a text such as ``"system Heat in 2d { field T: scalar; ddt(T) = lap(T); }"``, or the path of a
    `.pde` file. `dimension` is for systems `in nd`. `scheme` is the name of one of its schemes, or a dictionary of
    changes such as ``{"order": 4, "time": "rk4"}``.

    >>> System("system Heat in 1d { field T: scalar; ddt(T) = lap(T); }").components
    ['T']
    """

    def __init__(self, declaration, dimension=None, scheme=None):
        declaration = os.fspath(declaration)
        source = "system"
        if "{" not in declaration:
            source, declaration = declaration, _read(declaration)
        self._top = {"system": declaration}
        named = scheme if isinstance(scheme, str) else None
        self._take(_stencil.System.declare(source, declaration, dimension, named), scheme)

    @classmethod
    def _of_library(cls, name, dimension=None, scheme=None):
        system = cls.__new__(cls)
        named = scheme if isinstance(scheme, str) else None
        found = _stencil.System.library(name, dimension, named)
        system._top = {"system": found.name}
        system._take(found, scheme)
        return system

    @classmethod
    def _of(cls, native, top):
        system = cls.__new__(cls)
        system._native, system._top = native, top
        return system

    def _take(self, native, scheme):
        """Takes a system, by the changes of a scheme if there are some."""
        self._top["dimension"] = native.dimension
        if scheme is not None:
            self._top["scheme"] = scheme
        if isinstance(scheme, dict):
            bare = _settings.document(self._top, _least(native))
            native = _stencil.Problem.parse(f"<{native.name}>", bare, "", False).system
        self._native = native

    @property
    def name(self):
        """Its name."""
        return self._native.name

    @property
    def dimension(self):
        """Its number of dimensions."""
        return self._native.dimension

    @property
    def fields(self):
        """Its fields: names with `scalar`, `vector` or `tensor`."""
        return {name: RANKS[rank] for name, rank in self._native.fields}

    @property
    def components(self):
        """The components of its fields, such as `u_x`: each is one array."""
        return self._native.components

    @property
    def sources(self):
        """The components of fields that are given from outside."""
        return self._native.sources

    @property
    def params(self):
        """Its parameters with their defaults; None stands for one that has to be given."""
        return dict(self._native.params)

    @property
    def observables(self):
        """The names of its observables."""
        return self._native.observables

    @property
    def schemes(self):
        """The names of its schemes, the one in use first."""
        return self._native.schemes

    @property
    def scheme(self):
        """Its scheme in words."""
        return self._native.scheme

    @property
    def equations(self):
        """Its intermediates and equations as they were understood, a text each."""
        return self._native.equations

    @property
    def text(self):
        """Its declaration as it was understood."""
        return self._native.text

    def explain(self, cells=None, precision="f64", schedule=None, card=None):
        """Returns the page of `stencil explain`: grid functions, footprints, and the cost of schedules.

        With `cells` times are predicted on a card: H200, H100, A100 or K40.
        """
        return self._native.explain(_cells(cells), precision, schedule, card)

    def plan(self, cells=None, precision="f64", schedule=None, card=None, candidates=64, compile=False):
        """Returns the plan of a step: by a schedule, or by the one that is predicted to be the fastest on a card.

        `compile` asks NVRTC for the registers of the kernels; no card is needed.
        """
        return Plan(self._native.plan(_cells(cells), precision, schedule, card, candidates, compile))

    def schedule(self, wanted="gpu", cells=None, precision="f64", card=None):
        """Returns the text of a schedule: of a preset such as `gpu` or `cpu`, of a schedule file or of a plan file."""
        return self._native.schedule(wanted, _cells(cells), precision, card)

    def emit(self, stage, cells=None, precision="f64", schedule=None, launch=None, arch="sm_90", marks=False):
        """Returns a stage of the compiler as text: model, algorithm, schedule, plan, kernel, rust or cuda.

        `launch` chooses one launch of a step, from 0. `marks` adds lines that lead back to the declaration.
        """
        return self._native.emit(stage, _cells(cells), precision, schedule, launch, arch, marks)

    def tune(self, cells=None, precision="f64", card=0, on=None, seconds=45, first=24, rounds=4, plans=None):
        """Searches for the fastest schedule on a card, or on a card that need not be there by its performance model (`on`).

        The plan is added to the file `plans`, if one is given, which `schedule=` takes. Returns what was found.
        """
        return Tuned(_stencil.tune(self._native, _cells(cells), precision, card, on, seconds, first, rounds), plans)

    def __repr__(self):
        return f"<System {self.name} in {self.dimension}d: {', '.join(self.components)}>"

    def __str__(self):
        return self._native.summary()

    def _repr_html_(self):
        lines = "\n".join(self.equations)
        params = ", ".join(k if v is None else f"{k} = {v:g}" for k, v in self.params.items())
        rows = [("fields", ", ".join(f"{k}: {v}" for k, v in self.fields.items())), ("parameters", params)]
        rows += [("scheme", self.scheme), ("observed", ", ".join(self.observables))]
        cells = (f"<tr><th style='text-align:left'>{k}</th><td style='text-align:left'>{html.escape(v)}</td></tr>" for k, v in rows if v)
        return (
            f"<b>{html.escape(self.name)}</b> in {self.dimension}d<pre>{html.escape(lines)}</pre>"
            f"<table>{''.join(cells)}</table>"
        )


class Plan:
    """A whole step as a tree: fills, kernels, and the cost of each. `text` shows it, `data` has its numbers."""

    def __init__(self, native):
        self._native = native

    @property
    def text(self):
        """The report for a terminal."""
        return self._native.text

    @property
    def data(self):
        """The report as dictionaries and lists."""
        import json

        return json.loads(self._native.json)

    @property
    def pictures(self):
        """The names of its pictures, for `picture`."""
        return self._native.pictures

    def picture(self, name):
        """Returns one of its pictures."""
        if name not in self.pictures:
            raise _settings.unknown("a plan", "picture", name, self.pictures)
        return Figure(lambda path: self._native.save(name, path), drawing=True)

    def __repr__(self):
        return f"<Plan with pictures {', '.join(self.pictures)}>"

    def __str__(self):
        return self.text

    def _repr_html_(self):
        return f"<pre>{html.escape(self.text)}</pre>"


class Tuned:
    """The result of a search for schedules. `schedule` is the text of the fastest one."""

    def __init__(self, native, plans=None):
        self._native = native
        if plans is not None:
            native.keep(os.fspath(plans))

    @property
    def text(self):
        """The report for a terminal."""
        return self._native.text

    @property
    def schedule(self):
        """The text of the fastest schedule; None if none was found."""
        return self._native.schedule

    def __str__(self):
        return self.text

    def _repr_html_(self):
        return f"<pre>{html.escape(self.text)}</pre>"


def _cells(cells):
    """Returns cells as a list: one number for all axes, or one for each; an empty list if none are given."""
    if cells is None:
        return []
    return [int(n) for n in cells] if hasattr(cells, "__iter__") else [int(cells)]


def _least(native):
    """Returns the least settings that a system is read with."""
    sections = {"mesh": {"cells": 64}, "time": {"dt": "auto", "steps": 0}}
    sections["init"] = dict.fromkeys(native.components, 0)
    sections["params"] = {name: 1.0 for name, default in native.params if default is None}
    return sections


def _read(path):
    """Reads a file with a declaration."""
    from .errors import FileError

    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError) as error:
        help_ = "give the path of a `.pde` file, or a declaration such as \"system Heat in 2d { .. }\""
        raise FileError(f"cannot read `{path}`: {error}; {help_}") from None


def as_system(system):
    """Returns a system: itself, of a library's entry, or of a declaration."""
    if isinstance(system, System):
        return system
    if isinstance(system, (str, os.PathLike)):
        return System(system)
    raise SettingError(f"{system!r} is no system; give `System(..)`, an entry of `stencil.library`, or a declaration")
