import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { describe, expect, it } from "vitest";

const cli = fileURLToPath(new URL("../dist/cli.js", import.meta.url));

async function palate(...args: string[]) {
  const checkpoints = await mkdtemp(join(tmpdir(), "palate cli "));
  return execa(process.execPath, [cli, ...args], { reject: false, env: { PALATE_CHECKPOINTS: checkpoints } });
}

describe("the command", () => {
  it("lists what it can do", async () => {
    const { stdout, exitCode } = await palate("--help");
    expect(exitCode).toBe(0);
    for (const word of [
      "run",
      "plan",
      "status",
      "show",
      "lineage",
      "verify",
      "questions",
      "folds",
      "prompts",
    ]) {
      expect(stdout).toContain(`palate ${word}`);
    }
  });

  it.each([
    ["an unknown command", ["distill"]],
    ["an unknown flag", ["run", "quickstart", "--folds", "0"]],
    ["a fold that is no number", ["run", "quickstart", "--fold", "x"]],
    ["a recipe that does not exist", ["plan", "no-such"]],
    ["a question set that does not exist", ["questions", "check", "no/such/file.jsonl"]],
  ])("%s ends with 2 and one message on stderr", async (_, args) => {
    const { exitCode, stdout, stderr } = await palate(...args);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).toMatch(/^palate: /m);
    expect(stderr).not.toContain("    at ");
  });

  it("says how to start when there is no run", async () => {
    const { exitCode, stderr } = await palate("show");
    expect(exitCode).toBe(1);
    expect(stderr).toContain("palate run");
  });

  it("keeps data on stdout and JSON whole", async () => {
    const { stdout, exitCode } = await palate("questions", "check", "bundled:control", "--json");
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ questions: 320, tasks: 80 });
  });
});
