"""Commands of `python -m labkit`, one file each; each offers `register(commands)`."""
