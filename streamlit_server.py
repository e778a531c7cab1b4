"""What `labkit dashboard` serves: the pages of streamlit_app.py behind the gate."""

import os
from pathlib import Path

from starlette.middleware import Middleware
from streamlit.starlette import App

from dashboard.gate import TOKEN, Gate, opens_browser

gate = Middleware(Gate, token=os.environ.get(TOKEN, ""))
app = App(Path(__file__).with_name("streamlit_app.py"), middleware=[gate], lifespan=opens_browser)
