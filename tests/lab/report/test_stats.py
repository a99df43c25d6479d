from __future__ import annotations

from itertools import product
from math import nan, sqrt

import numpy as np
import pandas as pd
import pytest
from scipy import stats as scipy_stats

from imputefree.errors import ParameterError
from imputefree.lab.report._stats import (
    compare,
    compare_over_studies,
    corrected_t,
    imputation_correlation,
    mean_ranks,
    signed_rank,
    summary,
)
from tests.refusals import check_error

METHODS = ["gil", "gil-h", "zero+network", "mask_only"]


def made_up(studies=3, settings=2, seeds=3, splits=2, seed=0):
    """One row per run, in random order, with random metrics."""
    rng = np.random.default_rng(seed)
    names = ["study", "setting", "method", "mask_seed", "split"]
    places = product(
        [f"study {i}" for i in range(studies)],
        [f"rate-{i}" for i in range(settings)],
        METHODS,
        range(seeds),
        range(splits),
    )
    runs = pd.DataFrame(list(places), columns=names)
    runs["accuracy"] = rng.normal(0.8, 0.05, len(runs))
    runs["log_loss"] = rng.gamma(2, 0.2, len(runs))
    runs["imputation_mse"] = rng.gamma(2, 0.1, len(runs))
    return runs.sample(frac=1, random_state=seed)  # the index is shuffled as well


def runs_of(**figures):
    """Runs at one place: method -> its figures by mask seed."""
    lines = [
        ("mnist", "mar", method.replace("_", "-"), seed, 0, value)
        for method, values in figures.items()
        for seed, value in enumerate(values)
    ]
    return pd.DataFrame(
        lines, columns=["study", "setting", "method", "mask_seed", "split", "accuracy"]
    )


def pick(runs, study, setting, method, metric="accuracy"):
    """Figures in the order of seeds and splits, by looking at every line."""
    actual = {
        (line["mask_seed"], line["split"]): line[metric]
        for line in runs.to_dict("records")
        if (line["study"], line["setting"], line["method"]) == (study, setting, method)
    }
    return np.array([actual[key] for key in sorted(actual)])


def test_summary_is_mean_and_sd_over_runs():
    runs = made_up()
    actual = summary(runs, "accuracy")
    assert len(actual) == 3 * 2 * 4
    for line in actual.to_dict("records"):
        values = pick(runs, line["study"], line["setting"], line["method"])
        assert line["mean"] == pytest.approx(sum(values) / 6, rel=1e-14)
        assert line["sd"] == pytest.approx(scipy_stats.tstd(values), rel=1e-12)
        assert (line["runs"], line["failed"]) == (6, 0)


def test_summary_counts_failed_runs_and_needs_two_for_a_deviation():
    actual = summary(runs_of(a=[0.5], b=[0.5, nan, 0.7], c=[nan, nan]), "accuracy")
    assert actual["method"].tolist() == ["a", "b", "c"]
    np.testing.assert_allclose(actual["mean"], [0.5, 0.6, nan])
    np.testing.assert_allclose(actual["sd"], [nan, np.sqrt(0.02), nan])
    assert actual["runs"].tolist() == [1, 2, 0]
    assert actual["failed"].tolist() == [0, 1, 2]


def test_compare_is_the_formula_on_paired_runs():
    runs, ratio = made_up(), 0.25
    actual = compare(runs, "accuracy", "gil-h", test_to_train=ratio)
    assert len(actual) == 3 * 2 * 3
    assert set(actual["against"]) == {"gil-h"}
    for line in actual.to_dict("records"):
        a, b = (pick(runs, line["study"], line["setting"], m) for m in (line["method"], "gil-h"))
        plain = scipy_stats.ttest_rel(a, b)
        t = plain.statistic * np.sqrt((1 / 6) / (1 / 6 + ratio))
        assert line["difference"] == pytest.approx((a - b).mean(), rel=1e-12)
        assert line["sd"] == pytest.approx((a - b).std(ddof=1), rel=1e-12)
        assert line["t"] == pytest.approx(t, rel=1e-10)
        assert line["p"] == pytest.approx(2 * scipy_stats.t.cdf(-abs(t), 5), rel=1e-10)
        assert (line["pairs"], line["dropped"]) == (6, 0)


def test_sizes_from_the_columns_are_the_same_as_passed():
    runs = made_up()
    expected = compare(runs, "accuracy", "gil", test_to_train=0.25)
    sized = runs.assign(n_test=200, n_train=800)
    pd.testing.assert_frame_equal(compare(sized, "accuracy", "gil"), expected)


def test_the_best_rival_is_picked_at_each_place_and_never_ours():
    runs = made_up()
    ours = ["gil", "gil-h"]
    for metric, best in (("accuracy", max), ("log_loss", min)):
        actual = compare(runs, metric, ours=ours, test_to_train=0.1)
        for (study, setting), part in actual.groupby(["study", "setting"]):
            rivals = {m: pick(runs, study, setting, m, metric).mean() for m in METHODS[2:]}
            expected = best(rivals, key=rivals.get)
            assert set(part["against"]) == {expected}
            assert set(part["method"]) == set(METHODS) - {expected}


def test_the_direction_can_be_given():
    runs = runs_of(a=[0.1, 0.2], b=[0.8, 0.9], c=[0.5, 0.5])
    options = {"test_to_train": 0.1, "ours": ["c"]}
    assert compare(runs, "accuracy", **options)["against"].tolist() == ["b", "b"]
    lower = compare(runs, "accuracy", higher_is_better=False, **options)
    assert lower["against"].tolist() == ["a", "a"]


def test_missing_pairs_and_failed_runs_are_dropped_and_counted():
    runs = runs_of(a=[0.5, 0.6, nan, 0.9], b=[0.4, 0.6, 0.7], c=[0.1])
    actual = compare(runs, "accuracy", "a", test_to_train=0.0).set_index("method")
    assert actual["pairs"].to_dict() == {"b": 2, "c": 1}
    assert actual["dropped"].to_dict() == {"b": 2, "c": 2}
    assert actual.loc["b", "difference"] == pytest.approx(-0.05)
    assert actual.loc["b", "p"] == pytest.approx(scipy_stats.ttest_1samp([-0.1, 0], 0).pvalue)
    assert actual.loc["c", "difference"] == pytest.approx(-0.4)
    assert np.isnan(actual.loc["c", ["sd", "t", "p"]].astype(float)).all()


def test_no_pair_at_all_is_nan():
    runs = pd.concat(
        [runs_of(a=[0.5], b=[0.5, 0.6]), runs_of(b=[0.1], c=[nan]).assign(study="icu")],
        ignore_index=True,
    )
    actual = compare(runs, "accuracy", "a", test_to_train=0.1)
    assert actual["pairs"].tolist() == [1, 0, 0]
    assert actual["difference"].isna().tolist() == [False, True, True]
    nobody = compare(runs, "accuracy", ours=["a", "b"], test_to_train=0.1)
    assert nobody["against"].isna().all()
    assert nobody["p"].isna().all()


def test_equal_methods_and_constant_differences():
    runs = runs_of(a=[0.1 + 0.2, 0.5, 0.7], b=[0.3, 0.5, 0.7], c=[0.2, 0.4, 0.6])
    actual = compare(runs, "accuracy", "a", test_to_train=0.1).set_index("method")
    assert actual.loc["b", ["difference", "t", "p"]].tolist() == [0.0, 0.0, 1.0]
    assert actual.loc["c", "t"] == -np.inf
    assert np.isnan(actual.loc["c", "p"])


def test_wilcoxon_counts_each_study_once():
    runs = made_up(studies=8)
    actual = compare_over_studies(runs, "accuracy", "gil").set_index("method")
    for method in METHODS[1:]:
        d = [
            np.mean([(pick(runs, s, r, method) - pick(runs, s, r, "gil")).mean() for r in rates])
            for s, rates in ((f"study {i}", ("rate-0", "rate-1")) for i in range(8))
        ]
        line = actual.loc[method]
        assert line["p"] == pytest.approx(scipy_stats.wilcoxon(d, method="exact").pvalue)
        assert line["difference"] == pytest.approx(np.mean(d), rel=1e-10)
        assert line["studies"] == 8
        assert line["better"] == (np.array(d) > 0).sum()
        assert line["better"] + line["equal"] + line["worse"] == 8


def test_wilcoxon_against_the_best_rival_and_for_losses():
    runs = made_up(studies=5)
    actual = compare_over_studies(runs, "log_loss", ours=["gil", "gil-h"]).set_index("method")
    assert set(actual["against"]) == {"best rival"}
    per_place = compare(runs, "log_loss", ours=["gil", "gil-h"], test_to_train=0.1)
    gil = per_place[per_place["method"] == "gil"].groupby("study")["difference"].mean()
    assert actual.loc["gil", "better"] == (gil < 0).sum()  # a lower loss is better


def test_mean_ranks_are_those_of_scipy():
    runs = made_up(studies=4)
    for metric, sign in (("accuracy", -1), ("log_loss", 1)):
        expected = np.mean(
            [
                scipy_stats.rankdata(
                    [
                        sign * pick(runs, f"study {s}", f"rate-{r}", m, metric).mean()
                        for m in METHODS
                    ]
                )
                for s in range(4)
                for r in range(2)
            ],
            axis=0,
        )
        actual = mean_ranks(runs, metric)
        assert actual["mean_rank"].is_monotonic_increasing
        assert actual["studies"].tolist() == [4] * 4
        by_name = actual.set_index("method")["mean_rank"]
        np.testing.assert_allclose(by_name[METHODS], expected, rtol=1e-13)


def test_ties_share_their_rank_even_with_rounding_noise():
    actual = mean_ranks(runs_of(a=[0.1 + 0.2], b=[0.3], c=[0.9], d=[0.1]), "accuracy")
    assert actual["method"].tolist() == ["c", "a", "b", "d"]
    assert actual["mean_rank"].tolist() == [1.0, 2.5, 2.5, 4.0]


def test_a_study_with_many_settings_counts_once_in_ranks():
    one = runs_of(a=[0.9], b=[0.1])
    many = [runs_of(a=[0.1], b=[0.9]).assign(study="icu", setting=f"{i}") for i in range(5)]
    assert mean_ranks(pd.concat([one, *many]), "accuracy")["mean_rank"].tolist() == [1.5, 1.5]


def test_ranks_use_the_runs_that_all_have():
    runs = runs_of(a=[0.5, 1.0], b=[0.6])  # deep imputers get fewer seeds
    assert mean_ranks(runs, "accuracy")["method"].tolist() == ["b", "a"]


def test_ranks_refuse_different_rivals_and_name_them():
    runs = runs_of(a=[0.5], b=[nan])
    parts = ["'mnist'", "'mar'", "never by 'b'", "same runs", "methods="]
    check_error(lambda: mean_ranks(runs, "accuracy"), *parts)
    assert mean_ranks(runs, "accuracy", methods=["a"])["mean_rank"].tolist() == [1.0]


@pytest.mark.parametrize("over", ["runs", "methods"])
def test_correlation_is_scipys(over):
    runs = made_up(studies=2)
    runs.loc[runs["method"] == "gil", "imputation_mse"] = nan  # it does not impute
    actual = imputation_correlation(runs, over=over)
    for line in actual.to_dict("records"):
        pairs = [
            [
                pick(runs, line["study"], line["setting"], m, k)
                for k in ("imputation_mse", "accuracy")
            ]
            for m in METHODS[1:]
        ]
        x, y = np.array(pairs).transpose(1, 0, 2)
        if over == "methods":
            x, y = x.mean(1), y.mean(1)
        expected = scipy_stats.pearsonr(x.ravel(), y.ravel())
        assert line["points"] == x.size
        np.testing.assert_allclose((line["r"], line["p"]), tuple(expected), rtol=1e-10)


def test_correlation_without_an_answer_is_nan():
    few = runs_of(a=[0.5, 0.6]).assign(imputation_mse=[0.1, 0.2])
    flat = runs_of(a=[0.5, 0.6, 0.7]).assign(imputation_mse=0.1)
    none = runs_of(a=[0.5]).assign(imputation_mse=nan)
    for runs, points in ((few, 2), (flat, 3), (none, 0)):
        line = imputation_correlation(runs).iloc[0]
        assert line["points"] == points
        assert np.isnan(line["r"])
        assert np.isnan(line["p"])
    straight = runs_of(a=[0.5, 0.6, 0.7]).assign(imputation_mse=[3.0, 2.0, 1.0])
    line = imputation_correlation(straight).iloc[0]
    assert line["r"] == pytest.approx(-1)
    assert line["p"] == pytest.approx(0, abs=1e-7)


def test_results_do_not_depend_on_the_order_of_lines_and_runs_stay_as_they_are():
    runs = made_up()
    before = runs.copy()
    keys = ["study", "setting", "method"]
    for statistic in (
        lambda r: summary(r, "accuracy"),
        lambda r: compare(r, "accuracy", "gil", test_to_train=0.1),
    ):
        a, b = (statistic(r).set_index(keys).sort_index() for r in (runs, runs[::-1]))
        pd.testing.assert_frame_equal(a, b)
    pd.testing.assert_frame_equal(runs, before)


@pytest.mark.parametrize(
    ("call", "parts"),
    [
        (lambda r: compare(r, "accuracy", "gill"), ["'gill'", "The runs have 'a', 'b'"]),
        (lambda r: compare(r, "accuracy", ours=["z"]), ["'z'", "The runs have 'a', 'b'"]),
        (lambda r: mean_ranks(r, "accuracy", ["c"]), ["'c'", "The runs have 'a', 'b'"]),
        (
            lambda r: compare(r, "accuracy", "a"),
            ["not known", "n_test / n_train", "test_to_train="],
        ),
        (lambda r: compare(r, "accuracy", "a", test_to_train=-1), ["is -1.0", "0 or more"]),
        (lambda r: compare(r.assign(n_test=1, n_train=0), "accuracy", "a"), ["inf", "0 or more"]),
    ],
)
def test_bad_parameters_are_one_error(call, parts):
    check_error(lambda: call(runs_of(a=[0.5, 0.6], b=[0.4, 0.7])), *parts, kind=ParameterError)


def test_the_best_rival_has_two_runs_where_one_has():
    """A lucky single run cannot be compared, so it must not displace one that can."""
    runs = runs_of(ours=[0.5, 0.6], steady=[0.7, 0.8], lucky=[0.99])
    actual = compare(runs, "accuracy", ours=["ours"], test_to_train=0.2)
    assert actual.set_index("method").loc["ours", "against"] == "steady"
    alone = compare(runs_of(ours=[0.5], lucky=[0.9]), "accuracy", ours=["ours"], test_to_train=0.2)
    assert set(alone["against"]) == {"lucky"}


def by_hand(differences, ratio):
    n = len(differences)
    mean = sum(differences) / n
    variance = sum((d - mean) ** 2 for d in differences) / (n - 1)
    t = mean / sqrt(variance * (1 / n + ratio))
    return t, 2 * scipy_stats.t.cdf(-abs(t), n - 1)


@pytest.mark.parametrize("ratio", [0.0, 1 / 9, 0.25, 1.0])
def test_corrected_t_is_its_formula_in_every_column(ratio):
    d = np.random.default_rng(0).normal(0.01, 0.02, size=(7, 5))
    t, p = corrected_t(d, ratio)
    for column in range(5):
        np.testing.assert_allclose(
            (t[column], p[column]), by_hand(d[:, column].tolist(), ratio), rtol=1e-13
        )


def test_a_missing_pair_is_left_out():
    d = np.array([0.1, np.nan, 0.3, -0.1])
    assert corrected_t(d, 0.5) == corrected_t(d[[0, 2, 3]], 0.5)


def test_defined_values_of_the_t_test():
    nothing = np.array([[0.0, 0.5, -0.5, np.nan, 0.3]] + [[0.0, 0.5, -0.5, np.nan, np.nan]] * 3)
    t, p = corrected_t(nothing, 0.2)
    np.testing.assert_array_equal(t, [0.0, np.inf, -np.inf, np.nan, np.nan])
    np.testing.assert_array_equal(p, [1.0, np.nan, np.nan, np.nan, np.nan])


def test_constant_but_for_rounding_is_constant():
    d = np.array([0.9 - 0.8, 0.8 - 0.7, 0.7 - 0.6])
    assert len(set(d)) > 1
    t, p = corrected_t(d, 0.2)
    assert t == np.inf
    assert np.isnan(p)


@pytest.mark.parametrize("n", [1, 5, 30])
def test_signed_rank_is_scipys_where_scipy_is_exact(n):
    d = np.random.default_rng(n).normal(0.3, 1, size=n)
    W, p = signed_rank(d)
    np.testing.assert_allclose(p, scipy_stats.wilcoxon(d, method="exact").pvalue, rtol=1e-12)
    greater = scipy_stats.wilcoxon(d, alternative="greater", method="exact")
    assert greater.statistic == W


@pytest.mark.parametrize("seed", range(3))
def test_signed_rank_with_ties_is_the_count_of_sign_patterns(seed):
    d = np.random.default_rng(seed).integers(-3, 5, size=9).astype(float)
    ranks = scipy_stats.rankdata(np.abs(d[d != 0]))
    seen = ranks[d[d != 0] > 0].sum()
    middle = ranks.sum() / 2
    sums = [np.dot(signs, ranks) for signs in product([0, 1], repeat=len(ranks))]
    extreme = np.mean([abs(s - middle) >= abs(seen - middle) for s in sums])
    W, p = signed_rank(d / 100)
    assert seen == W
    assert p == pytest.approx(extreme, rel=1e-13)


def test_signed_rank_ties_are_not_broken_by_rounding_noise():
    noisy = np.array([0.9 - 0.8, 0.7 - 0.8, 0.7 - 0.6, 0.35])
    assert signed_rank(noisy) == signed_rank(np.array([0.1, -0.1, 0.1, 0.35]))


def test_defined_values_of_signed_rank():
    assert signed_rank(np.zeros(4)) == (0.0, 1.0)
    assert np.isnan(signed_rank(np.array([]))).all()
    assert np.isnan(signed_rank(np.full(3, np.nan))).all()
    assert signed_rank(np.array([0.1])) == (1.0, 1.0)
    assert signed_rank(np.array([0.1, np.nan, 0.0])) == (1.0, 1.0)
