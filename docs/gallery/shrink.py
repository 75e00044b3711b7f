"""Makes small pictures of large ones: shrink.py FOLDER PICTURE.."""

import sys
from pathlib import Path

from PIL import Image

folder = Path(sys.argv[1])
for path in map(Path, sys.argv[2:]):
    picture = Image.open(path).convert("RGB")
    width = 720 if picture.width > 1300 else 420
    picture = picture.resize((width, round(picture.height * width / picture.width)), Image.LANCZOS)
    picture = picture.quantize(256, method=Image.Quantize.MAXCOVERAGE, kmeans=3, dither=Image.Dither.NONE)
    name = path.name if path.stem != "spectrum" else f"{path.parent.name}_spectrum.png"
    picture.save(folder / name, optimize=True)
