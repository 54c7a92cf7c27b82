import { type ControlOptions, generateControl } from "./generate.ts";

/** The files of a control set by name, each with its text (UTF-8, lines end in 0x0A). */
export function controlFiles(options: ControlOptions): ReadonlyMap<string, string> {
  const { questions, reasons } = generateControl(options);
  return new Map([
    ["questions.jsonl", jsonLines(questions)],
    ["reasons.jsonl", jsonLines(reasons)],
    ["SOURCE.md", sourceNote(options, questions.length)],
  ]);
}

function jsonLines(rows: readonly object[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join("");
}

function sourceNote({ seed, tasks, questionsPerTask }: ControlOptions, count: number): string {
  return `# Control questions
${count} made-up decision forks over ${tasks} made-up tasks, ${questionsPerTask} a task, in two domains and both methods.
They are the positive control of a pipeline: easy for a student that reads the prefix, so a pipeline that cannot
learn them is broken. They say nothing about how good a model's judgment is.

Made by \`palate control --tasks ${tasks} --questions-per-task ${questionsPerTask} --seed ${seed}\`: no model, no recorded run and no text of
others went into them. Same flags, same bytes. Licence: Apache-2.0, as the project.

- \`questions.jsonl\`: the 14 columns of the v1.0 layout. \`prefix_text_short\` equals \`prefix_text\`.
- \`reasons.jsonl\`: one sentence a question, {id, reason}, for demonstrations.

Questions come as twins: same query, same candidates in the same order, prefixes that differ in nothing but which
of two modules the cue names (the prefix says nothing of the other). Each candidate is supported in one twin and
opposed in the other, so nothing can be told from candidates and query alone (accuracy is exactly 1/2), and answers
are balanced. Names are common words; no name of a module or repository occurs in two tasks.
`;
}
