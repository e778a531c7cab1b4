"""The embedding explorer: points of a run in the plane, with pictures, neighbours and a lasso, on three surfaces.

`explorer.js` draws and listens; it is one module without dependencies. `data.py` prepares what it shows, `packed.py`
makes few bytes of it, `widget.py` puts it into JupyterLab, a built notebook or the book, `streamlit.py` into the
dashboard. There `film.py` and `film.js` show how the points came to their places.
"""

from labkit.explorers.embedding.data import ExplorerData, explorer_data
from labkit.explorers.embedding.widget import explore_embeddings

__all__ = ["ExplorerData", "explore_embeddings", "explorer_data"]
