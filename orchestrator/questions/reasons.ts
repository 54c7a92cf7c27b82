import { existsSync } from "node:fs";
import { z } from "zod";
import { type Fault, faultsError, type Report } from "./faults.ts";
import { readJsonl } from "./jsonl.ts";
import type { RawRow } from "./raw-row.ts";
import type { Question } from "./schema.ts";
import { reportIssue } from "./validate.ts";

const reasonSchema = z.strictObject({
  id: z.string().min(1),
  reason: z
    .string()
    .min(1)
    .refine((text) => !/\p{Surrogate}/u.test(text), "holds a lone surrogate (half a character)"),
});

/**
 * Side file of one-sentence reasons, `{"id", "reason"}` a line; an absent file is an empty map.
 * DataError for an id that is not in the set or comes twice.
 */
export async function readReasons(
  file: string,
  questions: readonly Question[],
): Promise<ReadonlyMap<string, string>> {
  const reasons = new Map<string, string>();
  if (!existsSync(file)) return reasons;
  const ids = new Set(questions.map(({ id }) => id));
  const faults: Fault[] = [];
  for await (const row of readJsonl(file)) {
    const report: Report = (columns, message) => void faults.push({ file, at: row.at, columns, message });
    const parsed = parseReason(row, report);
    if (parsed === undefined) continue;
    const { id, reason } = parsed;
    if (!ids.has(id)) report(["id"], `${JSON.stringify(id)} is not a question of the set`);
    if (reasons.has(id)) report(["id"], `${JSON.stringify(id)} has a reason already`);
    reasons.set(id, reason);
  }
  if (faults.length > 0) throw faultsError(faults, "Correct the side file, or move it away from the data.");
  return reasons;
}

function parseReason({ value, broken }: RawRow, report: Report): z.infer<typeof reasonSchema> | undefined {
  if (broken !== undefined) {
    report([], broken);
    return undefined;
  }
  const parsed = reasonSchema.safeParse(value);
  for (const issue of parsed.error?.issues ?? []) reportIssue(issue, value, report);
  return parsed.data;
}
