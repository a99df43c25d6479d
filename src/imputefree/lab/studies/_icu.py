"""A SIMULATED septic-shock cohort in the shape of the paper's MIMIC-III study. Not patient data.

The paper predicts from a 2-hour window in intensive care whether septic shock follows within 4
hours: 2,166 series of 3 to 125 rows, 14 attributes, 71.63 % missing, half of the patients cases.
MIMIC-III needs an access agreement; this cohort has the same shape, and no value of it was ever
measured on anybody. It shows that a program runs; a score on it says nothing about patients.

How values are generated. A latent severity is near 0 in controls; in cases it is higher and climbs.
Vitals follow it at once, labs with a lag. Vitals also follow an illness that has nothing to do with
shock, so that many alarms at the bedside are false. A patient's habits are shared within an organ
system; one patient in four reacts the other way round (cold, leucopenic). Units, ranges and
constants: `ATTRIBUTES`.

How gaps are generated, entry by entry, in this order; 71.6 % of the entries are gaps:

1. MCAR, 28 % of the gaps: one recording in five is dropped, independently of its value.
2. MNAR, 27 % with step 4: the more normal a vital, the less likely it is written down.
3. MAR, 45 %: the more alarming the worst *observed* vital of a row, the more likely a panel of labs
   is ordered.
4. MNAR: of the ordered bilirubin and bands, normal results are written down less often.

Chances are m (1 + p) rank^p, with rank in (0, 1) among the cohort's entries. Their mean is m
whatever the values are, so only coin tosses move the missing rate (standard deviation 0.2 % with
500 series). Lengths are a stratified heavy-tailed sample, independent of the label: 75 % of the
series have at most 8 rows. One row in thirty is empty, and about one series in 4,000.

How hard it is. AUC in 5-fold cross-validation (stratified, shuffled by that seed), 2,166 series:

    seed                                                               0      1      2
    mask only: logistic regression on observed fractions             0.765  0.743  0.781
    gradient boosting on last, mean, min, max, count; with gaps      0.912  0.909  0.919
    the same on the truth                                            0.963  0.969  0.970

The constants were tuned on these seeds. The mask is less informative than in a public septic-shock
split, where it alone reaches 0.90; that is on purpose.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from io import StringIO
from typing import Any

import numpy as np
import pandas as pd

from ..._rules import check_value, choice, whole
from ...data import Splits
from ...missingness import generator
from ._data_files import ABOUT, Root, packaged
from ._study import FORMS, Study, by_series, in_form

SOURCE = "simulated by imputefree.lab.studies, not patient data"
WINDOW = 2.0  # hours of observation
SHORTEST, LONGEST = 3, 125  # rows of a series
MECHANISMS = ["observed", "MCAR", "MAR", "MNAR"]
OBSERVED, MCAR, MAR, MNAR = range(4)
DROPPED = 0.2  # share of entries, and DROPPED_AGE of ages, lost completely at random
DROPPED_AGE = 0.05
SELECTIVITY = 1.0  # p above: 0 would make every gap MCAR
LAG = 4.0  # hours: time constant with which labs follow severity
ILLNESS = 0.85  # standard deviations that an illness unrelated to shock moves vitals by
PERSONAL = 0.6  # standard deviation between patients of equal severity; the rest is within them
# Mean chance that a row has the blood draw of a panel, which gives all its labs at once.
PANELS = {"count": 0.19, "gas": 0.24, "chemistry": 0.2}


# By attribute: unit; low, high : limits of its values; normal, spread : mean and standard deviation
# at severity 0, of the logarithm where `log`; decimals; severity : standard deviations per unit of
# severity, its sign is the alarming side; system : organ system; charted : mean chance of being
# written down, below 1 the gaps are MNAR; panel : of PANELS, for a lab; both_ways : one patient in
# four reacts in the other direction.
_TABLE = pd.read_csv(StringIO(packaged("icu_attributes.csv")), index_col="name", na_filter=False)
ATTRIBUTES: dict[str, Any] = {str(row.Index): row for row in _TABLE.itertuples(name="Attribute")}
VITALS = [name for name, about in ATTRIBUTES.items() if not about.panel]
LABS = [name for name, about in ATTRIBUTES.items() if about.panel]
AT = {name: at for at, name in enumerate(ATTRIBUTES)}
SYSTEMS = sorted({about.system for about in ATTRIBUTES.values()})


@dataclass(frozen=True, repr=False, eq=False)
class SimulatedCohort:
    """A SIMULATED cohort: `source` says so, and so do the attrs of all four tables.

    Attributes
    ----------
    frame : DataFrame, one row per patient and hour: patient, hour, age (years, 5 % missing
        completely at random), and the 14 `ATTRIBUTES` with gaps (NaN)
    y : Series of 0 and 1 (shock follows), indexed by patient
    truth : DataFrame of the 14 attributes without gaps, aligned with frame row by row
    mechanism : DataFrame of "observed", "MCAR", "MAR" or "MNAR" for each entry of truth
    """

    frame: pd.DataFrame
    y: pd.Series
    truth: pd.DataFrame
    mechanism: pd.DataFrame
    source: str = field(default=SOURCE, init=False)

    def __post_init__(self) -> None:
        for table in (self.frame, self.y, self.truth, self.mechanism):
            table.attrs["source"] = self.source

    @property
    def missing_rate(self) -> float:
        """Share of gaps among the entries of the 14 attributes."""
        return float(self.frame[list(ATTRIBUTES)].isna().to_numpy().mean())

    def __repr__(self) -> str:
        return (
            f"SimulatedCohort({len(self.y):,} series, {len(self.frame):,} rows,"
            f" {self.missing_rate:.1%} missing; {self.source})"
        )


def study(root: Root = None, seed: Any = 0, n_series: int = 2166, form: str = "variable") -> Study:
    """A SIMULATED septic-shock cohort: a list of n_series frames (T_i, 14), age as static.

    seed decides the cohort. root is not used: there are no files. form "fixed" gives an array
    (n_series, 8, 14) instead; see `in_form`.

    >>> cohort = study(n_series=100)
    >>> cohort.simulated, cohort.kind, len(cohort.X), cohort.static.columns.tolist()
    (True, 'series', 100, ['age'])
    """
    check_value("form", form, choice(*FORMS))
    cohort = simulate(n_series, seed)
    patient, hours = cohort.frame["patient"].to_numpy(), cohort.frame["hour"].to_numpy()
    begins = np.flatnonzero(np.diff(patient, prepend=-1))
    series = by_series(cohort.frame[list(ATTRIBUTES)], begins)
    truth, times = by_series(cohort.truth, begins), by_series(hours, begins)
    return Study(
        "icu",
        y=cohort.y.to_numpy(),
        **in_form(form, series, times),
        **ABOUT["icu"],
        static=cohort.frame[["age"]].iloc[begins].reset_index(drop=True),
        truth=in_form(form, truth, times)["X"],
        splits=Splits(test=0.2, validation=0.1, balanced_test=True),
        notes=("SIMULATED: a score on it says nothing about patients.",),
    )


def simulate(n_series: int = 2166, random_state: Any = None) -> SimulatedCohort:
    """A new SIMULATED cohort; the module's docstring says what is in it.

    Parameters
    ----------
    n_series : int, at least 2; half of them, rounded down, are cases
    random_state : int, numpy Generator or None
        The same integer gives the same cohort. The global random state is not used.

    >>> cohort = simulate(n_series=500, random_state=0)
    >>> cohort
    SimulatedCohort(500 series, ...; simulated by imputefree.lab.studies, not patient data)
    >>> cohort.y.value_counts().sort_index().to_dict()
    {0: 250, 1: 250}
    >>> bool((cohort.frame[LABS].notna() == (cohort.mechanism[LABS] == "observed")).all(axis=None))
    True
    """
    check_value("n_series", n_series, whole(2))  # a case and a control
    rng = generator(random_state)
    length = _lengths(int(n_series), rng)
    patient = np.repeat(np.arange(len(length)), length)
    hour = _hours(patient, length, rng)
    shock = rng.permutation(np.arange(len(length)) % 2)
    age = np.clip(rng.normal(63 + 3 * shock, 15), 18, 91).round()
    truth = _physiology(patient, length, hour, shock, age, rng)
    codes = _gaps(truth, rng)
    age[rng.random(len(age)) < DROPPED_AGE] = np.nan
    keys = pd.DataFrame({"patient": patient, "hour": hour, "age": age[patient]})
    kinds = pd.Index(MECHANISMS)
    return SimulatedCohort(
        frame=pd.concat([keys, truth.where(codes == OBSERVED)], axis=1),
        y=pd.Series(shock, index=pd.RangeIndex(len(shock), name="patient"), name="shock"),
        truth=truth,
        mechanism=pd.DataFrame(
            {name: pd.Categorical.from_codes(codes[:, at], kinds) for name, at in AT.items()}
        ),
    )


def _lengths(n: int, rng: np.random.Generator) -> np.ndarray:
    """A truncated Lomax sample, one draw from each n-th of the distribution, in random order."""
    reach, power = 5.2, 1.8
    longest = 1 - (1 + (LONGEST + 1 - SHORTEST) / reach) ** -power
    share = longest * (rng.permutation(n) + rng.random(n)) / n
    return SHORTEST + (reach * ((1 - share) ** (-1 / power) - 1)).astype(int)


def _hours(patient: np.ndarray, length: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Irregular times, at least a second apart, strictly inside the window."""
    first = np.cumsum(length) - length
    wait = 0.05 + rng.exponential(size=len(patient))
    total = np.add.reduceat(wait, first) + 0.05 + rng.exponential(size=len(length))
    clock = np.cumsum(wait)
    return (WINDOW * (clock - (clock - wait)[first][patient]) / total[patient]).round(4)


def _steps(length: np.ndarray, hour: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """For step 1, 2, …: the rows of all series that are long enough, and hours since their last."""
    first = np.cumsum(length) - length
    for step in range(1, length.max()):
        row = first[length > step] + step
        yield row, hour[row] - hour[row - 1]


def _physiology(
    patient: np.ndarray,
    length: np.ndarray,
    hour: np.ndarray,
    shock: np.ndarray,
    age: np.ndarray,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """The values of all 14 attributes, before anything goes missing."""
    n = len(length)
    frailty = 0.25 * rng.normal(size=n) + 0.2 * (age - 65) / 15
    sepsis = shock * rng.gamma(9.0, 0.24, size=n)
    illness = rng.normal(size=n)
    drift = rng.normal(size=(len(patient), len(ATTRIBUTES) + 1))
    for row, gap in _steps(length, hour):  # Ornstein-Uhlenbeck: forgets within an hour
        keep = np.exp(-gap)[:, None]
        drift[row] = keep * drift[row - 1] + np.sqrt(1 - keep**2) * drift[row]
    severity = (frailty + sepsis)[patient] + 0.3 * sepsis[patient] * hour + 0.4 * drift[:, -1]
    lagging = (frailty + 0.7 * sepsis)[patient]
    for row, gap in _steps(length, hour):
        keep = np.exp(-gap / LAG)
        lagging[row] = keep * lagging[row - 1] + (1 - keep) * severity[row - 1]
    habits = {system: rng.normal(size=n) for system in SYSTEMS}
    response = np.where(rng.random(n) < 0.25, -1.0, 1.0)
    columns = {}
    for name, about in ATTRIBUTES.items():
        side = np.sign(about.severity)
        if about.panel:
            drive = about.severity * lagging
        else:
            drive = about.severity * severity + side * ILLNESS * illness[patient]
        if about.both_ways:
            drive *= response[patient]
        personal = 0.6 * side * habits[about.system] + 0.8 * rng.normal(size=n)
        z = drive + PERSONAL * personal[patient] + np.sqrt(1 - PERSONAL**2) * drift[:, AT[name]]
        z *= about.spread
        value = about.normal * np.exp(z) if about.log else about.normal + z
        columns[name] = np.clip(value, about.low, about.high).round(about.decimals)
    systolic, mean = columns["systolic_blood_pressure"], columns["mean_arterial_pressure"]
    columns["mean_arterial_pressure"] = np.minimum(mean, systolic - 10)
    return pd.DataFrame(columns)


def _concern(name: str, value: np.ndarray) -> np.ndarray:
    """Standard deviations from normal towards the alarming side; NaN stays NaN."""
    about = ATTRIBUTES[name]
    with np.errstate(divide="ignore"):  # no bands: log 0, the least concern
        z = (np.log(value / about.normal) if about.log else value - about.normal) / about.spread
    return np.abs(z) if about.both_ways else np.sign(about.severity) * z


def _chance(mean: float, concern: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Chances that grow with the rank of concern (ties in random order) and have that mean."""
    rank = np.empty(len(concern))
    order = np.lexsort((rng.random(len(concern)), concern))
    rank[order] = (np.arange(len(concern)) + 0.5) / len(concern)
    power = min(SELECTIVITY, 1 / mean - 1)  # no chance above 1
    return mean * (1 + power) * rank**power


def _alarm(seen: pd.DataFrame) -> np.ndarray:
    """The worst concern among the vitals seen in each row; -inf where none is."""
    concerns = [_concern(name, seen[name].to_numpy()) for name in VITALS]
    return np.fmax.reduce([*concerns, np.full(len(seen), -np.inf)])


def _gaps(truth: pd.DataFrame, rng: np.random.Generator) -> np.ndarray:
    """Positions in MECHANISMS for each entry, shaped as truth."""
    codes = np.where(rng.random(truth.shape) < DROPPED, MCAR, OBSERVED)

    def chart(name: str) -> None:
        left = np.flatnonzero(codes[:, AT[name]] == OBSERVED)
        concern = _concern(name, truth[name].to_numpy()[left])
        lost = rng.random(len(left)) >= _chance(ATTRIBUTES[name].charted, concern, rng)
        codes[left[lost], AT[name]] = MNAR

    for name in VITALS:
        chart(name)
    alarm = _alarm(truth.where(codes == OBSERVED))
    drawn = {
        panel: rng.random(len(truth)) < _chance(mean, alarm, rng) for panel, mean in PANELS.items()
    }
    for name in LABS:
        code = codes[:, AT[name]]
        code[~drawn[ATTRIBUTES[name].panel] & (code == OBSERVED)] = MAR
        if ATTRIBUTES[name].charted < 1:
            chart(name)
    return codes
