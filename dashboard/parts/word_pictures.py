"""Pictures of test words for a page, drawn anew from their ids; "" for words that this machine cannot draw."""

from __future__ import annotations

import base64
import io

import streamlit as st


@st.cache_data(max_entries=4000, show_spinner=False)
def picture_of(sample: str, distortion: float) -> str:
    """A rendered word as an address that holds the picture; the id says which it is: split/seed/number/font."""
    try:
        split, seed, number, _ = sample.split("/")
        # torch is loaded here and only here: a page without pictures does without it
        from labkit.data.rendered_words import rendered_words

        drawn = rendered_words(split, 1, first=int(number), seed=int(seed), distortion=distortion)
        if drawn.ids[0] != sample:
            return ""
        from PIL import Image

        held = io.BytesIO()
        Image.fromarray(drawn.images[0, 0].numpy()).save(held, "PNG")
        return f"data:image/png;base64,{base64.b64encode(held.getvalue()).decode()}"
    except (ImportError, OSError, ValueError):
        return ""
