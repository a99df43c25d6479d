from __future__ import annotations

from dataclasses import asdict
from io import StringIO
from math import nan

import pandas as pd
import pytest
from rich.console import Console

from imputefree.lab.report._result_tables import (
    GIL_H,
    RAW_ZERO,
    correlation_table,
    results_table,
    what_was_cut,
)
from imputefree.lab.runs import plan
from tests.refusals import check_error

COLUMNS = ["study", "setting", "method", "mask_seed", "split", "accuracy", "auc", "log_loss"]


def runs():
    lines = [
        ("mnist", "mcar-90", "mask_only", 0, 0, 0.11, 0.5, 2.3),
        ("mnist", "mcar-90", "gil", 0, 0, 0.78, 0.9, 0.7),
        ("mnist", "mcar-90", "gil", 1, 0, 0.79, 0.9, 0.8),
        ("mnist", "mcar-90", "gil-h", 0, 0, 0.80, 0.9, 0.9),
        ("mnist", "mcar-90", "gil-h", 1, 0, nan, nan, nan),
        ("mnist", "mar", "gil", 0, 0, 0.93, 0.9, 0.3),
        ("mnist", "mar", "em+network", 0, 0, nan, nan, nan),
        ("icu", "variable", "gil", 0, 0, 0.9, 0.95, 0.3),
        ("icu", "variable", "mask_only", 0, 0, 0.8, 0.90, 0.4),
        ("colic", "natural", "gil", 0, 0, 0.8, 0.85, 0.5),
        ("colic", "natural", "lightgbm", 0, 0, 0.8, 0.86, 0.4),
    ]
    return pd.DataFrame(lines, columns=COLUMNS)


def cell(table, method, column):
    row = next(row for row in table.rows if row[0].split(" ")[0] == method)
    return row[column]


def printed(table, width=200):
    console = Console(file=StringIO(), width=width)
    console.print(table.rich())
    return console.file.getvalue()


def test_our_figures_are_beside_the_papers():
    table = results_table(runs(), "mnist")
    minus = "ours - paper"
    assert table.head == ["method", "mcar-90 Acc.", "paper", minus, "mar Acc.", "paper", minus]
    assert cell(table, "gil", 1) == "78.50 ± 0.71"
    assert cell(table, "gil", 2) == "78.47 ± 0.39"
    assert cell(table, "gil", 3) == "+0.03"
    assert cell(table, "gil", 4) == "93.00"  # a single run
    assert cell(table, "gil", 5) == "93.23 ± 0.03"
    assert cell(table, "gil", 6) == "-0.23"
    assert cell(table, "gil-h", 1) == "80.00 (1 failed)"
    assert cell(table, "em+network", 4) == "failed"
    assert cell(table, "em+network", 1) == "–"  # not run
    assert cell(table, "mask_only", 2) == "–"  # not in the paper


def test_redrawn_masks_stand_beside_the_same_figure_of_the_paper():
    redrawn = runs().replace({"setting": {"mcar-90": "mcar-90, masks redrawn"}})
    table = results_table(redrawn, "mnist", methods=["gil"])
    assert table.head[1:3] == ["mcar-90, masks redrawn Acc.", "paper"]
    assert cell(table, "gil", 2) == "78.47 ± 0.39"


def test_rows_are_what_was_run_in_the_papers_order_then_the_rest():
    names = [row[0] for row in results_table(runs(), "mnist").rows]
    assert names == ["gil", "gil-h", "em+network (EM)", "mask_only"]
    chosen = results_table(runs(), "mnist", methods=["mask_only", "gil"])
    assert [row[0] for row in chosen.rows] == ["mask_only", "gil"]


def test_the_best_of_ours_is_bold_by_the_direction_of_the_metric():
    one_rate = runs().query("setting != 'mar'")
    table = results_table(one_rate, "mnist", ["accuracy", "log_loss"])
    assert table.head == ["method", "mcar-90 Acc.", "paper", "ours - paper", "mcar-90 log loss"]
    bold = {(table.rows[row][0], column) for row, column in table.best}
    assert bold == {("gil-h", 1), ("gil", 4)}
    assert "| **80.00 (1 failed)** |" in table.markdown()


def test_ties_are_all_bold_and_a_single_method_is_not():
    table = results_table(runs(), "colic")
    assert table.best == {(0, 1), (1, 1)}
    assert results_table(runs(), "colic", methods=["gil"]).best == frozenset()


def test_simulated_studies_are_marked_beside_the_study_they_imitate():
    table = results_table(runs(), "icu", ["accuracy", "auc"])
    assert table.title == "icu (SIMULATED)"
    assert table.captions[0].startswith("SIMULATED")
    assert "ours - paper" not in table.head  # the data are not the paper's
    assert cell(table, "gil", 2) == "93.32"
    assert cell(table, "gil", 4) == "96.10"
    for text in (table.markdown(), printed(table)):
        assert text.count("SIMULATED") == 2
    assert "SIMULATED" not in results_table(runs(), "mnist").markdown()


def test_runs_that_say_they_are_simulated_are_believed():
    said = runs().assign(simulated=lambda r: (r["study"] == "colic").astype(object))
    said.loc[0, "simulated"] = None
    assert results_table(said, "colic").title == "colic (SIMULATED)"
    assert results_table(said, "mnist").title == "mnist"


def test_captions_say_what_was_cut_and_where_figures_come_from():
    cut = ["2 masks, not 5.", "1,000 steps, not 10,000."]
    table = results_table(runs(), "mnist", methods=["gil", "gil-d", "gil-h", "gate"], cut=cut)
    text = table.markdown()
    assert "- 2 masks, not 5.\n- 1,000 steps, not 10,000.\n" in text
    assert "Ours: mean ± sd over 1 to 2 runs" in text
    assert "Without ±: one run." in text
    for number in (3, 5, 7):
        assert f"Paper: Table {number}." in text
    assert "Paper: Table" not in results_table(runs(), "colic").markdown()
    assert results_table(runs(), "colic").head == ["method", "natural Acc."]


def test_markdown_and_terminal_hold_the_same_cells_whatever_the_names():
    odd = runs().replace({"method": {"mask_only": "a|b [bold]x"}})
    table = results_table(odd, "mnist")
    lines = [line for line in table.markdown().splitlines() if line.startswith("|")]
    assert len(lines) == len(table.rows) + 2
    assert {line.replace("\\|", "").count("|") for line in lines} == {len(table.head) + 1}
    shown = printed(table)
    assert "a|b [bold]x" in shown
    assert "–" not in shown  # what was not run is blank
    for row in table.shown:
        assert all(text in shown for text in row)


def test_the_correlation_table_is_table_4():
    lines = [
        (study, setting, method, seed, 0, 0.9 - mse + 0.01 * seed, mse)
        for study, setting in (("mnist", "mcar-70"), ("ophthalmic-simulated", "rate-35"))
        for method, mse in (("zero+network", 0.3), ("em+network", 0.1), ("mean+network", 0.2))
        for seed in range(2)
    ]
    made = pd.DataFrame(lines, columns=[*COLUMNS[:6], "imputation_mse"])
    table = correlation_table(made)
    assert table.head[1:3] == ["mnist mcar-70, 3 imputers", "paper"]
    assert table.head[3] == "ophthalmic-simulated (SIMULATED) rate-35, 3 imputers"
    assert [row[1] for row in table.rows] == ["-1.00", "<0.001", "-1.00"]
    assert [row[2] for row in table.rows] == ["-0.88", "<0.01", "–"]
    assert "SIMULATED" in table.captions[0]
    assert "Table 4" in table.captions[-1]
    few = correlation_table(made[made["mask_seed"] == 0][:2])
    assert [row[1] for row in few.rows] == ["–", "–", "–"]
    assert "SIMULATED" not in few.markdown()


@pytest.mark.parametrize(
    ("call", "parts"),
    [
        (lambda: results_table(runs(), "mars"), ["'mars'", "'mnist', 'icu', 'colic'"]),
        (lambda: results_table(runs(), "mnist", ["f1"]), ["no column 'f1'", "'accuracy'"]),
    ],
)
def test_bad_input_is_one_error(call, parts):
    check_error(call, *parts)


def planned(study, **asked):
    return [asdict(run) for run in plan(study, **asked).runs]


def test_the_papers_size_cuts_nothing_but_the_grids():
    cut = what_was_cut(planned("mnist", methods=["gil", "gil-h"]))
    assert not any(
        "steps" in sentence for sentence in what_was_cut(planned("icu", methods=["gil"]))
    )
    assert cut == [
        "5 masks; the paper has 5.",
        "Learning rates and decay are fixed; the paper's grids were not searched.",
    ]


def test_width_steps_and_seeds():
    cut = what_was_cut(planned("icu", methods=["gil"], seeds=1, steps=300, width=32))
    assert cut[0] == (
        "Networks have 32 hidden units (paper: 1,024) and at most 300 training steps, in whole"
        " epochs (paper: 2,000 or 4,000)."
    )
    assert cut[1] == "One split."


def test_a_method_with_fewer_seeds_is_named():
    two = planned("mnist", methods=["gil"], seeds=2)
    one = planned("mnist", methods=["gain+network"], seeds=1)
    cut = what_was_cut(two + one)
    assert "2 masks (fewer in some columns: gain+network); the paper has 5." in cut


def test_a_searched_grid_is_not_called_fixed():
    line = {**planned("mnist", methods=["gil"], seeds=1)[0], "grid": {"learning_rate_init": [1, 2]}}
    assert not any("grids" in sentence for sentence in what_was_cut([line]))


def test_what_is_not_cut_and_what_imputers_were_given():
    own = {"gain+network": {"imputer__max_steps": 2000}}
    methods = ["gil", "gain+network", "naive_bayes"]
    cut = what_was_cut(planned("mnist", methods=methods, seeds=1, steps=9, method_settings=own))
    assert cut[0].endswith(" Not cut: naive_bayes.")
    assert "Settings of the imputers: gain+network: max_steps 2000." in cut


def test_equal_methods_and_zeros_are_named():
    assert GIL_H in what_was_cut(planned("mnist", methods=["gil-h", "network"]))
    assert GIL_H not in what_was_cut(planned("mnist", methods=["gil-h"]))
    both = planned("icu", methods=["gil-h", "network"], placeholders=[0, "3max"])
    assert GIL_H not in what_was_cut(both)
    assert RAW_ZERO in what_was_cut(planned("physionet2012", methods=["zero+network"]))
    assert RAW_ZERO not in what_was_cut(planned("mnist", methods=["zero+network"]))


def test_one_size_may_be_a_number():
    line = planned("icu", methods=["gil"], seeds=1)[0]
    line = {**line, "setting": {**line["setting"], "hidden_layer_sizes": 4}}
    assert what_was_cut([line])[0].startswith("Networks have 4 hidden units (paper: 1,024)")


def test_other_studies_and_nothing():
    assert what_was_cut([]) == []
    assert what_was_cut(planned("table:hepatitis", methods=["gil"])) == []
