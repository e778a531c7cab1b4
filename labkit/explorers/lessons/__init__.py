"""Explorers of the lessons; a file has the name of its lesson."""
