"""What a teacher trace must be before a student may learn from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from palate_bridge.prompts_file import Presentation
from palate_bridge.records import Record

NO_ANSWER = "no_answer"
OPPOSED_CHOICE = "opposed_choice"
COPIED_DEMONSTRATION = "copied_demonstration"
NO_CHOICE_POSITION = "no_choice_position"
REASONS = (NO_ANSWER, OPPOSED_CHOICE, COPIED_DEMONSTRATION, NO_CHOICE_POSITION)


def gate(reply: Record, presentation: Presentation, max_copied_tokens: int) -> str | None:
    """The first reason to reject a trace, or None."""
    if reply.letter is None:
        return NO_ANSWER
    if reply.letter != presentation.supported:
        return OPPOSED_CHOICE
    if longest_copy(reply.completion_ids, presentation) >= max_copied_tokens:
        return COPIED_DEMONSTRATION
    return NO_CHOICE_POSITION if reply.choice_index is None else None


def longest_copy(completion_ids: Sequence[int], presentation: Presentation) -> int:
    """Tokens in the longest run of the completion that the demonstration has, text of the question excepted.

    Tokens inside a run of QUOTE_TOKENS or more that the question has too are a quotation of the question and
    do not count. Linear in all three lengths.
    """
    in_demonstration = longest_suffixes(completion_ids, presentation.demonstration_ids)
    quoted = quoted_before(longest_suffixes(completion_ids, presentation.student_ids))
    ends = enumerate(in_demonstration, start=1)
    return max((length - (quoted[end] - quoted[end - length]) for end, length in ends), default=0)


QUOTE_TOKENS = 4
"""Shorter runs are common words that any two texts share."""


def quoted_before(in_question: Sequence[int]) -> list[int]:
    """[n + 1]: how many of the first i tokens lie inside a quotation of the question."""
    is_quoted = [False] * len(in_question)
    for index, length in enumerate(in_question):
        if length >= QUOTE_TOKENS:
            is_quoted[index - length + 1 : index + 1] = [True] * length
    return [0, *accumulate(is_quoted)]


def longest_suffixes(text: Sequence[int], source: Sequence[int]) -> list[int]:
    """For each position of text, the length of the longest run ending there that occurs in source."""
    automaton = build(source)
    lengths: list[int] = []
    state, length = 0, 0
    for token in text:
        while state and token not in automaton.next[state]:
            state = automaton.link[state]
            length = automaton.length[state]
        if token in automaton.next[state]:
            state, length = automaton.next[state][token], length + 1
        lengths.append(length)
    return lengths


@dataclass
class SuffixAutomaton:
    """Every run of a sequence is a path from state 0 (Blumer et al. 1985, "The smallest automaton ...")."""

    next: list[dict[int, int]] = field(default_factory=lambda: [{}])
    link: list[int] = field(default_factory=lambda: [-1])
    length: list[int] = field(default_factory=lambda: [0])

    def add_state(self, arrows: dict[int, int], link: int, length: int) -> int:
        self.next.append(arrows)
        self.link.append(link)
        self.length.append(length)
        return len(self.next) - 1


def build(source: Sequence[int]) -> SuffixAutomaton:
    automaton, last = SuffixAutomaton(), 0
    for token in source:
        last = extend(automaton, last, token)
    return automaton


def extend(automaton: SuffixAutomaton, last: int, token: int) -> int:
    new = automaton.add_state({}, 0, automaton.length[last] + 1)
    state = last
    while state >= 0 and token not in automaton.next[state]:
        automaton.next[state][token] = new
        state = automaton.link[state]
    if state >= 0:
        automaton.link[new] = split_target(automaton, state, token)
    return new


def split_target(automaton: SuffixAutomaton, state: int, token: int) -> int:
    """The state for the runs that end in token and are no longer than those of `state` plus one."""
    target = automaton.next[state][token]
    if automaton.length[target] == automaton.length[state] + 1:
        return target
    copy = automaton.add_state(
        dict(automaton.next[target]), automaton.link[target], automaton.length[state] + 1
    )
    while state >= 0 and automaton.next[state].get(token) == target:
        automaton.next[state][token] = copy
        state = automaton.link[state]
    automaton.link[target] = copy
    return copy
