"""Exceptions: each has a code, if the compiler has one for it, and the text as `stencil` would print it."""

__all__ = [
    "Bug",
    "Busy",
    "DeclarationError",
    "DeviceError",
    "Error",
    "FileError",
    "NumericalError",
    "ScheduleError",
    "SettingError",
    "UnknownName",
    "ViewsLive",
]


class Error(Exception):
    """A reason why something could not be made, or a run had to end.

    `text` names the thing, the place and the way out; errors of declarations and settings show the line with a mark
    below it. `code` is a code such as `P0101`, or None; `stencil.error_page(code)` tells more.
    """

    def __init__(self, text, code=None):
        super().__init__(text)
        self.text = text
        self.code = code

    def __str__(self):
        return self.text

    def __reduce__(self):
        return type(self), (self.text, self.code)


class DeclarationError(Error, ValueError):
    """A declaration, a formula or a setting has mistakes; the text lists all of them, each with its place."""


class SettingError(Error, ValueError):
    """A setting of a run, or a value, makes no sense."""


class UnknownName(SettingError, LookupError):
    """There is nothing of this name; the nearest one is suggested."""


class ScheduleError(Error, ValueError):
    """A schedule is illegal, or cannot be found."""


class FileError(Error, OSError):
    """A file cannot be read or written, or a run cannot go on from it."""

    def __init__(self, text, code=None):
        Error.__init__(self, text, code)


class DeviceError(Error, RuntimeError):
    """A card or the processor cannot run this, or has no room for it."""


class NumericalError(Error, ArithmeticError):
    """A value is not finite, or a step is not stable. The fields are those before the step, unless the text says otherwise."""


class Busy(Error, RuntimeError):
    """The run does steps in another thread."""


class ViewsLive(Error, BufferError):
    """A run may not change while arrays of `view(..)` look into it, nor be read while those of `share(..)` may change it."""


class Bug(Error, RuntimeError):
    """The package is wrong, not its user."""
