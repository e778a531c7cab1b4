"""Entry of the dashboard: one file a page, listed here. Started by `make dashboard`."""

from pathlib import Path

import streamlit as st

HERE = Path(__file__).parent

st.set_page_config(page_title="labkit", page_icon="🎯", layout="wide")
st.navigation([st.Page(HERE / "home.py", title="Home", icon=":material/home:", default=True)]).run()
