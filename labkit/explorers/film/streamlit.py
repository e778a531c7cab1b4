"""Films in a Streamlit page."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256

from labkit.explorers.columns import side_by_side
from labkit.explorers.film.packed import packed, reel
from labkit.explorers.hosts import FILM, streamlit_blob, streamlit_component
from labkit.runs.film import Film

LEAST = 370  # pixels of a film beside another
VIEW = ("step", "turn", "tilt")


def film_player(
    *films: Film,
    key: str,
    view: Mapping[str, int | None] | None = None,
    height: int = 520,
    per_class: int | None = None,
    classes: int | None = None,
) -> dict[str, int | None]:
    """Show the training of one run, or of several side by side that go and turn together; returns step, turn, tilt.

    view: where it begins, a step (None: the last) and the two angles of a sphere in degrees. What the reader changes
    is kept in `st.session_state[f"{key}.view"]`; playing and dragging need no answer from here. per_class and classes:
    as in `packed`.
    """
    import streamlit as st

    player, blob = streamlit_component(FILM), streamlit_blob()
    kept = f"{key}.view"
    now: dict[str, int | None] = st.session_state.setdefault(kept, dict(view or {"step": None, "turn": 45, "tilt": 35}))
    reels = [reel({(): packed(film, per_class, classes)}, []) for film in films]
    names = [sha256(content).hexdigest() for content in reels]
    with st.container(gap=None):  # what keeps the bytes takes no room
        for number, column in enumerate(side_by_side(f"{key}-panels", len(films), LEAST)):
            with column:
                player(
                    key=f"{key}.{number}",
                    data={"films": names[number], "height": height, "group": key, **now},
                    on_view_change=lambda number=number: take_view(key, number),
                )
        for number, (name, content) in enumerate(zip(names, reels)):
            blob(key=f"{key}.{number}.film", data=name.encode() + content)
    return dict(st.session_state[kept])


def take_view(key: str, number: int) -> None:
    """What was set in one film holds for all."""
    import streamlit as st

    found = st.session_state[f"{key}.{number}"].get("view") or {}
    whole = {name: value for name, value in found.items() if isinstance(value, int) and name in VIEW}
    st.session_state[f"{key}.view"] = st.session_state[f"{key}.view"] | whole
