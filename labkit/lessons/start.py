"""The first cell of a lesson: what it runs on, and a seed; or a readable reason why it cannot run."""

from __future__ import annotations

import platform

# JupyterLab's dark theme leaves some things as they are on white: drawings of lines are turned dark with their hues
# kept, a menu's arrow becomes light. Words of figures are grey (labkit.figures.style.TEXT); the page's ink reads
# better. Folded hints and solutions keep their distance from what follows. Controls whose kernel is gone say so.
LOOK = """<style>
body[data-jp-theme-light="false"] img.labkit-lines { filter: invert(0.93) hue-rotate(180deg); }
body[data-jp-theme-light="false"] .jupyter-widgets > select {
  background-image: url("data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 18 18'%3E\
%3Cpath fill='%23ddd' d='M5.2 5.9 9 9.7l3.8-3.8 1.2 1.2-4.9 5-4.9-5z'/%3E%3C/svg%3E");
}
.jp-OutputArea .js-plotly-plot text[style*="rgb(118, 118, 118)"] { fill: var(--jp-content-font-color1) !important; }
.jp-RenderedHTMLCommon details { margin-bottom: 1em; }
.jp-OutputArea-output > .jupyter-widgets-disconnected::after {
  content: "Not connected: run the cell again."; display: block; padding: 6px 10px; margin-top: 6px;
  border: 1px dashed #8a8a8a; border-radius: 6px; font-style: italic; color: var(--jp-content-font-color1);
}
</style>"""


def start(seed: int = 0) -> None:
    """Seed torch and numpy, compute on one thread, and print versions and device."""
    try:
        import numpy as np
        import torch
    except ModuleNotFoundError as error:
        raise SystemExit(
            f"This kernel has no {error.name}. Start JupyterLab with `make lab`, or choose the kernel of .venv."
        ) from None
    from labkit import __version__
    from labkit.base.mode import mode
    from labkit.figures.display import display_html
    from labkit.lessons.errata import errata_cards
    from labkit.training.devices import choose_device, device_name

    if mode() == "live":
        display_html(LOOK + errata_cards())
    torch.set_num_threads(1)  # tensors of a lesson are small: a second thread would only wait
    torch.manual_seed(seed)
    np.random.seed(seed)
    device = choose_device("auto")
    print(
        f"labkit {__version__}, torch {torch.__version__}, Python {platform.python_version()}; "
        f"{device.type} ({device_name(device)}); seed {seed}"
    )
