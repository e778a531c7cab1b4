"""What `labkit dashboard` serves: the pages of streamlit_app.py behind the gate."""

import os
from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware
from streamlit.starlette import App

from dashboard.gate import TOKEN, Gate, opens_browser
from dashboard.shell import Shell
from dashboard.warm import warm_up

gate = Middleware(Gate, token=os.environ.get(TOKEN, ""))
shell = Middleware(Shell, base=st.get_option("server.baseUrlPath") or "")
app = App(Path(__file__).with_name("streamlit_app.py"), middleware=[gate, shell], lifespan=opens_browser)
warm_up()
