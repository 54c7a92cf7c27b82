import { z } from "zod";
import type { Question } from "../questions/schema.ts";
import { runHashes, wordsOf } from "./words.ts";

const id = z.string().min(1);

/** The privileged text that the teacher sees for a question, and the task whose record it was written from. */
export const demonstrationSchema = z
  .strictObject({ demo_id: id, question_id: id, demo_task_id: id, text: z.string().min(1) })
  .readonly();

export type Demonstration = z.infer<typeof demonstrationSchema>;

export type DemonstrationFault =
  /** Written for a question that is not on the train side, or not in the data. */
  | { readonly kind: "question_not_trained"; readonly demo_id: string; readonly question_id: string }
  /** Written from a task that is not on the train side, or not in the data. */
  | { readonly kind: "task_not_trained"; readonly demo_id: string; readonly task_id: string }
  /** Repeats `words` words in a row of a held-out question's candidate. */
  | {
      readonly kind: "copies_held_out";
      readonly demo_id: string;
      readonly question_id: string;
      readonly words: number;
    };

/** The usual 13-word run of decontamination (see build.ts). */
export const MAX_COPIED_WORDS = 13;

interface DemonstrationAudit {
  /** All questions of the data, both sides. */
  readonly questions: readonly Question[];
  /** `foldOfTasks(manifest)`. */
  readonly foldOf: ReadonlyMap<string, number>;
  readonly heldOutFold: number;
  readonly demonstrations: readonly Demonstration[];
}

/**
 * What would carry held-out knowledge into training when all folds but `heldOutFold` are trained on; empty when
 * nothing would. Words are compared without case and punctuation. A run that the
 * candidates of a train-side question have too is no copy: training shows it anyway.
 */
export function auditDemonstrations(audit: DemonstrationAudit): readonly DemonstrationFault[] {
  const trained = (task: string) => (audit.foldOf.get(task) ?? audit.heldOutFold) !== audit.heldOutFold;
  const questions = new Map(audit.questions.map((question) => [question.id, question]));
  const runs = {
    trained: indexRuns(audit.questions.filter(({ task_id }) => trained(task_id))),
    heldOut: indexRuns(audit.questions.filter(({ task_id }) => !trained(task_id))),
  };
  return audit.demonstrations.flatMap((demonstration): readonly DemonstrationFault[] => {
    const { demo_id, question_id, demo_task_id: task_id, text } = demonstration;
    const question = questions.get(question_id);
    const copy = longestCopy(text, runs);
    return [
      ...(question !== undefined && trained(question.task_id)
        ? []
        : [{ kind: "question_not_trained" as const, demo_id, question_id }]),
      ...(trained(task_id) ? [] : [{ kind: "task_not_trained" as const, demo_id, task_id }]),
      ...(copy === null ? [] : [{ kind: "copies_held_out" as const, demo_id, ...copy }]),
    ];
  });
}

/** The first question whose candidates have the run, by run hash. */
type RunIndex = ReadonlyMap<number, Question>;

function indexRuns(questions: readonly Question[]): RunIndex {
  const index = new Map<number, Question>();
  for (const question of questions) {
    for (const run of question.choices.flatMap((choice) => [...runHashes(choice, MAX_COPIED_WORDS)])) {
      if (!index.has(run)) index.set(run, question);
    }
  }
  return index;
}

interface RunIndexes {
  readonly trained: RunIndex;
  readonly heldOut: RunIndex;
}

function longestCopy(text: string, { trained, heldOut }: RunIndexes) {
  const words = wordsOf(text);
  const copies = [...runHashes(text, MAX_COPIED_WORDS)].flatMap((run, start) => {
    const question = trained.has(run) ? undefined : heldOut.get(run);
    if (question === undefined) return [];
    const rest = words.slice(start);
    const lengths = question.choices.map((choice) => commonRun(rest, wordsOf(choice)));
    return [{ question_id: question.id, words: Math.max(...lengths) }];
  });
  return copies.reduce<(typeof copies)[number] | null>(
    (longest, copy) => (copy.words > (longest?.words ?? 0) ? copy : longest),
    null,
  );
}

/** Length of the longest beginning of `words` that stands in `text` in one piece. */
function commonRun(words: readonly string[], text: readonly string[]): number {
  let longest = 0;
  for (const start of text.keys()) {
    let length = 0;
    while (length < words.length && words[length] === text[start + length]) length += 1;
    longest = Math.max(longest, length);
  }
  return longest;
}
