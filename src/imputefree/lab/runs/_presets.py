"""The networks of the paper's studies as estimators, to be used outside the benchmark."""

from __future__ import annotations

from typing import Any

from ..._rules import check_value, choice, or_the_word, whole
from ..rivals._methods import CLASSES, make_method
from ._plans import PLANS, plan
from ._protocol import configure, in_epochs


def preset(
    name: str,
    study: str,
    n_rows: int,
    *,
    method: str = "gil",
    form: str | None = None,
    random_state: int | None = 0,
) -> Any:
    """An unfitted estimator with the setting of a study: what `bench` would fit.

    All of it is in the estimator's parameters, so that `clone`, grid searches and files keep it.

    Parameters
    ----------
    name : "paper", or "authors": what their scripts do where the paper says nothing or otherwise
    study : such as "mnist", "ophthalmic", "mimic3" or "physionet2012"
    n_rows : number of training rows (or series), since the paper counts steps and not epochs
    method : a method of the study, such as "gil", "gil-d", "gil-h" or "network"
    form : "variable" or "fixed", for studies of series that have both; the default is the first

    >>> preset("paper", "mnist", n_rows=52_500).hidden_layer_sizes
    [500, 500]
    >>> gil = preset("authors", "mimic3", n_rows=3000)
    >>> gil.placeholder, gil.policy.batch_size, gil.policy.per_batch
    ('3max', 128, True)
    """
    check_value("study", study, choice(*PLANS))
    check_value("n_rows", n_rows, whole(1))
    runs = plan(study, methods=[method], seeds=1, preset=name).runs
    forms = [run.options.get("form") for run in runs]
    check_value("form", form, or_the_word(None, choice(*filter(None, forms))))
    setting = runs[forms.index(form) if form else 0].setting
    model = make_method(method, CLASSES, PLANS[study].kind, random_state)
    return configure(model, in_epochs(model, setting, n_rows))
