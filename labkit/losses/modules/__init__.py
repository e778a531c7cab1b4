"""Thin Modules around the functional losses: they hold options and, where a loss has them, its parameters.

Each is called as loss(embeddings, labels) and takes return_parts=True where its function does.
"""
