"""The zoo: no false alarm among the right ones, and a finding of the expected kind for each wrong one."""

import pytest
import repository_cases
from zoo_cases import (
    BATCHES_RIGHT,
    BATCHES_WRONG,
    DOCUMENTS,
    ROWS_RIGHT,
    ROWS_WRONG,
    SAMPLES,
    SAMPLES_RIGHT,
    SAMPLES_WRONG,
)

import packviz as pv


@pytest.mark.parametrize("name", ROWS_RIGHT)
def test_a_right_model_of_rows_is_clean(name: str) -> None:
    model, call = ROWS_RIGHT[name]
    assert pv.check_rows(model, DOCUMENTS, call) == ()


@pytest.mark.parametrize("name", ROWS_WRONG)
def test_a_wrong_model_of_rows_is_found(name: str) -> None:
    model, call, kinds = ROWS_WRONG[name]
    assert {one.key for one in pv.check_rows(model, DOCUMENTS, call).wrong} <= kinds
    assert pv.check_rows(model, DOCUMENTS, call).wrong


@pytest.mark.parametrize("name", SAMPLES_RIGHT)
def test_a_right_collate_function_is_clean(name: str) -> None:
    found = pv.check_samples(SAMPLES_RIGHT[name], SAMPLES)
    assert found == (), str(found)


@pytest.mark.parametrize("name", SAMPLES_WRONG)
def test_a_wrong_collate_function_is_found(name: str) -> None:
    run, kinds = SAMPLES_WRONG[name]
    found = pv.check_samples(run, SAMPLES)
    assert found.wrong
    assert {one.key for one in found.wrong} <= kinds, str(found)


@pytest.mark.parametrize("name", BATCHES_RIGHT)
def test_a_right_batch_has_notes_at_most(name: str) -> None:
    found = pv.examine_rows(**BATCHES_RIGHT[name])
    assert found.wrong == (), str(found)


@pytest.mark.parametrize("name", BATCHES_WRONG)
def test_a_wrong_batch_is_found(name: str) -> None:
    batch, key = BATCHES_WRONG[name]
    assert key in [one.key for one in pv.examine_rows(**batch).wrong]


@pytest.mark.parametrize("right", [True, False], ids=["right", "wrong"])
@pytest.mark.parametrize("name", repository_cases.SAMPLES)
def test_a_collate_function_of_a_repository_is_judged_rightly(name: str, right: bool) -> None:
    one = repository_cases.SAMPLES[name]
    found = pv.check_samples(lambda samples: one.run(samples, right), one.given)
    assert (found == ()) == right, str(found)
    assert {each.key for each in found.wrong} <= one.kinds, str(found)


@pytest.mark.parametrize("right", [True, False], ids=["right", "wrong"])
@pytest.mark.parametrize("name", repository_cases.ROWS)
def test_a_model_of_rows_of_a_repository_is_judged_rightly(name: str, right: bool) -> None:
    one = repository_cases.ROWS[name]
    model = repository_cases.EMBEDDING
    found = pv.check_rows(model, DOCUMENTS, lambda model, row: one.run(model(row.input_ids), row, right))
    assert (found == ()) == right, str(found)
    assert {each.key for each in found.wrong} <= one.kinds, str(found)


@pytest.mark.parametrize("name", repository_cases.BATCHES)
def test_a_batch_of_a_repository_is_judged_rightly(name: str) -> None:
    batch, instead, key = repository_cases.BATCHES[name]
    right = pv.examine_rows(**batch)
    assert right.wrong == (), str(right)
    assert key in [one.key for one in pv.examine_rows(**{**batch, **instead}).wrong]
