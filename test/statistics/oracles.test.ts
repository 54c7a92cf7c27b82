import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { clusteredMean } from "../../orchestrator/statistics/clustered-mean.ts";
import { mcnemarExact } from "../../orchestrator/statistics/mcnemar.ts";
import { pairedDelta } from "../../orchestrator/statistics/paired-delta.ts";
import { signFlip } from "../../orchestrator/statistics/sign-flip.ts";
import { tInterval } from "../../orchestrator/statistics/t-interval.ts";
import { wilsonInterval } from "../../orchestrator/statistics/wilson.ts";

const interval = z.tuple([z.number(), z.number()]);
const oracles = z
  .object({
    clustered: z.array(
      z.object({
        clusters: z.array(z.string()),
        values: z.array(z.number()),
        mean: z.number(),
        se: z.number(),
        iid_se: z.number(),
        ci: interval,
        df: z.number(),
      }),
    ),
    t_975: z.array(z.object({ df: z.number(), t: z.number() })),
    wilson: z.array(z.object({ share: z.number(), n: z.number(), ci: interval })),
    mcnemar: z.array(z.object({ gained: z.number(), lost: z.number(), p: z.number() })),
    sign_flip: z.array(z.object({ sums: z.array(z.number()), p: z.number() })),
  })
  .parse(JSON.parse(readFileSync(new URL("../fixtures/statistics/oracles.json", import.meta.url), "utf8")));

const DRAWS = { seed: 1, draws: 20_000 };

function expectNear(actual: number | null | undefined, oracle: number) {
  expect(Math.abs((actual ?? Number.NaN) - oracle)).toBeLessThan(1e-9);
}

describe("against statsmodels and scipy", () => {
  it.each(oracles.clustered)(
    "the clustered standard error and t interval agree at $df degrees of freedom",
    (row) => {
      const values = row.values.map((value, index) => ({ cluster: row.clusters[index] ?? "", value }));
      const moments = clusteredMean(values);
      expectNear(moments?.mean, row.mean);
      expectNear(moments?.se, row.se);
      expectNear(moments?.iidSe, row.iid_se);
      const delta = pairedDelta(values, DRAWS);
      expect(delta?.df).toBe(row.df);
      expectNear(delta?.ci?.[0], row.ci[0]);
      expectNear(delta?.ci?.[1], row.ci[1]);
    },
  );

  it.each(oracles.t_975)("the 97.5 % point of t agrees at $df degrees of freedom", ({ df, t }) => {
    expectNear(tInterval(0, 1, df)[1], t);
  });

  it.each(oracles.wilson)("the Wilson interval of $share on $n agrees", ({ share, n, ci }) => {
    const [low, high] = wilsonInterval(share, n);
    expectNear(low, ci[0]);
    expectNear(high, ci[1]);
  });

  it.each(oracles.mcnemar)("exact McNemar of $gained against $lost agrees", ({ gained, lost, p }) => {
    expectNear(mcnemarExact(gained, lost), p);
  });

  it.each(oracles.sign_flip)("the exact sign-flip p of $sums agrees", ({ sums, p }) => {
    const result = signFlip(sums, DRAWS);
    expect(result.exact).toBe(true);
    expectNear(result.p, p);
  });
});

describe("signFlip", () => {
  const many = Array.from({ length: 40 }, (_, index) => (index % 3 === 0 ? -1 : 1));

  it("draws above 16 clusters that moved, close to the binomial tail", () => {
    const { p, exact, draws } = signFlip(many, DRAWS);
    expect({ exact, draws }).toEqual({ exact: false, draws: 20_000 });
    expect(Math.abs(p - mcnemarExact(26, 14))).toBeLessThan(0.01);
  });

  it("gives the same p for the same seed", () => {
    expect(signFlip(many, DRAWS)).toEqual(signFlip(many, DRAWS));
  });

  it("never reports p = 0 from draws", () => {
    const { p } = signFlip(
      Array.from({ length: 40 }, () => 1),
      DRAWS,
    );
    expect(p).toBe(1 / 20_001);
  });

  it("refuses fewer than 10,000 draws", () => {
    expect(() => signFlip(many, { seed: 1, draws: 999 })).toThrow(RangeError);
  });
});
