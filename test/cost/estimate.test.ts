import { describe, expect, it } from "vitest";
import { cpuAccelerator, namedAccelerator } from "../../orchestrator/cost/accelerators.ts";
import { type CostSetting, estimateStage } from "../../orchestrator/cost/estimate.ts";
import { stageMemory } from "../../orchestrator/cost/peak.ts";
import type { StageWork } from "../../orchestrator/cost/work.ts";
import { UsageError } from "../../orchestrator/errors.ts";
import { qwen27b } from "./models.ts";

function setting(changes: Partial<CostSetting> = {}): CostSetting {
  return {
    architecture: qwen27b(),
    accelerator: namedAccelerator("a100-80gb"),
    dtype: "bfloat16",
    adapter: { rank: 32, targets: "auto" },
    adapterInputs: "float32",
    deltaCode: "torch",
    checkpointing: true,
    offload: false,
    chunkPositions: 256,
    direction: "forward",
    form: "sequences",
    ...changes,
  };
}

const QUESTION = { prompts: [8000, 8100], shared: 7500 };

function work(kind: StageWork["kind"], changes: Partial<StageWork> = {}): StageWork {
  return {
    kind,
    questions: [QUESTION, { prompts: [500, 500], shared: 450 }],
    each: 1,
    teacher: kind === "distil" ? [{ prompts: [9000, 9100], shared: 7500 }] : [],
    samples: 2,
    replyTokens: 600,
    passes: kind === "answer" ? 0 : 1,
    adapted: kind === "answer",
    ...changes,
  };
}

describe("a stage's estimate", () => {
  it("counts each sequence whole, and beside it the tokens that differ", () => {
    const { tokens, uniqueTokens } = estimateStage(setting(), work("calibrate", { questions: [QUESTION] }));
    expect(tokens).toBe(2 * (8000 + 8100) + 4 * 600);
    expect(uniqueTokens).toBe(7500 + 2 * (500 + 600) + 2 * (600 + 600));
  });

  it("passes the teacher once, however many epochs the student has", () => {
    const one = estimateStage(setting(), work("distil", { passes: 1 }));
    const three = estimateStage(setting(), work("distil", { passes: 3 }));
    const teacher = 2 * (9000 + 9100) + 4 * 600;
    expect(three.tokens - teacher).toBe(3 * (one.tokens - teacher));
    expect(estimateStage(setting(), work("distil", { passes: 0.5 })).tokens).toBe(one.tokens / 2);
  });

  it("is at 40 % utilisation three quarters of the hours at 30 % when nothing is decoded", () => {
    const [low = 0, middle = 0, high = 0] = estimateStage(setting(), work("distil")).seconds;
    expect(middle / low).toBeCloseTo(3 / 4, 10);
    expect(high / low).toBeCloseTo(3 / 5, 10);
  });

  it("needs a pass over the weights for each written token: 26 ms on an A100, as 38 tokens a second", () => {
    const one = work("answer", {
      questions: [{ prompts: [1], shared: 0 }],
      samples: 1,
      replyTokens: 1000,
      adapted: false,
    });
    const { decodeSeconds } = estimateStage(setting(), one);
    // Without the input embeddings, which are looked up and not read: 51.3 of the 53.8 GB.
    expect(1000 / decodeSeconds).toBeGreaterThan(38);
    expect(1000 / decodeSeconds).toBeLessThan(41);
  });

  it("shares the prompt in the shared form, exactly the tokens that are the same", () => {
    const shared = estimateStage(setting({ form: "shared" }), work("answer"));
    expect(shared.tokens).toBe(shared.uniqueTokens);
    const apart = estimateStage(setting(), work("answer"));
    expect(shared.tokens).toBeLessThan(apart.tokens);
    expect(shared.flops).toBeLessThan(apart.flops);
    expect(shared.decodeSeconds).toBeLessThan(apart.decodeSeconds);
  });

  it.each(["answer", "distil", "calibrate"] as const)("of %s grows with length, rank and samples", (kind) => {
    const base = estimateStage(setting(), work(kind));
    const longer = estimateStage(
      setting(),
      work(kind, { questions: [{ prompts: [8000, 9100], shared: 7500 }, ...work(kind).questions.slice(1)] }),
    );
    const ranked = estimateStage(setting({ adapter: { rank: 64, targets: "auto" } }), work(kind));
    const more = estimateStage(setting(), work(kind, { samples: 3 }));
    for (const other of [longer, ranked, more]) expect(other.flops).toBeGreaterThan(base.flops);
    for (const other of [longer, ranked]) {
      expect(other.memory.total).toBeGreaterThan(base.memory.total);
    }
    const together = setting({ form: "shared" });
    expect(stageMemory(together, work(kind, { samples: 3 })).total).toBeGreaterThan(
      stageMemory(together, work(kind)).total,
    );
  });

  it.each(["sequences", "shared"] as const)("in the form %s fits up to the length it names", (form) => {
    for (const kind of ["answer", "distil", "calibrate"] as const) {
      const { longestThatFits } = estimateStage(setting({ form }), work(kind));
      const size = Math.max(...QUESTION.prompts) + 600;
      const fitsAt = (length: number) => {
        const factor = length / size;
        const prompts = QUESTION.prompts.map((it) => it * factor);
        const scaled = { prompts, shared: QUESTION.shared * factor };
        const parts = stageMemory(
          setting({ form }),
          work(kind, { questions: [scaled], replyTokens: 600 * factor }),
        );
        return parts.total <= setting().accelerator.usableBytes;
      };
      expect(fitsAt(longestThatFits)).toBe(true);
      expect(fitsAt(longestThatFits + 2)).toBe(false);
    }
  });

  it("fits at no length when the weights alone are too large", () => {
    const small = setting({ accelerator: namedAccelerator("a100-40gb") });
    const { fits, longestThatFits } = estimateStage(small, work("distil"));
    expect({ fits, longestThatFits }).toEqual({ fits: false, longestThatFits: 0 });
  });

  it("of one question that stands for many is theirs, with the peak of one", () => {
    const many = Array.from({ length: 7 }, () => QUESTION);
    const apart = estimateStage(setting(), work("answer", { questions: many }));
    const means = estimateStage(setting(), work("answer", { questions: [QUESTION], each: 7 }));
    expect(means.tokens).toBe(apart.tokens);
    expect(means.flops / apart.flops).toBeCloseTo(1, 12);
    expect(means.decodeSeconds / apart.decodeSeconds).toBeCloseTo(1, 12);
    expect(means.memory.total).toBe(apart.memory.total);
  });

  it("takes the peak from the longest question where the others are means", () => {
    const longest = { prompts: [16_000, 16_200], shared: 15_000 };
    const means = estimateStage(setting(), work("distil", { longest }));
    const real = estimateStage(setting(), work("distil", { questions: [longest] }));
    expect(means.memory.layer).toBe(real.memory.layer);
    expect(means.tokens).toBe(estimateStage(setting(), work("distil")).tokens);
  });
});

describe("the accelerators", () => {
  it("are known by name, and others refused with the list", () => {
    expect(() => namedAccelerator("a100")).toThrow(UsageError);
    expect(namedAccelerator("a100-80gb").usableBytes / 1024 ** 3).toBeCloseTo(77, 5);
  });

  it("give a processor's peak from cores, clock and vector width", () => {
    const facts = { cores: 2, hertz: 3e9, bytes: 8e9 };
    const rate = (...flags: string[]) => cpuAccelerator({ ...facts, flags: new Set(flags) }).flopsPerSecond;
    expect(rate()).toEqual({ float32: 96e9, bfloat16: 96e9 });
    expect(rate("avx2", "avx512f", "avx512_bf16")).toEqual({ float32: 384e9, bfloat16: 768e9 });
  });
});
