import { NotComparableError } from "../errors.ts";

interface SeenTasksInput {
  /** Task (or task group) of each question to be scored, by question id. */
  readonly itemTasks: ReadonlyMap<string, string>;
  /** Tasks (or task groups) that the checkpoint and its parents trained on. */
  readonly trainedTasks: ReadonlySet<string>;
  readonly checkpoint: string;
}

/** Throws NotComparableError naming every question whose task the checkpoint trained on. */
export function refuseSeenTasks({ itemTasks, trainedTasks, checkpoint }: SeenTasksInput): void {
  const seen = [...itemTasks].filter(([, task]) => trainedTasks.has(task)).map(([id]) => id);
  const first = seen[0];
  if (first === undefined) return;
  const example = `question ${JSON.stringify(first)} of task ${JSON.stringify(itemTasks.get(first))}`;
  throw new NotComparableError(
    `Checkpoint ${checkpoint} trained on the tasks of ${seen.length} of ${itemTasks.size} questions: ${example}.`,
    {
      nextStep: "Score each question with the checkpoint of the other fold.",
      facts: { checkpoint, questions: seen },
    },
  );
}
