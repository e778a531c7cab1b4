"""What JupyterLab writes when a lesson is saved: the still picture in place of a widget, which no reopened page has."""

from __future__ import annotations

from typing import Any

VIEW = "application/vnd.jupyter.widget-view+json"
AGAIN = "<p><i>Run this cell to make it live.</i></p>"


def _load_jupyter_server_extension(app: Any) -> None:
    """Jupyter's own name for what runs once when the server starts; as a setting the hook would be set twice."""
    app.contents_manager.register_pre_save_hook(without_widgets)


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    """Where Jupyter finds the above."""
    return [{"module": "labkit.classroom.saving"}]


def without_widgets(model: dict[str, Any], **others: Any) -> None:
    """A pre_save_hook of Jupyter's contents manager. The page that is open keeps its widgets; only the file changes."""
    content = model.get("content")
    if model.get("type") != "notebook" or not isinstance(content, dict):
        return
    content.get("metadata", {}).pop("widgets", None)
    for cell in content.get("cells", ()):
        for output in cell.get("outputs", ()):
            data = output.get("data")
            if isinstance(data, dict) and data.pop(VIEW, None) is not None:
                still = data.get("text/html", "")
                still = still if isinstance(still, str) else "".join(still)
                data.clear()
                data["text/html"] = still + AGAIN
                data["text/plain"] = "Run this cell to make it live."
