import { DataError } from "../errors.ts";
import { auditDemonstrations, type Demonstration } from "../folds/demonstrations.ts";
import { type FoldManifest, foldOfTasks, trainIds } from "../folds/manifest.ts";
import type { Question, QuestionSet } from "../questions/schema.ts";

/**
 * No demonstration of a train side may carry knowledge of its held-out side: they would enter by the teacher.
 * @throws DataError naming every demonstration that does.
 */
export function checkDemonstrations(
  set: QuestionSet,
  manifest: FoldManifest,
  folds: readonly number[],
): void {
  const faults = folds.flatMap((fold) => {
    const train = new Set(trainIds(manifest, fold));
    const demonstrations = set.questions
      .filter(({ id }) => train.has(id))
      .map((each) => demonstrationOf(set, each));
    return auditDemonstrations({
      questions: set.questions,
      foldOf: foldOfTasks(manifest),
      heldOutFold: fold,
      demonstrations,
    });
  });
  if (faults.length === 0) return;
  const ids = [...new Set(faults.map(({ demo_id }) => demo_id))];
  throw new DataError(
    `Demonstrations of ${ids.length} questions hold text of held-out ones: ${ids.join(", ")}.`,
    {
      nextStep: "Reword their reasons, or join the tasks whose candidates are alike by a split manifest.",
      facts: { questions: ids, kinds: faults.map(({ kind }) => kind) },
    },
  );
}

function demonstrationOf(set: QuestionSet, question: Question): Demonstration {
  const { id, task_id, choices, answer_index } = question;
  const text = [choices[answer_index === 0 ? 0 : 1], set.reasons.get(id)].filter(Boolean).join("\n");
  return { demo_id: id, question_id: id, demo_task_id: task_id, text };
}
