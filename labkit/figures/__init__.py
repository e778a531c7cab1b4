"""Figures as pure functions: parameters or runs in, a plotly figure out; lessons, dashboard and book show the same."""
