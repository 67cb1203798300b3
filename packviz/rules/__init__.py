"""The rules that input is checked against: one list, run in one loop.

trace_module() raises the error of the first finding that has one; the doctor's examine() and examine_rows() return all
findings. A rule is a condition in the file on its subject, named like what it expects; its words are in findings.toml,
its repair in repairs/.
"""

from collections.abc import Iterable, Iterator

from packviz.rules import (
    companions,
    data,
    episodes,
    finite,
    module,
    packed_sequence,
    pads,
    readout,
    rows,
    whole_documents,
)
from packviz.rules.case import Case, Rule
from packviz.rules.finding import Finding, worded
from packviz.rules.preconditions import check_traced
from packviz.rules.row_case import RowCase

# In this order: a rule may need what those before it found.
RULES = (
    module.dropout_has_an_effect,
    packed_sequence.fields_fit,
    packed_sequence.lengths_were_packed,
    data.has_cells,
    data.data_fit_module,
    data.lengths_are_given,
    data.lengths_are_integers,
    data.one_length_each,
    data.lengths_at_least_1,
    data.lengths_at_most_T,
    pads.lengths_fit_data,
    data.lengths_decrease,  # lengths of other sequences are out of order because of that
    packed_sequence.data_are_there,
    finite.packed_data_are_finite,
    pads.packed_sequences_end_with_tokens,
    finite.x_is_finite,
    pads.no_pads_are_run,
    companions.mask_fits,
    companions.targets_fit,
    companions.output_fits,
    companions.hx_fits,
    episodes.state_is_reset,
    episodes.first_state_is_fresh,
    readout.state_is_right,
    # rows of documents
    rows.offsets_fit,
    rows.max_seqlen_is_enough,
    rows.positions_begin_again,
    rows.mask_separates_documents,
    rows.borders_work_beside_other_rows,
    rows.borders_agree,
    rows.documents_have_their_own_numbers,
    rows.rules_agree,
    rows.labels_stay_inside,
    rows.documents_have_targets,
    whole_documents.documents_are_whole,
)


def findings(case: Case | RowCase, rules: Iterable[Rule] = RULES) -> Iterator[Finding]:
    """Yield what the rules find in a case, one rule after the other."""
    there = {name for name, value in vars(case).items() if value is not None}
    found: list[Finding] = []
    for rule in rules:
        if not (isinstance(case, rule.of) and rule.given <= there and all(need(case, found) for need in rule.needs)):
            continue
        before = len(found)
        for fault in rule.condition(case):
            found.append(worded(fault, case))
            yield found[-1]
        if rule.stops and len(found) > before:
            return


def raise_first(case: Case) -> None:
    """Raise the PackvizError of the first finding that trace_module() refuses."""
    check_traced(case)
    for finding in findings(case, [rule for rule in RULES if rule.refuses]):
        if finding.error is not None:
            raise finding.error
