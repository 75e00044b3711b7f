"""Settings are those of problem files, and mistakes are exceptions with a code, a place and a way out."""

import inspect
import pickle
import re
from pathlib import Path

import numpy as np
import pytest

import stencil as st
from stencil import _settings, _stencil


def test_mistakes_of_a_declaration_have_a_code_and_a_mark():
    with pytest.raises(st.DeclarationError) as raised:
        st.System("system Typo in 2d {\n    field T: scalar;\n    ddt(T) = k*lap(T);\n}")
    error = raised.value
    assert re.fullmatch(r"P\d{4}", error.code) and error.text == str(error)
    assert "system:3:14" in error.text and "^" in error.text
    assert error.code in st.error_page(error.code)
    again = pickle.loads(pickle.dumps(error))
    assert (again.text, again.code) == (error.text, error.code)
    with pytest.raises(st.UnknownName, match="no error code"):
        st.error_page("X1")


def test_every_exception_is_an_error():
    for name in st.errors.__all__:
        assert issubclass(getattr(st, name), st.Error) and getattr(st, name)("why").text == "why"
    assert issubclass(st.FileError, OSError) and issubclass(st.UnknownName, LookupError)


def test_mistakes_of_settings_have_a_place(heat):
    cases = [
        ({"cells": (8, 8, 8)}, st.DeclarationError, "cells"),
        ({"cells": 8, "boundary": {"y": "wal"}}, st.DeclarationError, "did you mean `wall`"),
        ({"cells": 8, "boundary": {"w": "wall"}}, st.DeclarationError, "`w`"),
        ({"cells": 8, "params": {"K": 1}}, st.DeclarationError, "no parameter `K`"),
        ({"cells": 8, "params": {"k": -1}}, st.DeclarationError, "k >= 0"),
        ({"cells": 8, "init": {"T": "exp("}}, st.DeclarationError, r"\^"),
        ({"cells": 8, "dt": "cfl(0.5)"}, st.DeclarationError, "speeds"),
        ({"cells": 8, "precision": "f16"}, st.DeclarationError, "f32"),
        ({"cells": 8, "scheme": "fien"}, st.DeclarationError, "fine"),
        ({"cells": 8, "dt": 1, "cfl": 1}, st.SettingError, "`dt` and `cfl`"),
        ({"cells": 8, "sells": 8}, st.UnknownName, "did you mean `cells`"),
        ({"cells": 8, "backend": "gpu"}, st.SettingError, "no backend `gpu`"),
        ({"cells": 8, "schedule": "gqu"}, st.ScheduleError, "did you mean"),
        ({"cells": 8, "boundary": {"y": {"dirichlet": lambda x: x}}}, st.SettingError, "write a formula"),
        ({"cells": 8, "params": 3}, st.SettingError, "dictionary"),
        ({"cells": 8, "init": 3}, st.SettingError, "dictionary"),
        ({"cells": 8, "params": {3: 3}}, st.SettingError, "no name"),
        ({}, st.DeclarationError, "cells"),
    ]
    for settings, kind, words in cases:
        with pytest.raises(kind, match=words):
            st.Simulation(heat, **{"backend": "cpu", **settings})
    with pytest.raises(st.FileError, match="cannot read"):
        st.System("missing.pde")
    with pytest.raises(st.SettingError, match="no system"):
        st.Simulation(3, cells=8)


def test_a_run_without_a_card_says_so(heat):
    if not st.cards():
        with pytest.raises(st.DeviceError):
            st.Simulation(heat, cells=8, backend="cuda")


def test_values_survive_the_way_through_a_file():
    import tomllib

    values = {
        "text": "a\"b\\c\n\t'd' é \x7f \x01",
        "lines": "system A in 1d {\n  x\n}",
        "quotes": "a'''\nb",
        "number": 0.1,
        "small": 5e-324,
        "whole": -3,
        "flag": True,
        "list": [1, [2.5, "x"]],
        "odd key": {"a b": 1},
        "numpy": np.float32(0.5),
        "count": np.int64(7),
        "array": np.arange(3),
    }
    read = tomllib.loads(_settings.document(values, {}))
    expected = {**values, "numpy": 0.5, "count": 7, "array": [0, 1, 2]}
    assert read == expected


def test_all_settings_of_problem_files_are_arguments():
    sections = {section for section, *_ in _stencil.settings()}
    # Output and states on the way are the business of the script, and a picture has a call of its own.
    assert sections - {"", "mesh", "time", *_settings.NAMED} == {"checkpoint", "output", "plot"}
    stub = Path(inspect.getfile(st)).with_suffix(".pyi").read_text()
    init = stub.split("class Simulation:")[1].split(") -> None")[0]
    for name in [*_settings.FIXED, *_settings.NAMED, "cfl", "plots"]:
        assert f"\n        {name}: " in init, name


def test_stubs_name_all_there_is():
    stub = Path(inspect.getfile(st)).with_suffix(".pyi").read_text()
    assert (Path(inspect.getfile(st)).parent / "py.typed").exists()
    for name in ("System", "Problem", "Simulation", "Controller", "Frame", "Figure", "Plan", "Tuned"):
        class_ = getattr(st, name)
        assert class_.__doc__
        declared = set(re.findall(r"def (\w+)|^    (\w+):", stub.split(f"\nclass {name}:")[1].split("\nclass ")[0], re.M))
        declared = {one or other for one, other in declared}
        public = {key for key in vars(class_) if not key.startswith("_")}
        assert public <= declared, (name, public - declared)
        for key in public:
            assert inspect.getdoc(getattr(class_, key)), (name, key)
