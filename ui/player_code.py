"""The player's code: one file, which the browser fetches once and keeps; an edit sends the movie alone.

Streamlit sends the script of a component again with each change of its data, and serves a file in its place only for
an installed package. So the component's own script is LOADER, a few lines that import the file from our route.
"""

import json
from hashlib import sha256

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from packviz.show.movie import assets

__all__ = ["LOADER", "NAME", "route"]

_css, _js = assets()
_code = f"{_js}\nexport const styles = {json.dumps(_css)};\n"

NAME = f"player.{sha256(_code.encode()).hexdigest()[:16]}.js"  # changes with the code, so that a browser may keep it
LOADER = f"""
const {{ default: play, styles }} = await import(new URL("./{NAME}", document.baseURI));
const sheet = new CSSStyleSheet();
sheet.replaceSync(styles);
export default (component) => {{
  const root = component.parentElement.getRootNode();
  if (!root.adoptedStyleSheets.includes(sheet)) root.adoptedStyleSheets.push(sheet);
  return play(component);
}};
"""


def route() -> Route:
    """Return the route of the file, which stands beside the app's pages, whatever path comes before them."""
    return Route("/{base:path}" + NAME, _answer)


async def _answer(_request: Request) -> Response:
    return Response(
        _code, headers={"Cache-Control": "public, max-age=31536000, immutable"}, media_type="text/javascript"
    )
