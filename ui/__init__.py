"""The Streamlit half of packviz, in floors: each imports only from those before it.

jobs     long work, in processes of its own or by workers that share a Redis
state    what is remembered: the address, the visitor, the requests and their runs, the cache
parts    what several pages show: the controls, the player, the frame of a lesson, the share panel
views    what one page shows
server   the process around the pages: the head of the HTML, files, metrics, the warm start
"""

__all__: list[str] = []
