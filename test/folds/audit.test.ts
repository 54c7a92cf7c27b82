import { expect, test } from "vitest";
import { NotComparableError } from "../../orchestrator/errors.ts";
import { auditManifest } from "../../orchestrator/folds/audit.ts";
import { formatManifest, heldOutIds, parseManifest } from "../../orchestrator/folds/manifest.ts";
import { readCase, splitOf } from "./fixture.ts";

async function soundSplit() {
  const set = await readCase("07-prototype-task-ids/questions.jsonl");
  return { set, manifest: splitOf(set.questions, { digest: set.digest }) };
}

test("a manifest as built is sound", async () => {
  const { set, manifest } = await soundSplit();
  expect(auditManifest(manifest, set)).toMatchObject({
    sound: true,
    parted: [],
    missing: [],
    largest_overlap: null,
  });
});

test("a manifest of other data is refused", async () => {
  const { set, manifest } = await soundSplit();
  expect(() => auditManifest({ ...manifest, data_digest: "f".repeat(64) }, set)).toThrow(NotComparableError);
});

test("a question in no fold, one in two and one of nowhere are named", async () => {
  const { set, manifest } = await soundSplit();
  const [lost = "", twice = ""] = heldOutIds(manifest, 0);
  const folds = manifest.folds.map((fold) => ({
    ...fold,
    held_out: [...fold.held_out.filter((id) => id !== lost), ...(fold.fold === 1 ? [twice, "q-99"] : [])],
  }));
  const report = auditManifest({ ...manifest, folds }, set);
  expect(report).toMatchObject({ sound: false, missing: [lost], repeated: [twice], unknown: ["q-99"] });
});

test("a task whose questions are held out in two folds is named", async () => {
  const { set, manifest } = await soundSplit();
  const home = manifest.folds.findIndex(({ held_out }) => held_out.includes("q-03"));
  const folds = manifest.folds.map((fold) => ({
    ...fold,
    held_out: fold.fold === home ? fold.held_out.filter((id) => id !== "q-03") : [...fold.held_out, "q-03"],
  }));
  expect(auditManifest({ ...manifest, folds }, set)).toMatchObject({
    sound: false,
    torn_tasks: ["__proto__"],
  });
});

test("a fold that does not exist is refused, not empty", async () => {
  const { manifest } = await soundSplit();
  expect(() => heldOutIds(manifest, 2)).toThrow("There is no fold 2: the split has folds 0 to 1.");
});

test("a manifest with an unknown field is refused by its name", async () => {
  const { manifest } = await soundSplit();
  const json = JSON.stringify({ ...manifest, built_at: "today" });
  expect(() => parseManifest(json, { file: "x.json" })).toThrow(/x\.json is no fold manifest: .*built_at/);
});

test("a manifest survives being written and read", async () => {
  const { manifest } = await soundSplit();
  expect(parseManifest(formatManifest(manifest), { file: "x.json" })).toEqual(manifest);
});
