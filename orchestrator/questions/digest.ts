import { byCodeUnit, canonicalJson, sha256Hex } from "../canonical.ts";
import type { Question } from "./schema.ts";

/** Identity of a set: sha256 (hex) over canonical JSON of its rows sorted by id, so row order is not in it. */
export function questionsDigest(questions: readonly Question[]): string {
  return sha256Hex(canonicalJson([...questions].sort((a, b) => byCodeUnit(a.id, b.id))));
}
