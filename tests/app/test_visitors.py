"""Many visitors at once, without a browser: each sees the picture of what was typed there, and of nothing else."""

import asyncio
import random

import pytest

from bench.visitors import Visitor, visitor

pytestmark = pytest.mark.slow

VISITORS, EDITS = 6, 5


def test_each_visitor_gets_a_picture_of_each_batch_that_was_typed(address: str) -> None:
    async def work(each: Visitor, number: int) -> int:
        drawn = random.Random(number)
        await each.look()
        for _ in range(EDITS):
            lengths = [drawn.randint(1, 6) for _ in range(drawn.randint(2, 5))]
            await each.edit("\n".join(" ".join(str(drawn.randint(0, 99)) for _ in range(n)) for n in lengths))
            assert each.lengths == lengths
        return each.received

    async def everybody() -> list[int]:
        async def come(number: int) -> int:
            async with visitor(address, "padding" if number % 2 else "") as each:
                return await work(each, number)

        return await asyncio.gather(*(come(number) for number in range(VISITORS)))

    assert min(asyncio.run(everybody())) > 10_000
