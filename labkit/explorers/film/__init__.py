"""Films of embeddings while networks learn, on three surfaces; `../web/film/` plays them.

`packed.py` makes bytes of films, `lessons.py` shows those of two lessons in JupyterLab, a built notebook or the book,
`streamlit.py` puts films into the dashboard.
"""
