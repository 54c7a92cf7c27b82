import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { BridgeError, NotComparableError, StoppedError, UsageError } from "../../orchestrator/errors.ts";
import { readQuestions } from "../../orchestrator/questions/read.ts";
import { readRun } from "../../orchestrator/runs/run-file.ts";
import { stageFolder } from "../../orchestrator/runs/stage-store.ts";
import { listStatus, runStatus } from "../../orchestrator/stages/status.ts";
import { verifyRun } from "../../orchestrator/stages/verify.ts";
import { emptyCheckpoints, runTiny, tinyRecipe } from "./tiny-recipe.ts";

let checkpoints: string;
let first: Awaited<ReturnType<typeof runTiny>>;

beforeAll(async () => {
  checkpoints = await emptyCheckpoints();
  first = await runTiny(checkpoints);
});

async function adapters(folder: string, name: string): Promise<string[]> {
  const run = await readRun(folder, name);
  const results = run.stages.map(({ stage, key }) => join(stageFolder(folder, stage, key), "result.json"));
  const texts = await Promise.all(results.map((file) => readFile(file, "utf8")));
  return texts.flatMap((text) => JSON.parse(text).adapter_sha256 ?? []);
}

describe("the main job on random weights, through the real bridge", () => {
  it("scores base, distilled and calibrated on the held-out side", () => {
    const { pooled, folds } = first.summary;
    expect(folds).toHaveLength(1);
    for (const name of ["base", "distilled", "calibrated"] as const) expect(pooled[name]?.n).toBe(4);
    expect(pooled.delta?.n).toBe(4);
  });

  it("computes nothing when it is run again", async () => {
    const again = await runTiny(checkpoints);
    expect(again.reused).toBe(again.stages);
    expect(again.events).toEqual([]);
    expect(again.summary).toEqual(first.summary);
  });

  it("gives the same adapters from scratch", async () => {
    const other = await emptyCheckpoints();
    const second = await runTiny(other);
    expect(second.name).toBe(first.name);
    expect(await adapters(other, second.name)).toEqual(await adapters(checkpoints, first.name));
  });

  it("shares base scores and teacher traces with a run that trains otherwise", async () => {
    const other = tinyRecipe({ distil: { optimizer: { questions_per_step: 2, max_steps: 1 } } });
    const run = await runTiny(checkpoints, { loaded: other });
    expect(run.reused).toBe(2);
    expect(run.name).not.toBe(first.name);
  });

  it("verifies, and a changed weight file is found", async () => {
    expect((await verifyRun(checkpoints, first.name)).faults).toEqual([]);
    const run = await readRun(checkpoints, first.name);
    const distil = run.stages.find(({ stage }) => stage === "distil");
    const file = join(
      stageFolder(checkpoints, "distil", distil?.key ?? ""),
      "adapter",
      "adapter_config.json",
    );
    const before = await readFile(file);
    await writeFile(file, "{}");
    expect((await verifyRun(checkpoints, first.name)).faults).toEqual([
      expect.stringMatching(/distil: .*adapter_config\.json has changed/),
    ]);
    await writeFile(file, before);
  });

  it("refuses to sum up scores of an adapter whose lineage holds a held-out question", async () => {
    const run = await readRun(checkpoints, first.name);
    const distil = run.stages.find(({ stage }) => stage === "distil");
    const file = join(stageFolder(checkpoints, "distil", distil?.key ?? ""), "adapter", "lineage.json");
    const text = await readFile(file, "utf8");
    const lineage = JSON.parse(text);
    const score = run.stages.find(({ label }) => label === "fold 0: score distilled");
    const records = join(stageFolder(checkpoints, "score", score?.key ?? ""), "records.jsonl");
    const heldOut = JSON.parse((await readFile(records, "utf8")).split("\n")[0] ?? "").question_id;
    await writeFile(file, JSON.stringify({ ...lineage, question_ids: [...lineage.question_ids, heldOut] }));
    await expect(runTiny(checkpoints)).rejects.toThrow(NotComparableError);
    await writeFile(file, text);
    expect((await runTiny(checkpoints)).summary).toEqual(first.summary);
  });
});

describe("what a run refuses", () => {
  it("a name that another recipe's run has", async () => {
    const other = tinyRecipe({ seed: 7 });
    await expect(runTiny(checkpoints, { loaded: other, name: first.name })).rejects.toThrow(UsageError);
    expect((await readRun(checkpoints, first.name)).recipe.seed).toBe(0);
  });

  it("a fold that the recipe does not run", async () => {
    await expect(runTiny(checkpoints, { fold: 1 })).rejects.toThrow(/runs the folds 0/);
  });

  it("prompts that leave no token for a reply, before any weights are loaded", async () => {
    const questions = { source: "bundled:control", max_tasks: 2, prefix: "prefix_text_short" } as const;
    const text = "x ".repeat(6000);
    const folder = await emptyCheckpoints();
    const file = join(folder, "long.jsonl");
    const set = await readQuestions("bundled:control", { cacheDir: "unused" });
    const rows = set.questions.map((question) =>
      JSON.stringify({ ...question, query: `${question.query} ${text}` }),
    );
    await writeFile(file, `${rows.join("\n")}\n`);
    const loaded = tinyRecipe({ questions: { ...questions, source: file }, split: { folds: [0] } });
    await expect(runTiny(folder, { loaded })).rejects.toThrow(/no token left for a reply/);
  });
});

describe("one run file that cannot be read", () => {
  it("hides no other run", async () => {
    const broken = join(checkpoints, "runs", "broken");
    await mkdir(broken, { recursive: true });
    await writeFile(join(broken, "run.json"), "{}");
    const lines = await listStatus(checkpoints);
    expect(lines.find(({ name }) => name === first.name)?.status).toBe("done");
    expect(lines.filter(({ status }) => status === "unreadable")).toHaveLength(1);
    await rm(broken, { recursive: true });
  });
});

describe("other numbers", () => {
  it("bfloat16, the whole vocabulary at the choice and free replies go through the chain too", async () => {
    const loaded = tinyRecipe({
      model: { source: "tiny:qwen3_5", dtype: "bfloat16" },
      reply: { max_reasoning_tokens: 2, choice: "letters" },
      distil: {
        loss: { choice_position: "vocabulary", direction: "jensen_shannon" },
        optimizer: { questions_per_step: 1, max_steps: 2 },
      },
      score: { sampling: { temperature: 0.7, top_p: 0.8, top_k: 20 } },
    });
    const run = await runTiny(await emptyCheckpoints(), { loaded });
    expect(run.summary.pooled.calibrated?.n).toBe(4);
  });
});

describe("a run that is interrupted", () => {
  it("stops with a checkpoint when asked, says so, and goes on to the same adapters", async () => {
    const folder = await emptyCheckpoints();
    const stop = new AbortController();
    const stopped = runTiny(folder, {
      stop: stop.signal,
      onEvent: (event) => (event.event === "step" ? stop.abort() : undefined),
    });
    await expect(stopped).rejects.toThrow(StoppedError);
    expect((await runStatus(folder, "latest")).status).toBe("stopped");
    const finished = await runTiny(folder);
    expect(finished.reused).toBeGreaterThan(0);
    expect(await adapters(folder, finished.name)).toEqual(await adapters(checkpoints, first.name));
  });

  it("is failed, not done, when the job is killed; the half stage is computed again", async () => {
    const folder = await emptyCheckpoints();
    let pid = 0;
    const killed = runTiny(folder, {
      onEvent: (event) => {
        if (event.event === "job_started") pid = event.pid;
        if (event.event === "step") process.kill(pid, "SIGKILL");
      },
    });
    await expect(killed).rejects.toThrow(BridgeError);
    expect((await runStatus(folder, "latest")).status).toBe("failed");
    const finished = await runTiny(folder);
    expect(await adapters(folder, finished.name)).toEqual(await adapters(checkpoints, first.name));
  });
});
