"""The examples run as they are written, and give results that are known."""

import importlib.util
from pathlib import Path

import numpy as np

EXAMPLES = Path(__file__).parent.parent / "examples"


def load(name):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_pulse_is_reflected_by_the_wall():
    controller = load("acoustics_1d").setup("cpu")
    controller.run()
    # The speed is 2. At t = 0.5 one half of the pulse has left, and the other one comes back from the wall.
    x = controller.solution.axes[0]
    assert np.abs(controller.frames[5]["p"] - 0.5 * np.exp(-100 * (x - 0.25) ** 2)).max() < 0.1
    assert np.abs(controller.frames[-1]["p"]).max() < 0.01


def test_a_column_of_water_falls_alike_in_all_directions():
    controller = load("shallow_water_2d").setup("cpu", cells=60)
    status = controller.run()
    first, last = controller.frames[0]["h"], controller.frames[-1]["h"]
    assert (first.min(), first.max(), status["t"]) == (1, 2, 2.5)
    assert np.allclose(last, last.T, atol=1e-12) and np.allclose(last, last[::-1], atol=1e-12)
    # Nothing leaves the box before the wave does, so the volume stays.
    early = controller.frames[3]["h"]
    assert abs(early.sum() / first.sum() - 1) < 1e-12 and last.max() < 1.2
