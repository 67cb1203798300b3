"""Class: students vote on their phones on what PyTorch does, and then see it; the teacher's page."""

from ui.views.classroom import classroom

classroom()
