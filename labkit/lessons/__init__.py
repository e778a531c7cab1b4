"""What a notebook calls: figures with words, guesses before answers, instant checks, progress, experiments."""
