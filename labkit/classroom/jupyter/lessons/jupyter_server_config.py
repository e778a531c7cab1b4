"""Settings that only Python can give: what is written when a lesson is saved."""

from labkit.classroom.saving import without_widgets

c = get_config()  # type: ignore[name-defined]  # noqa: F821
c.ContentsManager.pre_save_hook = without_widgets
