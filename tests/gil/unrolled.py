"""LSTM and GRU written out step by step, in double precision: the definition that the fused cells
and their weighted gradients are held against. Nothing here comes from the package."""

from __future__ import annotations

import torch


def run(cell, x, weights, pre=None):
    """Hidden states (B, T, H) from x (B, T, D); `pre` collects the gates' input share W x_t."""
    W, U, b, c = weights
    hidden = torch.zeros(x.shape[0], U.shape[1], dtype=x.dtype)
    memory, states = hidden, []
    for t in range(x.shape[1]):
        share = x[:, t] @ W.T
        if pre is not None:
            share.retain_grad()
            pre.append(share)
        step = _lstm if cell == "lstm" else _gru
        hidden, memory = step(share + b, hidden @ U.T + c, hidden, memory)
        states.append(hidden)
    return torch.stack(states, 1)


def _lstm(from_input, from_hidden, hidden, memory):
    i, f, g, o = (from_input + from_hidden).chunk(4, 1)
    memory = f.sigmoid() * memory + i.sigmoid() * g.tanh()
    return o.sigmoid() * memory.tanh(), memory


def _gru(from_input, from_hidden, hidden, memory):
    (ri, zi, ni), (rh, zh, nh) = from_input.chunk(3, 1), from_hidden.chunk(3, 1)
    r, z = (ri + rh).sigmoid(), (zi + zh).sigmoid()
    return (1 - z) * (ni + r * nh).tanh() + z * hidden, memory


def weighted_gradients(cell, x, importance, weights, loss_of):
    """Gradients of W by Σ_b Σ_t Δ_bt (x_bt ⊙ a_bt)ᵀ, one outer product at a time; U, b, c by
    ordinary autograd. Returns them and Δ (B, T, gates·H)."""
    weights = [weight.detach().clone().requires_grad_() for weight in weights]
    pre = []
    loss_of(run(cell, x, weights, pre)).backward()
    delta = torch.stack([share.grad for share in pre], 1)
    for_input = torch.zeros_like(weights[0])
    for b in range(x.shape[0]):
        for t in range(x.shape[1]):
            for_input += torch.outer(delta[b, t], x[b, t] * importance[b, t])
    return [for_input, *(weight.grad for weight in weights[1:])], delta
