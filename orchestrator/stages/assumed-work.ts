import type { QuestionPrompts, StageWork } from "../cost/work.ts";
import type { Recipe } from "../recipe.ts";
import { meanPasses } from "./stage-work.ts";

/** A question set that nobody has read: how many questions, and how long their prompts are. */
export interface AssumedQuestions {
  readonly count: number;
  readonly promptTokens: number;
  readonly longestTokens: number;
}

export interface AssumedStage {
  readonly label: string;
  readonly stage: "generate" | "distil" | "calibrate" | "score";
  readonly work: StageWork;
}

/** Of a prompt, the part that both orders share: all but the candidates and the closing instruction. */
const SHARED = 0.9;

/** The stages that planStages makes, with every question as long as the mean and folds of equal size. */
export function assumedStages(
  recipe: Recipe,
  request: {
    readonly questions: AssumedQuestions;
    readonly folds: readonly number[];
    readonly reply: number;
  },
): AssumedStage[] {
  const { questions, folds } = request;
  const { k } = recipe.split;
  const heldOut = Math.max(1, Math.round(questions.count / k));
  const train = Math.max(1, questions.count - heldOut);
  const all = { scored: heldOut * folds.length, taught: folds.length === 1 ? train : questions.count };
  return [
    score("score base", { ...request, recipe, count: all.scored, adapted: false }),
    teach({ ...request, recipe, count: all.taught }),
    ...folds.flatMap((fold) => foldStages(fold, { ...request, recipe, train, heldOut })),
  ];
}

interface Input {
  readonly recipe: Recipe;
  readonly questions: AssumedQuestions;
  readonly reply: number;
}

function foldStages(fold: number, input: Input & { train: number; heldOut: number }): AssumedStage[] {
  const { recipe, train, heldOut } = input;
  const { generate, distil, calibrate } = recipe;
  const label = (what: string) => `fold ${fold}: ${what}`;
  const scored = (what: string) => score(label(what), { ...input, count: heldOut, adapted: true });
  const student = work(input, { count: train, side: "student" });
  const teacher = work(input, { count: train, side: "teacher" }).questions;
  const distilled: AssumedStage[] = [
    {
      label: label("distil"),
      stage: "distil",
      work: {
        ...student,
        kind: "distil",
        teacher,
        samples: generate.traces,
        passes: meanPasses(train, distil.optimizer),
      },
    },
    scored("score distilled"),
  ];
  if (calibrate === null) return distilled;
  const passes = meanPasses(train, calibrate.optimizer);
  const samples = calibrate.traces;
  return [
    ...distilled,
    { label: label("generate own traces"), stage: "generate", work: { ...student, samples, adapted: true } },
    {
      label: label("calibrate"),
      stage: "calibrate",
      work: { ...student, kind: "calibrate", samples, passes },
    },
    scored("score calibrated"),
  ];
}

function score(label: string, input: Input & { count: number; adapted: boolean }): AssumedStage {
  const { count, adapted } = input;
  const answers = work(input, { count, side: "student" });
  return { label, stage: "score", work: { ...answers, samples: 1, adapted } };
}

function teach(input: Input & { count: number }): AssumedStage {
  const answers = work(input, { count: input.count, side: "teacher" });
  const samples = input.recipe.generate.traces;
  return { label: "generate teacher traces", stage: "generate", work: { ...answers, samples } };
}

function work(
  { recipe, questions, reply }: Input,
  { count, side }: { count: number; side: "student" | "teacher" },
): StageWork {
  const { student_tokens, teacher_tokens } = recipe.prompts;
  // What the recipe leaves the teacher beyond the student is room for the demonstration.
  const more = side === "teacher" ? Math.max(0, teacher_tokens - student_tokens) : 0;
  const mean = pair(questions.promptTokens, more);
  return {
    kind: "answer",
    questions: [mean],
    each: count,
    teacher: [],
    samples: 1,
    replyTokens: reply,
    passes: 0,
    adapted: false,
    longest: pair(questions.longestTokens, more),
  };
}

function pair(tokens: number, more: number): QuestionPrompts {
  const prompt = tokens + more;
  return { prompts: [prompt, prompt], shared: Math.round(SHARED * tokens) };
}
