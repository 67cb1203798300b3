"""The way back padded beside packed: every number is autograd's own, in every layer and direction."""

import re
from itertools import product

import torch
from movie_cases import PACKED, Case, case_of, over
from movie_screen import NUMBER, Show, close, number
from seeds import all_of_them
from torch import Tensor, nn

from packviz.facts.padded_run import initial_state
from packviz.show.movie import back_beside

each_packed = over(PACKED)


def padded_gradient(case: Case) -> tuple[Tensor, Tensor]:
    """Return the gradients of the watched padded states (B, T, P) and of x (B, T, F), by torch's padded run.

    Each layer and direction runs one time step at a time, so that autograd keeps the gradient of each state.
    """
    module, x = case.module, case.trace.padded.grid.clone().requires_grad_()
    states, weights, entering = dict[tuple[int, int], list[Tensor]](), module.state_dict(), x
    given = {"proj_size": module.proj_size} if module.proj_size else {}
    given |= {"nonlinearity": module.nonlinearity} if isinstance(module, nn.RNN) else {}
    for layer, d in product(range(module.num_layers), range(case.D)):
        end, slot = f"_l{layer}{'_reverse' * d}", slice(layer * case.D + d, layer * case.D + d + 1)
        cell = type(module)(
            entering.size(2), module.hidden_size, bias=module.bias, batch_first=True, dtype=x.dtype, **given
        )
        cell.load_state_dict({f"{name[: -len(end)]}_l0": own for name, own in weights.items() if name.endswith(end)})
        start = initial_state(case.trace)
        state = start[slot] if isinstance(start, Tensor) else tuple(part[slot] for part in start)
        kept = dict[int, Tensor]()
        with torch.backends.mkldnn.flags(enabled=False, allow_tf32=None):
            for t in sorted(range(case.T), reverse=d == 1):
                _, state = cell(entering[:, t : t + 1], state)
                kept[t] = state if isinstance(state, Tensor) else state[0]
                kept[t].retain_grad()
        states[layer, d] = [kept[t] for t in range(case.T)]
        if d == case.D - 1:
            both = [torch.stack([h[0] for h in states[layer, each]], 1) for each in range(case.D)]
            entering = torch.cat(both, 2)
    top = module.num_layers - 1
    torch.autograd.backward([states[top, d][0 if d else -1].sum() for d in range(case.D)])
    assert x.grad is not None
    watched = [torch.zeros_like(h) if h.grad is None else h.grad for h in states[case.watched]]
    return torch.stack([h[0] for h in watched], 1), x.grad


def goes_back_beside(case: Case) -> bool:
    """Return whether the padded run can be checked: numbers, padded on the right."""
    pads = torch.tensor([[t >= case.lengths[b] for t in range(case.T)] for b in range(case.B)])
    return bool(case.x.isfinite().all()) and bool((case.mask == ~pads).all())


@all_of_them
def test_cases_beside_have_every_cell_layer_direction_and_layout() -> None:
    cases = [case for case in map(case_of, PACKED) if goes_back_beside(case)]
    seen = {(type(case.module), case.module.batch_first) for case in cases}
    assert seen == {*product((nn.RNN, nn.GRU, nn.LSTM), (True, False))}
    assert {case.watched for case in cases} >= {(0, 0), (0, 1), (1, 0), (1, 1)}
    assert {bool(case.trace.h_0.any()) for case in cases} == {True, False}
    assert any(case.module.proj_size for case in cases)


@each_packed
def test_beside_it_the_padded_run_sends_its_gradient_through_the_pads(case: Case) -> int:
    if not goes_back_beside(case):
        return 0
    layer, d = case.watched
    show, (states, inputs) = Show(back_beside(case.trace, layer=layer, direction=d)), padded_gradient(case)
    pads = ~case.mask
    end, packed = show.after[-1], case.trace.backward().layers[layer][d].h.abs().amax(1)
    for b in case.filmed:
        for t in range(case.steps_filmed):
            cell = end[f"heat:padded:{b}:{t}"]
            assert close([cell["v"]], states[b, t].abs().max()), (b, t)
            assert (f"heat:packed:{b}:{t}" in end) == (t < case.lengths[b])
            if t < case.lengths[b]:
                assert close([end[f"heat:packed:{b}:{t}"]["v"]], packed[case.row[b, t]])
            reached = bool(pads[b, t]) and bool(states[b, t].any())
            assert end.get(f"mark:pads:{b}:{t}", {"shown": False})["shown"] == reached
    for t, step in zip(sorted(range(case.steps_filmed), reverse=not d), show.steps[1:-1], strict=True):
        ends = [b for b in range(case.B) if t == (0 if d else case.lengths[b] - 1)]
        gets = rf"gets {NUMBER} in the padded run, and {NUMBER} in the packed run"
        found = re.search(rf"{{(\w+)}}'s (?:first|last) (?:token|packed row) {gets}", step["caption"])
        assert bool(found) == bool(ends)
        if found:
            b = next(b for b in ends if case.said([b]) == f"{{{found[1]}}}")
            assert abs(float(found[2]) - float(states[b, t].abs().max())) <= 6e-3 * float(found[2])
            assert number(found[3], packed[case.row[b, t]])
        passing = [b for b in range(case.B) if pads[b, t] and states[b, t].any()]
        assert (" reaches " in step["caption"]) == bool(passing)
        assert not passing or f" of {case.said(passing)}." in step["caption"]
    count = int((states.abs().amax(2) > 0)[pads].sum())
    last = show.steps[-1]["caption"]
    if pads.any():
        assert last.startswith(f"**{count} of {int(pads.sum())} pad")
        assert "none in the packed run" in last
        most = float(re.findall(rf"This gradient is up to {NUMBER}[ ,.]", last)[0])
        assert abs(most - float(inputs[pads].abs().max())) <= 6e-3 * most
    return int(pads.any())


def test_the_legend_says_that_the_cells_are_sizes_of_gradients() -> None:
    written = re.findall(">([^<]+)</text>", back_beside(case_of("unsorted").trace).to_svg(6))
    assert written[written.index("gradient") :][:2] == ["gradient", "0"]
    assert not [text for text in written if "gates" in text]
