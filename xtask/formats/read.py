"""Opens the frames of a run by the readers that others use, and compares all values with those of its .npz.

Usage: read.py FOLDER [PICTURE.png]. The folder holds frames in npz, vtkhdf and zarr of all fields on the whole mesh, or of
some of them on a plane; the run has to have been in the precision of the frames. Prints a line for each reader.
"""

import json
import sys
from pathlib import Path

import h5py
import numpy as np
import xarray
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkIOHDF import vtkHDFReader


def same(found, wanted, name):
    """Fails unless both arrays have the same shape, type and bits."""
    found, wanted = np.asarray(found), np.asarray(wanted)
    assert found.shape == wanted.shape, (name, found.shape, wanted.shape)
    assert found.dtype == wanted.dtype, (name, found.dtype, wanted.dtype)
    assert found.tobytes() == wanted.tobytes(), name


def components(arrays):
    """Returns arrays [z, y, x] of components, by name, from arrays of fields with vectors of three components."""
    found = {}
    for name, values in arrays.items():
        if values.ndim == 3:
            found[name] = values
            continue
        for axis, letter in enumerate("xyz"):
            found[f"{name}_{letter}"] = np.ascontiguousarray(values[..., axis])
    return found


def check_h5py(path, wanted, t, step):
    """Compares a file with arrays, as h5py reads it."""
    shape = next(iter(wanted.values())).shape
    with h5py.File(path) as file:
        assert file.attrs["t"] == t and file.attrs["step"] == step
        assert file["VTKHDF/FieldData/TimeValue"][0] == t
        data = file["VTKHDF/CellData"] if "CellData" in file["VTKHDF"] else file["VTKHDF/PointData"]
        vectors = {name.rsplit("_", 1)[0] for name in wanted} - set(wanted)
        full = {name: array[()] for name, array in data.items()}
        shapes = {name: shape + ((3,) if name in vectors else ()) for name in full}
        found = components({name: array.reshape(shapes[name]) for name, array in full.items()})
    for name, values in wanted.items():
        same(found[name], values, f"h5py {path} {name}")
    for name in found.keys() - wanted.keys():
        assert not found[name].any(), f"{name} beyond the axes of the mesh is not zero"


def check_offset(path, name, offset):
    """Compares the offset of a component on faces or edges with that in a file."""
    with h5py.File(path) as file:
        assert tuple(file[f"VTKHDF/FieldData/offset_{name}"]) == offset, name


def check_vtk(path, wanted, t, npz):
    """Compares a file with arrays, as VTK's own reader reads it; returns the image."""
    reader = vtkHDFReader()
    assert reader.CanReadFile(str(path)), path
    reader.SetFileName(str(path))
    reader.UpdateInformation()
    reader.Update()
    image = reader.GetOutput()
    assert image.GetFieldData().GetArray("TimeValue").GetValue(0) == t
    assert image.GetClassName() == "vtkImageData", image.GetClassName()
    data = image.GetCellData() if image.GetCellData().GetNumberOfArrays() else image.GetPointData()
    shape = next(iter(wanted.values())).shape
    assert np.prod(shape) == data.GetArray(0).GetNumberOfTuples(), (path, shape)
    arrays = {}
    for number in range(data.GetNumberOfArrays()):
        array = data.GetArray(number)
        values = vtk_to_numpy(array)
        count = array.GetNumberOfComponents()
        arrays[data.GetArrayName(number)] = values.reshape(shape + ((count,) if count > 1 else ()))
    found = components(arrays)
    for name, values in wanted.items():
        same(found[name], values, f"vtk {path} {name}")
    for axis, letter in enumerate("xyz"):
        if f"spacing_{letter}" in npz:
            assert np.isclose(image.GetSpacing()[axis], npz[f"spacing_{letter}"])
    return image


def check_xarray(folder, frames, axes, offsets, spacing):
    """Compares a store with arrays of all frames, as xarray reads it; returns the data set. Components lie at these offsets
    from the points of cells, in cells, if they have some."""
    data = xarray.open_zarr(folder / "frames.zarr")
    assert list(data.step.values) == [step for step, _, _ in frames]
    assert list(data.time.values) == [t for _, t, _ in frames]
    for frame, (_, _, wanted) in enumerate(frames):
        for name, values in wanted.items():
            at = offsets.get(name, (0, 0, 0))
            places = tuple(axis + "_face" if at["xyz".index(axis)] else axis for axis in axes)
            assert data[name].dims == ("time", *places), data[name].dims
            for axis, place in zip(axes, places):
                moved = at["xyz".index(axis)] * float(spacing[axis])
                assert np.allclose(data[place].values, data[axis].values + moved), (name, place)
            shape = values.shape[3 - len(axes):]
            same(data[name].values[frame], values.reshape(shape), f"xarray {name}")
    return data


def picture(image, data, path):
    """Draws a frame as VTK has it beside the same one as xarray has it."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    def array(name):
        return image.GetCellData().GetArray(name) or image.GetPointData().GetArray(name)

    # Neither numbers of steps nor components of vectors are arrays of VTK.
    name = next(name for name in data.data_vars if array(name))
    shape = data[name].shape[1:]
    plane = vtk_to_numpy(array(name)).reshape(shape)
    plane = plane[shape[0] // 2] if len(shape) == 3 else np.atleast_2d(plane)
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.5))
    bounds = image.GetBounds()
    left.imshow(plane, origin="lower", extent=bounds[:4], aspect="auto")
    left.set_title(f"{name}: vtkHDFReader")
    last = data[name].isel(time=-1)
    last = last.isel(z=shape[0] // 2) if len(shape) == 3 else last
    last.plot(ax=right)
    figure.tight_layout()
    figure.savefig(path, dpi=80)


def main():
    """Reads all frames of a folder."""
    folder = Path(sys.argv[1])
    frames, image, axes, offsets, spacing = [], None, None, {}, {}
    for path in sorted(folder.glob("frame_*.npz")):
        npz = dict(np.load(path))
        t, step = float(npz["t"]), int(npz["step"])
        wanted = {name: values for name, values in npz.items() if values.ndim == 3}
        axes = [axis for axis in "zyx" if f"spacing_{axis}" in npz]
        spacing = {axis: npz[f"spacing_{axis}"] for axis in axes}
        lines = [line.split() for line in str(npz.get("offsets", "")).splitlines()]
        offsets = {name: tuple(map(float, at)) for name, *at in lines}
        for name, at in offsets.items():
            check_offset(path.with_suffix(".vtkhdf"), name, at)
        file = path.with_suffix(".vtkhdf")
        check_h5py(file, wanted, t, step)
        image = check_vtk(file, wanted, t, npz)
        frames.append((step, t, wanted))
    assert frames, f"{folder} has no frames"
    series = json.loads((folder / "frames.vtkhdf.series").read_text())
    assert [file["time"] for file in series["files"]] == [t for _, t, _ in frames]
    assert all((folder / file["name"]).is_file() for file in series["files"])
    data = check_xarray(folder, frames, axes, offsets, spacing)
    names = ", ".join(frames[0][2])
    print(f"{folder}: {len(frames)} frames of {names} are the same by numpy, h5py, VTK and xarray")
    if len(sys.argv) > 2:
        picture(image, data, sys.argv[2])


main()
