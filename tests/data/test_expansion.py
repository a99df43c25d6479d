"""Parts and inputs against each column's definition in double precision, lines against NumPy."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import torch

from imputefree.data import Expansion, Lines, LoneRow, TableEncoder, read_columns, scale

rng = np.random.default_rng(0)
ROWS = 400
FRAME = pd.DataFrame(
    {
        "many": rng.lognormal(size=ROWS),
        "huge": rng.normal(size=ROWS) * 1e300,
        "few": rng.integers(0, 4, ROWS) * 1.0,
        "half": np.where(rng.random(ROWS) < 0.5, 0.0, rng.exponential(size=ROWS)),
        "counts": rng.poisson(30, ROWS) * 1.0,
        "word": rng.choice(["a", "b", "c"], ROWS),
        "rare": [*["x"] * (ROWS - 2), "y", "z"],
        "constant": 3.0,
        "empty": np.nan,
    }
).mask(rng.random((ROWS, 9)) < 0.2)
LATER = pd.concat([FRAME.head(50), FRAME.head(3).assign(many=[-9.0, 1e9, 0.0], huge=1e308)])


def expected(plan, kind, value):
    """The inputs of one kind for one observed value."""
    if kind == "value":
        return [scale(np.array([value]), plan.center, plan.spread)[0] if plan.scaled else value]
    if kind == "score":
        return [np.interp(value, plan.knots, plan.scores)]
    if kind == "bin":
        shares = [(value / 2 - a / 2) / (b / 2 - a / 2) for a, b in pairwise(plan.edges)]
        return [plan.bin_size * (min(max(share, 0.0), 1.0) - 0.5) for share in shares]
    if isinstance(value, str):
        inputs = [value == level for level in plan.levels]
        return inputs + [value in plan.rare_levels] * bool(plan.rare_levels)
    return [plan.level_size * (value == level) for level in plan.levels]


@pytest.mark.parametrize("encoding", ["plain", "unscaled", "rich", "piecewise", "bins", "fine"])
@pytest.mark.parametrize("placeholder", [0.0, -2.5])
@pytest.mark.parametrize("few", [False, True])
def test_every_input_is_what_its_column_says(encoding, placeholder, few):
    frame = LATER if encoding != "unscaled" else LATER.drop(columns="huge")
    encoder = TableEncoder(numeric_encoding=encoding).fit(read_columns(FRAME[frame.columns]))
    if few:
        codes = encoder.codes(read_columns(frame))
        values = encoder.few_rows.inputs(codes, placeholder).astype(float)
    else:
        parts = encoder.parts(read_columns(frame))
        values = encoder.expansion.inputs(parts, placeholder).double().numpy()
    names = encoder.input_names
    assert values.shape == (len(frame), len(names))
    checked = 0
    for plan in encoder.plans:
        for kind, inputs in plan.inputs.items():
            for row, value in enumerate(frame[plan.name]):
                wanted = np.full(len(inputs), placeholder)
                if pd.notna(value):
                    wanted = np.array(expected(plan, kind, value), dtype=float)
                found = [values[row, names.index(name)] for name in inputs]
                assert found == pytest.approx(wanted, rel=2e-6, abs=2e-5)
                checked += len(inputs)
        if plan.has_gaps:
            found = values[:, names.index(f"{plan.name} is missing")]
            assert found.tolist() == frame[plan.name].isna().tolist()
            checked += len(frame)
    assert checked == values.size


@pytest.mark.parametrize("encoding", ["plain", "rich", "piecewise", "bins", "fine"])
def test_a_lone_row_has_the_sums_of_its_inputs(encoding):
    encoder = TableEncoder(numeric_encoding=encoding).fit(read_columns(FRAME))
    codes, few = encoder.codes(read_columns(LATER)), encoder.few_rows
    inputs = few.inputs(codes).astype(float)
    weight = np.random.default_rng(1).normal(size=(7, inputs.shape[1]))
    lone = LoneRow(few, weight)
    found = np.array([lone.sums(row) for row in codes])
    assert found == pytest.approx(inputs @ weight.T, rel=1e-5, abs=1e-4)


def test_hiding_a_column_is_the_same_as_missing_it():
    encoder = TableEncoder(numeric_encoding="piecewise").fit(read_columns(FRAME))
    expansion, parts = encoder.expansion, encoder.parts(read_columns(FRAME))
    hidden = torch.zeros(ROWS, encoder.n_columns, dtype=torch.bool)
    hidden[:, [0, 5]] = True
    without = encoder.parts(read_columns(FRAME.assign(many=np.nan, word=None)))
    assert torch.allclose(expansion.hidden(parts, hidden), without, equal_nan=True, rtol=0, atol=0)


def test_others_pass_through_and_are_always_observed():
    encoder = TableEncoder().fit(read_columns(FRAME))
    expansion = Expansion(encoder.plans, [0], n_others=2)
    others = torch.rand(ROWS, 2)
    parts = torch.cat([encoder.parts(read_columns(FRAME)), others], 1)
    assert torch.equal(expansion.inputs(parts)[:, -2:], others)
    observed = expansion.observed(parts)
    assert observed.shape[1] == expansion.n_inputs == expansion.n_entries + 3
    assert observed[:, -3:].all()
    assert torch.equal(observed[:, 0], ~torch.tensor(FRAME["many"].isna().to_numpy()))


def test_blocks_of_rows_do_not_matter(monkeypatch):
    encoder = TableEncoder(numeric_encoding="piecewise").fit(read_columns(FRAME))
    whole = encoder.parts(read_columns(FRAME))
    monkeypatch.setattr("imputefree.data._encoders.BLOCK", 7)
    assert torch.equal(whole.nan_to_num(9), encoder.parts(read_columns(FRAME)).nan_to_num(9))


@pytest.mark.parametrize(("width", "counted"), [(100, True), (101, False)])
def test_only_narrow_tables_have_inputs_for_common_values(width, counted):
    columns = read_columns(np.repeat(np.arange(400.0)[:, None] % 20, width, axis=1))
    plans = TableEncoder(numeric_encoding="piecewise").fit(columns).plans
    assert {len(plan.levels) for plan in plans} == {20 if counted else 0}
    assert all(plan.edges and plan.knots for plan in plans)


def test_hiding_a_column_leaves_what_is_beside_the_columns():
    encoder = TableEncoder().fit(read_columns(FRAME))
    expansion = Expansion(encoder.plans, [0], n_others=2)
    parts = torch.cat([encoder.parts(read_columns(FRAME)), torch.rand(ROWS, 2)], 1)
    hidden = expansion.hidden(parts, torch.ones(ROWS, encoder.n_columns, dtype=torch.bool))
    assert hidden[:, :-2].isnan().all()
    assert torch.equal(hidden[:, -2:], parts[:, -2:])
    assert expansion.missing(hidden).all()


@pytest.mark.parametrize(("levels", "fans"), [(40, False), (41, True)])
def test_many_inputs_per_column_fan_out(levels, fans, monkeypatch):
    """40 levels and 12 bins: one more than 52 is many."""
    frame = pd.DataFrame({"x": np.arange(200.0), "s": [f"s{k % levels}" for k in range(200)]})
    monkeypatch.setattr("imputefree.data._few_rows.FAN", 52)
    columns = read_columns(frame)
    assert TableEncoder(numeric_encoding="bins").fit(columns).few_rows.fans_out == fans
    assert not TableEncoder(numeric_encoding="unscaled").fit(columns).few_rows.fans_out


KNOTS = [[0.0, 1.0], [-5.0, 0.0, 10.0, 11.0], [3.0], [-1.7e308, 1.7e308]]
HEIGHTS = [[5.0, 7.0], [1.0, -2.0, 4.0, 0.0], [2.0], [-1.0, 1.0]]


@pytest.mark.parametrize("rows", [1, 11, 4000])
def test_lines_are_linear_between_knots_and_constant_beyond(rows):
    rng = np.random.default_rng(rows)
    columns = [rng.uniform(2 * points[0] - 1, 2 * points[-1] + 1, rows) for points in KNOTS[:3]]
    columns.append(rng.uniform(-1.0, 1.0, rows) * 1.7e308)
    for column, points in zip(columns, KNOTS, strict=True):
        column[: len(points)] = points[:rows]  # at the knots themselves
    X = np.array(columns).T
    X[rows // 2, 1] = np.nan
    expected = [
        np.interp(x / 2, np.array(points) / 2, heights)
        for x, points, heights in zip(X.T, KNOTS, HEIGHTS, strict=True)
    ]
    np.testing.assert_allclose(Lines(KNOTS, HEIGHTS)(X), np.array(expected).T, rtol=1e-12)
