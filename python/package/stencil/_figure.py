"""Figures: pictures that notebooks show and that files hold."""

import os
import tempfile


class Figure:
    """A picture. A notebook shows it; `save` writes it as `.png`, `.svg` or `.pdf`."""

    def __init__(self, save, drawing=False):
        self._save = save
        # Drawings are small as shapes; values of many cells are not.
        self._drawing = drawing

    def save(self, path):
        """Writes it in the format that the ending of the file names: `.png`, `.svg` or `.pdf`."""
        self._save(os.fspath(path))

    def _bytes(self, ending):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, f"figure.{ending}")
            self._save(path)
            with open(path, "rb") as file:
                return file.read()

    @property
    def png(self):
        """Its bytes as PNG."""
        return self._bytes("png")

    @property
    def svg(self):
        """Its text as SVG."""
        return self._bytes("svg").decode()

    def _repr_mimebundle_(self, include=None, exclude=None):
        if self._drawing:
            return {"image/svg+xml": self.svg}
        import base64

        return {"image/png": base64.b64encode(self.png).decode()}
