"""The dashboard: app.py draws the page of the address, pages/ has a file for each, parts/ what they share."""
