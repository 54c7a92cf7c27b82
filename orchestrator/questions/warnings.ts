import type { Question } from "./schema.ts";

/** What is allowed but looks like a mistake, one sentence each, in the order of the questions. */
export function questionWarnings(questions: readonly Question[]): string[] {
  return questions
    .filter(({ choices }) => plain(choices[0]) === plain(choices[1]))
    .map(({ id }) => `Question ${JSON.stringify(id)}: the candidates differ only in case or white space.`);
}

function plain(text: string): string {
  return text.toLowerCase().replace(/\s+/gu, " ").trim();
}
