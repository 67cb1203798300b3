"""The whole way: padded, sorted, packed, run, unpacked."""

from ui.lesson import overview

overview("packviz: padding and packing")
