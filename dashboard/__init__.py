"""The dashboard: app.py is what Streamlit runs, pages/ holds a file a page, parts/ what pages share."""
