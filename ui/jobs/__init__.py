"""Long work, in a process of its own or by workers that share a Redis."""
