"""How wide the output is: told where it is not simply the width of the padded grid."""

import re
from typing import Any

from movie_cases import PACKED, Case, over
from torch.nn.utils.rnn import pad_packed_sequence

each = over(PACKED)


def told(case: Case) -> list[dict[str, Any]]:
    return [step for step, cells in case.deep.of("unpack") if cells.get("mark:width", {}).get("shown")]


@each
def test_it_is_told_once_where_total_length_is_set_or_the_widths_differ(case: Case) -> None:
    differ = case.judge.unpacked.shape[1] != case.judge.T
    assert len(told(case)) == (differ or case.judge.total_length is not None)


@each
def test_every_width_is_torchs(case: Case) -> None:
    for step in told(case):
        axis, out = int(not case.transposed), case.judge.unpacked.shape[1]
        without = pad_packed_sequence(case.judge.output, True)[0].shape[1]
        assert [list(line) for line in step["detail"]] == [
            [f"x.size({axis})", str(case.judge.T)],
            ["lens.max()", str(without)],
            [f"out.size({axis})", str(out)],
        ]
        claims = re.findall(r"total_length=(\d+)\*\* (?:makes out (\d+) wide|would make)", step["caption"])
        for total, wide in claims:
            unpacked = pad_packed_sequence(case.judge.output, True, total_length=int(total))[0]
            assert unpacked.shape[1] == int(wide or case.judge.T)
        assert claims
        assert ("Without it" in step["caption"]) == (case.judge.total_length not in (None, without))
