"""The keeper: each member keeps its own best weights, padding counts for nothing."""

from __future__ import annotations

import torch

from imputefree.gil._losses import SquaredError
from imputefree.gil._predictors import Predictor
from imputefree.gil._training_data import TrainingData
from imputefree.gil._validation import Keeper, predict_raw

g = torch.Generator().manual_seed(0)
VALUES, TARGET = torch.randn(20, 3, generator=g), torch.randn(20, generator=g)


def keeper(held_out, weight=None, patience=2, tol=0.0):
    net = Predictor(len(held_out), 3, 1, (4,), generator=torch.Generator().manual_seed(1))
    data = TrainingData(VALUES, torch.ones(20, 3, dtype=torch.bool), TARGET, weight)
    return net, Keeper(net, SquaredError(), data, held_out, patience, tol)


def test_losses_are_weighted_means_over_each_members_own_rows():
    weight = torch.rand(20)
    rows = [torch.tensor([0, 1, 2, 3, 4]), torch.tensor([7, 9])]  # unequal: the second is padded
    net, watch = keeper(rows, weight)
    for k, mine in enumerate(rows):
        raw = net(VALUES.expand(2, -1, -1))[1][k, mine, 0]
        expected = (weight[mine] * (raw - TARGET[mine]) ** 2).sum() / weight[mine].sum()
        assert torch.allclose(watch.losses()[k], expected)


def test_each_member_gets_its_own_best_weights_back():
    net, watch = keeper([torch.tensor([0, 1]), torch.tensor([2, 3])])
    bias = net.layers[-1].bias

    def put(first, second):
        with torch.no_grad():
            net.layers[-1].weight.zero_()
            bias[0, 0, 0], bias[1, 0, 0] = first, second

    best = TARGET[[0, 1]].mean().item(), TARGET[[2, 3]].mean().item()
    put(best[0], 99.0)
    assert watch.watch(0)[1]
    put(50.0, best[1])
    assert watch.watch(1)[1]
    put(50.0, 50.0)
    assert watch.watch(2)[1]
    assert not watch.watch(3)[1]  # two epochs without anybody improving
    watch.restore(net)
    assert bias.flatten().tolist() == [torch.tensor(b).item() for b in best]


def test_improvement_must_exceed_tol():
    _, watch = keeper([torch.tensor([0, 1])], patience=1, tol=1e3)
    watch.best_loss.fill_(100.0)
    assert not watch.watch(1)[1]


def test_predictions_do_not_depend_on_the_chunk(monkeypatch):
    net, _ = keeper([torch.tensor([0]), torch.tensor([1])])
    data = TrainingData(VALUES, torch.ones(20, 3, dtype=torch.bool), TARGET)
    whole = predict_raw(net, data)
    monkeypatch.setattr("imputefree.gil._validation.CHUNK_ENTRIES", 18)  # three rows at a time
    assert torch.allclose(predict_raw(net, data), whole, atol=1e-7)
