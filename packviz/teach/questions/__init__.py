"""Questions about packing, answered by running code: entries in Markdown, their verdicts, and a search."""

from packviz.errors import extra

with extra("app"):
    from packviz.teach.questions.entry import *
    from packviz.teach.questions.running import *
    from packviz.teach.questions.searching import *
