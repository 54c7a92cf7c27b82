import { createHash } from "node:crypto";

/**
 * JSON with one form a value: keys sorted by code unit, no spaces. Throws a TypeError, naming the path, on
 * what has no stable form (NaN, Infinity, undefined, functions, Date, Map, BigInt), so that an identity can
 * never depend on how such a value happens to print.
 */
export function canonicalJson(value: unknown): string {
  return encode(value, "$");
}

export function sha256Hex(data: string | Uint8Array): string {
  return createHash("sha256").update(data).digest("hex");
}

function encode(value: unknown, path: string): string {
  if (value === null || typeof value === "boolean" || typeof value === "string") return JSON.stringify(value);
  if (typeof value === "number" && Number.isFinite(value)) return JSON.stringify(value);
  if (Array.isArray(value)) {
    return `[${Array.from(value, (item, index) => encode(item, `${path}[${index}]`)).join(",")}]`;
  }
  if (isPlainObject(value)) return encodeObject(value, path);
  throw new TypeError(`No stable form for ${describe(value)} at ${path}.`);
}

function encodeObject(value: Readonly<Record<string, unknown>>, path: string): string {
  const keys = Object.keys(value).sort(byCodeUnit);
  const fields = keys.map((key) => `${JSON.stringify(key)}:${encode(value[key], `${path}.${key}`)}`);
  return `{${fields.join(",")}}`;
}

function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Order of strings that is the same on every platform and in every locale. */
export function byCodeUnit(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function describe(value: unknown): string {
  if (typeof value === "number") return String(value);
  return typeof value === "object" ? (value?.constructor?.name ?? "object") : typeof value;
}
