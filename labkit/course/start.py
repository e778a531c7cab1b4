"""The first cell of a lesson: what it runs on, and a seed; or a readable reason why it cannot run."""

from __future__ import annotations

import platform


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
    from labkit.training.devices import choose_device, device_name

    torch.set_num_threads(1)  # tensors of a lesson are small: a second thread would only wait
    torch.manual_seed(seed)
    np.random.seed(seed)
    device = choose_device("auto")
    print(
        f"labkit {__version__}, torch {torch.__version__}, Python {platform.python_version()}; "
        f"{device.type} ({device_name(device)}); seed {seed}"
    )
