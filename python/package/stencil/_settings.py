"""Settings from Python as the sections of a problem file, which the library reads and checks."""

import difflib
import json
import numbers

from . import _stencil
from .errors import SettingError, UnknownName

# Sections whose keys are names of the system: one argument each, a dictionary.
NAMED = ("boundary", "params", "let", "random", "init", "source", "exact")

# Settings with fixed names, each with its section. A script limits its time on the wall by itself.
FIXED = {
    key: section
    for section, key, _, _ in _stencil.settings()
    if section in ("", "mesh", "time") and key not in ("NAME", "system", "dimension", "scheme", "wall")
}


def number(value):
    """Is this a number, of Python or of numpy, but no truth value?"""
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def toml(name, value):
    """Returns a value as TOML writes it."""
    if hasattr(value, "item") and getattr(value, "ndim", 0) == 0:
        value = value.item()
    elif hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if number(value):
        return repr(float(value))
    if isinstance(value, str):
        return text(value)
    if isinstance(value, dict):
        parts = (f"{key_text(key)} = {toml(name, part)}" for key, part in value.items())
        return "{ " + ", ".join(parts) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(toml(name, part) for part in value) + "]"
    if callable(value):
        raise SettingError(
            f"`{name}` is a function, which the engines cannot call in every step; "
            "write a formula of x, y, z, t and the parameters as text, such as \"sin(x)\""
        )
    raise SettingError(f"`{name}` is a {type(value).__name__}; give a number, a text, a list or a dictionary")


def text(value):
    """Returns a string of TOML; one of several lines stays readable in messages."""
    plain = all(c in "\n\t" or (c >= " " and c != "\x7f") for c in value)
    if "\n" in value and plain and "'''" not in value and not value.endswith("'"):
        return f"'''\n{value}'''"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def key_text(key):
    """Returns a key of TOML."""
    if not isinstance(key, str):
        raise SettingError(f"{key!r} is no name; names of fields, parameters and axes are texts")
    bare = key and all(c.isascii() and (c.isalnum() or c in "_-") for c in key)
    return key if bare else json.dumps(key, ensure_ascii=False)


def sections(settings, dimension):
    """Sorts keyword arguments into sections: `{section: {key: value}}`."""
    settings = {name: value for name, value in settings.items() if value is not None}
    sorted_ = {}
    if "cfl" in settings:
        if "dt" in settings:
            raise SettingError("`dt` and `cfl` both say how long a step is; give one of them")
        settings["dt"] = f"cfl({toml('cfl', settings.pop('cfl'))})"
    for name, value in settings.items():
        if name in NAMED:
            if name == "boundary" and not _by_axis(value):
                value = dict.fromkeys("xyz"[:dimension], value)
            if not isinstance(value, dict):
                raise SettingError(f"`{name}` takes a dictionary of names and values, not {value!r}")
            sorted_.setdefault(name, {}).update(value)
        elif name in FIXED:
            sorted_.setdefault(FIXED[name], {})[name] = value
        elif name == "plots":
            sorted_["plot"] = [plot if isinstance(plot, dict) else {"value": plot} for plot in value]
        else:
            raise unknown("a run", "setting", name, [*FIXED, *NAMED, "cfl", "plots"])
    return sorted_


def _by_axis(value):
    """Does a boundary name axes, so that it isn't one condition for all faces?"""
    return isinstance(value, dict) and not set(value) & {"dirichlet", "neumann", "formula", "lo", "hi"}


def unknown(owner, kind, name, known):
    """Makes the error for a name that does not exist."""
    near = difflib.get_close_matches(name, known, 1)
    help_ = f"did you mean `{near[0]}`?" if near else f"there are: {', '.join(known)}"
    return UnknownName(f"{owner} has no {kind} `{name}`; {help_}")


def document(top, sorted_):
    """Returns the text of a problem file. Top-level keys come first, as TOML asks for."""
    first = {**top, **sorted_.get("", {})}
    lines = [f"{key_text(key)} = {toml(key, value)}" for key, value in first.items()]
    for section, keys in sorted_.items():
        if section == "plot":
            lines += plots(keys)
        elif section:
            lines.append(f"\n[{section}]")
            lines += [f"{key_text(key)} = {toml(f'{section}.{key}', value)}" for key, value in keys.items()]
    return "\n".join(lines) + "\n"


def plots(all_):
    """Returns the lines of sections `[[plot]]`."""
    lines = []
    for plot in all_:
        lines.append("\n[[plot]]")
        lines += [f"{key_text(key)} = {toml(f'plot.{key}', value)}" for key, value in plot.items()]
    return lines


def changes(sorted_):
    """Returns settings as changes of a problem: paths with texts of values."""
    changed = []
    for section, keys in sorted_.items():
        if section == "plot":
            raise SettingError("pictures of a problem are in its file; give others to `plot(..)`")
        for key, value in keys.items():
            path = f"{section}.{key}" if section else key
            changed.append((path, toml(path, value)))
    return changed
