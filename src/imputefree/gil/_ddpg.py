"""DDPG for gradient importance (the paper's section 2.3 and appendix D), read from top to bottom:
exploration, critic, replay, and the policy with its updates.

State s = (x, m, ζ, ŷ) per row, action a = the row's importance, reward −E after the update. All
networks carry the leading members dimension K: each member of an ensemble has its own policy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Adam

from ..errors import ParameterError
from ._adamw import check_alike, restore_optimizer
from ._policies import Policy, State, Task, Transition
from ._predictors import MemberLinear, MemberMlp

EXPLORATION = {  # p2 of the mask, p3 of random, their decay per step, their floors
    "tables": (0.5, 0.4, 0.999, 0.3, 0.2),
    "series": (0.15, 0.6, 0.95, 0.0, 0.0),
}


class Behaviour:
    """β: per row the actor (probability p1), the observed mask (p2) or a random action (p3).

    p2 and p3 shrink by `decay` per step down to their floors; p1 = 1 − p2 − p3. With `per_batch`,
    one draw decides for all rows of a batch.
    """

    def __init__(
        self,
        mask: float,
        random: float,
        decay: float,
        mask_floor: float,
        random_floor: float,
        per_batch: bool = False,
    ) -> None:
        self.mask, self.random, self.decay, self.per_batch = mask, random, decay, per_batch
        # A floor ends the decay; it never raises a probability that starts below it.
        self.mask_floor, self.random_floor = min(mask_floor, mask), min(random_floor, random)

    def mix(self, actor: Tensor, observed: Tensor, generator: torch.Generator) -> Tensor:
        """Choose among the three per row, or per batch; (K, B, D) each -> (K, B, D)."""
        device, (members, rows, _) = actor.device, actor.shape
        drawn = torch.rand(members, 1 if self.per_batch else rows, generator=generator)
        u = drawn.to(device)[..., None]
        action = torch.where(u < self.mask, observed.to(actor.dtype), actor)
        picked = (u >= self.mask) & (u < self.mask + self.random)
        if picked.any():
            random = random_action(actor.shape, generator).to(actor)
            action = torch.where(picked, random, action)
        return action

    def step(self) -> None:
        """Explore a little less from now on."""
        self.mask = max(self.mask * self.decay, self.mask_floor)
        self.random = max(self.random * self.decay, self.random_floor)


def random_action(shape: torch.Size, generator: torch.Generator) -> Tensor:
    """Each entry is near 0 or near 1 with equal probability.

    Its distance from there is normal with standard deviation 0.2, truncated at 0.4.

    >>> a = random_action(torch.Size([1, 2000, 1]), torch.Generator().manual_seed(0))
    >>> bool(((a < 0.4) | (a > 0.6)).all()), round((a > 0.5).float().mean().item(), 1)
    (True, 0.5)
    """
    noise = torch.empty(shape)
    nn.init.trunc_normal_(noise, std=0.2, a=-0.4, b=0.4, generator=generator)
    # One draw gives both: the absolute value is the distance, a negative sign folds it to 1.
    return torch.where(noise < 0, 1 + noise, noise)


class Critic(nn.Module):
    """Q(s, a), with the action joined at the second layer; (K, B, S), (K, B, D) -> (K, B, 1)."""

    def __init__(
        self, members: int, state: int, action: int, hidden: tuple[int, int], g: torch.Generator
    ) -> None:
        super().__init__()
        self.first = MemberLinear(members, state, hidden[0], g)
        self.second = MemberLinear(members, hidden[0] + action, hidden[1], g)
        self.last = MemberLinear(members, hidden[1], 1, g, bound=3e-3)

    def forward(self, state: Tensor, action: Tensor) -> Tensor:
        hidden = self.first(state).relu()
        hidden = self.second(torch.cat([hidden, action], -1)).relu()
        return self.last(hidden)


class Replay:
    """The last batches of transitions, bounded in bytes.

    A batch keeps row *indices* instead of x and m, and ζ, ŷ and a in half precision; the next
    state of a batch is the state of the batch after it, so nothing is stored twice. A transition
    takes 4 + 2·(E + O + D) + 4 bytes: row index, (ζ, ŷ, a), reward. The sign of a, which is
    otherwise never negative, marks entries that training had hidden in that batch. However small
    `max_bytes`, two batches are kept: a state and its next.
    """

    _TENSORS = ("rows", "halves", "reward")

    def __init__(self, task: Task, batch: int, max_bytes: int) -> None:
        self.task, self.batch = task, batch
        self.widths = [task.features, task.outputs, task.width]
        self.bytes_per_transition = 4 + 2 * sum(self.widths) + 4
        per_batch = self.bytes_per_transition * batch * task.members
        self.capacity = max(max_bytes // per_batch, 2)
        shape, device = (self.capacity, task.members, batch), task.device
        self.rows = torch.empty(shape, dtype=torch.int32, device=device)
        self.halves = torch.empty(*shape, sum(self.widths), dtype=torch.float16, device=device)
        self.reward = torch.empty(shape, dtype=torch.float32, device=device)
        self.written = 0

    @property
    def nbytes(self) -> int:
        """Size of the buffer in bytes."""
        return sum(getattr(self, name).nbytes for name in self._TENSORS)

    def __len__(self) -> int:
        """Number of transitions (per member) that can be sampled."""
        return min(self.written, self.capacity - 1) * self.batch

    def push(self, state: State, action: Tensor, reward: Tensor, next_state: State) -> None:
        """Keep a batch, dropping the oldest when full.

        The next state goes into the next slot, where the next push writes the same again.
        """
        self._write(self.written, state, action)
        self.reward[self.written % self.capacity] = reward
        self.written += 1
        self._write(self.written, next_state, torch.ones_like(action))

    def _write(self, slot: int, state: State, action: Tensor) -> None:
        if state.hidden is not None:
            action = torch.where(state.hidden, -action, action)
        halves = torch.cat([state.features, state.prediction, action], -1)
        self.rows[slot % self.capacity] = state.rows
        self.halves[slot % self.capacity] = halves.clamp_(-65504, 65504)  # float16's largest

    def sample(
        self, size: int, generator: torch.Generator
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """s (K, size, S), a (K, size, D), r (K, size, 1), s' (K, size, S), with replacement."""
        members, device = self.task.members, self.reward.device
        newest = (self.written - 1) % self.capacity
        age = torch.randint(0, len(self) // self.batch, (members, size), generator=generator)
        place = torch.randint(0, self.batch, (members, size), generator=generator).to(device)
        slot = ((newest - age) % self.capacity).to(device)
        state, action, reward = self._read(slot, place)
        next_state, _, _ = self._read((slot + 1) % self.capacity, place)
        return state, action, reward, next_state

    def _read(self, slot: Tensor, place: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        member = torch.arange(self.task.members, device=slot.device)[:, None]
        rows = self.rows[slot, member, place].long()
        features, prediction, action = (
            self.halves[slot, member, place].to(self.task.dtype).split(self.widths, -1)
        )
        hidden = torch.signbit(action)
        values = torch.where(hidden, self.task.placeholder, self.task.at(rows)[0])
        state = State(self.task, rows, values, features, prediction, hidden)
        return state.joined, action.abs(), self.reward[slot, member, place][..., None]

    def state(self) -> dict[str, Any]:
        """Its content, without the empty part."""
        filled = min(self.written + 1, self.capacity)
        tensors = {name: getattr(self, name)[:filled].clone() for name in self._TENSORS}
        return {"written": self.written, "batch": self.batch, **tensors}

    @classmethod
    def of(cls, task: Task, state: dict[str, Any], max_bytes: int) -> Replay:
        """The inverse of `state`."""
        replay = cls(task, int(state["batch"]), max_bytes)
        replay.written = int(state["written"])
        for name in cls._TENSORS:
            whole = getattr(replay, name)
            whole[: len(state[name])] = check_alike(
                state[name], whole[: min(replay.written + 1, replay.capacity)]
            )
        return replay


@dataclass(eq=False)
class DDPG(Policy):
    """`ddpg`: an actor-critic policy, the paper's GIL (and GIL-D with the contrastive reward).

    Parameters
    ----------
    hidden_sizes : widths of actor and critic; "auto" is the paper's (400, 300) for one network
        and (64, 64) per member of an ensemble, so that K members cost about as much as one
    actor_rate, critic_rate, rate_decay, rate_decay_steps : learning rates, multiplied by
        `rate_decay` every `rate_decay_steps` steps
    discount, tau : γ, and how fast the target networks follow
    batch_size : transitions sampled from the replay per update (and member); 64 as in the DDPG
        paper
    update_every : steps between updates
    replay_bytes : maximum size of the replay buffer, all members together
    mask_probability, random_probability, exploration_decay, mask_floor, random_floor : see
        `Behaviour`; None takes `EXPLORATION`, the paper's values for tables or for series
    per_batch : draw which part of β acts once per batch, as the authors' scripts do, not per row
    saturation_penalty : weight of the squared logits in the actor's loss (0: as in the paper)
    """

    hidden_sizes: tuple[int, int] | str = "auto"
    actor_rate: float = 1e-4
    critic_rate: float = 1e-3
    rate_decay: float = 0.965
    rate_decay_steps: int = 1000
    discount: float = 0.99
    tau: float = 0.001
    batch_size: int = 64
    update_every: int = 1
    replay_bytes: int = 256 * 2**20
    mask_probability: float | None = None
    random_probability: float | None = None
    exploration_decay: float | None = None
    mask_floor: float | None = None
    random_floor: float | None = None
    per_batch: bool = False
    saturation_penalty: float = 0.003

    wants_reward = True
    _NETWORKS = ("actor", "critic", "target_actor", "target_critic")
    _OPTIMIZERS = ("_actor_adam", "_critic_adam")

    def start(self, task: Task) -> None:
        """Build the networks; a policy that continues on other rows keeps them."""
        hidden, behaviour = self._hidden_sizes(task.members), self._behaviour(task.series)
        self.replay: Replay | None = None  # row indices refer to other rows now
        self._picked: tuple[State | None, Tensor] | None = None
        shape = (task.members, task.state_size, task.width)
        self._generator, self._task = task.generator, task
        if getattr(self, "_shape", None) == shape:
            return
        self._shape = shape
        members, state, action = shape
        g, device = task.generator, task.device

        def build() -> tuple[MemberMlp, Critic]:
            actor = MemberMlp(members, [state, *hidden, action], g, last_bound=3e-3)
            return actor.to(device), Critic(members, state, action, hidden, g).to(device)

        self.actor, self.critic = build()
        self.target_actor, self.target_critic = build()
        self._update_targets(tau=1.0)
        self._actor_adam = Adam(self.actor.parameters(), self.actor_rate, fused=True)
        self._critic_adam = Adam(self.critic.parameters(), self.critic_rate, fused=True)
        self.steps = 0
        self.behaviour = behaviour

    def _hidden_sizes(self, members: int) -> tuple[int, int]:
        if not isinstance(self.hidden_sizes, str):
            return self.hidden_sizes
        if self.hidden_sizes != "auto":
            raise ParameterError(
                f"hidden_sizes is {self.hidden_sizes!r}",
                'It must be "auto" or two whole numbers',
                "Pass hidden_sizes=(400, 300) for the paper's",
            )
        return (400, 300) if members == 1 else (64, 64)

    def _behaviour(self, series: bool) -> Behaviour:
        settings = (
            self.mask_probability,
            self.random_probability,
            self.exploration_decay,
            self.mask_floor,
            self.random_floor,
        )
        defaults = EXPLORATION["series" if series else "tables"]
        mask, random, decay, mask_floor, random_floor = (
            default if setting is None else setting
            for setting, default in zip(settings, defaults, strict=True)
        )
        if min(mask, random) < 0 or mask + random > 1:
            raise ParameterError(
                f"mask_probability is {mask!r} and random_probability {random!r}",
                "Neither may be negative and their sum at most 1; the rest goes to the actor",
                "Lower one of them",
            )
        return Behaviour(mask, random, decay, mask_floor, random_floor, self.per_batch)

    @torch.no_grad()
    def importance(self, state: State) -> Tensor:
        """a = β(s), line 6."""
        return self.behaviour.mix(self.actor(state.joined), state.observed, self._generator)

    @torch.no_grad()
    def expected(self, state: State) -> Tensor:
        """π(s): the actor alone, without exploration."""
        return self.actor(state.joined)

    def learn(self, transition: Transition) -> dict[str, float]:
        """Store (s, a, r, s') and update actor and critic, line 14."""
        state, action, reward = transition.state, transition.importance, transition.reward
        if action is None or reward is None:
            raise TypeError("DDPG learns from its own importance and a reward")
        next_state = transition.next_state
        if state.valid is not None:  # series: a batch has too many steps to keep them all
            places = self._places(state)
            state, reward = state.at(places), reward.gather(1, places)
            action = action.gather(1, places[..., None].expand(-1, -1, action.shape[2]))
            next_state = next_state.at(self._places(next_state))
        if self.replay is None:
            self.replay = Replay(state.task, state.rows.shape[1], self.replay_bytes)
        self.replay.push(state, action, reward, next_state)
        self.behaviour.step()
        self.steps += 1
        if self.steps % self.update_every:
            return {"reward": reward.mean().item()}
        s, a, r, s_next = self.replay.sample(self.batch_size, self._generator)
        self._set_rates()
        td_error = self.update_critic(s, a, r, s_next)
        q = self.update_actor(s)
        self._update_targets(self.tau)
        return {"reward": reward.mean().item(), "td_error": td_error, "q": q}

    @torch.no_grad()
    def critic_target(self, reward: Tensor, next_state: Tensor) -> Tensor:
        """r + γ Q'(s', π'(s')); (K, B, 1)."""
        next_action = self.target_actor(next_state)
        return reward + self.discount * self.target_critic(next_state, next_action)

    def update_critic(self, s: Tensor, a: Tensor, r: Tensor, s_next: Tensor) -> float:
        """One step down the squared temporal difference; returns its mean before the step."""
        error = (self.critic_target(r, s_next) - self.critic(s, a)).square()
        loss = error.mean((1, 2)).sum()  # members do not share weights: sum keeps them apart
        self._critic_adam.zero_grad()
        loss.backward()
        self._critic_adam.step()
        return loss.item() / len(r)

    def update_actor(self, s: Tensor) -> float:
        """One step up Q(s, π(s)) for the actor alone; returns the mean Q before the step."""
        action = self.actor(s)
        q = self.critic(s, action)
        # An untrained critic is confidently wrong; an actor that follows it to the flat ends of
        # the sigmoid never comes back. A light pull on the logits keeps it mobile.
        pull = self.saturation_penalty * torch.logit(action, eps=1e-6).square()
        parameters = list(self.actor.parameters())
        gradients = torch.autograd.grad((pull.mean((1, 2)) - q.mean((1, 2))).sum(), parameters)
        for parameter, gradient in zip(parameters, gradients, strict=True):
            parameter.grad = gradient
        self._actor_adam.step()
        return q.mean().item()

    @torch.no_grad()
    def _update_targets(self, tau: float) -> None:
        for target, source in (
            (self.target_actor, self.actor),
            (self.target_critic, self.critic),
        ):
            torch._foreach_lerp_(list(target.parameters()), list(source.parameters()), tau)

    def _set_rates(self) -> None:
        decay = self.rate_decay ** (self.steps // self.rate_decay_steps)
        self._actor_adam.param_groups[0]["lr"] = self.actor_rate * decay
        self._critic_adam.param_groups[0]["lr"] = self.critic_rate * decay

    def _places(self, state: State) -> Tensor:
        """Which valid steps of a batch of series are stored; drawn once per batch."""
        if self._picked is not None and self._picked[0] is None:  # from a checkpoint
            self._picked = state, self._picked[1]
        if self._picked is None or self._picked[0] is not state:
            assert state.valid is not None
            valid, size = state.valid.cpu().float(), 2 * self.batch_size
            drawn = torch.multinomial(valid, size, replacement=True, generator=self._generator)
            self._picked = state, drawn.to(state.rows.device)
        return self._picked[1]

    def stop(self) -> None:
        self.replay = self._picked = None
        self.__dict__.pop("_task", None)

    @property
    def network(self) -> MemberMlp | None:
        return getattr(self, "actor", None)

    @network.setter
    def network(self, actor: MemberMlp | None) -> None:
        if actor is not None:
            self.actor = actor

    def state(self) -> dict[str, Any]:
        return {
            "learned": {
                name: getattr(self, name).state_dict()
                for name in (*self._NETWORKS, *self._OPTIMIZERS)
            },
            "steps": self.steps,
            "exploration": (self.behaviour.mask, self.behaviour.random),
            "replay": None if self.replay is None else self.replay.state(),
            "picked": None if self._picked is None else self._picked[1],
        }

    def restore(self, state: dict[str, Any]) -> None:
        for name in self._NETWORKS:
            getattr(self, name).load_state_dict(state["learned"][name])
        for name in self._OPTIMIZERS:
            restore_optimizer(getattr(self, name), state["learned"][name])
        self.steps = int(state["steps"])
        self.behaviour.mask, self.behaviour.random = state["exploration"]
        if state["replay"] is not None:
            self.replay = Replay.of(self._task, state["replay"], self.replay_bytes)
        if state["picked"] is not None:
            self._picked = None, state["picked"]  # belongs to the next state
