"""QR codes of links, as images."""

import segno

MAX_BYTES = 666  # of a text; codes beyond version 20 are hard to scan from a projector


def qr_code(text: str) -> str:
    """Return the QR code of a text as a data URI: black on white, with the quiet zone around it.

    Up to 15% of it can be restored (error correction level M).
    """
    return segno.make_qr(text, error="m", boost_error=False).svg_data_uri(light="white", border=4, omitsize=True)


def qr_svg(text: str) -> str:
    """Return the QR code of a text as an SVG element."""
    return segno.make_qr(text, error="m", boost_error=False).svg_inline(light="white", border=4, omitsize=True)
