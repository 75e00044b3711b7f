"""Values go in and come out, steps are those of the library, and the state is good whatever happens."""

import _thread
import gc
import threading
import time
import warnings

import numpy as np
import pytest

import stencil as st


def test_the_example_of_the_page_runs(heat):
    run = st.Simulation(heat, cells=(64, 64), extent=(1, 1), boundary={"y": "wall"}, backend="auto", precision="f64")
    run["T"] = lambda x, y: np.exp(-((x - 0.5) ** 2 + (y - 0.5) ** 2) / 0.01)
    before, times = run["T"], [state.t for state in run.until(0.02, every=0.005)]
    assert np.allclose(times, [0.005, 0.01, 0.015, 0.02], rtol=1e-12) and times[-1] == 0.02
    assert run["T"].max() < 0.9 * before.max()
    # Walls and periodic faces let no heat out.
    assert abs(run["T"].mean() - before.mean()) < 1e-6 * before.mean()
    assert list(run.series) == ["t", "step", "heat"] and run.series["t"].tolist() == times


def test_a_wave_decays_at_its_rate(run):
    run["T"] = lambda x, y: np.sin(2 * np.pi * x / 3)
    run.until(0.5)
    rate = 0.1 * (2 * np.pi / 3) ** 2
    x = run.coordinates[0]
    assert np.abs(run["T"] - np.exp(-0.5 * rate) * np.sin(2 * np.pi * x / 3)).max() < 1e-4


def test_values_go_in_by_number_formula_function_and_array(run):
    x, y = run.coordinates
    assert run.shape == (8, 12) == x.shape and (x[0, 1], y[1, 0]) == (0.25, 0.25)
    expected = x + 10 * y
    for value in ("x + 10*y", lambda x, y: x + 10 * y, expected, expected.astype("f4"), expected.tolist(), np.asfortranarray(expected)):
        run["T"] = 0
        assert not run["T"].any()
        run["T"] = value
        assert np.allclose(run["T"], expected, rtol=1e-7)
    run["T"] = np.arange(12)
    assert (run["T"] == np.arange(12)).all()
    again = st.Simulation(run.system, cells=(12, 8), extent=(3, 2), backend="cpu", init={"T": lambda x, y: x})
    assert (again["T"] == x).all()


def test_components_on_faces_have_coordinates_of_their_own():
    light = """system Light in 2d { edge field e: vector<3>; face field b: vector<3>; ddt(e) = curl(b); ddt(b) = -curl(e); }
        scheme yee for Light { space: central<order = 2>; time: ssprk3; }"""
    run = st.Simulation(light, cells=(6, 4), extent=(3, 2), backend="cpu", boundary={"x": "wall"}, dt=0.01)
    x, y = run.coordinates
    at_b, at_e = run.coordinates_of("b_x"), run.coordinates_of("e_z")
    assert (at_b[0] == x + 0.25).all() and (at_b[1] == y).all() and (run.axes_of("b_y")[1] == run.axes[1] + 0.25).all()
    assert (at_e[0] == x + 0.25).all() and (at_e[1] == y + 0.25).all()
    run["b"] = lambda x, y: (x * y, x - y, x)
    assert (run["b_x"] == at_b[0] * y).all() and (run["b_y"] == x - y - 0.25).all() and (run["b_z"] == x).all()
    run["e_z"] = "x + 8*y"
    assert (run["e_z"] == at_e[0] + 8 * at_e[1]).all()
    with pytest.raises(st.SettingError, match="name one"):
        run.coordinates_of("b")


def test_vectors_have_their_components_first(flow):
    run = st.Simulation(flow, cells=(6, 4), backend="cpu", source={"f": ["0", 0]}, init={"u": ["sin(2*pi*y)", 0]})
    x, y = run.coordinates
    assert run["u"].shape == (2, 4, 6) and np.allclose(run["u"][0], np.sin(2 * np.pi * y))
    run["u"] = lambda x, y: (x, -y)
    assert (run["u_x"] == x).all() and (run["u"][1] == -y).all()
    run["u"] = ["x", "y"]
    assert (run["u_y"] == y).all()
    run["u"] = 2
    assert (run["u"] == 2).all()
    run["u"] = np.stack([y, x])
    assert (run["u_x"] == y).all()
    for wrong in ([1.0, 2.0, 3.0], lambda x, y: (x,), np.zeros((3, 4, 6)), "x"):
        with pytest.raises(st.SettingError, match="2 components"):
            run["u"] = wrong


@pytest.mark.parametrize("take", [np.asarray, np.from_dlpack])
def test_other_libraries_change_values_where_they_lie(heat, take):
    def run():
        return st.Simulation(heat, cells=(12, 8), extent=(3, 2), backend="cpu", init={"T": lambda x, y: x})

    ours, theirs = run(), run()
    for each in (ours, theirs):
        each.step(3)
    shared = theirs.share("T")
    values = take(shared)
    assert values.shape == theirs.shape and shared.__dlpack_device__() == (1, 0)
    with pytest.raises(AttributeError, match="memory of the host"):
        shared.__cuda_array_interface__
    values[2:4, 5] += 0.25
    for refused in (theirs.step, lambda: theirs["T"], lambda: theirs.view("T"), theirs.bits, theirs.observe):
        with pytest.raises(st.ViewsLive, match="2 arrays|1 array"):
            refused()
    assert theirs.t == ours.t
    del shared, values
    gc.collect()
    changed = ours["T"]
    changed[2:4, 5] += 0.25
    ours["T"] = changed
    for each in (ours, theirs):
        each.step(3)
    assert ours.bits() == theirs.bits()
    view = theirs.view("T")
    with pytest.raises(st.ViewsLive, match="view"):
        theirs.share("T")
    del view
    lost = np.asarray(theirs.share("T"))
    lost[0, 0] = np.nan
    del lost
    with pytest.raises(st.NumericalError, match="T"):
        theirs.step()


def test_values_of_several_patches_are_not_shared(heat):
    run = st.Simulation(heat, cells=(12, 8), backend="cpu", patches=(2, 1))
    with pytest.raises(st.SettingError, match="the mesh has 2 patches"):
        run.share("T")
    with pytest.raises(st.UnknownName, match="no component `TT`"):
        run.share("TT")


def test_sources_are_formulas_functions_or_arrays(flow):
    def end(f):
        run = st.Simulation(flow, cells=(6, 4), dt=0.01, backend="cpu", source={"f": f} if not isinstance(f, dict) else f)
        return run.until(0.1)["u"]

    steady = end(["1 + x", 0])
    assert np.array_equal(steady, end(lambda x, y: (1 + x, 0)))
    assert np.array_equal(steady, end({"f_x": lambda x, y: 1 + x, "f_y": 0.0}))
    assert np.abs(end(["2*t", 0])[0] - 0.01).max() < 1e-12
    with pytest.raises(st.DeclarationError, match="f_z"):
        end({"f_z": lambda x, y: x})
    with pytest.raises(st.DeclarationError, match="the source `f_y` has no value"):
        end({"f_x": 1})


def test_precision_decides_the_type(heat):
    run = st.Simulation(heat, cells=8, precision="f32", backend="cpu", init={"T": "x"})
    assert run["T"].dtype == run.dtype == run.view("T").dtype == np.float32


def test_wrong_values_are_refused(run):
    for value, words in ((np.zeros((12, 8)), r"\(8, 12\)"), (1j, "complex"), (["a", "b"], "1 components"), ("x +", "formula")):
        with pytest.raises(st.Error, match=words):
            run["T"] = value
    with pytest.raises(st.UnknownName, match="no component `TT`"):
        run["TT"] = 1
    with pytest.raises(st.UnknownName, match="Heat"):
        run["q"]


def test_a_view_is_of_the_run_itself_and_holds_it(run):
    run["T"] = lambda x, y: x * y
    view = run.view("T")
    assert view.shape == (8, 12) and np.array_equal(view, run["T"])
    assert not view.flags.writeable and not view.flags.owndata and view.strides[0] > 12 * 8
    with pytest.raises(ValueError):
        view[0, 0] = 1
    with pytest.raises(ValueError):
        view.flags.writeable = True
    part = view[2:4]
    del view
    for change in (run.step, lambda: run.until(1), run.observe, lambda: run.evaluate("T"), lambda: run.__setitem__("T", 0)):
        with pytest.raises(st.ViewsLive, match="1 array"):
            change()
    kept = part.copy()
    del part
    run.step()
    assert not np.array_equal(run["T"][2:4], kept)


def test_a_view_outlives_the_name_of_its_run(heat):
    view = st.Simulation(heat, cells=64, backend="cpu", init={"T": "x"}).view("T")
    gc.collect()
    filler = [np.zeros((64, 64)) for _ in range(64)]
    assert np.allclose(view[0], np.arange(64) / 64) and filler


def test_a_view_of_several_patches_is_put_together(heat):
    run = st.Simulation(heat, cells=(20, 16), devices=3, backend="cpu", init={"T": "x + 10*y"})
    x, y = run.coordinates
    view = run.view("T")
    assert np.allclose(view, x + 10 * y)
    del view
    after = run.step()["T"]
    assert np.array_equal(after, run.view("T")) and not np.allclose(after, x + 10 * y)


def test_copies_do_not_change_with_the_run(run):
    run["T"] = "sin(2*pi*x/3)"
    before = run["T"]
    copy = before.copy()
    run.step(3)
    assert run.step_count == 3 and np.array_equal(before, copy) and before.flags.writeable


def test_an_interrupt_leaves_a_good_state(heat):
    run = st.Simulation(heat, cells=128, dt=1e-6, backend="cpu", init={"T": "sin(2*pi*x)"})
    timer = threading.Timer(0.3, _thread.interrupt_main)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        run.until(1e3)
    steps = run.step_count
    assert steps > 0 and np.isfinite(run["T"]).all()
    again = st.Simulation(heat, cells=128, dt=1e-6, backend="cpu", init={"T": "sin(2*pi*x)"})
    assert again.step(steps).bits() == run.bits()
    assert run.step().step_count == steps + 1


def test_steps_do_not_hold_the_lock(heat):
    run = st.Simulation(heat, cells=256, dt=1e-7, threads=1, backend="cpu", init={"T": "x*(1 - x)"})
    thread = threading.Thread(target=run.step, args=(40,))
    thread.start()
    refused = 0
    while thread.is_alive():
        try:
            assert run.t >= 0
        except st.Busy:
            refused += 1
        time.sleep(0.001)
    assert refused > 10 and run.step_count == 40


def test_runs_end_where_they_should(heat):
    def new(**more):
        return st.Simulation(heat, cells=16, dt=1e-3, backend="cpu", init={"T": "x"}, **more)

    assert new(end=0.01).until().t == 0.01
    assert new(steps=7).until().step_count == 7
    assert new(end=0.01, steps=4).until().step_count == 4
    both = new(end=1, steps=4)
    assert [state.step_count for state in both.until(every=3e-3)] == [3, 4]
    with pytest.raises(st.SettingError, match="until"):
        new().until()
    with pytest.raises(st.SettingError, match="every"):
        new().until(1, every=0)
    for count in (-1, 1.5, True):
        with pytest.raises(st.SettingError, match="number of steps"):
            new().step(count)
    assert new().step(0).step_count == 0


def test_frames_that_nobody_asks_for_are_told_of(run):
    with pytest.warns(UserWarning, match="for state in"):
        run.until(1, every=0.1)
        gc.collect()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        next(run.until(0.01, every=0.01))
        gc.collect()


def test_backends_schedules_and_devices_change_no_bit(heat):
    def bits(**more):
        run = st.Simulation(heat, cells=(20, 16), init={"T": "sin(2*pi*x)*y"}, **more)
        return run.step(4).bits()

    usual = bits(backend="cpu")
    text = heat.schedule("rows")
    for more in ({"backend": "rows"}, {"threads": 2}, {"devices": 3}, {"patches": (2, 2)}, {"schedule": "rows"}, {"schedule": text}):
        assert bits(**{"backend": "cpu", **more}) == usual, more
    run = st.Simulation(heat, cells=(20, 16), init={"T": "sin(2*pi*x)*y"}, backend="cpu").step(2)
    run.schedule = "direct"
    assert run.step(2).bits() == usual and "direct" in run.schedule


def test_parameters_schemes_and_steps_are_chosen(heat):
    run = st.Simulation(heat, cells=16, params={"k": 0}, init={"T": "x"}, dt=0.1, backend="cpu")
    before = run["T"]
    assert np.array_equal(run.step(2)["T"], before) and run.params == {"k": 0}
    coarse = st.Simulation(heat, cells=16, scheme="coarse", backend="cpu")
    assert "order 2" in coarse.system.scheme
    assert "order 8" in st.Simulation(heat, cells=16, scheme={"order": 8}, backend="cpu").system.scheme
    assert "order 8" in st.System(heat.text, scheme={"order": 8}).scheme
    coarse.step()
    assert abs(coarse.dt / (0.8 * (1 / 16) ** 2 / 4 / 0.1) - 1) < 1e-3
    coarse.dt = 1e-5
    assert coarse.step().dt == 1e-5
    coarse.dt = 1
    with pytest.raises(st.NumericalError) as raised:
        coarse.step()
    assert raised.value.code and raised.value.code in st.error_page(raised.value.code)


def test_expressions_are_evaluated(run):
    run["T"] = lambda x, y: np.sin(2 * np.pi * x / 3)
    x = run.coordinates[0]
    slope = 2 * np.pi / 3 * np.cos(2 * np.pi * x / 3)
    assert np.abs(run.evaluate("d[x](T)") - slope).max() < 1e-3
    with pytest.raises(st.DeclarationError, match="\\^"):
        run.evaluate("div(T)")


def test_a_state_goes_on_bit_for_bit(heat, tmp_path):
    def new(**more):
        return st.Simulation(heat, cells=(12, 8), dt=1e-3, backend="cpu", init={"T": "x*y"}, **more)

    run = new().step(5)
    run.save(tmp_path / "state.npz")
    again = new()
    assert again.restore(tmp_path / "state.npz") == [] and again.step_count == 5
    assert again.step(3).bits() == run.step(3).bits()
    assert "params.k" in new(params={"k": 0.2}).restore(tmp_path / "state.npz")[0]
    with np.load(tmp_path / "state.npz") as file:
        assert file["T"].shape[-2:] == (8, 12)
    (tmp_path / "other.npz").write_bytes(b"no state")
    with pytest.raises(st.FileError):
        again.restore(tmp_path / "other.npz")
    assert again.step_count == 8


def test_a_failed_step_keeps_the_fields_before_it():
    burst = st.System("system Burst in 1d { field q: scalar; ddt(q) = q^3; }")
    run = st.Simulation(burst, cells=8, dt=0.1, unchecked_step=True, backend="cpu", init={"q": 2.0})
    with pytest.raises(st.NumericalError, match="q"):
        run.step(100)
    assert np.isfinite(run["q"]).all() and run.step_count > 0
    run["q"] = np.nan
    with pytest.raises(st.NumericalError, match="not finite"):
        run.step()
