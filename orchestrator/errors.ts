/** Exit codes of `palate`. The bridge has its own table (bridge/protocol.ts). */
export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  notComparable: 3,
  checkpointed: 75,
} as const;

type Facts = Readonly<Record<string, string | number | boolean | null | readonly string[]>>;

interface ErrorDetail {
  /** The next thing the reader can do about it, one sentence. */
  readonly nextStep?: string;
  /** What a program needs to react: file, row, column, value, ids. */
  readonly facts?: Facts;
  readonly cause?: unknown;
}

/** Base of every error that Palate raises on purpose; cli.ts turns it into one message and `exitCode`. */
export class PalateError extends Error {
  readonly exitCode: number = EXIT.failed;
  readonly nextStep: string | undefined;
  readonly facts: Facts;

  constructor(message: string, detail: ErrorDetail = {}) {
    super(message, detail.cause === undefined ? undefined : { cause: detail.cause });
    this.name = new.target.name;
    this.nextStep = detail.nextStep;
    this.facts = detail.facts ?? {};
  }
}

/** Wrong flags or arguments. */
export class UsageError extends PalateError {
  override readonly exitCode = EXIT.usage;
}

/** A recipe that does not say what it must, or says what does not exist. */
export class RecipeError extends PalateError {
  override readonly exitCode = EXIT.usage;
}

/** Questions, manifests, side files or hub answers that break their contract. */
export class DataError extends PalateError {
  override readonly exitCode = EXIT.usage;
}

/** The Python job failed, was killed, or left no result. */
export class BridgeError extends PalateError {}

/** Run folders: missing, torn, fenced, or not what their lineage says. */
export class RunError extends PalateError {}

/** Two things that must not be compared or combined (other data, item whose task was trained on). */
export class NotComparableError extends PalateError {
  override readonly exitCode = EXIT.notComparable;
}

/** The work was asked to stop and has saved a checkpoint; the same command goes on from there. */
export class StoppedError extends PalateError {
  override readonly exitCode = EXIT.checkpointed;
}
