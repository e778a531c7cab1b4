"""Playground: draw a ranking loss, drag the data, and train small networks in the browser."""

import streamlit as st

from labkit.explorers.playground import show_in_streamlit

STATE = "play"  # in the address


def page() -> None:
    """The playground; what is set in it is in the address."""
    st.title("Playground")
    st.markdown(
        "A ranking loss decides how hard a positive is pulled when *R* negatives stand before it. Decide it yourself: "
        "a small network learns with your loss, in your browser, and you see what becomes of classes it never met."
    )
    state = show_in_streamlit(st.query_params.get(STATE, ""), "playground")
    if state:
        st.query_params[STATE] = state
    else:
        st.query_params.pop(STATE, None)
