"""The loaders of the papers' benchmarks, on miniature copies of the official folders."""

import ntpath
import os
import posixpath
import re
from pathlib import Path

import miniatures
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from labkit import data
from labkit.data import benchmarks
from labkit.data.benchmarks import lists, vehicle_id
from labkit.data.files import DataError

NAMES = tuple(miniatures.BUILDERS)
# official classes and images of each list
OFFICIAL = {
    "cub": ((100, 5_864), (100, 5_924)),
    "cars196": ((98, 8_054), (98, 8_131)),
    "sop": ((11_318, 59_551), (11_316, 60_502)),
    "in-shop": ((3_997, 25_882), (3_985, 14_218), (3_985, 12_612)),
    "vehicle-id": ((13_164, 113_346), (800, 6_493)),
    "inaturalist": ((5_690, 325_846), (2_452, 136_093)),
}
TRAIN_CLASSES = {
    "cub": ("001.Bird_1", "002.Bird_2", "100.Bird_100"),
    "cars196": ("Car 1", "Car 97", "Car 98"),
    "sop": ("1", "2", "3"),
    "in-shop": ("id_00000001", "id_00000002", "id_00000005"),
    "vehicle-id": ("10", "11", "12"),
    "inaturalist": ("Aves/1", "Plantae/1", "Aves/2"),
}
TEST_CLASSES = {
    "cub": ("101.Bird_101", "102.Bird_102"),
    "cars196": ("Car 99", "Car 196"),
    "sop": ("11319", "11320"),
    "in-shop": ("id_00000007", "id_00000008"),
    "vehicle-id": ("20", "21"),
    "inaturalist": ("Aves/3", "Fungi/4"),
}
LIST = {
    "cub": "images.txt",
    "sop": "Ebay_test.txt",
    "in-shop": "Eval/list_eval_partition.txt",
    "vehicle-id": "train_test_split/train_list.txt",
    "inaturalist": "Inat_dataset_splits/Inaturalist_train_set1.txt",
}


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """All six data sets side by side; tests that change something build their own."""
    folder = tmp_path_factory.mktemp("benchmarks")
    for build in miniatures.BUILDERS.values():
        build(folder)
    return folder


def load(name, root, **options):
    return benchmarks.load(name, root, **{"check": False, "validation": 0, **options})


def parts(splits):
    return [part for part in (splits.train, splits.validation, splits.test, splits.gallery) if part is not None]


def replace_line(file, number, new):
    lines = file.read_text().splitlines()
    lines[number - 1] = new
    file.write_text("\n".join(lines))


@pytest.mark.parametrize("name", NAMES)
def test_classes_and_images_go_to_the_official_splits(name, root):
    splits = load(name, root)
    assert splits.train.class_names == TRAIN_CLASSES[name]
    assert splits.test.class_names == TEST_CLASSES[name]
    assert splits.train.labels.bincount().tolist() == [miniatures.IMAGES] * 3
    assert splits.train.labels.dtype == torch.int64
    assert sum(len(part) for part in parts(splits)) == 5 * miniatures.IMAGES


@pytest.mark.parametrize("name", NAMES)
def test_ids_are_unique_paths_below_the_root(name, root):
    for part in parts(load(name, root)):
        assert part.name == name
        assert not part.in_memory
        assert len(set(part.ids)) == len(part)
        assert [root / sample for sample in part.ids] == list(part.inputs)
        assert all(path.is_file() for path in part.inputs)


@pytest.mark.parametrize(
    ("name", "pattern"),
    [
        ("cub", r"/images/([^/]+)/"),
        ("sop", r"/11108512(\d+)_"),
        ("in-shop", r"/(id_\d+)/"),
        ("inaturalist", r"/train_val2018/(\w+/\d+)/"),
    ],
)
def test_an_image_has_the_class_that_its_path_tells(name, pattern, root):
    for part in parts(load(name, root)):
        for sample, label in zip(part.ids, part.labels):
            assert re.search(pattern, sample)[1] == part.class_names[label]


def test_vehicles_have_the_class_of_their_line(root):
    splits = load("vehicle-id", root)
    for part in (splits.train, splits.test):
        for sample, label in zip(part.ids, part.labels):
            number = int(sample[-11:-4]) - 1  # images are numbered in the order of the lists
            assert part.class_names[label] == ("10", "11", "12", "20", "21")[number // miniatures.IMAGES]


def test_cars_keep_their_classes_though_the_annotations_are_in_another_order(root):
    splits = load("cars196", root)
    written = [f"Car {c}" for _ in range(miniatures.IMAGES) for c in reversed(miniatures.CARS_CLASSES)]
    for part in (splits.train, splits.test):
        for sample, label in zip(part.ids, part.labels):
            assert part.class_names[label] == written[int(sample[-10:-4]) - 1]


@pytest.mark.parametrize("name", NAMES)
def test_train_validation_and_test_share_no_class_and_no_image(name, root):
    splits = load(name, root, validation=0.34)
    named = [set(part.class_names) for part in (splits.train, splits.validation, splits.test)]
    assert sum(map(len, named)) == len(set.union(*named))
    samples = [sample for part in parts(splits) for sample in part.ids]
    assert len(samples) == len(set(samples))


@pytest.mark.parametrize("name", NAMES)
def test_the_official_counts_are_insisted_upon(name, root):
    with pytest.raises(DataError) as caught:
        benchmarks.load(name, root)
    text = str(caught.value)
    for classes, images in OFFICIAL[name]:
        assert f"expected {classes:,} classes and {images:,} images" in text
    assert "found 3 classes and 9 images" in text
    assert "check=False" in text
    assert "cut short" in text


@pytest.mark.parametrize("name", NAMES)
def test_the_official_counts_are_accepted(name, root, monkeypatch):
    """With the miniature's own counts declared official, check=True is silent."""
    reader = benchmarks.READERS[name]
    if name == "vehicle-id":
        monkeypatch.setattr(reader, "TRAIN", (3, 9))
        monkeypatch.setitem(reader.TEST, "medium", (1600, 9))
        with pytest.raises(DataError, match=r"test: expected 1,600 classes and 9 images, found 3 classes and 9 images"):
            benchmarks.load(name, root, size="medium")
    else:
        counts = {"train": (3, 9), "test": (2, 6), "query": (2, 4), "gallery": (2, 2)}
        monkeypatch.setattr(reader, "COUNTS", {split: counts[split] for split in reader.COUNTS})
        assert len(benchmarks.load(name, root, validation=0).train) == 9


def test_too_many_images_are_another_mistake_than_too_few(tmp_path):
    images = [lists.ListedImage(f"{i}.jpg", "a") for i in range(3)]
    with pytest.raises(DataError, match="another version"):
        lists.require_counts(tmp_path, {"train": images}, {"train": (1, 2)})
    lists.require_counts(tmp_path, {"train": images}, {"train": (1, 3)})


def test_in_shop_tests_queries_against_the_gallery(root):
    splits = load("in-shop", root)
    assert splits.gallery.class_names == splits.test.class_names
    assert [sample[-14:] for sample in splits.test.ids] == ["00_1_front.jpg", "02_1_front.jpg"] * 2
    assert [sample[-14:] for sample in splits.gallery.ids] == ["01_1_front.jpg"] * 2
    assert splits.test.labels.tolist() == [0, 0, 1, 1]
    assert splits.gallery.labels.tolist() == [0, 1]
    assert set(splits.test.ids).isdisjoint(splits.gallery.ids)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "in-shop"])
def test_the_others_have_no_gallery_by_default(name, root):
    assert load(name, root).gallery is None


@pytest.mark.parametrize(("size", "vehicles"), [("small", 2), ("medium", 3), ("large", 4)])
def test_vehicle_id_has_three_test_lists(size, vehicles, root):
    splits = load("vehicle-id", root, size=size)
    assert splits.test.num_classes == vehicles
    assert len(splits.test) == vehicles * miniatures.IMAGES


def test_vehicle_id_one_per_id_parts_the_list_into_gallery_and_queries(root):
    everything = load("vehicle-id", root, size="large").test
    splits = load("vehicle-id", root, size="large", protocol="one-per-id")
    assert sorted(splits.gallery.labels.tolist()) == sorted(range(splits.gallery.num_classes))
    assert splits.gallery.class_names == splits.test.class_names
    assert sorted(splits.test.ids + splits.gallery.ids) == sorted(everything.ids)
    for part in (splits.test, splits.gallery):
        for sample, label in zip(part.ids, part.labels):
            of_all = everything.labels[everything.ids.index(sample)]
            assert part.class_names[label] == everything.class_names[of_all]


def test_vehicle_id_draws_its_gallery_by_seed_and_leaves_train_alone(root):
    def draw(seed):
        return load("vehicle-id", root, size="large", protocol="one-per-id", gallery_seed=seed, validation=0.34)

    assert draw(0).gallery.ids == draw(0).gallery.ids
    assert len({draw(seed).gallery.ids for seed in range(8)}) > 1
    assert len({draw(seed).train.ids for seed in range(8)}) == 1


@given(st.lists(st.integers(0, 4), min_size=1, max_size=20), st.integers(0, 100))
def test_one_per_id_always_takes_one_image_of_each_vehicle(vehicles, seed):
    test = [lists.ListedImage(f"{i}.jpg", str(vehicle)) for i, vehicle in enumerate(vehicles)]
    found = vehicle_id.one_per_id([], test, seed)
    assert sorted(image.label for image in found.gallery) == sorted({str(vehicle) for vehicle in vehicles})
    assert sorted([*found.test, *found.gallery]) == sorted(test)


def test_a_tenth_of_the_training_classes_is_held_out_by_default(tmp_path):
    folder = miniatures.inaturalist(tmp_path)
    paths = [f"train_val2018/Aves/{species}/{i}.jpg" for species in range(100, 140) for i in range(2)]
    for path in paths:
        miniatures.picture(folder / path)
    miniatures.write(folder / LIST["inaturalist"], paths)
    splits = benchmarks.load("inaturalist", tmp_path, check=False)
    assert (splits.train.num_classes, splits.validation.num_classes) == (36, 4)
    assert splits.train.labels.unique().tolist() == list(range(36))
    assert splits.validation.labels.unique().tolist() == list(range(4))
    assert sorted(splits.train.ids + splits.validation.ids) == sorted(f"inaturalist2018/{path}" for path in paths)
    again = benchmarks.load("inaturalist", tmp_path, check=False)
    other = benchmarks.load("inaturalist", tmp_path, check=False, seed=1)
    assert splits.validation.ids == again.validation.ids
    assert splits.validation.ids != other.validation.ids
    assert splits.test.ids == other.test.ids


def test_validation_0_trains_on_all_classes_and_leaves_validation_empty(root):
    splits = load("cub", root, validation=0)
    assert splits.train.num_classes == 3
    assert len(splits.validation) == 0
    assert splits.validation.num_classes == 0


def test_at_least_one_class_is_held_out(root):
    assert load("cub", root, validation=0.01).validation.num_classes == 1


@pytest.mark.parametrize("validation", [-0.1, 1, 2.0, float("nan"), True, "0.1", None])
def test_a_bad_share_for_validation_is_refused(validation, root):
    with pytest.raises(ValueError, match="validation must be a share"):
        load("cub", root, validation=validation)


def test_a_share_that_leaves_nothing_to_train_on_is_refused(root):
    with pytest.raises(ValueError, match="leaves none of the 3 classes"):
        load("cub", root, validation=0.9)


def test_unknown_names_and_options_are_refused_with_the_known_ones(root):
    with pytest.raises(ValueError, match="'in-shop'"):
        benchmarks.load("inshop")
    with pytest.raises(ValueError, match="cub has no option 'size'; its options are root, validation, seed, check$"):
        load("cub", root, size="small")
    with pytest.raises(ValueError, match="seed, check, size, protocol, gallery_seed$"):
        load("vehicle-id", root, sizes="small")
    with pytest.raises(ValueError, match="size must be one of 'small', 'medium', 'large'; got 'huge'"):
        load("vehicle-id", root, size="huge")
    with pytest.raises(ValueError, match="protocol must be one of 'all', 'one-per-id'"):
        load("vehicle-id", root, protocol="some")


@pytest.mark.parametrize("name", NAMES)
def test_each_has_a_text_that_says_where_to_get_it_and_how_it_looks(name):
    assert benchmarks.WHERE[name].count(benchmarks.READERS[name].FOLDER) >= 2
    assert re.search(r"https?://", benchmarks.WHERE[name])
    assert set(benchmarks.WHERE) == set(data.BENCHMARKS)


@pytest.mark.parametrize("name", NAMES)
def test_a_missing_folder_is_explained(name, tmp_path):
    with pytest.raises(DataError) as caught:
        benchmarks.load(name, tmp_path)
    text = str(caught.value)
    assert str(tmp_path) in text
    assert benchmarks.READERS[name].FOLDER in text
    assert "LABKIT_DATA" in text
    assert benchmarks.WHERE[name] in text


@pytest.mark.parametrize("name", NAMES)
def test_a_missing_list_is_named_and_explained(name, tmp_path):
    folder = miniatures.BUILDERS[name](tmp_path)
    missing = folder / LIST.get(name, "cars_annos.mat")
    missing.unlink()
    with pytest.raises(DataError) as caught:
        load(name, tmp_path)
    assert f"{missing} is missing" in str(caught.value)
    assert benchmarks.WHERE[name] in str(caught.value)


@pytest.mark.parametrize("name", NAMES)
def test_a_missing_image_is_named_and_explained(name, tmp_path):
    miniatures.BUILDERS[name](tmp_path)
    missing = load(name, tmp_path).test.inputs[1]
    missing.unlink()
    with pytest.raises(DataError) as caught:
        load(name, tmp_path)
    assert f"{missing} is missing" in str(caught.value)
    assert benchmarks.WHERE[name] in str(caught.value)


def test_the_root_is_taken_from_the_environment(root, tmp_path, monkeypatch):
    monkeypatch.setenv("LABKIT_DATA", os.pathsep.join([str(tmp_path), str(root)]))
    assert benchmarks.load("sop", check=False).test.ids == load("sop", root).test.ids
    assert data.load("sop", check=False).test.ids == load("sop", root).test.ids
    monkeypatch.delenv("LABKIT_DATA")
    with pytest.raises(DataError, match="no folder is set"):
        benchmarks.load("sop", check=False)


def test_a_given_root_is_not_replaced_by_the_environment(root, tmp_path, monkeypatch):
    monkeypatch.setenv("LABKIT_DATA", str(root))
    with pytest.raises(DataError, match=re.escape(str(tmp_path))):
        benchmarks.load("sop", tmp_path, check=False)


@pytest.mark.parametrize(
    ("name", "line", "new", "complaint"),
    [
        ("cub", 3, "3", "expected 'image_id image_name', got '3'"),
        ("cub", 3, "99 001.Bird_1/a.jpg", "image 99 has no class"),
        ("sop", 1, "1 11319 1 bicycle_final/a.JPG", "expected the header 'image_id class_id super_class_id path'"),
        ("sop", 2, "10 11319 bicycle_final/a.JPG", "expected 'image_id class_id super_class_id path', got"),
        ("in-shop", 2, "image_name item_id", "expected the header"),
        ("in-shop", 4, "img/a.jpg id_00000001 val", "evaluation_status must be train, query or gallery, got 'val'"),
        ("vehicle-id", 2, "abc 10", "expected a whole number, got 'abc'"),
        ("vehicle-id", 2, "0000002 -1", "expected a whole number, got '-1'"),
        ("vehicle-id", 2, "0000002 10 7", "expected 'image vehicle'"),
        ("inaturalist", 5, "Aves/1/a.jpg", "expected train_val2018/<group>/<species>/<file>"),
    ],
)
def test_a_malformed_line_is_named_with_its_file(name, line, new, complaint, tmp_path):
    file = miniatures.BUILDERS[name](tmp_path) / LIST[name]
    replace_line(file, line, new)
    with pytest.raises(DataError) as caught:
        load(name, tmp_path)
    assert f"{file}, line {line}: {complaint}" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "line", "new"),
    [
        ("cub", 2, "2 ../../../etc/passwd"),
        ("sop", 3, "11 11319 1 /etc/passwd"),
        ("sop", 3, "11 11319 1 C:\\Windows\\a.jpg"),
        ("in-shop", 5, "img/../../../a.jpg id_00000001 train"),
        ("inaturalist", 1, "train_val2018/Aves/../a.jpg"),
        ("inaturalist", 1, "train_val2018/Aves/1/..\\..\\a.jpg"),
    ],
)
def test_a_path_that_leads_out_of_the_folder_is_refused(name, line, new, tmp_path):
    file = miniatures.BUILDERS[name](tmp_path) / LIST[name]
    replace_line(file, line, new)
    with pytest.raises(DataError, match="leads out of the data set's folder") as caught:
        load(name, tmp_path)
    assert f"{file}, line {line}" in str(caught.value)


@given(st.text("ab./\\:C", max_size=12))
def test_a_path_that_is_accepted_stays_inside_on_any_system(path):
    try:
        lists.entry(Path("list.txt"), 1, path, "a")
    except DataError:
        return
    assert f"{posixpath.normpath(posixpath.join('/folder', path))}/".startswith("/folder/")
    assert ntpath.normpath(ntpath.join("D:\\folder", path) + "\\x").startswith("D:\\folder\\")


@pytest.mark.parametrize("path", ["a.jpg", "a/b.jpg", "a/..b/c..jpg", "...", "id_1/02_1_front.jpg"])
def test_a_harmless_path_is_accepted(path):
    assert lists.entry(Path("list.txt"), 1, path, "a") == (path, "a")


def test_a_list_that_is_no_text_is_refused(tmp_path):
    file = miniatures.sop(tmp_path) / "Ebay_train.txt"
    file.write_bytes(b"image_id \xff\xfe")
    with pytest.raises(DataError, match=re.escape(f"{file} is not a text file")):
        load("sop", tmp_path)


@pytest.mark.parametrize("content", [b"", b"nonsense", b"MATLAB 5.0 MAT-file" + bytes(200)])
def test_damaged_annotations_of_cars_are_refused(content, tmp_path):
    file = miniatures.cars196(tmp_path) / "cars_annos.mat"
    file.write_bytes(content)
    with pytest.raises(DataError, match=re.escape(f"{file} is damaged or not Cars196's annotations")):
        load("cars196", tmp_path)


def test_cut_annotations_of_cars_are_refused(tmp_path):
    file = miniatures.cars196(tmp_path) / "cars_annos.mat"
    file.write_bytes(file.read_bytes()[:-700])
    with pytest.raises(DataError, match="is damaged"):
        load("cars196", tmp_path)


def test_a_class_in_both_train_and_test_is_refused(tmp_path):
    file = miniatures.sop(tmp_path) / "Ebay_test.txt"
    file.write_text(file.read_text().replace(" 11319 ", " 2 "))
    with pytest.raises(DataError, match="class 2 is in the lists of both train and test"):
        load("sop", tmp_path)


def test_an_image_listed_twice_is_refused(tmp_path):
    file = miniatures.sop(tmp_path) / "Ebay_test.txt"
    lines = file.read_text().splitlines()
    file.write_text("\n".join([*lines, lines[2]]))
    with pytest.raises(DataError, match="name the image bicycle_final/1110851211319_1.JPG twice"):
        load("sop", tmp_path)


def test_an_empty_list_is_refused(tmp_path):
    file = miniatures.sop(tmp_path) / "Ebay_test.txt"
    file.write_text("image_id class_id super_class_id path\n")
    with pytest.raises(DataError, match="no image for test"):
        load("sop", tmp_path)


def test_windows_line_ends_byte_order_marks_and_blank_lines_do_no_harm(root, tmp_path):
    file = miniatures.sop(tmp_path) / "Ebay_test.txt"
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes().replace(b"\n", b"\r\n") + b"\r\n")
    assert load("sop", tmp_path).test.ids == load("sop", root).test.ids


def test_vehicle_numbers_may_come_without_leading_zeros(root, tmp_path):
    file = miniatures.vehicle_id(tmp_path) / LIST["vehicle-id"]
    file.write_text("\n".join(line.lstrip("0") for line in file.read_text().splitlines()))
    assert load("vehicle-id", tmp_path).train.ids == load("vehicle-id", root).train.ids
