import { readFile } from "node:fs/promises";
import { cpus, totalmem } from "node:os";
import { type Accelerator, cpuAccelerator, namedAccelerator } from "../cost/accelerators.ts";

/** A card of the table by its name, or this machine's processor. */
export async function describeAccelerator(name: string): Promise<Accelerator> {
  if (name !== "cpu") return namedAccelerator(name);
  const info = await readFile("/proc/cpuinfo", "utf8").catch(() => "");
  const flags = /^flags\s*:(.*)$/m.exec(info)?.[1]?.trim().split(/\s+/) ?? [];
  const processors = cpus();
  const hertz = 1e6 * (processors[0]?.speed ?? 0);
  return cpuAccelerator({ cores: processors.length, hertz, flags: new Set(flags), bytes: totalmem() });
}
