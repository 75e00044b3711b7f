"""Sound in one dimension, after the example `acoustics_1d_homogeneous` of PyClaw: a pulse meets a wall.

`python acoustics_1d.py` runs on a card if there is one; `python acoustics_1d.py cpu` and `.. cuda` choose.
"""

import sys

import numpy as np

import stencil as st


def setup(backend="auto", cells=100, **choices):
    """Returns the controller of the run."""
    run = st.Simulation(
        st.library.system("Acoustics", 1),
        cells=cells,
        boundary={"x": {"lo": "wall", "hi": "outflow"}},
        params={"rho": 1.0, "K": 4.0},
        cfl=0.9,
        backend=backend,
        **choices,
    )
    beta, gamma, x0 = 100, 0, 0.75
    run["p"] = lambda x: np.exp(-beta * (x - x0) ** 2) * np.cos(gamma * (x - x0))
    return st.Controller(run, tfinal=1.0, num_output_times=10)


if __name__ == "__main__":
    controller = setup(*sys.argv[1:2])
    print(controller.run(), "on", controller.solution.card or "the processor")
    for frame in controller.frames:
        p = frame["p"]
        print(f"t = {frame.t:.1f}: pressure from {p.min():+.3f} to {p.max():+.3f}")
    controller.solution.plot("p", title="pressure").save("acoustics_1d.png")
