"""The input: batches, settings, examples, modules, tensors."""
