"""Write subset.npz: the first 200 training and the first 100 test images of each class of Fashion-MNIST.

Run `PYTHONPATH=. python data/fashion-mnist/make_subset.py` where the official files are found
(`python -m labkit data get fashion-mnist` fetches them). `index` is each image's place in the official file.
"""

from pathlib import Path

import numpy as np

from labkit.data.fashion_mnist import position_in_class, read_official

SIZES = {"train": 200, "test": 100}


def main() -> None:
    """Write the file beside this script."""
    arrays = {}
    for (split, size), data in zip(SIZES.items(), read_official()):
        index = (position_in_class(data.labels) < size).nonzero().flatten()
        # sorted by class: alike images compress better together
        index = index[data.labels[index].argsort(stable=True)]
        chosen = data.take(index)
        arrays[f"{split}_images"] = chosen.inputs[:, 0].numpy()
        arrays[f"{split}_labels"] = chosen.labels.numpy().astype(np.uint8)
        arrays[f"{split}_index"] = index.numpy()
    np.savez_compressed(Path(__file__).with_name("subset.npz"), **arrays)


if __name__ == "__main__":
    main()
