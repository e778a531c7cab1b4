"""Teaching: figures with words, guesses before answers, instant checks, progress."""
