"""The records as tables: one function a stage, Trace -> pandas.DataFrame."""

from packviz.errors import extra

with extra("charts"):
    from packviz.show.tables import packed_table, padded_table, run_table, sorted_table, unpacked_table

__all__ = ["packed_table", "padded_table", "run_table", "sorted_table", "unpacked_table"]
