"""Entry of the dashboard: one file a page, listed here. Started by `make dashboard`."""

import sys
from pathlib import Path

import streamlit as st

HERE = Path(__file__).parent
if str(HERE) not in sys.path:
    sys.path.insert(0, str(HERE))  # pages import what they share from common.py

# figures are made to read on white and on black alike; where the page is known, words and dark lines get more contrast
BLUE, ORANGE = "rgb(0, 114, 178)", "rgb(213, 94, 0)"
LOOKS = f"""<style>
@media (min-width: 769px) {{ [data-testid=stMainBlockContainer] {{ padding: 3.5rem 2.2rem 4rem; }} }}
.js-plotly-plot :is(.xtick, .ytick, .xtitle, .ytitle, .gtitle, .legendtext, .xtick text, .ytick text) {{
  fill: light-dark(#595959, #c4c4c4) !important; }}
.js-plotly-plot [style*="stroke: {BLUE}"] {{ stroke: light-dark({BLUE}, #3d9be0) !important; }}
.js-plotly-plot [style*="fill: {BLUE}"] {{ fill: light-dark({BLUE}, #3d9be0) !important; }}
.js-plotly-plot [style*="stroke: {ORANGE}"] {{ stroke: light-dark({ORANGE}, #f0803c) !important; }}
.js-plotly-plot [style*="fill: {ORANGE}"] {{ fill: light-dark({ORANGE}, #f0803c) !important; }}
</style>"""

st.set_page_config(page_title="labkit", page_icon="🎯", layout="wide", initial_sidebar_state=220)
st.html(LOOKS)
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
