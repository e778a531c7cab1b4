"""Explorers for notebooks: sliders round one figure function, and their still picture beneath."""
