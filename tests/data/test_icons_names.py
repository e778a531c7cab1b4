"""Names of icons: what they depict, how it is drawn, and which split a class belongs to."""

import numpy as np
import pytest

from labkit.data.icons_build import split_of
from labkit.data.icons_build.names import meaning, parse


@pytest.mark.parametrize(
    ("prefix", "name", "words", "style"),
    [
        ("ic", "twotone-home", "home", "duotone"),
        ("ph", "bell-simple-bold", "bell", "outline"),
        ("solar", "bell-bold-duotone", "bell", "duotone"),
        ("fluent", "calendar-24-filled", "calendar", "solid"),
        ("mingcute", "color-fill", "color", "solid"),
        ("tabler", "color-fill", "color-fill", ""),
        ("hugeicons", "user-02", "user", ""),
        ("hugeicons", "dice-02", "dice-02", ""),
        ("icon-park-solid", "bread-two", "bread", "solid"),
        ("mdi", "bell-off-outline", "bell-off", "outline"),
        ("mdi", "plus-box", "plus-square", "solid"),
        ("gg", "add-r", "add-square", ""),
        ("clarity", "bell-solid-badged", "bell-badged", "solid"),
        ("streamline-pixel", "food-drink-desert-cake", "cake", ""),
        ("fa", "bell-o", "bell", "outline"),
        ("lucide", "arrow-left-circle", "arrow-left-circle", ""),
        ("lucide", "outline", "outline", ""),
    ],
)
def test_words_about_the_drawing_are_taken_off_and_words_about_the_thing_stay(prefix, name, words, style):
    reading = parse(prefix, name)
    assert ("-".join(reading.words), reading.style) == (words, style)


def test_of_variants_the_plain_one_is_cheapest():
    assert parse("ph", "bell").cost < parse("ph", "bell-light").cost < parse("ph", "bell-thin").cost
    assert parse("fluent", "bell-24-regular").cost < parse("fluent", "bell-48-regular").cost


@pytest.mark.parametrize(
    ("prefix", "name"), [("ooui", "arrow-next-rtl"), ("fluent", "text-mirrored-20"), ("subway", "x-12")]
)
def test_mirrored_copies_and_numbers_without_meaning_are_left_out(prefix, name):
    assert parse(prefix, name) is None


@pytest.mark.parametrize(
    ("name", "same"),
    [
        ("house", "home"),
        ("magnifying-glass", "search"),
        ("cog", "settings"),
        ("circle-check", "check-circle"),
        ("check-in-circle", "check-circle"),
        ("circle-exclamation", "alert-circle"),
        ("exclamation", "exclamation"),
        ("plus-user", "user-plus"),
        ("add-account", "user-plus"),
        ("account-balance", "account-balance"),
        ("bell-slash", "bell-off"),
        ("chart-pie", "pie-chart"),
        ("testtube", "test-tube"),
        ("close", "x"),
        ("arrow-left", "arrow-left"),
        ("add-to-list", "plus-to-list"),
    ],
)
def test_different_words_for_the_same_thing(name, same):
    assert "-".join(meaning(name.split("-"))) == same


@pytest.mark.parametrize(
    ("one", "other"), [("user", "users"), ("arrow-left", "left-arrow"), ("dice-1", "dice-6"), ("bell-2", "bells")]
)
def test_names_that_differ_in_number_order_or_plural_are_in_one_split(one, other):
    assert split_of(one) == split_of(other)


def test_nearly_half_of_the_names_is_for_training_and_half_for_testing():
    share = np.bincount([split_of(f"{chr(97 + n % 26)}{chr(97 + n // 26)}") for n in range(676)]) / 676
    assert np.abs(share - [0.45, 0.1, 0.45]).max() < 0.05
