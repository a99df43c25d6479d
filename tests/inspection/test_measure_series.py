"""What to measure at the last step of a series: against tables, closed forms, and by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, RegressorMixin

from imputefree import GILSequenceClassifier, Panel, measure_next, plan_measurements
from imputefree.errors import ImputefreeError, ParameterError
from imputefree.inspection import PlausibleValues
from imputefree.inspection._plausible_values import past_states, present_states

RNG = np.random.default_rng(0)
PERSISTENCE = 0.9


class LastStep(RegressorMixin, BaseEstimator):
    """Three times the last pulse, minus the last lactate, plus the weight; a gap counts as 0."""

    def predict(self, panel):
        ends = np.cumsum(panel.lengths) - 1
        pulse, lactate = (np.nan_to_num(array[ends]) for array in panel.steps.arrays[:2])
        return 3 * pulse - lactate + np.nan_to_num(panel.statics.arrays[0])


def walks(n, steps, seed):
    """Standard normal walks: pulse remembers its last value, lactate does not."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n, steps, 2))
    for t in range(1, steps):
        fresh = np.sqrt(1 - PERSISTENCE**2) * values[:, t, 0]
        values[:, t, 0] = PERSISTENCE * values[:, t - 1, 0] + fresh
    return values, rng.normal(size=n)


def panel_of(values, weight):
    frames = [pd.DataFrame(one, columns=["pulse", "lactate"]) for one in values]
    return Panel.from_list(frames, static=pd.DataFrame({"weight": weight}))


@pytest.fixture(scope="module")
def background():
    return PlausibleValues(panel_of(*walks(2500, 3, seed=1)))


@pytest.fixture(scope="module")
def series():
    values, weight = walks(3, 4, seed=2)
    values[:2, -1] = np.nan
    values[2, -1, 0] = np.nan
    return panel_of(values, np.array([weight[0], np.nan, weight[2]]))


def test_states_by_hand():
    steps = pd.DataFrame({"a": [1.0, np.nan, 3.0, np.nan], "b": ["x", None, None, "y"]})
    panel = Panel.from_list([steps[:3].reset_index(drop=True), steps[3:].reset_index(drop=True)])
    now = present_states(panel)
    assert now.names == ["a", "b", "a before", "b before"]
    assert now.observed.tolist() == [[True, False, True, True], [False, True, False, False]]
    assert now.X.iloc[0][["a", "a before", "b before"]].tolist() == [3.0, 1.0, "x"]
    past = past_states(panel)  # steps 0 (b), 2 (a) and 3 (b): step 1 observed nothing last
    assert past.X["b"].fillna("").tolist() == ["x", "", "y"]
    assert past.X["a before"].isna().tolist() == [True, False, True]


def test_gains_are_conditional_variances(background, series):
    """The gain of a number is Var(slope * v | state), known for normal walks."""
    result = measure_next(LastStep(), series, background=background, n_values=50)
    assert result.measurements == ["pulse", "lactate", "weight"]
    known = ~np.isnan(result.row_gain)
    assert known.tolist() == [[True, True, False], [True, True, True], [True, False, False]]
    assert result.row_gain[:2, 1] == pytest.approx(1.0, rel=0.15)  # nothing tells the lactate
    assert result.row_gain[1, 2] == pytest.approx(1.0, rel=0.15)
    left = 9 * (1 - PERSISTENCE**2)  # 9, had it not been drawn given the last value
    assert (result.row_gain[:, 0] < 2.5 * left).all()
    assert result.prediction == pytest.approx(LastStep().predict(series))


def test_draws_follow_the_last_value(background):
    values = np.array([[[high, 0.0], [np.nan, np.nan]] for high in (-1.5, 1.5)])
    low, high = background.draw(panel_of(values, np.zeros(2)), "pulse", 2000)
    assert low.mean() == pytest.approx(-1.5 * PERSISTENCE, abs=0.3)
    assert high.mean() == pytest.approx(1.5 * PERSISTENCE, abs=0.3)


def test_a_simulated_plan_reveals_the_last_step(background, series):
    values = np.column_stack(series.steps.arrays).reshape(3, 4, 2)
    values[:, -1] = 0.5
    truth = panel_of(values, [1.0, 1.0, 1.0])
    options = {"background": background, "truth": truth, "costs": {"weight": np.inf}}
    plan = plan_measurements(LastStep(), series, **options)
    assert plan.order[:, 0].tolist() == [0, 0, 0]
    assert plan.order[:, 1].tolist() == [1, 1, -1]
    weight = np.nan_to_num(series.statics.arrays[0])
    lactate = np.array([0.5, 0.5, series.steps.arrays[1][-1]])
    assert plan.prediction[:, -1] == pytest.approx(1.5 - lactate + weight)


def test_a_frame_with_categories_around_our_network():
    frame = pd.DataFrame({"who": np.repeat(np.arange(60), 2), "mood": RNG.choice(["a", "b"], 120)})
    frame["pulse"] = RNG.normal(size=120)
    frame["sex"] = np.repeat(RNG.choice(["f", "m"], 60), 2)
    label = (frame.groupby("who")["mood"].last() == "a").astype(int)
    model = GILSequenceClassifier(
        id="who", static="sex", n_members=1, max_iter=15, learning_rate_init=0.02, random_state=0
    ).fit(frame, label)
    new = frame[:6].copy()
    new.loc[[1, 3], ["mood", "pulse"]] = None
    new.loc[[4, 5], "sex"] = None
    result = measure_next(model, new, background=frame)
    assert result.best() == [["mood"], ["mood"], ["sex"]]
    lines = measure_next(model, new, background=frame, together=[["mood", "pulse"]]).to_frame()
    assert lines["measurement"].tolist() == ["mood + pulse", "mood + pulse", "sex"]


def test_what_does_not_fit_is_refused(background, series):
    table = pd.DataFrame({"pulse": [1.0, 2.0], "lactate": [1.0, 2.0]})
    for options in ({"background": table}, {"background": PlausibleValues(table)}):
        with pytest.raises(ImputefreeError, match="series"):
            measure_next(LastStep(), series, **options)
    with pytest.raises(ParameterError):
        measure_next(LastStep(), series, background=background, costs={"pulse before": 2})
    per_step = GILSequenceClassifier(per_step=True)
    with pytest.raises(ImputefreeError, match="per_step"):
        measure_next(per_step, series, background=background)
