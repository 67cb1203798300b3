"""Pictures of a movie with Pillow: one frame as PNG, all of them as GIF or APNG."""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from packviz.errors import extra
from packviz.show.movie.picture import Box, Line, Picture

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageFont import FreeTypeFont, ImageFont

FONTS = (("DejaVuSans.ttf", "DejaVuSans-Bold.ttf"), ("Arial.ttf", "Arial Bold.ttf"), ("arial.ttf", "arialbd.ttf"))
BEAT, LEAST, WORD = 500, 2500, 350  # ms of a frame on its way, of a step, and of a word of its caption


def draw(path: Path, picture: Picture, frame: int | None, scale: float) -> None:
    """Write one frame, counted from 0, or, if it is None, all of them one after the other."""
    with extra("figures"):
        import PIL  # noqa: F401
    if frame is not None:
        return _image(picture, frame, scale).save(path, "PNG", optimize=True)
    numbers = [number for number, _, _ in picture.staging.frames]
    images = [_image(picture, i, scale) for i in range(len(numbers))]
    words = [len(" ".join(lines).split()) for lines in picture.captions]
    ends = [i + 1 == len(numbers) or numbers[i + 1] != number for i, number in enumerate(numbers)]
    times = [max(LEAST, WORD * words[n - 1]) if end else BEAT for n, end in zip(numbers, ends, strict=True)]
    kind = "GIF" if path.suffix.lower() == ".gif" else "PNG"
    images[0].save(path, kind, save_all=True, append_images=images[1:], duration=times, loop=0)
    return None


def _image(picture: Picture, frame: int, scale: float) -> "Image":
    from PIL import Image, ImageDraw

    image = Image.new("RGB", (round(picture.width * scale), round(picture.full * scale)))
    pen = ImageDraw.Draw(image)
    for shape in picture.shapes(frame):
        if isinstance(shape, Box):
            corners = [scale * each for each in (shape.x, shape.y, shape.x + shape.w, shape.y + shape.h)]
            if corners[2] >= corners[0] and corners[3] >= corners[1]:
                width = max(1, round(shape.width * scale)) if shape.edge else 0
                pen.rounded_rectangle(corners, shape.round * scale, shape.fill, shape.edge, width)
        elif isinstance(shape, Line):
            points = [(x * scale, y * scale) for x, y in shape.points]
            pen.line(points, shape.color, max(1, round(shape.width * scale)), "curve")
        else:
            font = _font(shape.px * scale, shape.bold)
            anchor = {"start": "lm", "middle": "mm"}[shape.at]
            pen.text((shape.x * scale, shape.y * scale), shape.text, shape.fill, font, anchor)
    return image


@cache
def _font(px: float, bold: bool) -> "FreeTypeFont | ImageFont":
    from PIL import ImageFont

    for pair in FONTS:
        try:
            return ImageFont.truetype(pair[bold], px)
        except OSError:
            continue
    return ImageFont.load_default(px)
