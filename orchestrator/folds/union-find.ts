/** Disjoint sets of 0 .. size-1 with path halving. */
export interface UnionFind {
  /** The smallest member of the set of `index`. */
  find(index: number): number;
  /** False when both were in one set already. */
  join(a: number, b: number): boolean;
}

export function createUnionFind(size: number): UnionFind {
  const parents = Int32Array.from({ length: size }, (_, index) => index);
  return {
    find: (index) => findRoot(parents, index),
    join: (a, b) => {
      const [rootA, rootB] = [findRoot(parents, a), findRoot(parents, b)];
      parents[Math.max(rootA, rootB)] = Math.min(rootA, rootB);
      return rootA !== rootB;
    },
  };
}

function findRoot(parents: Int32Array, index: number): number {
  let at = index;
  for (let up = parents[at] ?? at; up !== at; up = parents[at] ?? at) {
    parents[at] = parents[up] ?? up;
    at = up;
  }
  return at;
}
