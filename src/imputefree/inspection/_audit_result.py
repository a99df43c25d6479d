"""The result of an audit: one table, one paragraph in words, one picture."""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from html import escape
from os import PathLike
from typing import Any

import numpy as np
import pandas as pd

from ..metrics import Figure
from ._drawings import draw_audit
from ._explanation import plain

CHANCE = {"auc": 0.5, "r2": 0.0}
TITLES = {"auc": "AUC", "r2": "R²", "log_loss": "log-loss", "rmse": "RMSE"}
LITTLE = 0.02  # of AUC or R²: less than this, the mask hardly matters
MOSTLY = 0.5  # share of the gain over chance from which the score is mostly the mask's
NEEDED = 0.2  # share of the gain over chance that is lost without an indispensable column
NAMED = 3  # columns or groups per sentence
STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem;
  color: #222; background: #fff }
div { overflow-x: auto }
svg { min-width: 50rem; max-width: 100%; height: auto }
table { border-collapse: collapse; font-size: 14px }
th, td { padding: .25rem .6rem; border-bottom: 1px solid #ddd; text-align: right }
th:nth-child(-n+2), td:nth-child(-n+2) { text-align: left }
@media (prefers-color-scheme: dark) {
  body { color: #ddd; background: #16181d }
  th, td { border-color: #444 }
  svg { background: #fff }
}
"""


@dataclass(frozen=True, eq=False, repr=False)
class Audit:
    """How a model's score changes when other values are missing.

    Attributes
    ----------
    table : DataFrame, one line per scenario
        kind and scenario; rows and the share of their entries that is "missing"; score with its
        95 % interval (low, high); change from the rows as they are, of the same rows, with its
        interval (for lines of kind "rows" and "group": from all other rows); loss;
        calibration_error; coverage, if the model offers sets or intervals.
    metric, loss : str
        What score and loss are: AUC and log-loss, or R² and RMSE.
    mask : (value, low, high)
        The part of the score due to the mask: the score with "own gaps, as many values" minus that
        with "gaps of other rows". None without gaps.
    mask_share : float or None
        `mask` as a share of the score's gain over chance; None if the model is not clearly better
        than chance.
    telling : list of str
        Columns whose gaps correlate with the answer, the strongest first.
    indispensable : list of str
        Columns without which at least a fifth of the gain over chance is lost, beyond chance.
    worse : dict
        Groups (or, without any, the rows with most gaps, about a third) that are served worse: by
        how much their loss is above that of all others, (value, low, high).
    notes : list of str
    """

    table: pd.DataFrame
    metric: str
    loss: str
    unit: str
    mask: Any
    mask_share: float | None
    telling: list[str]
    indispensable: list[str]
    worse: dict[str, Any]
    notes: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, lines: list[Any], metric: str, telling: list[str], **facts: Any) -> Audit:
        """From scored lines, the first of which is "as it is"."""
        now, by_name = lines[0], {(line.kind, line.name): line for line in lines}
        score = now.figure()
        better = score.low is not None and score.low > CHANCE[metric]
        gain = score.value - CHANCE[metric] if better else None
        theirs = by_name.get(("gaps", "gaps of other rows"))
        mask = theirs and by_name["gaps", "own gaps, as many values"].minus(theirs)
        share = None
        if gain and mask and mask.value is not None:
            share = float(np.clip(mask.value / gain, 0, 1))
        losses = {line.name: line.minus(now) for line in lines if line.kind == "column"}
        needed = [
            name
            for name, change in sorted(losses.items(), key=lambda item: item[1].value or 0)
            if gain and change.high is not None and change.high < 0
            and (change.value or 0) <= -max(NEEDED * gain, LITTLE)
        ]  # fmt: skip
        groups = [line for line in lines if line.kind == "group"]
        groups = groups or [line for line in lines if line.name == "rows with most gaps"]
        excess: dict[str, Any] = {line.name: line.minus(line.against, "loss") for line in groups}
        worse = {name: extra for name, extra in excess.items() if (extra.low or 0) > 0}
        return cls(
            table=pd.DataFrame([_row(line) for line in lines]),
            metric=metric,
            mask=mask,
            mask_share=share,
            telling=telling,
            indispensable=needed,
            worse=dict(sorted(worse.items(), key=lambda item: -item[1].value)),
            **facts,
        )

    def line(self, scenario: str, kind: str | None = None) -> Any:
        """One line of the table, by name; kind tells apart groups and columns of one name."""
        match = self.table["scenario"] == scenario
        if kind is not None:
            match &= self.table["kind"] == kind
        return self.table[match].iloc[0]

    def summary(self) -> str:
        """One paragraph: what the score depends on, and what a new site should check."""
        sentences = [self._mask_words(), self._column_words(), self._gap_words()]
        sentences += [self._group_words(), self._advice(), *self.notes]
        return " ".join(filter(None, sentences))

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        return f"Audit({len(self.table)} scenarios, {self.table['rows'].iloc[0]} {self.unit})"

    def _mask_words(self) -> str:
        title, now = TITLES[self.metric], self.table.iloc[0]
        start = f"The {title} is {_with_interval(now)} on {now['rows']:,}"
        start += f" {self.unit} with {now['missing']:.0%} missing."
        if self.mask is None:
            start += " There are no gaps, so none of it can come from them."
        if not self._better_than_chance:
            return f"{start} This is not clearly better than chance, so there is little to lose."
        if self.mask is None:
            return start
        value, low, high = self.mask
        own, theirs = self.line("own gaps, as many values"), self.line("gaps of other rows")
        figures = (
            f"with the gaps of other rows it is {theirs['score']:.3f}, with their own gaps and"
            f" as many values {own['score']:.3f}; difference {value:.3f}, {low:.3f} to {high:.3f}"
        )
        if not self._mask_matters:
            words = f"Which values are missing hardly matters to the model ({figures})."
        elif (self.mask_share or 0) >= MOSTLY:
            words = (
                f"Most of it ({self.mask_share:.0%} of the gain over chance) comes from which"
                f" values are missing: the model has learned who gets measured ({figures})."
            )
        else:
            words = f"Part of it ({self.mask_share:.0%} of the gain over chance) comes from which"
            words += f" values are missing ({figures})."
        alone = self.table[self.table["kind"] == "reference"]
        if self._mask_matters and len(alone):
            words += f" The gaps alone, without any value, reach {alone['score'].iloc[0]:.3f}."
        return f"{start} {words}"

    @property
    def _better_than_chance(self) -> bool:
        return bool(self.table["low"].iloc[0] > CHANCE[self.metric])

    @property
    def _mask_matters(self) -> bool:
        """Whether the mask's part is beyond chance and large enough to mention."""
        if self.mask is None or self.mask_share is None:
            return False
        return (self.mask.low or 0) > 0 and self.mask.value >= LITTLE

    def _column_words(self) -> str:
        columns = self.table[self.table["kind"] == "column"].dropna(subset="change")
        if not (self._better_than_chance and len(columns)):
            return ""
        if not self.indispensable:
            least: Any = columns.sort_values("change", kind="stable").iloc[0]
            return (
                "No single column is indispensable; the largest change is that without"
                f" {least['scenario']!r} ({least['change']:+.3f})."
            )
        shown = [
            f"{name!r} ({self.line(name, 'column')['change']:+.3f} without it)"
            for name in self.indispensable[:NAMED]
        ]
        return f"The model cannot do without {_and(shown)}."

    def _gap_words(self) -> str:
        half = self.line("50% of the values gone")
        title = TITLES[self.metric]
        return f"With half of the values gone at random, {title} is {_with_interval(half)}."

    def _group_words(self) -> str:
        shown = []
        for name in list(self.worse)[:NAMED]:
            parts: Any = self.table[self.table["kind"].isin(["group", "rows"])]
            line = parts[parts["scenario"] == name].iloc[0]
            base = line["loss"] - self.worse[name].value
            label = name if line["kind"] == "rows" else f"group {name!r}"
            shown.append(
                f"{label} ({line['missing']:.0%} missing, {TITLES[self.loss]}"
                f" {line['loss']:.3g} against {base:.3g} elsewhere)"
            )
        if shown:
            return f"Served worse: {_and(shown)}."
        return "No group is served clearly worse." if (self.table["kind"] == "group").any() else ""

    def _advice(self) -> str:
        checks = []
        telling = self.telling[:NAMED] if self._mask_matters else []
        if self._mask_matters:
            reasons = f" (above all {_and(list(map(repr, telling)))})" if telling else ""
            checks.append(f"that values are measured for the same reasons as here{reasons}")
        needed = [repr(n) for n in self.indispensable[:NAMED] if n not in telling]
        if needed:
            checks.append(f"that it has {_and(needed)}")
        if self.worse:
            checks.append("the error where more is missing, on rows of its own")
        if not checks:
            checks.append("the score on rows of its own")
        words = f"A new site should check {_and(checks)}."
        if self._mask_matters:
            words += ' A model with missingness="ignore" does not use which values are missing.'
        return words

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain JSON types."""
        return {
            "metric": self.metric,
            "loss": self.loss,
            "unit": self.unit,
            "mask": plain(self.mask),
            "mask_share": plain(self.mask_share),
            "telling": self.telling,
            "indispensable": self.indispensable,
            "worse": {name: plain(extra) for name, extra in self.worse.items()},
            "summary": self.summary(),
            "notes": self.notes,
            "table": [
                {name: plain(value) for name, value in row.items()}
                for row in self.table.to_dict("records")
            ],
        }

    def draw(self, path: str | PathLike[str] | None = None, kind: str | None = None) -> Any:
        """The picture, a matplotlib Figure; written to `path`, if there is one (kind: "png", …)."""
        figure = draw_audit(self.table, TITLES[self.metric], TITLES[self.loss], CHANCE[self.metric])
        if path is not None:
            figure.savefig(path, format=kind)
        return figure

    def to_html(self) -> str:
        """A page with the words, the picture and the table; one file, no script."""
        picture = io.StringIO()
        self.draw().savefig(picture, format="svg", metadata={"Date": None})
        svg = picture.getvalue()
        titles = {"score": TITLES[self.metric], "missing": "share missing"}
        numbers = self.table.rename(columns=titles).dropna(axis=1, how="all")
        numbers.columns = [name.replace("_", " ") for name in numbers.columns]
        table = numbers.to_html(index=False, float_format="{:.3f}".format, na_rep="", border=0)
        return (
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>Audit of missingness</title><style>{STYLE}</style></head><body>"
            f"<h1>Audit of missingness</h1><p>{escape(self.summary())}</p>"
            f"<div>{svg[svg.index('<svg') :]}</div>"
            f"<h2>All scenarios</h2><div>{table}</div></body></html>\n"
        )


def _row(line: Any) -> dict[str, Any]:
    """A line of the table."""
    score = line.figure()
    change = Figure(None, None, None) if line.against is None else line.minus(line.against)
    numbers = {
        "score": score.value, "low": score.low, "high": score.high,
        "change": change.value, "change_low": change.low, "change_high": change.high,
        "loss": line.loss[0], "calibration_error": line.calibration, "coverage": line.coverage,
    }  # fmt: skip
    numbers = {name: np.nan if value is None else value for name, value in numbers.items()}
    names = {"kind": line.kind, "scenario": line.name, "rows": line.rows, "missing": line.missing}
    return names | numbers


def _with_interval(line: Any) -> str:
    """The score of a line of the table, with its interval if there is one."""
    interval = "" if np.isnan(line["low"]) else f" ({line['low']:.3f} to {line['high']:.3f})"
    return f"{line['score']:.3f}{interval}"


def _and(words: list[str]) -> str:
    """Words in a sentence.

    >>> _and(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))
