"""All attacks that run as answers, by aim. `python -m tests.grading.attacks` tries them and prints the table."""

from tests.grading.attacks.exhaust import EXHAUST
from tests.grading.attacks.forge import FORGE
from tests.grading.attacks.outlive import OUTLIVE
from tests.grading.attacks.read import READ
from tests.grading.attacks.stop import STOP

AIMS = {
    "stop the grading": STOP,
    "outlive it": OUTLIVE,
    "use more than is given": EXHAUST,
    "read what it should not": READ,
    "forge marks": FORGE,
}
ATTACKS = {attack.name: attack for attacks in AIMS.values() for attack in attacks}
