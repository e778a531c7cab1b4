"""Speed and memory, side by side with peers: python -m benchmarks, or make bench."""
