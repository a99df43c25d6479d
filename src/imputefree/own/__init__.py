"""Own data without Python: from a file to a model, and from a model to predictions."""
