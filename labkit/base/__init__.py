"""What every room may use; imports nothing of labkit."""
