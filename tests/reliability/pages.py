"""Pages of the dashboard, run by Streamlit's own test driver."""

from pathlib import Path

ROOT = Path(__file__).parents[2]


def menu() -> list[str]:
    """The names of all pages."""
    from dashboard.pages import PAGES

    return list(PAGES)


def open_page(name, **query):
    """A page with this address; runs are those of LABKIT_RUNS."""
    from streamlit.testing.v1 import AppTest

    script = f"from dashboard.pages.{name} import page\npage()"
    script = (ROOT / "streamlit_app.py").read_text(encoding="utf-8") if name == "app" else script
    driver = AppTest.from_string(script, default_timeout=60)
    for key, value in query.items():
        driver.query_params[key] = value
    return driver.run()


def forget():
    """Whatever pages keep in memory."""
    import streamlit as st

    st.cache_resource.clear()
    st.cache_data.clear()
