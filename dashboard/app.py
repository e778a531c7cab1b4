"""The look of all pages, and the page that was asked for."""

import streamlit as st

from dashboard.pages import PAGES, place

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
.katex-display {{ overflow: auto hidden; }}
@media (max-width: 640px) {{ .katex-display {{ font-size: 0.85em; }} }}
.st-key-look a {{ background: light-dark(#0059b3, #2f80d8); padding: 0.35rem 1rem; }}
.st-key-look a * {{ color: white !important; font-weight: 600; }}
.st-key-look a:hover {{ background: light-dark(#004080, #1f6fc4); }}
</style>"""


def app() -> None:
    """Draw the page of the address."""
    st.set_page_config(page_title="labkit", page_icon="🎯", layout="wide", initial_sidebar_state=220)
    st.html(LOOKS)
    st.navigation([place(name) for name in PAGES]).run()
