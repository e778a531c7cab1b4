"""What Streamlit runs for `make dashboard`.

It stands here, since Streamlit would take a folder `pages` beside it for pages in its own sense, scripts that it runs.
"""

from dashboard.app import app

app()
