import { byCodeUnit, sha256Hex } from "../canonical.ts";
import { RecipeError } from "../errors.ts";
import { questionsDigest } from "../questions/digest.ts";
import type { QuestionSet } from "../questions/schema.ts";
import type { Recipe } from "../recipe.ts";

/** The part of a question set that a recipe takes: one domain, or some tasks, chosen by hash of seed and id. */
export function selectQuestions(set: QuestionSet, recipe: Recipe): QuestionSet {
  const { domain, max_tasks } = recipe.questions;
  const inDomain = set.questions.filter((question) => domain === null || question.domain === domain);
  const tasks = new Set(inDomain.map((question) => question.task_id));
  const taken =
    max_tasks === null ? tasks : firstByHash(tasks, { count: max_tasks, seed: recipe.split.seed });
  const questions = inDomain.filter((question) => taken.has(question.task_id));
  if (questions.length === 0) {
    throw new RecipeError(
      `questions.domain ${domain ?? "(any)"} leaves none of the ${set.questions.length} questions.`,
      {
        nextStep: "Name a domain that the set has (palate questions check prints them).",
      },
    );
  }
  const reasons = new Map(questions.flatMap(({ id }) => pair(id, set.reasons.get(id))));
  return { source: set.source, digest: questionsDigest(questions), questions, reasons };
}

function firstByHash(
  tasks: ReadonlySet<string>,
  { count, seed }: { count: number; seed: number },
): Set<string> {
  const ranked = Array.from(tasks, (task) => ({ task, rank: sha256Hex(`${seed}\n${task}`) }));
  ranked.sort((a, b) => byCodeUnit(a.rank, b.rank));
  return new Set(ranked.slice(0, count).map(({ task }) => task));
}

function pair(id: string, reason: string | undefined): [string, string][] {
  return reason === undefined ? [] : [[id, reason]];
}
