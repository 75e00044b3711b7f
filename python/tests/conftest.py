"""Systems that several tests run."""

import pytest

import stencil as st

HEAT = """system Heat in 2d {
    field T: scalar;
    param k: real = 0.1 where k >= 0;
    ddt(T) = k*lap(T);
    observe heat = mean(T);
}
scheme fine for Heat { space: central<order = 6>; time: rk3_williamson; }
scheme coarse for Heat { space: central<order = 2>; time: euler; }"""

FLOW = """system Flow in 2d {
    field u: vector;
    source f: vector;
    ddt(u) = 0.1*lap(u) + f;
}
scheme s for Flow { space: central<order = 4>; mixed: bidiagonal; time: rk4; }"""


@pytest.fixture
def heat():
    return st.System(HEAT)


@pytest.fixture
def flow():
    return st.System(FLOW)


@pytest.fixture
def run(heat):
    """A run with 12 columns and 8 rows, so that axes cannot be mistaken for each other."""
    return st.Simulation(heat, cells=(12, 8), extent=(3, 2), backend="cpu")
