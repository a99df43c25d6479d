"""DDPG part by part, then as a whole: does the actor find what is rewarded?"""

from __future__ import annotations

import copy
from dataclasses import replace

import pytest
import torch

from imputefree import ParameterError
from imputefree.gil._ddpg import DDPG, Behaviour, Replay, random_action
from tests.gil.made import state_of, task_of, transition_of


def started(task=None, **options) -> DDPG:
    policy = DDPG(**{"hidden_sizes": (16, 16), **options})
    policy.start(task or task_of())
    return policy


def filled_replay(task, batch=8, batches=5, max_bytes=10**6) -> Replay:
    replay = Replay(task, batch, max_bytes)
    for i in range(batches):
        state, next_state = (state_of(task, batch, seed=i + j) for j in (0, 1))
        reward = torch.full((task.members, batch), float(i))
        replay.push(state, torch.rand_like(state.values), reward, next_state)
    return replay


class TestReplay:
    def test_stays_within_its_bytes(self):
        task = task_of(inputs=30, features=20, outputs=4, members=2)
        replay = filled_replay(task, batch=8, batches=60, max_bytes=10_000)
        assert replay.nbytes <= 10_000
        assert replay.bytes_per_transition == 4 + 2 * (20 + 4 + 30) + 4
        stored = sum(
            t.untyped_storage().nbytes() for t in (replay.rows, replay.halves, replay.reward)
        )
        assert stored == replay.nbytes == replay.capacity * 2 * 8 * replay.bytes_per_transition

    def test_next_state_is_the_state_of_the_next_batch(self):
        task = task_of()
        replay = filled_replay(task, batches=4)
        state, _, reward, next_state = replay.sample(200, torch.Generator().manual_seed(0))
        assert set(reward.flatten().tolist()) == {0.0, 1.0, 2.0, 3.0}
        for b in range(200):
            i = int(reward[0, b])
            now, later = (state_of(task, 8, seed=j).joined[0] for j in (i, i + 1))
            place = (now - state[0, b]).abs().sum(1).argmin()
            assert torch.allclose(now[place], state[0, b], atol=2e-3)
            assert torch.allclose(later[place], next_state[0, b], atol=2e-3)

    def test_keeps_a_state_and_its_next_however_small(self):
        replay = filled_replay(task_of(), batches=1, max_bytes=1)
        assert (replay.capacity, len(replay)) == (2, 8)
        filled = filled_replay(task_of(), batches=3, max_bytes=1)
        _, _, reward, _ = filled.sample(20, torch.Generator())
        assert set(reward.flatten().tolist()) == {2.0}

    def test_what_is_saved_is_what_was_written(self):
        task = task_of()
        replay = filled_replay(task, batches=2)
        state = replay.state()
        assert [len(state[name]) for name in ("rows", "halves", "reward")] == [3, 3, 3]
        again = Replay.of(task, state, 10**6)
        parts = [r.sample(30, torch.Generator().manual_seed(0)) for r in (replay, again)]
        assert all(torch.equal(one, other) for one, other in zip(*parts, strict=True))
        with pytest.raises(ValueError, match="does not belong"):
            Replay.of(task, state | {"written": 3}, 10**6)

    def test_forgets_the_oldest(self):
        task = task_of()
        per_batch = Replay(task, 8, 1).bytes_per_transition * 8
        replay = filled_replay(task, batches=9, max_bytes=3 * per_batch)
        _, _, reward, _ = replay.sample(200, torch.Generator().manual_seed(0))
        assert set(reward.flatten().tolist()) == {7.0, 8.0}

    def test_remembers_which_entries_were_hidden(self):
        task = task_of()
        task = replace(task, data=replace(task.data, placeholder=5.0))
        plain = state_of(task, 8)
        hidden = torch.rand(plain.values.shape) < 0.4
        state = replace(plain, values=torch.where(hidden, 5.0, plain.values), hidden=hidden)
        action = (torch.rand_like(plain.values) > 0.5).float()  # zeros keep the sign, too
        replay = Replay(task, 8, 10**6)
        replay.push(state, action, torch.zeros(1, 8), state)
        for slot in (0, 1):
            joined, stored, _ = replay._read(torch.full((1, 8), slot), torch.arange(8)[None])
            assert torch.allclose(joined, state.joined, atol=2e-3)
            if slot == 0:
                assert torch.equal(stored, action)

    def test_half_precision_hardly_changes_what_the_critic_says(self):
        task = task_of()
        state, critic = state_of(task, 8, seed=1), started(task).critic
        action = torch.rand_like(state.values)
        replay = Replay(task, 8, 10**6)
        replay.push(state, action, torch.zeros(1, 8), state_of(task, 8, seed=2))
        stored, rounded, _ = replay._read(torch.zeros(1, 8, dtype=int), torch.arange(8)[None])
        assert not torch.equal(action, rounded)
        q = critic(state.joined, action)
        assert (q - critic(stored, rounded)).abs().max() < 3e-3 * q.abs().max()

    def test_values_beyond_half_precision_stay_finite(self):
        task = task_of()
        state = state_of(task, 8)
        state.features[:] = 1e30
        replay = Replay(task, 8, 10**6)
        replay.push(state, torch.rand_like(state.values), torch.zeros(1, 8), state)
        assert torch.isfinite(replay.sample(20, torch.Generator())[0]).all()


class TestBehaviour:
    def test_mixes_actor_mask_and_random_by_their_probabilities(self):
        behaviour = Behaviour(0.5, 0.3, 0.9, 0.2, 0.1)
        rows = 20_000
        actor = torch.full((1, rows, 2), 0.5)
        observed = torch.tensor([True, False]).expand(1, rows, 2)
        action = behaviour.mix(actor, observed, torch.Generator().manual_seed(0))[0]
        from_actor = (action == 0.5).all(1)
        from_mask = (action == torch.tensor([1.0, 0.0])).all(1)
        assert abs(from_mask.float().mean() - 0.5) < 0.02
        assert abs(from_actor.float().mean() - 0.2) < 0.02
        rest = action[~from_actor & ~from_mask]
        assert abs(len(rest) / rows - 0.3) < 0.02
        assert ((rest < 0.41) | (rest > 0.59)).all()

    def test_per_batch_one_draw_decides_for_all_rows(self):
        behaviour = Behaviour(0.5, 0.0, 0.9, 0.2, 0.1, per_batch=True)
        actor, observed = torch.full((1, 50, 2), 0.5), torch.tensor([True, False])
        generator, from_mask = torch.Generator().manual_seed(0), []
        for _ in range(400):
            action = behaviour.mix(actor, observed.expand(1, 50, 2), generator)[0]
            assert (action == action[0]).all()
            from_mask.append((action[0] == torch.tensor([1.0, 0.0])).all().item())
        assert abs(sum(from_mask) / 400 - 0.5) < 0.1

    def test_decays_to_its_floors(self):
        behaviour = Behaviour(0.5, 0.4, 0.999, 0.3, 0.2)
        behaviour.step()
        assert behaviour.mask == pytest.approx(0.5 * 0.999)
        assert behaviour.random == pytest.approx(0.4 * 0.999)
        for _ in range(5000):
            behaviour.step()
        assert (behaviour.mask, behaviour.random) == (0.3, 0.2)

    def test_floors_never_raise_a_probability(self):
        behaviour = Behaviour(0.0, 0.1, 0.999, 0.3, 0.2)
        behaviour.step()
        assert (behaviour.mask, behaviour.random) == (0.0, 0.1)

    def test_random_actions_lie_near_both_ends(self):
        action = random_action(torch.Size([1, 10_000, 1]), torch.Generator().manual_seed(0))
        near_zero, near_one = action[action < 0.5], action[action > 0.5]
        assert abs(len(near_zero) / 10_000 - 0.5) < 0.02
        # Mean distance of a normal of width 0.2, truncated at two widths, from its centre.
        assert near_zero.mean().item() == pytest.approx(0.1446, abs=0.005)
        assert (1 - near_one).mean().item() == pytest.approx(0.1446, abs=0.005)
        assert near_zero.max() <= 0.4
        assert near_one.min() >= 0.6


class TestUpdate:
    def test_critic_target_is_reward_plus_discounted_target_q(self):
        policy = started(discount=0.7)
        with torch.no_grad():  # or the target networks could not be told from the others
            for weight in (*policy.actor.parameters(), *policy.critic.parameters()):
                weight.add_(1.0)
        _, _, reward, next_state = filled_replay(task_of()).sample(9, torch.Generator())
        q = policy.target_critic(next_state, policy.target_actor(next_state))
        assert torch.allclose(policy.critic_target(reward, next_state), reward + 0.7 * q)
        assert not policy.critic_target(reward, next_state).requires_grad

    def test_figures_are_means_over_members_before_the_step(self):
        policy = started(task_of(members=2), saturation_penalty=0.0)
        s, a, r, s_next = filled_replay(task_of(members=2)).sample(9, torch.Generator())
        error = (policy.critic_target(r, s_next) - policy.critic(s, a)).square().mean().item()
        assert policy.update_critic(s, a, r, s_next) == pytest.approx(error)
        q = policy.critic(s, policy.actor(s)).mean().item()
        assert policy.update_actor(s) == pytest.approx(q)

    def test_the_penalty_is_a_pull_on_squared_logits(self):
        """The gradient, with a critic that does not care."""
        policy = started(saturation_penalty=0.5)
        policy.critic = lambda s, a: a.sum(-1, keepdim=True) * 0.0
        state, *_ = filled_replay(task_of()).sample(9, torch.Generator())
        twin = copy.deepcopy(policy.actor)
        (0.5 * torch.logit(twin(state)).square()).mean((1, 2)).sum().backward()
        policy.update_actor(state)
        for weight, other in zip(policy.actor.parameters(), twin.parameters(), strict=True):
            assert torch.allclose(weight.grad, other.grad)

    def test_critic_step_lowers_the_temporal_difference(self):
        policy = started(critic_rate=1e-3)
        batch = filled_replay(task_of()).sample(64, torch.Generator().manual_seed(1))
        errors = [policy.update_critic(*batch) for _ in range(50)]
        assert errors[-1] < 0.8 * errors[0]

    def test_actor_step_raises_q_on_a_frozen_critic(self):
        policy = started(actor_rate=1e-3)
        state, *_ = filled_replay(task_of()).sample(64, torch.Generator().manual_seed(1))
        before = copy.deepcopy(policy.critic.state_dict())
        q = [policy.update_actor(state) for _ in range(30)]
        assert q[-1] > q[0]
        assert all(torch.equal(w, before[n]) for n, w in policy.critic.state_dict().items())

    def test_every_learning_step_moves_both_targets_by_tau(self):
        """target ← (1 − τ) target + τ source for every weight of actor and critic."""
        task = task_of()
        policy = started(task, tau=0.25, actor_rate=0.1, critic_rate=0.1)
        pairs = [(policy.target_actor, policy.actor), (policy.target_critic, policy.critic)]
        for target, source in pairs:
            for left, right in zip(target.parameters(), source.parameters(), strict=True):
                assert torch.equal(left, right)
        for step in range(3):
            before = [[p.double() for p in target.parameters()] for target, _ in pairs]
            state, next_state = state_of(task, 8, seed=step), state_of(task, 8, seed=step + 1)
            action = policy.importance(state)
            policy.learn(transition_of(state, action, torch.rand(1, 8), next_state))
            for (target, source), old in zip(pairs, before, strict=True):
                for now, was, to in zip(target.parameters(), old, source.parameters(), strict=True):
                    assert not torch.equal(now.double(), was)
                    assert (now - (0.75 * was + 0.25 * to.double())).abs().max() < 1e-6

    def test_updates_can_be_rarer_than_steps(self):
        task = task_of()
        policy = started(task, update_every=3)
        state = state_of(task, 8)
        figures = [
            policy.learn(transition_of(state, policy.importance(state), torch.rand(1, 8), state))
            for _ in range(6)
        ]
        assert ["td_error" in step for step in figures] == [False, False, True] * 2

    def test_rates_decay(self):
        policy = started(rate_decay=0.5, rate_decay_steps=10, actor_rate=1.0, critic_rate=2.0)
        policy.steps = 25
        policy._set_rates()
        rates = [adam.param_groups[0]["lr"] for adam in (policy._actor_adam, policy._critic_adam)]
        assert rates == [0.25, 0.5]

    def test_members_learn_independently(self):
        """One member's transitions must not move another member's networks."""
        task = task_of(members=2)
        policy = started(task)
        s, a, r, s_next = filled_replay(task).sample(16, torch.Generator().manual_seed(1))
        alone = copy.deepcopy(policy)
        policy.update_critic(s, a, r, s_next)
        changed = [t.clone() for t in (s, a, r, s_next)]
        for t in changed:
            t[1] = torch.rand_like(t[1])
        alone.update_critic(*changed)
        for left, right in zip(policy.critic.parameters(), alone.critic.parameters(), strict=True):
            assert torch.equal(left[0], right[0])
        assert not torch.equal(policy.critic.second.weight[1], alone.critic.second.weight[1])


@pytest.mark.slow
def test_without_the_penalty_a_wrong_critic_freezes_the_actor():
    """The reason for the penalty: a critic that first wants more importance, then less."""
    frozen = {}
    for penalty in (0.0, 0.003):
        policy = started(actor_rate=1e-2, saturation_penalty=penalty)
        state, *_ = filled_replay(task_of()).sample(16, torch.Generator().manual_seed(1))
        for sign in (1.0, -1.0):
            policy.critic = lambda s, a, sign=sign: sign * 0.1 * a.sum(-1, keepdim=True)
            for _ in range(300):
                policy.update_actor(state)
        frozen[penalty] = policy.actor(state).mean().item()
    assert frozen[0.003] < 0.3 < 0.7 < frozen[0.0]


@pytest.mark.parametrize(("members", "sizes"), [(1, [400, 300]), (4, [64, 64])])
def test_paper_sizes_for_one_network_small_ones_for_an_ensemble(members, sizes):
    policy, task = DDPG(), task_of(members=members)
    policy.start(task)
    assert [policy.actor[i].weight.shape[1] for i in (0, 2, 4)] == [*sizes, 3]
    critic = policy.critic  # the action joins at the second layer
    assert critic.first.weight.shape[1:] == (sizes[0], task.state_size)
    assert critic.second.weight.shape[1:] == (sizes[1], sizes[0] + 3)


@pytest.mark.parametrize(
    "wrong", [{"hidden_sizes": "big"}, {"mask_probability": 0.8}, {"random_probability": -0.1}]
)
def test_invalid_settings_are_refused(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        started(**wrong)


def test_mask_and_random_may_take_all_or_nothing():
    started(mask_probability=0.6, random_probability=0.4)
    started(mask_probability=0.0, random_probability=0.0)
    with pytest.raises(ParameterError, match="mask_probability"):
        started(mask_probability=0.6, random_probability=0.41)


@pytest.mark.slow
def test_actor_finds_the_importance_with_the_best_reward():
    """Reward −|a − best|²: the actor is never told `best`, and gets there."""
    best = torch.tensor([0.9, 0.1, 0.7])
    task = task_of()
    policy = started(
        task,
        hidden_sizes=(64, 64),
        discount=0.0,
        actor_rate=3e-4,
        batch_size=128,
        mask_probability=0.2,
        mask_floor=0.1,
        random_floor=0.4,
    )
    state = state_of(task, 64)
    start = (policy.actor(state.joined) - best).abs().max().item()
    reached = []
    for step in range(700):
        action = policy.importance(state)
        reward = -(action - best).square().sum(-1)
        next_state = state_of(task, 64, seed=step + 1)
        policy.learn(transition_of(state, action, reward, next_state))
        state = next_state
        if step >= 500 and step % 20 == 0:  # it circles around the best
            reached.append(policy.actor(state.joined).mean((0, 1)).detach())
    assert start > 0.3
    assert (torch.stack(reached).mean(0) - best).abs().max() < 0.15, reached


@pytest.mark.parametrize("series", [False, True])
@pytest.mark.parametrize("begun", [0, 3])
def test_a_restored_policy_goes_on_as_the_first_one(series, begun):
    task = task_of(members=2)
    states = [state_of(task, 8, seed=i) for i in range(6)]
    if series:  # of whose steps some are padding, and eight are stored
        states = [replace(state, valid=torch.arange(8).expand(2, 8) < 6) for state in states]

    def learned(policy, step):
        reward = torch.full((2, 8), float(step))
        action = policy.importance(states[step])
        return policy.learn(transition_of(states[step], action, reward, states[step + 1]))

    options = {"batch_size": 4, "actor_rate": 0.01, "critic_rate": 0.01, "tau": 0.1}
    first, second = started(task, **options), DDPG(hidden_sizes=(16, 16), **options)
    for step in range(begun):
        learned(first, step)
    generator = torch.Generator().manual_seed(9)  # its first networks are others
    second.start(replace(task, generator=generator))
    second.restore(copy.deepcopy(first.state()))
    generator.set_state(task.generator.get_state())
    for step in range(begun, 5):
        assert learned(first, step) == learned(second, step)
    for name in DDPG._NETWORKS:
        pairs = (getattr(policy, name).parameters() for policy in (first, second))
        assert all(map(torch.equal, *pairs))
    assert (second.steps, len(second.replay)) == (5, 5 * 8)


def test_steps_of_series_are_stored_unless_they_are_padding():
    """Twice a batch of them are drawn; the next state is the same row of the next batch's draw."""
    task = task_of()
    policy = started(task, batch_size=40)
    one, other = (
        replace(state_of(task, 8, seed=i), valid=torch.arange(8)[None] < count)
        for i, count in enumerate((5, 3))
    )
    reward = torch.arange(8.0)[None]
    policy.learn(transition_of(one, policy.importance(one), reward, other))
    assert policy.replay.batch == 80
    stored = policy.replay.reward[0, 0]
    assert set(stored.tolist()) == {0.0, 1.0, 2.0, 3.0, 4.0}
    assert torch.equal(policy.replay.rows[0, 0], one.rows[0, stored.long()].int())
    assert set(policy.replay.rows[1, 0].tolist()) == set(other.rows[0, :3].tolist())


def test_it_learns_from_nothing_but_its_importance_and_a_reward():
    policy, state = started(), state_of(task_of(), 8)
    action, reward = policy.importance(state), torch.zeros(1, 8)
    for given in ((None, reward), (action, None), (None, None)):
        with pytest.raises(TypeError, match="reward"):
            policy.learn(transition_of(state, *given, state))
