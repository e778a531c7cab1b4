"""Figures of the lessons; a file has the name of its lesson, and the dashboard shows some of them too."""
