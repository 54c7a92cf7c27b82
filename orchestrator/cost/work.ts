import { sum } from "./architecture.ts";
import type { Span } from "./flops.ts";

/**
 * How the sequences of a question are computed. `sequences`: each alone and whole. `shared`: the tokens that all
 * of them begin with once, then each one's rest behind them (docs/design.md, section 9).
 */
export type Form = "sequences" | "shared";

/** One question as one side reads it: tokens of each presentation's prompt, and how many all begin with. */
export interface QuestionPrompts {
  readonly prompts: readonly number[];
  readonly shared: number;
}

/** What a stage puts through the model. */
export interface StageWork {
  readonly kind: "answer" | "distil" | "calibrate";
  /** The side that answers, or that is trained. */
  readonly questions: readonly QuestionPrompts[];
  /** Questions that each of `questions` stands for: 1 where they were read, their number where it is a mean. */
  readonly each: number;
  /** Distillation: the same questions with the demonstration in view. */
  readonly teacher: readonly QuestionPrompts[];
  /** Replies a presentation, and tokens of each. */
  readonly samples: number;
  readonly replyTokens: number;
  /** Training: times that a question is passed, on average; less than 1 when the steps are limited. */
  readonly passes: number;
  /** Answering: whether an adapter is on. */
  readonly adapted: boolean;
  /** The longest question, where `questions` only holds means; it sets the peak of memory. */
  readonly longest?: QuestionPrompts;
}

/** Sequences of one question: its presentations, each with so many replies behind it. */
export interface Branches {
  readonly question: QuestionPrompts;
  readonly samples: number;
  readonly replyTokens: number;
}

/** Replies that are trained on or scored over: prompt and reply go through the model together. */
export function sequenceSpans(form: Form, branches: Branches): Span[] {
  const { question, samples, replyTokens } = branches;
  if (form === "sequences") {
    return question.prompts.flatMap((prompt) =>
      repeat(samples, { context: 0, tokens: prompt + replyTokens }),
    );
  }
  const { shared } = question;
  const rests = question.prompts.flatMap((prompt) =>
    repeat(samples, { context: shared, tokens: prompt - shared + replyTokens }),
  );
  return [{ context: 0, tokens: shared }, ...rests];
}

/** The same while replies are written: prompts are read first, and in the shared form once for all samples. */
export function promptSpans(form: Form, { question, samples }: Branches): Span[] {
  if (form === "sequences") {
    return question.prompts.flatMap((prompt) => repeat(samples, { context: 0, tokens: prompt }));
  }
  const { shared } = question;
  return [
    { context: 0, tokens: shared },
    ...question.prompts.map((prompt) => ({ context: shared, tokens: prompt - shared })),
  ];
}

export function replySpans({ question, samples, replyTokens }: Branches): Span[] {
  return question.prompts.flatMap((prompt) => repeat(samples, { context: prompt, tokens: replyTokens }));
}

export function tokensOf(spans: readonly Span[]): number {
  return sum(spans, ({ tokens }) => tokens);
}

function repeat(times: number, span: Span): Span[] {
  return Array.from({ length: times }, () => span);
}
