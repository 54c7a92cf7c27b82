import type { Presentation } from "./presentations.ts";

export interface ShowOptions {
  readonly side: "student" | "teacher";
  /** `terminal` colours the demonstration and shows control characters as pictures; `text` is exact. */
  readonly form: "text" | "terminal" | "ids" | "json";
}

const INVERSE = "\u001b[7m";
const NORMAL = "\u001b[0m";

/** What the model gets, letter for letter but in the form `terminal`. */
export function showPrompt(presentation: Presentation, options: ShowOptions): string {
  const { text, ids } = presentation[options.side];
  const spans = options.side === "teacher" ? presentation.demonstration_spans : [];
  switch (options.form) {
    case "text":
      return text;
    case "ids":
      return `${ids.join(" ")}\n`;
    case "terminal":
      return highlighted(text, spans);
    case "json":
      return `${JSON.stringify(facts(presentation, options.side, spans))}\n`;
  }
}

function facts(
  presentation: Presentation,
  side: ShowOptions["side"],
  spans: Presentation["demonstration_spans"],
): object {
  const { question_id, order, supported, prefix_cut, opens_thinking } = presentation;
  const { text, ids } = presentation[side];
  return {
    question_id,
    order,
    side,
    supported,
    prefix_cut,
    opens_thinking,
    demonstration_spans: spans,
    text,
    ids,
  };
}

function highlighted(text: string, spans: Presentation["demonstration_spans"]): string {
  let shown = "";
  let at = 0;
  for (const { start, end } of spans) {
    shown += `${visible(text.slice(at, start))}${INVERSE}${visible(text.slice(start, end))}${NORMAL}`;
    at = end;
  }
  return shown + visible(text.slice(at));
}

/** Recorded runs hold escape sequences, which a terminal would obey. */
function visible(text: string): string {
  return text.replace(/[^\P{Cc}\n\t]/gu, (char) => {
    const code = char.codePointAt(0) ?? 0;
    return code < 0x20 ? String.fromCodePoint(0x2400 + code) : "\u2421";
  });
}
