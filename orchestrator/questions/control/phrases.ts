import type { Question } from "../schema.ts";

type Domain = Question["domain"];
type Method = Question["method"];
type Some<T> = readonly [T, ...T[]];

/** Printed by the second step. {named} is the module that it names. */
interface Cue {
  /** What follows `[2] `; output lines are indented by four spaces, as in rendered runs. */
  readonly step: string;
  /** Why the supported candidate is the better one. Says no letter and no position. */
  readonly reason: string;
}

/** What the two candidates say, each of its own {module}. */
interface Wording {
  readonly current: string;
  readonly other: string;
}

/** At most 12 words, so that tasks cannot share a 13-gram of text. */
export const QUERIES: Readonly<Record<Domain, Some<string>>> = {
  engineering: [
    "Make the test suite of {repo} pass.",
    "Repair the broken build of {repo}.",
    "Get {repo} ready for its next release.",
    "Fix the regression reported against {repo}.",
  ],
  research: [
    "Raise the test accuracy of {repo}.",
    "Find out why {repo} misses its baseline.",
    "Reproduce the published score of {repo}.",
    "Lower the validation loss of {repo}.",
  ],
};

/** The first step: names no module, so that the cue is the one place that decides. */
export const OPENINGS: Readonly<Record<Method, Some<string>>> = {
  parallel: [
    "AGENT: Let me see what is open.",
    "AGENT: Two ways lie ahead.",
    "AGENT: I look for where to begin.",
    "AGENT: Checking the state first.",
  ],
  detour: [
    "AGENT: My edit is done.",
    "AGENT: I have worked on this part for a while.",
    "AGENT: Another change is in.",
    "AGENT: Checking the edit.",
  ],
};

/** The second step: the output names the module that the supported candidate acts on. */
export const CUES: Readonly<Record<Domain, Some<Cue>>> = {
  engineering: [
    {
      step: "$ pytest -q   (exit=1)\n    FAILED tests of {named}",
      reason: "The failing test names {named}, so {named} needs the work.",
    },
    {
      step: "$ make check   (exit=2)\n    error in {named}",
      reason: "The build stops with an error in {named}.",
    },
    {
      step: "$ pytest -x   (exit=1)\n    the traceback ends in {named}",
      reason: "The traceback ends in {named}, so {named} is broken.",
    },
  ],
  research: [
    {
      step: "$ python train.py   (exit=1)\n    loss is nan in {named}",
      reason: "The loss turns to nan in {named}, so {named} needs the work.",
    },
    {
      step: "$ python ablate.py   (exit=0)\n    the drop comes from {named}",
      reason: "The ablation traces the drop to {named}.",
    },
    {
      step: "$ python probe.py   (exit=0)\n    anomaly in {named}",
      reason: "The probe finds the anomaly in {named}.",
    },
  ],
};

/** In `parallel` both candidates use one wording; in `detour` one stays and one turns back. */
export const CANDIDATES: Readonly<Record<Method, Some<Wording>>> = {
  parallel: [
    { current: "Fix {module} first.", other: "Fix {module} first." },
    { current: "Work on {module} next.", other: "Work on {module} next." },
    { current: "Put the effort into {module}.", other: "Put the effort into {module}." },
    { current: "Start with {module}.", other: "Start with {module}." },
  ],
  detour: [
    { current: "Keep on changing {module}.", other: "Go back and fix {module}." },
    { current: "Stay with {module}.", other: "Return to {module}." },
    { current: "Go on with {module}.", other: "Turn back to {module}." },
    { current: "Continue the work on {module}.", other: "Stop and repair {module}." },
  ],
};

/** Replaces every `{slot}`; a slot without a value is a fault of the tables above. */
export function fill(template: string, slots: ReadonlyMap<string, string>): string {
  return template.replace(/\{(\w+)\}/g, (_, slot: string) => {
    const value = slots.get(slot);
    if (value === undefined) throw new TypeError(`No value for {${slot}} in "${template}".`);
    return value;
  });
}
