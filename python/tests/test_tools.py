"""The compiler's pages, plans, schedules and pictures; problems and the library; the controller."""

import struct

import numpy as np
import pytest

import stencil as st


def test_a_system_tells_of_itself(heat, flow):
    assert (heat.name, heat.dimension, heat.fields, heat.params) == ("Heat", 2, {"T": "scalar"}, {"k": 0.1})
    assert heat.schemes == ["fine", "coarse"] and heat.observables == ["heat"]
    assert flow.components == ["u_x", "u_y"] and flow.sources == ["f_x", "f_y"]
    assert "ddt(T) = k * lap(T)" in heat._repr_html_() and "Heat" in str(heat)
    assert st.System(heat.text).equations == heat.equations
    open_ = "system Growth in nd { field n: scalar; param r: real; ddt(n) = r*lap(n); }"
    assert st.System(open_, dimension=3, scheme={"order": 4}).dimension == 3
    with pytest.raises(st.DeclarationError, match="`r`"):
        st.Simulation(open_, cells=8, backend="cpu")


def test_engines_and_schedules_are_compared_bit_for_bit(heat):
    run = st.Simulation(heat, cells=(12, 8), backend="cpu", init={"T": "sin(x) + y^2"}).step(2)
    before = run.bits()
    compared = run.verify()
    assert compared and [row[:2] for row in compared.rows] == [("cpu", name) for name in (None, "single_pass", "decomposed", "gpu")]
    assert "equal" in str(compared) and run.bits() == before and run.step_count == 2
    assert not st.Verified("Heat", 1, 8, [("cpu", None, 3)])
    with pytest.raises(st.SettingError, match="number of steps"):
        run.verify(steps=0)
    with pytest.raises(st.UnknownName, match="did you mean `cuda`"):
        run.verify(backends=["cudda"])
    with pytest.raises(st.ScheduleError):
        run.verify(schedules=["no_such_preset"])


def test_the_library_is_there():
    assert st.library.systems()["Wave"] == [1, 2, 3]
    assert st.library.IsothermalNs.name == "IsothermalNs" == st.library.system("isothermal_ns").name
    assert st.library.system("Wave", 3).dimension == 3
    assert "Mhd" in dir(st.library)
    with pytest.raises(AttributeError, match="did you mean `Wave`"):
        st.library.Waev
    with pytest.raises(st.UnknownName, match="problem"):
        st.library.problem("missing")


def test_problems_run_as_their_files_say(tmp_path):
    problem = st.library.problem("heat_blob", cells=16)
    run = st.Simulation(problem, backend="cpu")
    run.until()
    assert run.t == problem.end and run.cells == (16, 16) and run.errors() == {}
    advection = "system Advection in 1d { field q: scalar; ddt(q) = -d[x](q); cfl { advective: 1 } }"
    known = st.Simulation(advection, cells=32, extent="2*pi", exact={"q": "sin(x - t)"}, backend="cpu")
    assert known.until(0.1).errors()["q"]["linf"] < 1e-4
    path = tmp_path / "blob.toml"
    path.write_text(problem.to_toml())
    again = st.Simulation(st.Problem(path), backend="cpu").until()
    assert again.bits() == run.bits()
    few = st.Problem(path, steps=3)
    assert (few.end, few.steps) == (None, 3)
    assert st.Simulation(few, backend="cpu", cells=8).cells == (8, 8)
    path.write_text(problem.to_toml().replace("cells", "sells"))
    with pytest.raises(st.DeclarationError, match="did you mean `cells`"):
        st.Problem(path)


def test_pages_plans_and_stages(heat):
    page = heat.explain(cells=256, schedule="gpu", card="A100")
    assert "A100" in page and "lap" in page
    plan = heat.plan(cells=(512, 256), schedule="direct")
    assert plan.data and "direct" in plan.text and "<pre>" in plan._repr_html_()
    name = plan.pictures[0]
    assert plan.picture(name).svg.startswith("<svg") or "<svg" in plan.picture(name).svg
    assert "image/svg+xml" in plan.picture(name)._repr_mimebundle_()
    with pytest.raises(st.UnknownName, match="picture"):
        plan.picture("missing")
    assert "double" in heat.emit("cuda") and "#line" in heat.emit("cuda", marks=True)
    assert heat.emit("model") == heat.text and "float" in heat.emit("cuda", precision="f32", launch=0)
    assert heat.emit("schedule") == heat.schedule("gpu")
    assert heat.emit("plan", schedule=heat.schedule("direct")) == heat.emit("plan", schedule="direct")
    for wrong in (lambda: heat.emit("cubin"), lambda: heat.emit("cuda", launch=99), lambda: heat.emit("cuda", schedule="cpu")):
        with pytest.raises(st.Error):
            wrong()
    for wrong in (lambda: heat.explain(cells=(8, 8, 8)), lambda: heat.explain(precision="f16"), lambda: heat.explain(card="H2")):
        with pytest.raises(st.SettingError):
            wrong()


def test_schedules_are_searched_by_the_model(heat, tmp_path):
    plans = tmp_path / "heat.plans"
    found = heat.tune(cells=256, precision="f32", on="H100", seconds=1, first=3, rounds=0, plans=plans)
    assert found.schedule and "H100" in plans.read_text() and "Heat" in found.text
    bits = [
        st.Simulation(heat, cells=16, precision="f32", schedule=schedule, backend="cpu", init={"T": "x*y"}).step(2).bits()
        for schedule in (None, found.schedule)
    ]
    assert bits[0] == bits[1]


def test_pictures_have_three_formats(run, tmp_path):
    run["T"] = "sin(2*pi*x/3)"
    figure = run.plot("T", map="magma", title="warm")
    assert figure.png.startswith(b"\x89PNG") and "<svg" in figure.svg
    figure.save(tmp_path / "warm.pdf")
    assert (tmp_path / "warm.pdf").read_bytes().startswith(b"%PDF")
    assert "image/png" in figure._repr_mimebundle_()
    wide, tall = (struct.unpack(">II", run.plot(values).png[16:24]) for values in (["T", "d[x](T)"], "T"))
    assert wide[0] > 1.5 * tall[0]
    assert run.plot().png == run.plot(["T"]).png
    with pytest.raises(st.DeclarationError, match="q"):
        run.plot("q")
    with pytest.raises(st.DeclarationError, match="magma"):
        run.plot("T", map="magna")
    with pytest.raises(st.FileError, match="ending|png"):
        figure.save(tmp_path / "warm.jpg")
    one = st.Simulation("system Heat in 1d { field T: scalar; ddt(T) = lap(T); }", cells=32, backend="cpu")
    assert one.plot("T").png.startswith(b"\x89PNG")


def test_a_run_shows_itself(run):
    assert "12 × 8" in repr(run) and "t = 0" in repr(run)
    assert "until" not in str(run) and "kernel" in str(run) and "<pre>" in run._repr_html_()
    assert run.nbytes > 12 * 8 * 8 and run.engine in ("rows", "compiled") and run.card is None and run.remarks == []


def test_a_controller_keeps_frames(heat, tmp_path):
    def new():
        return st.Simulation(heat, cells=(12, 8), backend="cpu", init={"T": "sin(2*pi*x)"})

    controller = st.Controller(new(), tfinal=0.1, num_output_times=4, outdir=tmp_path / "out")
    status = controller.run()
    assert status["t"] == 0.1 and status["numsteps"] == controller.solution.step_count
    assert np.allclose([frame.t for frame in controller.frames], [0, 0.025, 0.05, 0.075, 0.1])
    assert np.array_equal(controller.frames[-1]["T"], controller.solution["T"])
    assert controller.frames[1]["T"].max() < controller.frames[0]["T"].max()
    assert "heat" in controller.frames[0].observed
    again = new()
    again.restore(tmp_path / "out" / "frame_0002.npz")
    assert np.array_equal(again["T"], controller.frames[2]["T"])
    for wrong in ({"tfinal": 0.05}, {"num_output_times": 0}):
        with pytest.raises(st.SettingError):
            st.Controller(controller.solution, **wrong)


def test_progress_is_shown_to_those_who_look(heat, monkeypatch):
    import io

    from stencil import _progress

    monkeypatch.setattr(_progress, "DELAY", 0.0)
    run = st.Simulation(heat, cells=8, dt=1e-3, backend="cpu")
    for wanted, shows in ((True, True), (None, False), (False, False)):
        out = io.StringIO()
        progress = _progress.Progress(run, run.t + 2e-3, None, wanted, out)
        run.step()
        progress.update()
        progress.finish()
        assert bool(out.getvalue()) == shows
        if shows:
            assert " 50 %" in out.getvalue() and out.getvalue().endswith("\r\033[K")
