import { expect, test } from "vitest";
import { assertBlind } from "../../orchestrator/prompts/blindness.ts";

const demonstrationIds = Array.from({ length: 20 }, (_, at) => 100 + at);

function check(studentIds: number[], questionIds: number[] = []): void {
  assertBlind({ questionId: "q-1", studentIds, questionIds, demonstrationIds });
}

test("thirteen tokens of the demonstration in a row are found anywhere in the student prompt", () => {
  expect(() => check([1, 2, ...demonstrationIds.slice(5, 18), 3])).toThrow(/question q-1 holds 13 tokens/);
});

test("twelve in a row pass", () => {
  expect(() => check([1, 2, ...demonstrationIds.slice(5, 17), 3])).not.toThrow();
});

test("what stands in the question itself may stand in the prompt", () => {
  const quoted = demonstrationIds.slice(0, 15);
  expect(() => check([1, ...quoted, 2], [9, ...quoted, 9])).not.toThrow();
});

test("ids that only print alike are not taken for the same run", () => {
  const glued = [...demonstrationIds.slice(0, 11), 1111, 112];
  expect(() => check(glued)).not.toThrow();
});
