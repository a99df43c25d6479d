"""Protocols, rivals and results: how methods are compared."""
