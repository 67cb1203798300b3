"""The movies of Compare, with the same module on both sides.

A run is run.py, with its data in pair.py, its places in layout.py, its marks in marks.py and its words in words.py. The
gradient (back.py) and the losses (losses.py) are small enough for one file each.
"""
