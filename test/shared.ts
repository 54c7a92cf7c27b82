import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/**
 * Folder of the reference data beside the checkout (real questions, real trajectories), which the project
 * reads in tests but does not carry. `undefined` where it is absent; tests then skip.
 */
export function sharedFolder(name: string): string | undefined {
  const folder = fileURLToPath(new URL(`../../shared/${name}`, import.meta.url));
  return existsSync(folder) ? folder : undefined;
}
