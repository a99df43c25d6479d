"""A model behind HTTP: predictions, explanations, its schema, and a page to try it."""
