"""The embedding explorer: points of a run in the plane, with pictures, neighbours and a lasso, on three surfaces.

`../web/embedding/` draws and listens. `data.py` prepares what it shows, `packed.py` makes few bytes of it, `widget.py`
puts it into JupyterLab, a built notebook or the book, `streamlit.py` into the dashboard. There `film.py` and
`../web/film/` show how the points came to their places.
"""

from labkit.explorers.embedding.data import ExplorerData, explorer_data
from labkit.explorers.embedding.widget import explore_embeddings

__all__ = ["ExplorerData", "explore_embeddings", "explorer_data"]
