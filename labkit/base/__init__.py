"""What every room may use: paths, files, checks, errors, tensors and words. It imports nothing of labkit."""
