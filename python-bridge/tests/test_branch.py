"""The plan of a pass: every sequence is found again, and what is alike is there once."""

from __future__ import annotations

import random

import pytest

from palate_bridge.branch import Forest, plan

TASK, ORDER_A, ORDER_B = list(range(100, 140)), list(range(200, 235)), list(range(300, 333))
QUESTION = [
    [*TASK, *ORDER_A, 1, 2, 3],
    [*TASK, *ORDER_A, 1, 2, 4, 5],
    [*TASK, *ORDER_B, 7],
    [*TASK, *ORDER_B],
]


def read_back(forest: Forest, sequences: list[list[int]]) -> list[list[int]]:
    every = [forest.places(index, range(len(ids))) for index, ids in enumerate(sequences)]
    assert [[forest.positions[place] for place in flat] for flat in every] == [
        list(range(len(ids))) for ids in sequences
    ]
    return [[forest.ids[place] for place in flat] for flat in every]


def distinct_beginnings(sequences: list[list[int]]) -> int:
    """The tokens that have to be computed: one for each beginning that some sequence has."""
    return len({tuple(ids[: end + 1]) for ids in sequences for end in range(len(ids))})


def test_orders_and_traces_of_a_question_share_the_task_and_then_the_order() -> None:
    forest = plan(QUESTION)
    assert [node.level for node in forest.nodes] == [0, 1, 2, 2, 1, 2]
    assert [node.parent for node in forest.nodes] == [None, 0, 1, 1, 0, 4]
    assert [node.length for node in forest.nodes] == [40, 37, 1, 2, 33, 1]
    assert len(forest.ids) == distinct_beginnings(QUESTION)
    assert read_back(forest, QUESTION) == QUESTION


def test_short_common_runs_are_computed_apart() -> None:
    assert len(plan(QUESTION, min_shared=10**6).nodes) == len(QUESTION)
    assert read_back(plan(QUESTION, min_shared=10**6), QUESTION) == QUESTION
    second_order_twice = plan(QUESTION, min_shared=34)
    assert len(second_order_twice.ids) == distinct_beginnings(QUESTION) + len(ORDER_B)


def test_a_task_too_short_to_share_does_not_keep_an_order_from_being_shared() -> None:
    sequences = [ids[35:] for ids in QUESTION]
    forest = plan(sequences, min_shared=30)
    assert [node.level for node in forest.nodes] == [0, 1, 1, 0, 1]
    assert len(forest.ids) == distinct_beginnings(sequences) + 5
    assert read_back(forest, sequences) == sequences


@pytest.mark.parametrize("seed", range(40))
def test_any_sequences_are_found_again_with_each_beginning_once(seed: int) -> None:
    choose = random.Random(seed)
    sequences = [[choose.randrange(2) for _ in range(choose.randint(1, 9))] for _ in range(7)]
    forest = plan(sequences, min_shared=1)
    assert read_back(forest, sequences) == sequences
    assert len(forest.ids) == distinct_beginnings(sequences)
    for min_shared in (2, 3, 5):
        assert read_back(plan(sequences, min_shared), sequences) == sequences


@pytest.mark.parametrize("seed", range(10))
def test_what_follows_a_node_lies_right_behind_it(seed: int) -> None:
    choose = random.Random(seed)
    sequences = [[choose.randrange(2) for _ in range(choose.randint(1, 9))] for _ in range(7)]
    forest = plan(sequences, min_shared=1)
    for path in forest.paths:
        for above, index in enumerate(path):
            for below in path[above + 1 :]:
                assert forest.nodes[index].end <= forest.nodes[below].start
                assert forest.nodes[below].end <= forest.nodes[index].subtree_end
    for level in forest.levels()[1:]:
        parents = [forest.nodes[index].parent for index in level]
        assert all(
            parent is not None and forest.nodes[parent].level + 1 == forest.nodes[index].level
            for parent, index in zip(parents, level, strict=True)
        )
