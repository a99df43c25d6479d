"""Classes and numbers on their way into the network and back."""

from __future__ import annotations

import numpy as np
import pytest

from imputefree.estimators._inputs import FARTHEST, ClassTarget, NumberTarget
from tests.refusals import check_error


def of_classes(*labels, **options):
    target = ClassTarget(**options)
    target._learn_target(np.array(labels), None)
    return target


class TestClasses:
    @pytest.mark.parametrize("labels", [["b", "a", "c", "a"], [5, -1, 9, -1], [True, False, True]])
    def test_are_sorted_and_numbered(self, labels):
        target = of_classes(*labels)
        assert target.classes_.tolist() == sorted(set(labels))
        codes, strata = target._encode_target(np.array(labels))
        assert codes.dtype == np.int64
        assert target.classes_[codes].tolist() == labels
        assert np.array_equal(codes, strata)

    def test_may_be_named_before_they_are_seen(self):
        target = ClassTarget()
        target._learn_target(np.array(["b"]), ["c", "b", "a"])
        assert target.classes_.tolist() == ["a", "b", "c"]
        assert target._encode_target(np.array(["b", "c"]))[0].tolist() == [1, 2]

    def test_never_seen_are_refused(self):
        check_error(
            lambda: of_classes("a", "b")._encode_target(np.array(["a", "z"])),
            "y holds the class 'z', which earlier training did not have",
            "The classes were fixed as ['a', 'b']",
        )

    def test_weights(self):
        y = np.array(["a", "b", "b", "b"])
        assert of_classes("a", "b")._class_weights(y).tolist() == [1, 1, 1, 1]
        balanced = of_classes("a", "b", class_weight="balanced")._class_weights(y)
        np.testing.assert_allclose(balanced, [2, 2 / 3, 2 / 3, 2 / 3])
        own = of_classes("a", "b", class_weight={"a": 5})._class_weights(y)
        assert own.tolist() == [5, 1, 1, 1]
        check_error(
            lambda: of_classes("a", "b", class_weight={"z": 1})._class_weights(y),
            "class_weight names 'z', which is not a class",
            kind=ValueError,
        )


class TestNumbers:
    @pytest.mark.parametrize("factor", [1e-140, 1.0, 1e140])
    def test_are_scaled_and_back(self, factor):
        y = np.array([1.0, 2.0, 4.0, 9.0]) * factor
        target = NumberTarget()
        target._learn_target(y, None)
        scaled, strata = target._encode_target(y)
        assert scaled.dtype == np.float32
        np.testing.assert_allclose(scaled.mean(), 0, atol=1e-6)
        np.testing.assert_allclose(scaled.std(), 1, rtol=1e-6)
        assert not strata.any()
        np.testing.assert_allclose(target._in_units(scaled.astype(float)[:, None]), y, rtol=1e-5)

    def test_a_constant_is_its_own_mean(self):
        target = NumberTarget()
        target._learn_target(np.full(5, 7), None)
        assert target.target_scale_ == 1.0
        assert target._encode_target(np.full(3, 7))[0].tolist() == [0, 0, 0]

    def test_all_count_the_same(self):
        assert NumberTarget()._class_weights(np.arange(3)).tolist() == [1, 1, 1]

    def test_far_off_the_first_scale_are_refused(self):
        target = NumberTarget()
        target._learn_target(np.array([0.0, 2.0]), None)
        assert np.isfinite(target._encode_target(np.array([FARTHEST / 2]))[0]).all()
        check_error(
            lambda: target._encode_target(np.array([1e16])), "standard deviations of the first"
        )
