import { PalateError } from "../errors.ts";

export interface BlindnessInput {
  readonly questionId: string;
  readonly studentIds: readonly number[];
  readonly demonstrationIds: readonly number[];
  /** Ids of the text that both sides may read. */
  readonly questionIds: readonly number[];
}

/**
 * PalateError when the student's prompt holds `minRun` or more tokens in a row of the demonstration that are not in
 * the question itself: the student would be graded on what it was shown.
 */
export function assertBlind(input: BlindnessInput, minRun = 13): void {
  const wanted = new Set(runs(input.demonstrationIds, minRun));
  const known = runsAmong(input.questionIds, wanted, minRun);
  const leaked = [...runsAmong(input.studentIds, wanted, minRun)].find((run) => !known.has(run));
  if (leaked === undefined) return;
  throw new PalateError(
    `The student prompt of question ${input.questionId} holds ${minRun} tokens in a row of the demonstration.`,
    {
      nextStep: "Report it with the question: a student prompt must be made of the question alone.",
      facts: { question: input.questionId, run: leaked.split(",") },
    },
  );
}

function runs(ids: readonly number[], length: number): string[] {
  const starts = Math.max(0, ids.length - length + 1);
  return Array.from({ length: starts }, (_, start) => ids.slice(start, start + length).join(","));
}

/** The runs of `ids` that are wanted; prompts are long and demonstrations short, so most starts are skipped. */
function runsAmong(ids: readonly number[], wanted: ReadonlySet<string>, length: number): Set<string> {
  const firsts = new Set([...wanted].map((run) => Number(run.slice(0, run.indexOf(",")))));
  const found = new Set<string>();
  for (const [start, id] of ids.entries()) {
    const run = firsts.has(id) ? ids.slice(start, start + length).join(",") : "";
    if (wanted.has(run)) found.add(run);
  }
  return found;
}
