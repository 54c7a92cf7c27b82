import { fileURLToPath } from "node:url";

/** Folder that holds package.json, recipes/, data/ and python-bridge/, both from the sources and from dist/. */
export function packageRoot(): string {
  return fileURLToPath(new URL("..", import.meta.url));
}
