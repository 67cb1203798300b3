"""The process around the pages: the head of the HTML, files, metrics, the warm start."""
