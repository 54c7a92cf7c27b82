import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import yargs from "yargs";
import { controlSubcommand } from "../../orchestrator/commands/control.ts";
import { UsageError } from "../../orchestrator/errors.ts";
import { controlFiles } from "../../orchestrator/questions/control/files.ts";
import { generateControl } from "../../orchestrator/questions/control/generate.ts";
import { PLACES, QUALITIES, THINGS } from "../../orchestrator/questions/control/words.ts";
import { type Question, questionSchema } from "../../orchestrator/questions/schema.ts";

const BUNDLED = { seed: 0, tasks: 80, questionsPerTask: 4 };
const SEEDS = [0, 1, 2, 3, 4];
const THINGS_OR_PAIRS = new RegExp(`\\b(${THINGS.join("|")})(_(${THINGS.join("|")}))?\\b`);
const { questions, reasons } = generateControl(BUNDLED);

test("the bundled files are what the generator writes, byte for byte", async () => {
  const folder = fileURLToPath(new URL("../../data/control/", import.meta.url));
  const files = controlFiles(BUNDLED);
  expect((await readdir(folder)).sort()).toEqual([...files.keys()].sort());
  for (const [name, text] of files) {
    expect((await readFile(join(folder, name))).equals(Buffer.from(text)), name).toBe(true);
  }
});

test("the same seed gives the same set and another seed gives another", () => {
  expect(generateControl(BUNDLED)).toEqual({ questions, reasons });
  expect(generateControl({ ...BUNDLED, seed: 1 }).questions).not.toEqual(questions);
});

test("a larger set begins with the smaller one of the same seed", () => {
  const larger = generateControl({ ...BUNDLED, tasks: 100 }).questions;
  expect(larger.slice(0, questions.length)).toEqual(questions);
});

test("every row satisfies the question schema and has an id of its own", () => {
  for (const question of questions) expect(() => questionSchema.parse(question)).not.toThrow();
  expect(new Set(questions.map(({ id }) => id)).size).toBe(320);
});

test("every cell has 80 questions, half of them answered by each letter", () => {
  const counts = countBy(questions, ({ cell, answer }) => `${cell} ${answer}`);
  const cells = ["detour_engineering", "detour_research", "parallel_engineering", "parallel_research"];
  expect(counts).toEqual(
    new Map(cells.flatMap((cell) => ["A", "B"].map((letter) => [`${cell} ${letter}`, 40]))),
  );
});

test("for every pair of candidates in a task the reverse label occurs as often as the label", () => {
  const labels = (flip: 0 | 1) =>
    countBy(questions, ({ task_id, choices, answer_index }) =>
      JSON.stringify([task_id, choices, answer_index ^ flip]),
    );
  expect(labels(1)).toEqual(labels(0));
});

test("query and opening step are the same whichever candidate is supported", () => {
  const opening = (question: Question) =>
    question.prefix_text.slice(0, question.prefix_text.indexOf("\n[2] "));
  const contexts = (answer: string) =>
    questions
      .filter((question) => question.answer === answer)
      .map((question) => JSON.stringify([question.query, opening(question), question.choices]))
      .sort();
  expect(new Set(contexts("A")).size).toBe(160);
  expect(contexts("A")).toEqual(contexts("B"));
});

test("supported and opposed candidates are equally long in sum", () => {
  expect(sum(questions.map((q) => supported(q).length))).toBe(sum(questions.map((q) => opposed(q).length)));
});

test("words of the candidates alone, learnt on half of the tasks, do not beat a coin on the others", () => {
  for (const seed of SEEDS) {
    const set = generateControl({ ...BUNDLED, seed }).questions;
    const weights = wordWeights(set.filter((_, index) => index < 160));
    const held = set.slice(160);
    expect(sum(held.map((q) => points(score(weights, supported(q)), score(weights, opposed(q)))))).toBe(80);
  }
});

test("the probe on candidate words does find a set whose wording gives the answer away", () => {
  const leaky = questions.map((q) => ({
    ...q,
    choices: [`${q.choices[0]} ${q.answer_index}`, `${q.choices[1]} ${1 - q.answer_index}`] as [
      string,
      string,
    ],
  }));
  const weights = wordWeights(leaky.slice(0, 160));
  const right = leaky.slice(160).map((q) => points(score(weights, supported(q)), score(weights, opposed(q))));
  expect(sum(right)).toBe(160);
});

test("the prefix names the module of the supported candidate alone, in the output of the second step", () => {
  for (const question of questions) {
    const [good, bad] = [moduleOf(supported(question)), moduleOf(opposed(question))];
    const [opening = "", output = ""] = question.prefix_text.split("\n[2] ");
    expect(opening).not.toContain(good);
    expect(output).toContain(good);
    expect(question.prefix_text).not.toContain(bad);
  }
});

test("prefixes are numbered steps with indented output", () => {
  for (const { prefix_text, prefix_text_short, prefix_steps } of questions) {
    expect(prefix_text_short).toBe(prefix_text);
    expect(prefix_text.match(/^\[\d+\] (AGENT: |\$ )/gm)).toHaveLength(prefix_steps);
    expect(prefix_text).toMatch(/^(\[1\] .+(\n {4}.+)*)\n\[2\] \$ .+ {3}\(exit=\d\)(\n {4}.+)+$/);
  }
});

test("no module, repository or query occurs in two tasks", () => {
  const owners = new Map<string, Set<string>>();
  for (const question of questions) {
    for (const name of [question.task_id, question.query, ...question.choices.map(moduleOf)]) {
      owners.set(name, (owners.get(name) ?? new Set()).add(question.task_id));
    }
  }
  expect([...owners.values()].every((tasks) => tasks.size === 1)).toBe(true);
  expect(owners.size).toBe(80 + 80 + 320);
});

test("queries name their repository and are too short to share a word 13-gram", () => {
  for (const { query, task_id } of questions) {
    expect(query).toContain(task_id);
    expect(query.split(/\s+/).length).toBeLessThan(13);
  }
});

test("the words that names are made of are all different", () => {
  const all = [...QUALITIES, ...PLACES, ...THINGS];
  expect(new Set(all).size).toBe(all.length);
});

test("sets beyond the single words name their modules by pairs, still each once", () => {
  const { questions: many } = generateControl({ ...BUNDLED, tasks: 400 });
  const modules = new Set(many.flatMap(({ choices }) => choices.map(moduleOf)));
  expect(modules.size).toBe(1600);
  expect([...modules].filter((name) => !name.includes("_")).sort()).toEqual([...THINGS].sort());
});

test("every question has one short reason that names its module and no letter or position", () => {
  expect(reasons.map(({ id }) => id)).toEqual(questions.map(({ id }) => id));
  for (const [index, question] of questions.entries()) {
    const reason = reasons[index]?.reason ?? "";
    expect(reason).toContain(moduleOf(supported(question)));
    expect(reason.split(/\s+/).length).toBeLessThanOrEqual(15);
    expect(reason).not.toMatch(
      /\b(a|b|option|candidate|first|second|former|latter|above|below|left|right)\b/i,
    );
  }
});

test("requests that cannot be balanced or named are refused with the way out", () => {
  expect(() => generateControl({ ...BUNDLED, questionsPerTask: 3 })).toThrow(UsageError);
  expect(() => generateControl({ ...BUNDLED, tasks: 0 })).toThrow(UsageError);
  expect(() => generateControl({ ...BUNDLED, seed: -1 })).toThrow(UsageError);
  expect(() => generateControl({ ...BUNDLED, tasks: Number.NaN })).toThrow(UsageError);
  expect(() => generateControl({ ...BUNDLED, tasks: 1e6 })).toThrow(/more names than there are/);
});

test("the command writes the whole set, leaves nothing beside it and never overwrites", async () => {
  const parent = await mkdtemp(join(tmpdir(), "palate-control-"));
  try {
    const flags = ["control", "--tasks", "4", "--seed", "7", "--out", join(parent, "deep", "set")];
    const palate = () =>
      yargs(flags).command(controlSubcommand).strict().exitProcess(false).fail(false).parseAsync();
    await palate();
    expect(await readdir(join(parent, "deep"))).toEqual(["set"]);
    for (const [name, text] of controlFiles({ seed: 7, tasks: 4, questionsPerTask: 4 })) {
      expect(await readFile(join(parent, "deep", "set", name), "utf8")).toBe(text);
    }
    await expect(palate()).rejects.toThrow(UsageError);
  } finally {
    await rm(parent, { recursive: true, force: true });
  }
});

function supported(question: Question): string {
  return question.choices[question.answer_index === 0 ? 0 : 1];
}

function opposed(question: Question): string {
  return question.choices[question.answer_index === 0 ? 1 : 0];
}

function moduleOf(candidate: string): string {
  return THINGS_OR_PAIRS.exec(candidate)?.[0] ?? "";
}

/** Log odds of each word to stand in a supported candidate (naive Bayes, counts plus one). */
function wordWeights(set: readonly Question[]): ReadonlyMap<string, number> {
  const good = countBy(
    set.flatMap((question) => words(supported(question))),
    (word) => word,
  );
  const bad = countBy(
    set.flatMap((question) => words(opposed(question))),
    (word) => word,
  );
  return new Map([...good.keys(), ...bad.keys()].map((word) => [word, odds(good.get(word), bad.get(word))]));
}

function odds(good = 0, bad = 0): number {
  return Math.log((good + 1) / (bad + 1));
}

function score(weights: ReadonlyMap<string, number>, candidate: string): number {
  return sum(words(candidate).map((word) => weights.get(word) ?? 0));
}

/** Halves of names count as words of their own. */
function words(candidate: string): readonly string[] {
  return candidate.toLowerCase().match(/[a-z0-9]+/g) ?? [];
}

/** A tie is a coin's throw. */
function points(good: number, bad: number): number {
  return good === bad ? 0.5 : Number(good > bad);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function countBy<T>(values: readonly T[], key: (value: T) => string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(key(value), (counts.get(key(value)) ?? 0) + 1);
  return counts;
}
