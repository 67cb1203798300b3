"""Pictures of a movie as SVG, and with Pillow one frame as PNG or all of them as GIF or APNG."""

from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from packviz.errors import extra
from packviz.show.movie.picture import Picture
from packviz.show.movie.staging import Shape, Strokes, Text, Tile
from packviz.show.theme import FONT

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageFont import FreeTypeFont, ImageFont

FONTS = (("DejaVuSans.ttf", "DejaVuSans-Bold.ttf"), ("Arial.ttf", "Arial Bold.ttf"), ("arial.ttf", "arialbd.ttf"))
BEAT, LEAST, WORD = 500, 2500, 350  # ms of an intermediate frame, of a step at least, and per word of its caption


def svg(picture: Picture) -> str:
    """Return the first frame that is drawn as one SVG, with the user's text escaped."""
    frame = picture.drawn[0]
    title = escape(f"{picture.data['title']}. {picture.said[picture.staging.frames[frame].step - 1]}")
    written = "".join(map(_written, picture.shapes(frame)))
    size = f'viewBox="0 0 {picture.width} {picture.full}" width="{picture.width}" height="{picture.full}"'
    start = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" font-family="{FONT}">'
    return f"{start}<title>{title}</title>{written}</svg>"


def _written(shape: Shape) -> str:
    if isinstance(shape, Text):
        style = f'font-size="{shape.px:.4g}" text-anchor="{shape.at}" fill="{shape.fill}"'
        weight = ' font-weight="600"' if shape.bold else ""
        where = f'x="{shape.x:.5g}" y="{shape.y:.5g}" dominant-baseline="central"'
        return f'<text {where} {style}{weight} xml:space="preserve">{escape(shape.text)}</text>'
    if isinstance(shape, Strokes):
        points = "".join("M" + "L".join(f"{x:.5g},{y:.5g}" for x, y in run) for run in shape.runs)
        stroke = f'fill="none" stroke="{shape.color}" stroke-width="{shape.width:.3g}"'
        look = stroke if shape.width else f'fill="{shape.color}"'
        return f'<path d="{points}" {look}/>'
    place = f'x="{shape.x:.5g}" y="{shape.y:.5g}" width="{max(0.0, shape.w):.5g}" height="{max(0.0, shape.h):.5g}"'
    edge = f' stroke="{shape.edge}" stroke-width="{shape.width:.3g}"' if shape.edge else ""
    more = (f' rx="{shape.round:.3g}"' if shape.round else "") + (' stroke-dasharray="3 2"' if shape.dashed else "")
    return f'<rect {place} fill="{shape.fill or "none"}"{edge}{more}/>'


def draw(path: Path, picture: Picture, scale: float) -> None:
    """Write the frame that is drawn, or all in turn."""
    with extra("figures"):
        import PIL  # noqa: F401
    if path.suffix.lower() == ".png":
        return _image(picture, picture.drawn[0], scale, 2).save(path, "PNG", optimize=True)
    numbers = [picture.staging.frames[i].step for i in picture.drawn]
    first, *others = (_image(picture, i, scale, 1) for i in picture.drawn)
    words = [len(" ".join(line.text for line in lines).split()) for lines in picture.captions]
    ends = [i + 1 == len(numbers) or numbers[i + 1] != number for i, number in enumerate(numbers)]
    times = [max(LEAST, WORD * words[n - 1]) if end else BEAT for n, end in zip(numbers, ends, strict=True)]
    kind = "GIF" if path.suffix.lower() == ".gif" else "PNG"
    first.save(path, kind, save_all=True, append_images=others, duration=times, loop=0)
    return None


def _image(picture: Picture, frame: int, scale: float, fine: int) -> "Image":
    """Return a frame supersampled by `fine`, because Pillow antialiases only text."""
    from PIL import Image, ImageDraw

    width, height = round(picture.width * scale), round(picture.full * scale)
    image, scale = Image.new("RGB", (fine * width, fine * height)), fine * scale
    pen = ImageDraw.Draw(image)
    for shape in picture.shapes(frame):
        if isinstance(shape, Tile):
            x, y, half = shape.x, shape.y, shape.width / 2 if shape.edge else 0  # as in SVG, half of an edge is outside
            ends = (x - half, y - half, x + shape.w + half - 1 / scale, y + shape.h + half - 1 / scale)
            corners = [scale * each for each in ends]
            if corners[2] >= corners[0] and corners[3] >= corners[1]:
                thick = max(1, round(shape.width * scale)) if shape.edge else 0
                radius = shape.round * scale
                pen.rounded_rectangle(corners, radius if radius > 1 else 0, shape.fill, shape.edge, thick)
        elif isinstance(shape, Strokes):
            for run in shape.runs:
                points = [(x * scale, y * scale) for x, y in run]
                if shape.width:
                    pen.line(points, shape.color, max(1, round(shape.width * scale)), "curve")
                else:
                    pen.polygon(points, shape.color)
        else:
            font = _font(shape.px * scale, shape.bold)
            anchor = {"start": "lm", "middle": "mm"}[shape.at]
            pen.text((shape.x * scale, shape.y * scale), shape.text, shape.fill, font, anchor)
    return image.reduce(fine)


@cache
def _font(px: float, bold: bool) -> "FreeTypeFont | ImageFont":
    from PIL import ImageFont

    for pair in FONTS:
        try:
            return ImageFont.truetype(pair[bold], px)
        except OSError:
            continue
    return ImageFont.load_default(px)
