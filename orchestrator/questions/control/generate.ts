import { UsageError } from "../../errors.ts";
import type { Question } from "../schema.ts";
import { drawTasks } from "./tasks.ts";
import { draftTwins } from "./twins.ts";

export interface ControlOptions {
  /** Integer, at least 0. */
  readonly seed: number;
  /** Tasks alternate between the domains; a multiple of 4 fills the four cells evenly. */
  readonly tasks: number;
  /** Even: questions come as twins. */
  readonly questionsPerTask: number;
}

interface ControlSet {
  readonly questions: readonly Question[];
  /** One sentence a question, in the order of `questions`. */
  readonly reasons: readonly { readonly id: string; readonly reason: string }[];
}

/**
 * The positive control. Questions come as twins: same query, same candidates in the same order, and prefixes
 * that differ in nothing but which of two modules the cue names, so that each candidate is supported once.
 * Whatever looks at the candidates alone is right on exactly half of them; whoever reads the cue, on all.
 */
export function generateControl(options: ControlOptions): ControlSet {
  checkOptions(options);
  const drafts = drawTasks(options).flatMap((task) => task.pairs.flatMap((pair) => draftTwins(task, pair)));
  const numbered = drafts.map((draft, index) => ({ id: questionId(index), ...draft }));
  return {
    questions: numbered.map(({ reason: _, ...question }) => question),
    reasons: numbered.map(({ id, reason }) => ({ id, reason })),
  };
}

function checkOptions({ seed, tasks, questionsPerTask }: ControlOptions): void {
  if (!isIntegerFrom(0, seed)) throw new UsageError(`The seed must be an integer from 0 on, not ${seed}.`);
  if (!isIntegerFrom(1, tasks)) throw new UsageError(`Tasks must be an integer from 1 on, not ${tasks}.`);
  if (!isIntegerFrom(2, questionsPerTask) || questionsPerTask % 2 !== 0) {
    throw new UsageError(`Questions a task must be an even number from 2 on, not ${questionsPerTask}.`, {
      nextStep: "Ask for an even number: questions come as twins, so that each candidate is supported once.",
    });
  }
}

function isIntegerFrom(least: number, value: number): boolean {
  return Number.isSafeInteger(value) && value >= least;
}

function questionId(index: number): string {
  return `control-${String(index + 1).padStart(4, "0")}`;
}
