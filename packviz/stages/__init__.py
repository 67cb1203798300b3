"""The stages of a run, one file each: records and tensors in, one frozen record out.

padding     ragged sequences            -> Padded
sorting     what torch's sort answered  -> Sorted
packing     padded values               -> Packed
recurrence  packed rows, one direction  -> Direction   (with the cells' formulas in ``cells``)
unpacking   packed output               -> Unpacked

Stages do not know each other; ``packviz.trace`` alone knows their order.
"""

__all__: list[str] = []
