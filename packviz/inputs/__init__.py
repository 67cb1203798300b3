"""What was typed or handed over: batches, settings, examples, tensors."""

__all__: list[str] = []
