"""The page of all made-up results, drawn once."""

import pytest

from imputefree.lab.report import report
from tests.lab.made_up_results import everything


@pytest.fixture(scope="session")
def whole():
    return report(everything(), title="Made up")
