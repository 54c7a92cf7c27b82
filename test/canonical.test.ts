import { describe, expect, it } from "vitest";
import { canonicalJson, sha256Hex } from "../orchestrator/canonical.ts";

describe("canonical JSON", () => {
  it("does not depend on the order of keys, and keeps that of arrays", () => {
    expect(canonicalJson({ b: [2, 1], a: { d: null, c: "é" } })).toBe('{"a":{"c":"é","d":null},"b":[2,1]}');
  });

  it.each([
    ["NaN", { a: [0, Number.NaN] }, "$.a[1]"],
    ["Infinity", { a: Number.POSITIVE_INFINITY }, "$.a"],
    ["undefined", { a: { b: undefined } }, "$.a.b"],
    ["a Date", [new Date(0)], "$[0]"],
    ["a Map", { m: new Map() }, "$.m"],
    ["a BigInt", { n: 1n }, "$.n"],
    ["a hole", Array(1), "$[0]"],
  ])("throws on %s and names the path", (_, value, path) => {
    expect(() => canonicalJson(value)).toThrow(`at ${path}.`);
  });

  it("has the digest that sha256sum gives", () => {
    expect(sha256Hex("{}")).toBe("44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a");
  });
});
