import { describe, expect, it } from "vitest";
import { adapterParameters } from "../../orchestrator/cost/adapter.ts";
import { countParameters, matrixParameters } from "../../orchestrator/cost/architecture.ts";
import { forwardFlops, forwardParts, headFlops, trainingFlops } from "../../orchestrator/cost/flops.ts";
import { qwen27b } from "./models.ts";

/*
 * Arithmetic done by hand for Qwen3.6-27B from its published config: 17.11 + 5.56 + 1.68 = 24.35 G parameters in
 * the layers, two matrices of 1.271 G; per length GFLOP a token of training with checkpointing, of a forward
 * pass, and tokens a second of both at 40 % of an A100's 312 TFLOP/s. The adapter's own share was left out there.
 */
const TABLE = [
  { length: 4096, train: 151, forward: 49.8, trainRate: 826, forwardRate: 2506, sequences: 1092 },
  { length: 8192, train: 155, forward: 50.6, trainRate: 807, forwardRate: 2466, sequences: 534 },
  { length: 16_384, train: 162, forward: 52.2, trainRate: 771, forwardRate: 2390, sequences: 256 },
  { length: 32_768, train: 176, forward: 55.4, trainRate: 707, forwardRate: 2251, sequences: 118 },
  { length: 65_536, train: 205, forward: 61.9, trainRate: 607, forwardRate: 2017, sequences: 51 },
] as const;
const RATE = 0.4 * 312e12;

function perToken(length: number) {
  const request = { architecture: qwen27b(), spans: [{ context: 0, tokens: length }], adapter: null };
  const train = trainingFlops({ ...request, checkpointing: true }) / length;
  return { train, forward: forwardFlops(request) / length };
}

describe("Qwen3.6-27B on an A100, against the table made by hand", () => {
  it("has 24.35 G parameters in its matrices and 26.89 G in all", () => {
    expect(matrixParameters(qwen27b()) / 1e9).toBeCloseTo(24.35, 2);
    expect(countParameters(qwen27b()) / 1e9).toBeCloseTo(26.89, 1);
    expect(countParameters(qwen27b())).toBeGreaterThan(26.89e9);
  });

  it.each([
    [16, 108.8],
    [32, 217.6],
    [64, 435.2],
  ])("trains at rank %i %f M parameters with the automatic targets", (rank, millions) => {
    const count = adapterParameters(qwen27b(), { rank, targets: "auto" });
    expect(count / 1e6).toBeCloseTo(millions, 0);
  });

  it.each(TABLE)("costs at $length tokens what the table says, to 1 %", (row) => {
    const { train, forward } = perToken(row.length);
    expect(Math.abs(train / 1e9 / row.train - 1)).toBeLessThan(0.01);
    expect(Math.abs(forward / 1e9 / row.forward - 1)).toBeLessThan(0.01);
    expect(Math.abs(RATE / train / row.trainRate - 1)).toBeLessThan(0.01);
    expect(Math.abs(RATE / forward / row.forwardRate - 1)).toBeLessThan(0.01);
    const sequences = (7200 * RATE) / (row.length * (train + forward));
    expect(Math.abs(sequences / row.sequences - 1)).toBeLessThan(0.015);
  });

  it("takes 0.197 MFLOP a token and token of length for attention", () => {
    const { attention } = forwardParts({
      architecture: qwen27b(),
      spans: [{ context: 0, tokens: 10_000 }],
      adapter: null,
    });
    expect(attention / 10_000 / 10_000 / 1e6).toBeCloseTo(0.197, 3);
  });
});

describe("the count of FLOPs", () => {
  const architecture = qwen27b();

  it("is the same for a sequence in one piece and in two, the second behind the first", () => {
    const whole = forwardFlops({ architecture, spans: [{ context: 0, tokens: 700 }], adapter: null });
    const cut = [
      { context: 0, tokens: 650 },
      { context: 650, tokens: 50 },
    ];
    expect(forwardFlops({ architecture, spans: cut, adapter: null }) / whole).toBeCloseTo(1, 12);
  });

  it("grows with the rank, and more in training than in a forward pass", () => {
    const spans = [{ context: 0, tokens: 1000 }];
    const at = [4, 64].map((rank) => ({ architecture, spans, adapter: { rank, targets: "auto" as const } }));
    const forward = at.map(forwardFlops);
    const train = at.map((request) => trainingFlops({ ...request, checkpointing: true }));
    expect(forward[1]).toBeGreaterThan(forward[0] ?? Number.NaN);
    expect((train[1] ?? 0) - (train[0] ?? 0)).toBeCloseTo(4 * ((forward[1] ?? 0) - (forward[0] ?? 0)), -6);
  });

  it("is less without checkpointing by exactly one forward pass", () => {
    const request = { architecture, spans: [{ context: 0, tokens: 500 }], adapter: null };
    const more = trainingFlops({ ...request, checkpointing: true });
    const less = trainingFlops({ ...request, checkpointing: false });
    expect((more - less) / forwardFlops(request)).toBeCloseTo(1, 12);
  });

  it("takes 2.54 GFLOP for the vocabulary at one position", () => {
    expect(headFlops(architecture, 1) / 1e9).toBeCloseTo(2.54, 2);
  });
});
