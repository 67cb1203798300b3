"""The captions of the run and of the way back: one or two plain sentences with this batch's numbers."""

from packviz.compute.recurrence import Step
from packviz.show.movie.figures import exact
from packviz.show.movie.plan import Plan
from packviz.show.movie.program import shape
from packviz.text import counted

__all__ = [
    "filler_caption",
    "flight_caption",
    "last_caption",
    "lost",
    "run_caption",
    "start_caption",
    "unsort_caption",
    "whole_caption",
]

STARTS = {
    "zeros": "zeros",
    "random": "random numbers, a row of its own for each sequence",
    "learned": "one learned row, the same for all",
    "carried": "what the batch before ended with: here it is this batch itself, run once from zeros",
    "given": "the one that was given",
}


def start_caption(plan: Plan) -> str:
    """Say what the state is before the first time step."""
    start = STARTS.get(plan.initial_state, plan.initial_state)
    states = "**h_0** and **c_0** are" if plan.cell == "lstm" else "**h_0** is"
    below = f" What enters layer {plan.layer} is the output of layer {plan.layer - 1}." if plan.layer else ""
    reads = " This direction reads from each sequence's own last token to its first." if plan.direction else ""
    return f"One row of h for each sequence, in packed order; {states} {start}.{below or reads}"


def run_caption(plan: Plan, step: Step) -> str:
    """Say who is fed at this time step, and whose state is final."""
    return f"**t = {step.t}.** {_fed(plan, step)} {_news(plan, step)}".rstrip()


def whole_caption(plan: Plan) -> str:
    """Say what the whole output is, where only a part of it has been watched."""
    layers = len(plan.trace.layers)
    what = f"of layer {layers - 1}, the top one" if layers > 1 else ""
    both = "both directions side by side" if plan.directions == 2 else ""
    return (
        f"**output** is {', '.join(filter(None, (what, both)))}: {shape(*plan.trace.output.shape)}. "
        "Every layer and direction ran as the one that you have seen."
    )


def flight_caption(plan: Plan) -> str:
    """Say that the packed rows go back into a grid."""
    rows = counted(len(plan.trace.output), "packed row")
    return f"**pad_packed_sequence** puts the {rows} back into a grid, column by column. No number changes."


def filler_caption(plan: Plan) -> str:
    """Say what stands in the empty places."""
    total, longest = plan.trace.total_length, max(plan.lengths)
    wide = f", for total_length={total} makes the grid {total} wide" if total is not None and total > longest else ""
    places = counted(plan.pads_out, "empty place")
    return (
        f"**padding_value = {exact(plan.trace.padding_value)}** fills the {places}{wide}. "
        f"It is filler: no cell of the {plan.cell.upper()} computed it."
    )


def unsort_caption(plan: Plan) -> str:
    """Say how the rows come back into their own order."""
    back = plan.trace.sorted.unsorted_indices
    assert back is not None
    indices = plan.listed(back.tolist())
    return f"The sort is undone with **unsorted_indices** = {indices}: the rows stand as they were given."


def last_caption(plan: Plan) -> str:
    """Say what is ringed, and for whom the last column is filler; or that pads have spoilt it."""
    if plan.packed_pads:
        where = "the state after each sequence's last packed row, equal to h_n[-1]"
        if plan.directions == 2:
            where = "the forward half at each last packed row, the backward half at t = 0"
        return f"Ringed: {where}. This is wrong for {plan.chips(sorted(plan.packed_pads))}: **{lost(plan)}**."
    if plan.directions == 2:
        return (
            "Ringed: the forward half at each last valid step, the backward half at t = 0. "
            "Only there has each direction seen the whole sequence."
        )
    width = plan.trace.unpacked.output.shape[1 if plan.batch_first else 0]
    short = [b for b in range(plan.total[0]) if plan.lengths[b] < width]
    naive = "out[:, -1]" if plan.batch_first else "out[-1]"
    filler = f" **{naive}** is filler for {plan.chips(short)}." if short else ""
    return f"Ringed: each sequence's **last valid step**, equal to h_n[-1].{filler}"


def lost(plan: Plan) -> str:
    """Say how many pads were packed, and so how many tokens were lost."""
    count = sum(plan.packed_pads.values())
    return f"{counted(count, 'pad')} {'was' if count == 1 else 'were'} packed, {counted(count, 'token')} lost"


def _fed(plan: Plan, step: Step) -> str:
    size, total = len(step.live), plan.total[0]
    sizes = f"**batch_sizes[{step.t}] = {size}**"
    if size == total:
        return f"{sizes}: every sequence is fed."
    return f"{sizes}, so only {plan.chips(list(step.live))} {'is' if size == 1 else 'are'} fed."


def _news(plan: Plan, step: Step) -> str:
    if plan.direction and step.began and len(step.began) < len(step.live):
        joins = "joins" if len(step.began) == 1 else "join"
        joined = f"{plan.chips(list(step.began))} {joins} in with h_0, at {_own(len(step.began))} own last {_row(plan)}"
        return f"{joined}, and all have had their first one: h_n is complete." if step.ended else f"{joined}."
    if step.ended:
        return _endings(plan, list(step.ended))
    over = [b for b in plan.order if b not in step.live]
    if over and not plan.direction:
        last = max(plan.lengths[b] for b in over) - 1
        just = [b for b in over if plan.lengths[b] - 1 == last]
        return f"{plan.chips(just)} ended at t = {last}: {_own(len(just))} hidden state is already final."
    return "Every row of h changes." if not over else ""


def _endings(plan: Plan, ended: list[int]) -> str:
    one, all_of_them = len(ended) == 1, len(ended) == plan.total[0]
    token = f"{_own(len(ended))} {'first' if plan.direction else 'last'} {_row(plan)}"
    if all_of_them:
        return f"{'It has' if one else 'All have'} had {token}: h_n is complete."
    state = "its state is final and goes" if one else "their states are final and go"
    return f"{plan.chips(ended)} {'has' if one else 'have'} had {token}: {state} to h_n."


def _row(plan: Plan) -> str:
    """What is read: a token, unless padding was packed among them."""
    return "packed row" if plan.packed_pads else "token"


def _own(count: int) -> str:
    return "its" if count == 1 else "their"
