"""Partial differential equations, declared as text and run on the processor or a card.

>>> import numpy as np, stencil as st
>>> heat = st.System("system Heat in 2d { field T: scalar; param k: real = 0.1; ddt(T) = k*lap(T); }")
>>> run = st.Simulation(heat, cells=(32, 32), backend="cpu")
>>> run["T"] = lambda x, y: np.exp(-((x - 0.5)**2 + (y - 0.5)**2)/0.01)
>>> for state in run.until(0.1, every=0.05):
...     print(f"{state.t:.2f}")
0.05
0.10
"""

from . import errors, library
from ._controller import Controller, Frame
from ._figure import Figure
from ._problem import Problem
from ._simulation import Simulation
from ._stencil import cards, error_page
from ._system import Plan, System, Tuned
from ._verify import Verified
from .errors import *  # noqa: F403

__all__ = [
    "Controller",
    "Figure",
    "Frame",
    "Plan",
    "Problem",
    "Simulation",
    "System",
    "Tuned",
    "Verified",
    "cards",
    "error_page",
    "errors",
    "library",
    *errors.__all__,
]
