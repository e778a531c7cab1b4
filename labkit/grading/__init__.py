"""Grading out of process: hand-ins run in a sealed child, and only numbers come back."""
