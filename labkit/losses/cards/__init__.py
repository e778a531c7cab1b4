"""What is said of every loss, a file a family, as in `modules`."""
