"""The notebooks were executed as they are, without an error, and their cells still run."""

import json
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parent.parent / "notebooks").glob("*.ipynb"))


def test_there_are_three():
    assert len(NOTEBOOKS) == 3


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path):
    assert path.stat().st_size < 400_000
    cells = [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]
    names = {}
    for number, cell in enumerate(cells, 1):
        assert cell["execution_count"] == number
        assert all(out["output_type"] != "error" for out in cell["outputs"])
        exec(compile("".join(cell["source"]), path.name, "exec"), names)
