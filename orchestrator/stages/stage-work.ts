import type { StageTask } from "../bridge/protocol.ts";
import type { QuestionPrompts, StageWork } from "../cost/work.ts";
import type { Recipe } from "../recipe.ts";

type Lengths = ReadonlyMap<string, { readonly student: QuestionPrompts; readonly teacher: QuestionPrompts }>;

/** How replies are counted: by their cap, or by a mean that is known from elsewhere. */
export interface ReplyLength {
  readonly meanReplyTokens?: number;
}

/** Forced ids of a close and the letter: ` \n\nANSWER: A` and its like. */
const CLOSE_TOKENS = 8;

export function replyTokens(recipe: Recipe, { meanReplyTokens }: ReplyLength): number {
  return meanReplyTokens ?? recipe.reply.max_reasoning_tokens + CLOSE_TOKENS;
}

/** What a planned stage puts through the model, from the lengths of its prompts. */
export function workOf(task: StageTask, { lengths, reply, samples }: WorkInput): StageWork {
  const sides = task.ids.flatMap((id) => lengths.get(id) ?? []);
  const student = sides.map((side) => side.student);
  const teacher = sides.map((side) => side.teacher);
  const common = { each: 1, teacher: [], replyTokens: reply, passes: 0, adapted: false };
  switch (task.stage) {
    case "generate": {
      const questions = task.role === "teacher" ? teacher : student;
      return { ...common, kind: "answer", questions, samples: task.samples, adapted: task.adapter !== null };
    }
    case "score":
      return {
        ...common,
        kind: "answer",
        questions: student,
        samples: task.samples,
        adapted: task.adapter !== null,
      };
    case "distil":
      return {
        ...common,
        kind: "distil",
        questions: student,
        teacher,
        samples: samples.distil,
        ...passes(task),
      };
    case "calibrate":
      return {
        ...common,
        kind: "calibrate",
        questions: student,
        samples: samples.calibrate,
        ...passes(task),
      };
  }
}

export interface WorkInput {
  readonly lengths: Lengths;
  readonly reply: number;
  /** Traces a presentation that the two trainings read; all of them, as if the gate passed each. */
  readonly samples: { readonly distil: number; readonly calibrate: number };
}

type Training = Extract<StageTask, { stage: "distil" | "calibrate" }>;

function passes({ ids, optimizer }: Pick<Training, "ids" | "optimizer">): { passes: number } {
  return { passes: meanPasses(ids.length, optimizer) };
}

/** Epochs, or less where max_steps ends them early; the last step of an epoch may be a short one. */
export function meanPasses(
  questions: number,
  {
    epochs,
    questions_per_step,
    max_steps,
  }: Pick<Training["optimizer"], "epochs" | "questions_per_step" | "max_steps">,
): number {
  const stepsAnEpoch = Math.ceil(questions / questions_per_step);
  const steps = Math.min(epochs * stepsAnEpoch, max_steps ?? Number.POSITIVE_INFINITY);
  const whole = Math.floor(steps / stepsAnEpoch);
  const rest = Math.min(questions, (steps - whole * stepsAnEpoch) * questions_per_step);
  return whole + rest / questions;
}
