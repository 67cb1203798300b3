"""Pictures of a movie as SVG, and with Pillow one frame as PNG or all of them as GIF or APNG."""

from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from packviz.errors import extra
from packviz.show.movie.stills import Area, Picture, Shape, Strokes, Text, Tile
from packviz.show.theme import FONT

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageDraw import ImageDraw
    from PIL.ImageFont import FreeTypeFont, ImageFont

FONTS = (("DejaVuSans.ttf", "DejaVuSans-Bold.ttf"), ("Arial.ttf", "Arial Bold.ttf"), ("arial.ttf", "arialbd.ttf"))
BEAT, LEAST, WORD = 500, 2500, 350  # ms of an intermediate frame, of a step at least, and per word of its caption


def svg(picture: Picture) -> str:
    """Return the first frame that is drawn as one SVG, with the user's text escaped."""
    frame = picture.drawn[0]
    title = escape(f"{picture.data['title']}. {picture.said[picture.steps[frame] - 1]}")
    written = "".join(map(_written, picture.shapes(frame)))
    size = f'viewBox="0 0 {picture.width} {picture.full}" width="{picture.width}" height="{picture.full}"'
    start = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" font-family="{FONT}">'
    return f"{start}<title>{title}</title>{written}</svg>"


def _written(shape: Shape) -> str:
    faint = "" if shape.alpha == 1 else f' opacity="{shape.alpha:.2g}"'
    if isinstance(shape, Text):
        style = f'font-size="{shape.px:.4g}" text-anchor="{"start" if shape.left else "middle"}" fill="{shape.fill}"'
        weight = (' font-weight="600"' if shape.bold else "") + faint
        where = f'x="{shape.x:.5g}" y="{shape.y:.5g}" dominant-baseline="central"'
        return f'<text {where} {style}{weight} xml:space="preserve">{escape(shape.text)}</text>'
    if isinstance(shape, Strokes | Area):
        points = "".join("M" + "L".join(f"{p['x']:.5g},{p['y']:.5g}" for p in line) for line in shape.lines)
        if isinstance(shape, Area):
            return f'<path d="{points}" fill="{shape.fill}"{faint}/>'
        return f'<path d="{points}" fill="none" stroke="{shape.edge}" stroke-width="{shape.width:.3g}"{faint}/>'
    place = f'x="{shape.x:.5g}" y="{shape.y:.5g}" width="{max(0.0, shape.w):.5g}" height="{max(0.0, shape.h):.5g}"'
    edge = f' stroke="{shape.edge}" stroke-width="{shape.width:.3g}"' if shape.edge else ""
    more = (
        (f' rx="{shape.round:.3g}"' if shape.round else "")
        + (' stroke-dasharray="3 2"' if shape.dashed else "")
        + faint
    )
    return f'<rect {place} fill="{shape.fill or "none"}"{edge}{more}/>'


def draw(path: Path, picture: Picture, scale: float) -> None:
    """Write the frame that is drawn, or all in turn."""
    with extra("figures"):
        import PIL  # noqa: F401
    if path.suffix.lower() == ".png":
        return _image(picture, picture.drawn[0], scale, 2).save(path, "PNG", optimize=True)
    numbers = [picture.steps[i] for i in picture.drawn]
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
    pen = ImageDraw.Draw(image, "RGBA")  # in which colours that are not opaque are mixed with what is below them
    for shape in picture.shapes(frame):
        if isinstance(shape, Tile):
            _tile(pen, shape, scale)
        elif isinstance(shape, Text):
            font, anchor = _font(shape.px * scale, shape.bold), "lm" if shape.left else "mm"
            pen.text((shape.x * scale, shape.y * scale), shape.text, _faint(shape.fill, shape.alpha), font, anchor)
        else:
            for line in shape.lines:
                points = [(p["x"] * scale, p["y"] * scale) for p in line]
                if isinstance(shape, Area):
                    pen.polygon(points, _faint(shape.fill, shape.alpha))
                else:
                    pen.line(points, _faint(shape.edge, shape.alpha), max(1, round(shape.width * scale)), "curve")
    return image.reduce(fine)


def _tile(pen: "ImageDraw", tile: Tile, scale: float) -> None:
    half = tile.width / 2 if tile.edge else 0  # as in SVG, half of an edge is outside
    ends = (tile.x - half, tile.y - half, tile.x + tile.w + half - 1 / scale, tile.y + tile.h + half - 1 / scale)
    corners = [scale * each for each in ends]
    if corners[2] < corners[0] or corners[3] < corners[1]:
        return
    thick = max(1, round(tile.width * scale)) if tile.edge else 0
    radius = tile.round * scale
    fill, edge = _faint(tile.fill, tile.alpha), _faint(tile.edge, tile.alpha)
    pen.rounded_rectangle(corners, radius if radius > 1 else 0, fill, edge, thick)


def _faint(color: str | None, alpha: float) -> str | None:
    """Return a colour that is as opaque as this."""
    return color and f"{color}{round(255 * alpha):02x}"


@cache
def _font(px: float, bold: bool) -> "FreeTypeFont | ImageFont":
    from PIL import ImageFont

    for pair in FONTS:
        try:
            return ImageFont.truetype(pair[bold], px)
        except OSError:
            continue
    return ImageFont.load_default(px)
