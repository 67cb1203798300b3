"""The captions of a run: one or two plain sentences with this batch's numbers."""

from packviz.movie.plan import Plan
from packviz.stages.recurrence import Step

__all__ = ["run_caption", "start_caption"]

STARTS = {
    "zeros": "zeros",
    "random": "random numbers, a row of its own for each sequence",
    "learned": "one learned row, the same for all",
    "given": "the one that was given",
}


def start_caption(plan: Plan) -> str:
    """Say what the state is before the first time step."""
    start = STARTS.get(plan.initial_state, plan.initial_state)
    states = "**h_0** and **c_0** are" if plan.cell == "lstm" else "**h_0** is"
    below = f" What enters layer {plan.layer} is the output of layer {plan.layer - 1}." if plan.layer else ""
    reads = " This direction reads from each sequence's own last token to its first." if plan.direction else ""
    return f"One row of h for each sequence, in packed order. {states} {start}.{below or reads}"


def run_caption(plan: Plan, step: Step) -> str:
    """Say who is fed at this time step, and whose state is final."""
    return f"**t = {step.t}.** {_fed(plan, step)} {_news(plan, step)}".rstrip()


def _fed(plan: Plan, step: Step) -> str:
    size, total = len(step.live), plan.total[0]
    sizes = f"**batch_sizes[{step.t}] = {size}**"
    if size == total:
        return f"{sizes}: every sequence is fed."
    return f"{sizes}, so only {plan.chips(list(step.live))} {'is' if size == 1 else 'are'} fed."


def _news(plan: Plan, step: Step) -> str:
    if plan.direction and step.began and len(step.began) < len(step.live):
        joins = "joins" if len(step.began) == 1 else "join"
        return f"{plan.chips(list(step.began))} {joins} in with h_0, at {_own(len(step.began))} own last token."
    if step.ended:
        ended = list(step.ended)
        if len(ended) == plan.total[0]:
            return f"{'It has' if len(ended) == 1 else 'All have'} had {_own(len(ended))} last token: h_n is complete."
        token = "first" if plan.direction else "last"
        state = "its state is final and goes" if len(ended) == 1 else "their states are final and go"
        had = "has had its" if len(ended) == 1 else "have had their"
        return f"{plan.chips(ended)} {had} {token} token: {state} to h_n."
    over = [b for b in plan.order if b not in step.live]
    if over and not plan.direction:
        last = max(plan.lengths[b] for b in over) - 1
        just = [b for b in over if plan.lengths[b] - 1 == last]
        return f"{plan.chips(just)} ended at t = {last}: {_own(len(just))} hidden state is already final."
    return "Every row of h changes." if not over else ""


def _own(count: int) -> str:
    return "its" if count == 1 else "their"
