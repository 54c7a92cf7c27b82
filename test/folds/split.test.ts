import { expect, test } from "vitest";
import { auditManifest } from "../../orchestrator/folds/audit.ts";
import { foldOfTasks, formatManifest, heldOutIds, trainIds } from "../../orchestrator/folds/manifest.ts";
import { readQuestions } from "../../orchestrator/questions/read.ts";
import { sharedFolder } from "../shared.ts";
import { question, readCase, shuffled, splitOf, wordMaker } from "./fixture.ts";

/** Tasks of uneven size over four cells, some twins, some near-duplicates, all texts by seed. */
function madeUpQuestions(seed: number) {
  const words = wordMaker(seed);
  return Array.from({ length: 120 }, (_, at) => {
    const text = words(60);
    const twin = at % 10 === 0 ? [`${text} backport`, text, `  ${text}\n`] : [text];
    return twin.flatMap((query, copy) =>
      Array.from({ length: 1 + (at % 4) }, (_, item) =>
        question(`q-${at}-${copy}-${item}`, {
          task_id: `t-${at}-${copy}`,
          query,
          cell: `cell_${(at + item) % 4}`,
        }),
      ),
    );
  }).flat();
}

test.each([1, 2, 3])(
  "no task and no linked pair is on both sides, and each question is held out once (%i)",
  (seed) => {
    const questions = madeUpQuestions(seed);
    const manifest = splitOf(questions, { k: 3, seed });
    const taskOf = new Map(questions.map(({ id, task_id }) => [id, task_id]));
    for (const fold of [0, 1, 2]) {
      const heldOutTasks = new Set(heldOutIds(manifest, fold).map((id) => taskOf.get(id)));
      expect(trainIds(manifest, fold).filter((id) => heldOutTasks.has(taskOf.get(id)))).toEqual([]);
    }
    const foldOf = foldOfTasks(manifest);
    for (let at = 0; at < 120; at += 10) {
      expect(new Set([0, 1, 2].map((copy) => foldOf.get(`t-${at}-${copy}`))).size).toBe(1);
    }
    const heldOut = [0, 1, 2].flatMap((fold) => heldOutIds(manifest, fold));
    expect(heldOut.toSorted()).toEqual(questions.map(({ id }) => id).toSorted());
  },
);

test("row order changes no byte of the manifest", () => {
  const questions = madeUpQuestions(4);
  const texts = [0, 1, 2].map((seed) => formatManifest(splitOf(shuffled(questions, seed), { k: 3 })));
  expect(new Set(texts).size).toBe(1);
});

test("totals and cells are as even as whole groups allow", () => {
  const { folds } = splitOf(madeUpQuestions(5), { k: 2 });
  const cells = folds.map((fold) => fold.cells.map(({ n }) => n));
  expect(Math.abs((folds[0]?.n ?? 0) - (folds[1]?.n ?? 0))).toBeLessThanOrEqual(1);
  for (const at of [0, 1, 2, 3])
    expect(Math.abs((cells[0]?.[at] ?? 0) - (cells[1]?.[at] ?? 0))).toBeLessThanOrEqual(2);
});

test("a near-duplicate is recorded with its exact Jaccard index", () => {
  const text = wordMaker(6)(60);
  const questions = [
    question("a", { task_id: "t-a", query: text }),
    question("b", { task_id: "t-b", query: `${text} and more` }),
    question("c", { task_id: "t-c", query: wordMaker(7)(60) }),
  ];
  // 60 words are 48 runs of 13; two words more add two runs.
  expect(splitOf(questions).groups[0]?.joins).toEqual([
    { kind: "near_duplicate", a: "t-a", b: "t-b", jaccard: 0.96 },
  ]);
});

test("a template in the text of many tasks ties none of them together, and the audit shows it", () => {
  const words = wordMaker(8);
  const policy = words(400);
  const questions = Array.from({ length: 40 }, (_, at) =>
    question(`q-${at}`, { task_id: `t-${at}`, query: `${policy} ${words(20)}` }),
  );
  const { groups, audit } = splitOf(questions);
  expect(groups).toHaveLength(40);
  expect(audit.largest_overlap).toMatchObject({ jaccard: 0.9065, own_jaccard: 0 });
  expect(audit.template).toEqual({ runs: 388, tasks: 40 });
});

test("twins are found behind a template", () => {
  const words = wordMaker(9);
  const policy = words(400);
  const issues = Array.from({ length: 40 }, () => words(60));
  const texts = [...issues.map((issue) => `${policy} ${issue}`), `${policy} ${issues[7]} please`];
  const questions = texts.map((query, at) => question(`q-${at}`, { task_id: `t-${at}`, query }));
  const joins = splitOf(questions).groups.flatMap((group) => group.joins);
  expect(joins.map(({ a, b }) => [a, b])).toEqual([["t-40", "t-7"]]);
});

test("one issue under a thousand ids is one group and not a template", () => {
  const words = wordMaker(10);
  const text = words(60);
  const questions = [
    ...Array.from({ length: 1000 }, (_, at) => question(`q-${at}`, { task_id: `t-${at}`, query: text })),
    question("near", { task_id: "near", query: `${text} too` }),
    question("other", { task_id: "other", query: words(60) }),
  ];
  const { groups } = splitOf(questions);
  expect(groups.map(({ tasks }) => tasks.length)).toEqual([1001, 1]);
});

test("a query too short to name an issue links no tasks", () => {
  const query = "Fix the failing test in this project.";
  const tasks = ["t-1", "t-2", "t-3"].map((task_id) => question(task_id, { task_id, query }));
  expect(splitOf(tasks).groups).toHaveLength(3);
});

test("questions of one task stay together whatever their texts say", () => {
  const words = wordMaker(11);
  const rows = [0, 1, 2, 3].map((at) => question(`q-${at}`, { task_id: `t-${at % 2}`, query: words(30) }));
  expect(
    splitOf(rows)
      .folds.map(({ held_out }) => held_out)
      .toSorted(),
  ).toEqual([
    ["q-0", "q-2"],
    ["q-1", "q-3"],
  ]);
});

test("fewer groups than folds is an error that names both", async () => {
  const { questions } = await readCase("05-same-issue-two-tasks/questions.jsonl");
  expect(() => splitOf(questions, { k: 6 })).toThrow(
    "6 folds need 6 groups of tasks; the data has 5 (of 7 tasks).",
  );
});

test("every fold gets a group when there are just enough", async () => {
  const { questions } = await readCase("05-same-issue-two-tasks/questions.jsonl");
  expect(
    splitOf(questions, { k: 5 })
      .folds.map(({ n }) => n)
      .toSorted(),
  ).toEqual([1, 2, 2, 2, 3]);
});

test("the bundled control set splits by task", async () => {
  const { questions } = await readQuestions("bundled:control", { cacheDir: "unused" });
  const { groups, folds } = splitOf(questions);
  expect(groups).toHaveLength(80);
  expect(folds.map(({ n, cells }) => [n, ...cells.map((cell) => cell.n)])).toEqual([
    [160, 40, 40, 40, 40],
    [160, 40, 40, 40, 40],
  ]);
});

const forks = sharedFolder("data/forks-mini");

test.skipIf(forks === undefined)("policy text in the queries does not melt real tasks together", async () => {
  const set = await readQuestions(forks ?? "", { cacheDir: "unused" });
  const manifest = splitOf(set.questions, { digest: set.digest });
  expect(manifest.groups).toHaveLength(81);
  expect(manifest.folds.map(({ n }) => n).toSorted()).toEqual([45, 46]);
  expect(auditManifest(manifest, set)).toMatchObject({
    sound: true,
    largest_overlap: manifest.audit.largest_overlap,
  });
});
