from __future__ import annotations

import pytest

from tests.lab.studies.mimic3.mini import planted


@pytest.fixture(scope="package")
def mini():
    return planted()


@pytest.fixture(scope="package")
def files(mini, tmp_path_factory):
    """The made-up database as csv files, in lower case."""
    return mini.write(tmp_path_factory.mktemp("mini"))
