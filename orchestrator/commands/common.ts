import { resolve } from "node:path";
import { UsageError } from "../errors.ts";

/** Flags that several commands share, in yargs' form. */
export const checkpointsOption = {
  checkpoints: {
    type: "string",
    default: process.env["PALATE_CHECKPOINTS"] ?? "checkpoints",
    describe: "Folder of runs and stages",
    coerce: (folder: string) => resolve(folder),
  },
} as const;

export const jsonOption = {
  json: { type: "boolean", default: false, describe: "Print JSON on stdout" },
} as const;

export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, null, 1)}\n`);
}

export function print(text: string): void {
  process.stdout.write(text.endsWith("\n") ? text : `${text}\n`);
}

export function sayOnStderr(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** First Ctrl-C (or SIGTERM) = save and stop, second = kill. */
export function stopSignals(): { readonly stop: AbortSignal; readonly kill: AbortSignal; dispose(): void } {
  const stop = new AbortController();
  const kill = new AbortController();
  function onSignal(): void {
    if (stop.signal.aborted) kill.abort();
    else sayOnStderr("\nstopping: saving a checkpoint (once more to kill)");
    stop.abort();
  }
  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
  return {
    stop: stop.signal,
    kill: kill.signal,
    dispose() {
      process.off("SIGINT", onSignal);
      process.off("SIGTERM", onSignal);
    },
  };
}

/** yargs turns `--fold x` into NaN without a word. */
export function wholeNumber(flag: string, value: number | undefined): number | undefined {
  if (value === undefined || (Number.isInteger(value) && value >= 0)) return value;
  throw new UsageError(`--${flag} takes a whole number from 0 on.`, { facts: { flag } });
}
