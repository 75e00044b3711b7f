"""Shallow water in the plane, after the example `radial_dam_break` of PyClaw: a round column of water falls.

`python shallow_water_2d.py` runs on a card if there is one; `python shallow_water_2d.py cpu` and `.. cuda` choose.
"""

import sys

import numpy as np

import stencil as st


def setup(backend="auto", cells=125, **choices):
    """Returns the controller of the run."""
    run = st.Simulation(
        st.library.ShallowWater,
        cells=cells,
        extent=5,
        origin=-2.5,
        boundary="outflow",
        params={"g": 1.0},
        cfl=0.9,
        backend=backend,
        **choices,
    )
    run["h"] = lambda x, y: np.where(np.hypot(x, y) <= 0.5, 2.0, 1.0)
    return st.Controller(run, tfinal=2.5, num_output_times=10)


if __name__ == "__main__":
    controller = setup(*sys.argv[1:2])
    print(controller.run(), "on", controller.solution.card or "the processor")
    for frame in controller.frames:
        h = frame["h"]
        print(f"t = {frame.t:.2f}: depth from {h.min():.3f} to {h.max():.3f}")
    controller.solution.plot("h", title="depth").save("shallow_water_2d.png")
