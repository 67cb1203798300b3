"""The Streamlit half of packviz: the controls, the player's mount, the cache and the warm start."""

__all__: list[str] = []
