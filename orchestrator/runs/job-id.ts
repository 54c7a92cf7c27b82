import { randomBytes } from "node:crypto";

/** Name of a job folder: sorts by start time, never the same twice. */
export function newJobId(kind: string, now: Date = new Date()): string {
  const stamp = now.toISOString().replace(/[-:]/g, "").replace(/\..*/, "");
  return `${stamp}-${kind}-${randomBytes(3).toString("hex")}`;
}
