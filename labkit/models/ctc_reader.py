"""A reader that was trained elsewhere by CTC, made differentiable: its frames' posteriors become slots of a word.

CTC reads one symbol a frame, joins equal neighbours and drops blanks. With frames that are independent given the
picture, as CTC has them, how likely each letter is at each place of the word can be counted exactly.
"""

import torch
from torch import Tensor, nn

from labkit.base.checks import check_count

BLANK = 0
FLOOR = 1e-8  # of a probability before its logarithm


def soft_collapse(frames: Tensor, slots: int) -> Tensor:
    """From distributions over blank and letters in every frame to distributions over end and letters in every slot.

    A_t[k, s] = P(k letters begun within the first t frames, frame t shows s): for a letter c
    A_t[k, c] = p_t(c) (A_{t-1}[k, c] + sum_{s != c} A_{t-1}[k-1, s]),  A_t[k, blank] = p_t(blank) sum_s A_{t-1}[k, s];
    P(slot k shows c) = sum_t p_t(c) sum_{s != c} A_{t-1}[k-1, s],  P(slot k shows the end) = P(fewer than k letters)

    frames: (B, T, 1 + letters), blank first; the result is (B, slots, 1 + letters), end first, each slot a
    distribution. Letters beyond the slots are dropped. Ours: it is what makes a CTC reader's expected word smooth.
    """
    check_count("slots", slots)
    if frames.dim() != 3 or not frames.is_floating_point() or 0 in frames.shape or frames.shape[2] < 2:
        raise ValueError(f"frames must be floats (B, T, 1 + letters), none of them 0; got {tuple(frames.shape)}")
    batch, _, symbols = frames.shape
    state = frames.new_zeros(batch, slots + 1, symbols)  # k = 0 … slots, the last: all the slots or more
    state[:, 0, BLANK] = 1.0
    shown = frames.new_zeros(batch, slots, symbols - 1)
    for now in frames.unbind(1):
        every = state.sum(-1, keepdim=True)
        begun = now[:, None, 1:] * (every - state[..., 1:])  # (B, k, letters): a letter begins after k others
        shown = shown + begun[:, :-1]
        arrived = torch.cat((torch.zeros_like(begun[:, :1]), begun[:, :-1]), dim=1)
        arrived = torch.cat((arrived[:, :-1], arrived[:, -1:] + begun[:, -1:]), dim=1)  # the last stays the last
        letters = now[:, None, 1:] * state[..., 1:] + arrived
        state = torch.cat((now[:, None, :1] * every, letters), dim=-1)
    ended = state.sum(-1)[:, :-1].cumsum(1)[..., None]
    return torch.cat((ended, shown), dim=-1)


class CTCReader(nn.Module):
    """Frames of features that another network gave, through a small adapter and that network's own last layer.

    Adapter and head begin as that network is: the adapter adds nothing, the head has its weights. inputs (B, T,
    features + 1): the last column is the log of all symbols outside the alphabet, which stays as it was and counts as
    blank. same: of each symbol of the head, which letter of the alphabet it is (a and A are one), blank first.
    """

    def __init__(
        self, slots: int, symbols: int, weight: Tensor, bias: Tensor, same: Tensor, *, width: int = 64
    ) -> None:
        """weight: (kept symbols, features) and bias of the head, blank first; same: (kept symbols,), 0 for blank."""
        super().__init__()
        features = weight.shape[1]
        self.slots, self.symbols = slots, symbols
        added = nn.Conv1d(width, features, 3, padding=1)
        for parameter in added.parameters():
            nn.init.zeros_(parameter)
        self.adapter = nn.Sequential(nn.Conv1d(features, width, 3, padding=1), nn.ReLU(), added)
        self.head = nn.Linear(features, len(weight))
        with torch.no_grad():
            self.head.weight.copy_(weight)
            self.head.bias.copy_(bias)
        merge = nn.functional.one_hot(torch.cat((same, same.new_zeros(1))), symbols).float()  # the rest is blank
        self.register_buffer("merge", merge, persistent=False)
        self.merge: Tensor

    def frames(self, inputs: Tensor) -> Tensor:
        """Distributions over blank and letters in every frame, (B, T, symbols)."""
        features, rest = inputs[..., :-1], inputs[..., -1:]
        features = features + self.adapter(features.transpose(1, 2)).transpose(1, 2)
        return torch.cat((self.head(features), rest), dim=-1).softmax(-1) @ self.merge

    def forward(self, inputs: Tensor) -> Tensor:
        """Logits (B, slots, symbols): the logarithms of the slots' distributions."""
        return soft_collapse(self.frames(inputs), self.slots).clamp(min=FLOOR).log()
