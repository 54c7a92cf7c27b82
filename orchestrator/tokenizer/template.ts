import { Template } from "@huggingface/jinja";
import { DataError } from "../errors.ts";
import { formatDate } from "./format-date.ts";

export interface ChatTemplate {
  readonly render: (variables: Readonly<Record<string, unknown>>) => string;
  /** The template calls `strftime_now`, so that its text would change from day to day. */
  readonly asksForDate: boolean;
}

/**
 * A chat template whose clock stands at `date`. The name is changed in the source because the library defines
 * `strftime_now` itself and refuses a second definition.
 */
export function parseTemplate(source: string, date: string, folder: string): ChatTemplate {
  const pinned = source.replaceAll("strftime_now", "pinned_strftime");
  const template = guarded(folder, "cannot be parsed", () => new Template(pinned));
  const clock = { pinned_strftime: (format: string) => formatDate(date, format) };
  return {
    render: (variables) =>
      guarded(folder, "refuses these messages", () => template.render({ ...variables, ...clock })),
    asksForDate: pinned !== source,
  };
}

function guarded<T>(folder: string, what: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new DataError(`The chat template of ${folder} ${what}: ${reason}`, {
      nextStep: "Check the template arguments of the recipe, or use the model's official template.",
      facts: { folder },
      cause,
    });
  }
}
