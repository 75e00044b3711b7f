import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import errors as errors
from . import library as library
from .errors import Bug as Bug
from .errors import Busy as Busy
from .errors import DeclarationError as DeclarationError
from .errors import DeviceError as DeviceError
from .errors import Error as Error
from .errors import FileError as FileError
from .errors import NumericalError as NumericalError
from .errors import ScheduleError as ScheduleError
from .errors import SettingError as SettingError
from .errors import UnknownName as UnknownName
from .errors import ViewsLive as ViewsLive

_Path = str | os.PathLike[str]
_Cells = int | Sequence[int]
_Value = float | str | Sequence[float | str] | ArrayLike | Callable[..., Any]
_Array = NDArray[np.floating[Any]]

__all__: list[str]

def cards() -> list[str]: ...
def error_page(code: str) -> str: ...

class System:
    def __init__(
        self,
        declaration: _Path,
        dimension: int | None = None,
        scheme: str | Mapping[str, Any] | None = None,
    ) -> None: ...
    @property
    def name(self) -> str: ...
    @property
    def dimension(self) -> int: ...
    @property
    def fields(self) -> dict[str, str]: ...
    @property
    def components(self) -> list[str]: ...
    @property
    def sources(self) -> list[str]: ...
    @property
    def params(self) -> dict[str, float | None]: ...
    @property
    def observables(self) -> list[str]: ...
    @property
    def schemes(self) -> list[str]: ...
    @property
    def scheme(self) -> str: ...
    @property
    def equations(self) -> list[str]: ...
    @property
    def text(self) -> str: ...
    def explain(
        self,
        cells: _Cells | None = None,
        precision: str = "f64",
        schedule: str | None = None,
        card: str | None = None,
    ) -> str: ...
    def plan(
        self,
        cells: _Cells | None = None,
        precision: str = "f64",
        schedule: str | None = None,
        card: str | None = None,
        candidates: int = 64,
        compile: bool = False,
    ) -> Plan: ...
    def schedule(
        self,
        wanted: str = "gpu",
        cells: _Cells | None = None,
        precision: str = "f64",
        card: str | None = None,
    ) -> str: ...
    def emit(
        self,
        stage: str,
        cells: _Cells | None = None,
        precision: str = "f64",
        schedule: str | None = None,
        launch: int | None = None,
        arch: str = "sm_90",
        marks: bool = False,
    ) -> str: ...
    def tune(
        self,
        cells: _Cells | None = None,
        precision: str = "f64",
        card: int = 0,
        on: str | None = None,
        seconds: int = 45,
        first: int = 24,
        rounds: int = 4,
        plans: _Path | None = None,
    ) -> Tuned: ...

class Problem:
    def __init__(self, path: _Path, **settings: Any) -> None: ...
    def changed(self, **settings: Any) -> Problem: ...
    @property
    def name(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def system(self) -> System: ...
    @property
    def cells(self) -> tuple[int, ...]: ...
    @property
    def params(self) -> dict[str, float]: ...
    @property
    def end(self) -> float | None: ...
    @property
    def steps(self) -> int | None: ...
    def to_toml(self) -> str: ...

class Simulation:
    def __init__(
        self,
        system: System | Problem | _Path,
        *,
        backend: str = "auto",
        card: int | None = None,
        schedule: str | None = None,
        threads: int | None = None,
        evaluates: str | Iterable[str] = (),
        progress: bool | None = None,
        scheme: str | Mapping[str, Any] | None = None,
        cells: _Cells | None = None,
        extent: float | str | Sequence[float | str] | None = None,
        origin: float | Sequence[float] | None = None,
        centered: bool | None = None,
        patches: _Cells | None = None,
        devices: int | str | Sequence[int] | None = None,
        stream: int | str | None = None,
        boundary: str | Mapping[str, Any] | None = None,
        params: Mapping[str, float | str] | None = None,
        let: Mapping[str, str | float] | None = None,
        random: Mapping[str, Mapping[str, Any]] | None = None,
        init: Mapping[str, _Value] | None = None,
        source: Mapping[str, _Value] | None = None,
        exact: Mapping[str, str | float | Sequence[str | float]] | None = None,
        dt: float | str | None = None,
        cfl: float | None = None,
        cfl_axes: str | None = None,
        cfl_limit: float | None = None,
        unchecked_step: bool | None = None,
        keep_last: bool | None = None,
        look_every: int | None = None,
        end: float | None = None,
        steps: int | None = None,
        title: str | None = None,
        precision: str | None = None,
        plots: Iterable[str | Mapping[str, Any]] | None = None,
    ) -> None: ...
    @property
    def t(self) -> float: ...
    @property
    def step_count(self) -> int: ...
    @property
    def dt(self) -> float: ...
    @dt.setter
    def dt(self, dt: float) -> None: ...
    @property
    def system(self) -> System: ...
    @property
    def components(self) -> list[str]: ...
    @property
    def params(self) -> dict[str, float]: ...
    @property
    def cells(self) -> tuple[int, ...]: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    @property
    def coordinates(self) -> tuple[_Array, ...]: ...
    @property
    def axes(self) -> tuple[_Array, ...]: ...
    def coordinates_of(self, component: str) -> tuple[_Array, ...]: ...
    def axes_of(self, component: str) -> tuple[_Array, ...]: ...
    @property
    def engine(self) -> str: ...
    @property
    def card(self) -> str | None: ...
    @property
    def schedule(self) -> str: ...
    @schedule.setter
    def schedule(self, wanted: str) -> None: ...
    @property
    def remarks(self) -> list[str]: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def series(self) -> dict[str, NDArray[Any]]: ...
    def __getitem__(self, name: str) -> _Array: ...
    def __setitem__(self, name: str, value: _Value) -> None: ...
    def __contains__(self, name: object) -> bool: ...
    def view(self, name: str) -> _Array: ...
    def share(self, name: str) -> Any: ...
    def evaluate(self, expression: str) -> _Array: ...
    def observe(self) -> dict[str, float]: ...
    def errors(self) -> dict[str, dict[str, float]]: ...
    def repairs(self) -> NDArray[np.unsignedinteger[Any]] | None: ...
    def bits(self) -> bytes: ...
    def verify(
        self,
        steps: int = 2,
        backends: Sequence[str] | None = None,
        schedules: Iterable[str | None] = (None, "single_pass", "decomposed", "gpu"),
    ) -> Verified: ...
    def step(self, count: int = 1) -> Simulation: ...
    def until(self, end: float | None = None, every: float | None = None) -> Any: ...
    def save(self, path: _Path) -> None: ...
    def restore(self, path: _Path) -> list[str]: ...
    def plot(self, values: str | Iterable[str] | None = None, **options: Any) -> Figure: ...

class Frame:
    t: float
    step_count: int
    observed: dict[str, float]
    @property
    def components(self) -> list[str]: ...
    def __getitem__(self, name: str) -> _Array: ...

class Controller:
    solution: Simulation
    tfinal: float
    num_output_times: int
    keep_copy: bool
    outdir: _Path | None
    frames: list[Frame]
    def __init__(
        self,
        solution: Simulation,
        tfinal: float = 1.0,
        num_output_times: int = 10,
        keep_copy: bool = True,
        outdir: _Path | None = None,
    ) -> None: ...
    def run(self) -> dict[str, float]: ...

class Figure:
    def save(self, path: _Path) -> None: ...
    @property
    def png(self) -> bytes: ...
    @property
    def svg(self) -> str: ...

class Plan:
    @property
    def text(self) -> str: ...
    @property
    def data(self) -> dict[str, Any]: ...
    @property
    def pictures(self) -> list[str]: ...
    def picture(self, name: str) -> Figure: ...

class Tuned:
    @property
    def text(self) -> str: ...
    @property
    def schedule(self) -> str | None: ...

class Verified:
    rows: list[tuple[str, str | None, int]]
    def __bool__(self) -> bool: ...
