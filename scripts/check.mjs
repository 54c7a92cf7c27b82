// `npm run check`: formatting, lint, types and unused code, in both languages.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { ROOT, setUp, VENV_PYTHON } from "./setup.mjs";

setUp({ dev: true });
const bridge = join(ROOT, "python-bridge");
const results = [
  check("biome", "npx", ["biome", "ci", "."]),
  check("tsc", "npx", ["tsc", "--noEmit"]),
  check("knip", "npx", ["knip"]),
  check("ruff", VENV_PYTHON, ["-m", "ruff", "check", "."], bridge),
  check("ruff format", VENV_PYTHON, ["-m", "ruff", "format", "--check", "."], bridge),
  check("pyright", "npx", ["pyright", "-p", bridge]),
];
process.exit(results.every(Boolean) ? 0 : 1);

function check(name, command, args, cwd = ROOT) {
  const { status } = spawnSync(command, args, { cwd, stdio: "inherit" });
  console.error(`check: ${name}: ${status === 0 ? "ok" : "FAILED"}`);
  return status === 0;
}
