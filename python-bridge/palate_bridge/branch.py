"""Which tokens the sequences of one question share: the plan of a pass that computes each of them once.

Both orders and all traces of a question begin alike, and the traces of one order go on alike. The sequences
become a forest of nodes: a node is a run of tokens, its children are what follows. All tokens lie in one flat
list, each node's whole subtree behind it without a gap, so a layer's projections and MLP run over the flat
list as over one sequence; only what mixes positions (branch_attention.py, branch_delta.py) reads the forest.
A token's state depends on the tokens before it alone, so sharing is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

# Below this, a node costs more in small operations than it saves in tokens.
MIN_SHARED = 32


@dataclass(frozen=True)
class Node:
    """Flat places [start, end) are its tokens, [end, subtree_end) those of all that follow it.

    parent: index of the node before it, None at a root. level: number of nodes before it on the path.
    """

    start: int
    end: int
    subtree_end: int
    parent: int | None
    level: int

    @property
    def length(self) -> int:
        return self.end - self.start

    @property
    def has_children(self) -> bool:
        return self.subtree_end > self.end


@dataclass(frozen=True)
class Forest:
    """ids, positions: token and place in its own sequence of every flat place. paths: nodes a sequence."""

    ids: list[int]
    positions: list[int]
    nodes: list[Node]
    paths: list[list[int]]

    def places(self, sequence: int, rows: Sequence[int]) -> list[int]:
        """Flat places of the given positions of a sequence."""
        flat = [place for node in self.paths[sequence] for place in self.span(node)]
        return [flat[row] for row in rows]

    def span(self, node: int) -> range:
        return range(self.nodes[node].start, self.nodes[node].end)

    def levels(self) -> list[list[int]]:
        """Node indices by level; a node's parent is always in the level before."""
        found: list[list[int]] = []
        for index, node in enumerate(self.nodes):
            if node.level == len(found):
                found.append([])
            found[node.level].append(index)
        return found


def plan(sequences: Sequence[Sequence[int]], min_shared: int = MIN_SHARED) -> Forest:
    """None of the sequences may be empty. Runs shared over fewer than min_shared tokens are kept apart."""
    planter = Planter(sequences, min_shared)
    planter.split(list(range(len(sequences))), 0, None, 0)
    return Forest(planter.ids, planter.positions, planter.nodes, planter.paths)


@dataclass
class Planter:
    """Grows a forest depth first; nodes get their subtree's end when all that follows them is there."""

    sequences: Sequence[Sequence[int]]
    min_shared: int
    ids: list[int] = field(default_factory=list)
    positions: list[int] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    paths: list[list[int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.paths = [[] for _ in self.sequences]

    def split(self, members: list[int], at: int, parent: int | None, level: int) -> None:
        """What the members say from position `at` on becomes one node for each way they go on."""
        for group in self.ways_on(members, at):
            self.place(group, at, parent, level)

    def place(self, members: list[int], at: int, parent: int | None, level: int) -> None:
        """One node for all members; where they part too early, one for each way that they part."""
        end = self.common_end(members, at)
        if len(members) == 1 or end - at >= self.min_shared:
            return self.grow(members, at, end, parent, level)
        for member in members:
            if len(self.sequences[member]) == end:
                self.grow([member], at, end, parent, level)
        for group in self.ways_on(members, end):
            self.place(group, at, parent, level)

    def ways_on(self, members: list[int], at: int) -> list[list[int]]:
        """Those that have a token at this position, by which token it is."""
        groups: dict[int, list[int]] = {}
        for member in members:
            if len(self.sequences[member]) > at:
                groups.setdefault(self.sequences[member][at], []).append(member)
        return list(groups.values())

    def grow(self, members: list[int], at: int, end: int, parent: int | None, level: int) -> None:
        index, start = len(self.nodes), len(self.ids)
        self.ids += self.sequences[members[0]][at:end]
        self.positions += range(at, end)
        self.nodes.append(Node(start, len(self.ids), len(self.ids), parent, level))
        for member in members:
            self.paths[member].append(index)
        self.split(members, end, index, level + 1)
        self.nodes[index] = Node(start, start + end - at, len(self.ids), parent, level)

    def common_end(self, members: list[int], at: int) -> int:
        """Where the members stop being alike, or the shortest of them ends."""
        first = self.sequences[members[0]]
        end = min(len(self.sequences[member]) for member in members)
        for member in members[1:]:
            other = self.sequences[member]
            end = next((place for place in range(at, end) if first[place] != other[place]), end)
        return end
