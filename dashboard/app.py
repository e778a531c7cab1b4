"""Entry of the dashboard: one file a page, listed here. Started by `make dashboard`."""

import sys
from pathlib import Path

import streamlit as st

HERE = Path(__file__).parent
if str(HERE) not in sys.path:
    sys.path.insert(0, str(HERE))  # pages import what they share from common.py

st.set_page_config(page_title="labkit", page_icon="🎯", layout="wide")
st.navigation(
    [
        st.Page(HERE / "home.py", title="Home", icon=":material/home:", default=True),
        st.Page(HERE / "embeddings.py", title="Embeddings", icon=":material/bubble_chart:"),
        st.Page(HERE / "retrieval.py", title="Retrieval", icon=":material/image_search:"),
        st.Page(HERE / "compare.py", title="Compare runs", icon=":material/bar_chart:"),
        st.Page(HERE / "losses_page.py", title="Losses", icon=":material/functions:", url_path="losses"),
        st.Page(HERE / "papers.py", title="Papers", icon=":material/article:"),
        st.Page(HERE / "train.py", title="Train", icon=":material/play_circle:"),
        st.Page(HERE / "run.py", title="One run", icon=":material/description:"),
    ]
).run()
