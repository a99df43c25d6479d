"""The simulated cohort: its shape, its gaps of three kinds, and how hard it is."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score

from imputefree.errors import ParameterError
from imputefree.lab.studies import _icu as icu
from imputefree.lab.studies import load
from tests.refusals import check_error

NAMES = list(icu.ATTRIBUTES)
BEYOND_CHANCE = 4.5  # standard errors: one look in 100,000 by luck
TABLES = ("frame", "y", "truth", "mechanism")


@pytest.fixture(scope="module")
def cohort():
    return icu.simulate(2166, random_state=0)


def contrast(value, chosen, strata=None):
    """Standard errors by which the values of chosen entries differ from the others' in a stratum.

    Exact for entries chosen by chance alone: mean and variance of a sample without replacement.
    """
    strata = np.zeros(len(value), dtype=int) if strata is None else strata
    rank = pd.Series(value).rank().to_numpy()  # no outlier decides
    difference = variance = 0.0
    for stratum in np.unique(strata):
        ranks, marks = rank[strata == stratum], chosen[strata == stratum]
        n, k = len(marks), marks.sum()
        if 0 < k < n:
            difference += ranks[marks].sum() - k * ranks.mean()
            variance += k * (n - k) / n * ranks.var(ddof=1)
    return difference / np.sqrt(variance)


def test_a_seed_is_a_cohort(cohort):
    again = icu.simulate(2166, random_state=0)
    from_generator = icu.simulate(2166, random_state=np.random.default_rng(0))
    for name in TABLES:
        assert getattr(again, name).equals(getattr(cohort, name))
        assert getattr(from_generator, name).equals(getattr(cohort, name))


def test_other_seeds_are_other_cohorts():
    before = np.random.get_state()  # noqa: NPY002
    cohorts = [icu.simulate(50, random_state=seed) for seed in (0, 1, None, None)]
    assert (before[1] == np.random.get_state()[1]).all()  # noqa: NPY002
    for first, second in combinations(cohorts, 2):
        for name in TABLES:
            assert not getattr(first, name).equals(getattr(second, name))


def test_the_cohort_as_a_study():
    study = load("icu", seed=1, n_series=300)
    assert study.simulated
    assert any("SIMULATED" in note for note in study.notes)
    assert "not patient data" in study.citation
    assert study.kind == "series"
    assert abs(study.missing_rate - 0.716) < 0.015
    assert all(len(x) == len(t) for x, t in zip(study.X, study.times, strict=True))
    assert len(study.static) == len(study.X) == 300
    assert 0.01 < study.static["age"].isna().mean() < 0.1
    split = study.split(0)
    assert len(split.test) == 60
    assert study.y[split.test].mean() == 0.5


def test_a_cohort_is_a_long_table_with_one_label_per_patient(cohort):
    frame = cohort.frame
    assert frame.columns.tolist() == ["patient", "hour", "age", *NAMES]
    assert cohort.truth.columns.tolist() == cohort.mechanism.columns.tolist() == NAMES
    assert frame.index.equals(cohort.truth.index)
    assert frame.index.equals(cohort.mechanism.index)
    assert cohort.y.index.tolist() == frame.patient.unique().tolist() == [*range(2166)]
    ages = frame.groupby("patient").age
    assert (ages.nunique(dropna=False) == 1).all()
    assert 0.03 < ages.first().isna().mean() < 0.07
    assert ages.first().dropna().between(18, 91).all()


def test_labels_are_in_random_order(cohort):
    assert 900 < (cohort.y.diff() != 0).sum() < 1270  # alternating would be 2,166; sorted 2


@pytest.mark.parametrize("n", [2, 501])
def test_classes_are_balanced(n):
    y = icu.simulate(n, random_state=n).y
    assert len(y) == n
    assert sorted(y.unique()) == [0, 1]
    assert y.sum() == n // 2


def test_lengths_are_short_with_a_long_tail(cohort):
    length = cohort.frame.groupby("patient").size()
    assert length.min() == 3
    assert 100 < length.max() <= 125
    assert 0.74 < (length <= 8).mean() < 0.76
    for half in (cohort.y.to_numpy() == 1, np.arange(2166) < 1083):  # neither label nor order tells
        assert abs(contrast(length.to_numpy(), half)) < BEYOND_CHANCE


def test_hours_increase_irregularly_within_the_window(cohort):
    hours = cohort.frame.groupby("patient").hour
    assert cohort.frame.hour.between(0, 2, inclusive="neither").all()
    gaps = hours.diff().dropna()
    assert gaps.min() > 1 / 3600  # a second
    assert gaps[cohort.frame.patient == 0].nunique() > 1
    assert hours.first().median() < 0.5 < 1.5 < hours.last().median()  # the window is used


@pytest.mark.parametrize("n", [500, 2166])
@pytest.mark.parametrize("seed", [1, 2**40])
def test_the_missing_rate_is_the_papers_for_any_seed(n, seed):
    assert abs(icu.simulate(n, random_state=seed).missing_rate - 0.716) < 0.01


def test_what_is_observed_is_true_and_what_is_not_has_a_reason(cohort):
    frame, observed = cohort.frame[NAMES], cohort.mechanism == "observed"
    assert (frame.notna() == observed).all(axis=None)
    assert (frame == cohort.truth).where(observed, True).all(axis=None)
    assert cohort.truth.notna().all(axis=None)
    for name in NAMES:
        assert cohort.mechanism[name].cat.categories.tolist() == icu.MECHANISMS


def test_each_mechanism_makes_a_substantial_share_of_the_gaps(cohort):
    share = pd.Series(cohort.mechanism.to_numpy().ravel()).value_counts()
    share = share.drop("observed") / share.drop("observed").sum()
    written = {"MCAR": 0.28, "MNAR": 0.27, "MAR": 0.45}  # in the module's docstring
    assert share.to_dict() == pytest.approx(written, abs=0.01)
    assert not (cohort.mechanism[icu.VITALS] == "MAR").any(axis=None)
    assert (cohort.mechanism[icu.LABS] == "MAR").mean().min() > 0.4


@pytest.mark.parametrize("name", NAMES)
def test_mcar_gaps_know_neither_value_nor_label(cohort, name):
    dropped = (cohort.mechanism[name] == "MCAR").to_numpy()
    label = cohort.y.to_numpy()[cohort.frame.patient]
    assert dropped.mean() == pytest.approx(0.2, abs=0.02)
    assert abs(contrast(cohort.truth[name].to_numpy(), dropped)) < BEYOND_CHANCE
    assert abs(contrast(label, dropped)) < BEYOND_CHANCE


@pytest.mark.parametrize("name", [*icu.VITALS, "bilirubin", "bands"])
def test_mnar_gaps_hide_what_is_normal(cohort, name):
    kind = cohort.mechanism[name]
    left = kind.isin(["observed", "MNAR"]).to_numpy()
    value, about = cohort.truth[name].to_numpy()[left], icu.ATTRIBUTES[name]
    concern = np.abs(value - about.normal) if about.both_ways else value * np.sign(about.severity)
    assert contrast(concern, (kind == "MNAR").to_numpy()[left]) < -BEYOND_CHANCE


def given_observed_vitals(cohort, name, kind):
    """`contrast` of hidden with seen values of a lab: over all rows, and among like vitals."""
    left = cohort.mechanism[name].isin(["observed", kind]).to_numpy()
    alarm = pd.Series(icu._alarm(cohort.frame[left]))
    strata = alarm.rank(method="dense", pct=True).mul(200).astype(int).to_numpy()
    hidden = (cohort.mechanism[name] == kind).to_numpy()[left]
    value = cohort.truth[name].to_numpy()[left] * np.sign(icu.ATTRIBUTES[name].severity)
    return contrast(value, hidden), contrast(value, hidden, strata)


@pytest.mark.parametrize("name", ["lactate", "platelets", "creatinine", "blood_urea_nitrogen"])
def test_mar_gaps_do_not_know_the_hidden_value_once_observed_vitals_are_known(cohort, name):
    overall, among_like_vitals = given_observed_vitals(cohort, name, "MAR")
    assert overall < -BEYOND_CHANCE  # or the gaps would be MCAR
    assert abs(among_like_vitals) < BEYOND_CHANCE


@pytest.mark.parametrize("name", ["bilirubin", "bands"])
def test_that_check_would_notice_an_mnar_gap(cohort, name):
    assert given_observed_vitals(cohort, name, "MNAR")[1] < -BEYOND_CHANCE


def test_other_labs_leave_every_mar_gap_where_it_was(cohort):
    truth = cohort.truth.copy()
    shuffled = truth[icu.LABS].sample(frac=1, random_state=0)
    before = icu._gaps(truth, np.random.default_rng(0))
    truth[icu.LABS] = shuffled.to_numpy()
    after = icu._gaps(truth, np.random.default_rng(0))
    for code in (icu.MCAR, icu.MAR):
        assert ((before == code) == (after == code)).all()
    assert ((before == icu.MNAR) != (after == icu.MNAR)).any()


def test_labs_are_ordered_by_observed_vitals_only(cohort, monkeypatch):
    seen, alarm = [], icu._alarm
    monkeypatch.setattr(icu, "_alarm", lambda rows: seen.append(rows) or alarm(rows))
    codes = icu._gaps(cohort.truth, np.random.default_rng(0))
    vitals = codes[:, [NAMES.index(name) for name in icu.VITALS]]
    assert (seen[0][icu.VITALS].notna().to_numpy() == (vitals == icu.OBSERVED)).all()


def test_the_alarm_is_the_worst_observed_vital():
    rows = pd.DataFrame(np.nan, index=range(4), columns=icu.VITALS)
    rows.loc[1, "heart_rate"] = 85 + 2 * 15
    rows.loc[2, ["heart_rate", "systolic_blood_pressure"]] = [85 + 2 * 15, 123 - 3 * 18]
    rows.loc[3, "temperature"] = 37 - 1.5 * 0.6  # cold alarms as fever does
    np.testing.assert_allclose(icu._alarm(rows), [-np.inf, 2, 3, 1.5])


def test_labs_of_one_blood_draw_come_together(cohort):
    """Where one lab of a panel was not ordered, no other lab of that panel was seen."""
    for panel in icu.PANELS:
        kind = cohort.mechanism[[name for name in icu.LABS if icu.ATTRIBUTES[name].panel == panel]]
        refused = (kind == "MAR").any(axis=1)
        assert kind[refused].isin(["MAR", "MCAR"]).all(axis=None)


def test_values_are_plausible(cohort):
    for name, about in icu.ATTRIBUTES.items():
        value = cohort.truth[name]
        assert value.between(about.low, about.high).all()
        assert (value.round(about.decimals) == value).all()
        assert value.nunique() > 10
        at_a_limit = value.isin([about.low, about.high]).mean()
        assert at_a_limit < (0.2 if name in ("fio2", "spo2", "bands") else 0.02)  # room air is one
    systolic, mean = cohort.truth.systolic_blood_pressure, cohort.truth.mean_arterial_pressure
    assert (mean < systolic).all()


def test_attributes_go_together_as_at_the_bedside(cohort):
    r = cohort.truth.groupby(cohort.frame.patient).mean().corr(method="spearman")
    assert r.systolic_blood_pressure.mean_arterial_pressure > 0.6
    assert r.creatinine.blood_urea_nitrogen > 0.4
    assert r.spo2.fio2 < -0.4
    assert r.lactate.mean_arterial_pressure < -0.3


def test_cases_climb_and_labs_lag_behind(cohort):
    rows = cohort.truth.groupby(cohort.frame.patient)
    climb = rows.last() - rows.first()
    for name, about in icu.ATTRIBUTES.items():
        if about.log:  # in units of severity
            climb[name] = np.log((rows.last()[name] + 1e-9) / (rows.first()[name] + 1e-9))
        climb[name] /= about.spread * about.severity
    mean, error = climb.groupby(cohort.y).mean(), climb.groupby(cohort.y).sem()
    vitals = ["heart_rate", "systolic_blood_pressure", "mean_arterial_pressure"]
    labs = ["lactate", "creatinine", "blood_urea_nitrogen"]
    for name in vitals:
        assert mean.loc[1, name] > BEYOND_CHANCE * error.loc[1, name]
        assert abs(mean.loc[0, name]) < BEYOND_CHANCE * error.loc[0, name]
    assert 0 < mean.loc[1, labs].mean() < 0.6 * mean.loc[1, vitals].mean()


@pytest.mark.slow
def test_gaps_cost_and_the_mask_alone_is_not_enough():
    cohort = icu.simulate(800, random_state=0)
    patient = cohort.frame.patient
    folds = StratifiedKFold(3, shuffle=True, random_state=0)

    def auc(model, X):
        return cross_val_score(model, X, cohort.y, cv=folds, scoring="roc_auc").mean()

    def boosted(values):
        by = values.groupby(patient)
        summary = [by.last(), by.mean(), by.min(), by.max(), by.count()]
        model = HistGradientBoostingClassifier(max_iter=40, random_state=0)
        return auc(model, np.hstack([part.to_numpy(float) for part in summary]))

    mask_only = auc(LogisticRegression(), cohort.frame[NAMES].notna().groupby(patient).mean())
    gaps, truth = boosted(cohort.frame[NAMES]), boosted(cohort.truth)
    assert 0.6 < mask_only < 0.8
    assert mask_only + 0.08 < gaps
    assert 0.83 < gaps < 0.95
    assert gaps + 0.02 < truth < 0.99


@pytest.mark.parametrize(
    "options",
    [{"n_series": bad} for bad in (1, 2.5, "10", None, True, np.array([4, 5]))]
    + [{"random_state": bad} for bad in (-1, 1.5, "0", True, [1, 2])],
    ids=str,
)
def test_bad_parameters(options):
    ((name, value),) = options.items()
    check_error(
        lambda: icu.simulate(**{"n_series": 4} | options),
        f"{name} is {value!r}. It must be",
        "whole number",
        kind=ParameterError,
    )
