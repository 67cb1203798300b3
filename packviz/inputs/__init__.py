"""What was typed or handed over: batches, settings, examples, tensors."""
