"""The page of the book runs, in the order of its blocks, and its first block is short."""

import re
from pathlib import Path

import pytest

import stencil as st

PAGE = Path(__file__).parents[2] / "docs" / "src" / "python.md"


def test_the_page_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.S)
    assert len(blocks) >= 3 and blocks[0].count("\n") < 10
    names = {}
    # The picture is that of fewer cells, to save time.
    for block in blocks:
        exec(compile(block.replace("256, 256", "64, 64"), PAGE.name, "exec"), names)
    assert (tmp_path / "heat.png").read_bytes().startswith(b"\x89PNG")
    assert "^" in capsys.readouterr().out and names["found"].schedule


def test_settings_of_the_table_are_real():
    declaration = "system S in 2d { field T: scalar; field u: vector; source f: vector; ddt(T) = lap(T); ddt(u) = lap(u) + f; }"
    rows = re.findall(r"^\| .*? \| (`.*) \|$", PAGE.read_text(), re.M)
    words = [word for row in rows for word in re.findall(r"`([^`]+)`", row)]
    settings = [word for word in words if re.fullmatch(r"(boundary|init|source|scheme|backend|devices|threads|schedule)=.*", word)]
    assert len(settings) >= 9
    for word in settings:
        if ".." in word or "coarse" in word:
            continue
        given = {"source": {"f": [0, 0]}} | eval(f"dict({word})")
        if given.get("backend") == "cuda":
            continue
        st.Simulation(declaration, cells=16, **{"backend": "cpu", **given})
    with pytest.raises(st.DeclarationError, match="coarse"):
        st.Simulation(declaration, cells=16, backend="cpu", scheme="coarse")


def test_docstrings_run():
    import doctest

    from stencil import _simulation, _system

    for module in (st, _system, _simulation):
        assert doctest.testmod(module, extraglobs={"np": __import__("numpy")}).failed == 0
