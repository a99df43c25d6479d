"""Model files are equal byte for byte where models are."""

from __future__ import annotations

import numpy as np

from imputefree import GILClassifier
from imputefree.own.repeatable import repeatable


def test_saved_many_times_it_is_the_same(tmp_path):
    X = np.array([[1.0, np.nan], [2.0, 5.0]] * 10)
    model = GILClassifier(max_iter=1, n_members=2, random_state=0).fit(X, ["é", "no"] * 10)
    path, found = tmp_path / "m", set()
    for _ in range(8):
        model.save(path)
        found.add(repeatable(path.read_bytes()))
    assert len(found) == 1
    content = found.pop()
    assert repeatable(content) == content
    path.write_bytes(content)  # its checksum still holds
    assert np.array_equal(GILClassifier.load(path).predict_proba(X), model.predict_proba(X))
