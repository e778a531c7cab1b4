"""The lessons as a book: plain HTML pages that work from a file, without a server, a network or Python."""

from labkit.book.build import build_book

__all__ = ["build_book"]
