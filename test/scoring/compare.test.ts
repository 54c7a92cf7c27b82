import { describe, expect, it } from "vitest";
import { NotComparableError } from "../../orchestrator/errors.ts";
import { compareCheckpoints } from "../../orchestrator/scoring/compare.ts";
import { refuseSeenTasks } from "../../orchestrator/scoring/seen-tasks.ts";
import { drawItems } from "./make-items.ts";

const BASE = drawItems(["200", "11", "r", "-0", "2", "22", "01", "r-"]);
const STUDENT = drawItems(["220", "21", "2", "20", "2", "02", "21", "2-"]);

describe("compareCheckpoints", () => {
  it("lists what was gained and what was lost", () => {
    const { gained, lost, estimate, n, n_tasks } = compareCheckpoints(BASE, STUDENT);
    expect(gained).toEqual(["q0-1", "q1-0", "q2-0", "q3-0", "q6-0", "q7-0"]);
    expect(lost).toEqual(["q5-0"]);
    expect({ estimate, n, n_tasks }).toEqual({ estimate: 5 / 15, n: 15, n_tasks: 8 });
  });

  it("splits the difference into accuracy and consistency without rest", () => {
    const { estimate, decomposition } = compareCheckpoints(BASE, STUDENT);
    expect(decomposition.accuracy.estimate + decomposition.consistency.estimate).toBeCloseTo(estimate, 12);
  });

  it("gives the same numbers for items in another order", () => {
    expect(compareCheckpoints(BASE.toReversed(), STUDENT)).toEqual(compareCheckpoints(BASE, STUDENT));
  });

  it("turns round with the sides", () => {
    const there = compareCheckpoints(BASE, STUDENT);
    const back = compareCheckpoints(STUDENT, BASE);
    expect(back.estimate).toBe(-there.estimate);
    expect(back.p_sign_flip).toBe(there.p_sign_flip);
    expect(back.lost).toEqual(there.gained);
  });

  it("does not claim certainty when nothing changed", () => {
    const { estimate, ci, p_sign_flip, mde, note } = compareCheckpoints(BASE, BASE);
    expect({ estimate, p_sign_flip, mde }).toEqual({ estimate: 0, p_sign_flip: 1, mde: null });
    expect(ci?.[1]).toBeCloseTo(0.3244, 4);
    expect(note).toContain("no spread between tasks");
  });

  it("gives no interval from one task", () => {
    const delta = compareCheckpoints(drawItems(["20"]), drawItems(["22"]));
    expect(delta).toMatchObject({ se: null, ci: null, df: null, note: "one task: no standard error" });
  });

  it("refuses unequal sets of questions and names one", () => {
    expect(() => compareCheckpoints(BASE, STUDENT.slice(1))).toThrow(/"q0-0"/);
    expect(() => compareCheckpoints(BASE, STUDENT.slice(1))).toThrow(NotComparableError);
  });

  it("refuses an item given twice", () => {
    expect(() => compareCheckpoints(BASE, [...STUDENT, ...STUDENT])).toThrow(NotComparableError);
  });

  it("refuses a question whose task differs between the sides", () => {
    const moved = STUDENT.map((item) => ({ ...item, taskId: "another" }));
    expect(() => compareCheckpoints(BASE, moved)).toThrow(/belongs to task "t0" on one side and "another"/);
  });

  it("refuses two empty sets", () => {
    expect(() => compareCheckpoints([], [])).toThrow(NotComparableError);
  });
});

describe("refuseSeenTasks", () => {
  const itemTasks = new Map([
    ["q1", "constructor"],
    ["q2", "t2"],
  ]);

  it("names the questions whose task was trained on", () => {
    const trainedTasks = new Set(["t2", "t3"]);
    expect(() => refuseSeenTasks({ itemTasks, trainedTasks, checkpoint: "fold 0 distilled" })).toThrow(
      /"q2" of task "t2"/,
    );
  });

  it("lets a checkpoint of other tasks pass", () => {
    expect(() =>
      refuseSeenTasks({ itemTasks, trainedTasks: new Set(["t3"]), checkpoint: "x" }),
    ).not.toThrow();
  });
});
