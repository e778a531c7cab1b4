"""What several pages share, and the parts of a page that is too long for one file."""
