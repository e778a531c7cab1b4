"""Miniature copies of the benchmarks' official folders: a few classes, tiny images, the same files and columns.

Each builder fills `root` with one data set and returns its folder. Class numbers straddle the official borders.
"""

import numpy as np
from PIL import Image
from scipy.io import savemat

CUB_CLASSES = (1, 2, 100, 101, 102)
CARS_CLASSES = (1, 97, 98, 99, 196)
IMAGES = 3  # of each class


def picture(path, value=0):
    path.parent.mkdir(parents=True, exist_ok=True)
    pixels = (np.arange(12 * 10 * 3).reshape(10, 12, 3) * 5 + value) % 256
    Image.fromarray(pixels.astype(np.uint8)).save(path)


def write(path, lines):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def cub(root):
    folder = root / "CUB_200_2011"
    images = [f"{c:03d}.Bird_{c}/Bird_{c}_{i:04d}.jpg" for c in CUB_CLASSES for i in range(IMAGES)]
    for image in images:
        picture(folder / "images" / image)
    write(folder / "images.txt", (f"{n} {image}" for n, image in enumerate(images, start=1)))
    write(folder / "image_class_labels.txt", (f"{n} {int(image[:3])}" for n, image in enumerate(images, start=1)))
    return folder


def cars196(root):
    folder = root / "cars196"
    classes = [c for _ in range(IMAGES) for c in reversed(CARS_CLASSES)]  # not in the order of classes
    fields = ("relative_im_path", "bbox_x1", "bbox_y1", "bbox_x2", "bbox_y2", "class", "test")
    annotations = np.zeros((1, len(classes)), dtype=[(field, object) for field in fields])
    for n, c in enumerate(classes):
        annotations[0, n] = (f"car_ims/{n + 1:06d}.jpg", 1, 1, 9, 9, c, n % 2)
        picture(folder / "car_ims" / f"{n + 1:06d}.jpg")
    names = np.array([f"Car {c}" for c in range(1, 197)], dtype=object)[None]
    savemat(folder / "cars_annos.mat", {"annotations": annotations, "class_names": names})
    return folder


def sop(root):
    folder = root / "Stanford_Online_Products"
    number = 0
    for file, products in (("Ebay_train.txt", (1, 2, 3)), ("Ebay_test.txt", (11319, 11320))):
        lines = ["image_id class_id super_class_id path"]
        for product in products:
            for i in range(IMAGES):
                number += 1
                path = f"bicycle_final/11108512{product}_{i}.JPG"
                lines.append(f"{number} {product} 1 {path}")
                picture(folder / path)
        write(folder / file, lines)
    return folder


def in_shop(root):
    folder = root / "In-shop Clothes Retrieval Benchmark"
    images = [("train", item, i) for item in (1, 2, 5) for i in range(IMAGES)]
    images += [(("query", "gallery")[i % 2], item, i) for item in (7, 8) for i in range(IMAGES)]
    lines = [str(len(images)), "image_name item_id evaluation_status"]
    for status, item, i in images:
        path = f"img/WOMEN/Dresses/id_{item:08d}/{i:02d}_1_front.jpg"
        lines.append(f"{path}   id_{item:08d}   {status}")
        picture(folder / "Img" / path)
    write(folder / "Eval" / "list_eval_partition.txt", lines)
    return folder


def vehicle_id(root):
    folder = root / "VehicleID_V1.0"
    number = 0
    lists = (("train_list", (10, 11, 12)), ("test_list_800", (20, 21)), ("test_list_1600", (20, 21, 22)))
    for file, vehicles in (*lists, ("test_list_2400", (20, 21, 22, 23))):
        lines = []
        for vehicle in vehicles:
            for _ in range(IMAGES):
                number += 1
                lines.append(f"{number:07d} {vehicle}")
                picture(folder / "image" / f"{number:07d}.jpg")
        write(folder / "train_test_split" / f"{file}.txt", lines)
    return folder


def inaturalist(root):
    folder = root / "inaturalist2018"
    for file, species in (("train", ("Aves/1", "Plantae/1", "Aves/2")), ("test", ("Aves/3", "Fungi/4"))):
        paths = [f"train_val2018/{name}/{i:032x}.jpg" for name in species for i in range(IMAGES)]
        for path in paths:
            picture(folder / path)
        write(folder / "Inat_dataset_splits" / f"Inaturalist_{file}_set1.txt", paths)
    return folder


BUILDERS = {
    "cub": cub,
    "cars196": cars196,
    "sop": sop,
    "in-shop": in_shop,
    "vehicle-id": vehicle_id,
    "inaturalist": inaturalist,
}
