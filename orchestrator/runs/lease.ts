import { readFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { z } from "zod";

const leaseSchema = z.object({
  attempt: z.int().min(1),
  host: z.string(),
  pid: z.int().min(1),
  /** Field 22 of /proc/PID/stat: tells a process from a later one with the same number; null elsewhere. */
  start_ticks: z.int().min(0).nullable(),
});
export type Lease = z.infer<typeof leaseSchema>;

/** The lease of a stage folder if its holder still runs on this machine; `undefined` otherwise. */
export async function liveLease(folder: string): Promise<Lease | undefined> {
  const text = await readFile(join(folder, "lease.json"), "utf8").catch(() => undefined);
  const lease = text === undefined ? undefined : leaseSchema.parse(JSON.parse(text));
  if (lease === undefined || lease.host !== hostname()) return undefined;
  return (await isAlive(lease)) ? lease : undefined;
}

async function isAlive({ pid, start_ticks }: Lease): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
  if (stat === undefined) return false;
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  if (fields[0] === "Z") return false;
  return start_ticks === null || fields[19] === String(start_ticks);
}
