"""QR codes of links, as images."""

import segno

MAX_BYTES = 666  # of a text; more modules than that (version 20) are hard to read off a projector


def qr_code(text: str) -> str:
    """Return the code of a text as the address of an image: black on white, with the light zone that it needs around.

    Up to 15 % of it can be restored (error correction level M).
    """
    return segno.make_qr(text, error="m", boost_error=False).svg_data_uri(light="white", border=4, omitsize=True)
