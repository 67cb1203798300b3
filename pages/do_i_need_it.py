"""What each task needs: pads, a mask, packing, or rows."""

from ui.views.questions import one

one("do-i-need-it")
