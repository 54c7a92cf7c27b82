// Kills the Python job or the control plane (SIGKILL) at a random moment, runs the same command again, and compares
// the adapters' hashes with those of an undisturbed run. Usage: node bench/kill-rounds.mjs [rounds] [seed]
// Needs a build (npm run build). Prints one JSON line; bench/results/kill-rounds.json holds the last one.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const rounds = Number(process.argv[2] ?? 20);
const seed = process.argv[3] ?? "0";
const recipe = writeRecipe();

const begun = Date.now();
const straight = mkdtempSync(join(tmpdir(), "palate-straight-"));
await finish(straight);
const undisturbed = (Date.now() - begun) / 1000;
const computing = events(straight).findLast(({ event }) => event === "job_done").t - firstStageTime(straight);
const wanted = adapters(straight);
const outcomes = [];
for (let round = 0; round < rounds; round += 1) outcomes.push(await disturb(round));
const line = {
  bench: "kill-rounds",
  rounds,
  same: outcomes.filter(({ same }) => same).length,
  adapters: wanted.length,
  killed: { python: count("python"), node: count("node") },
  undisturbed_seconds: Math.round(undisturbed),
  seconds: Math.round((Date.now() - begun) / 1000),
  outcomes,
  machine: `${cpus().length} x ${cpus()[0]?.model}, Node ${process.versions.node}`,
};
writeFileSync(join(root, "bench", "results", "kill-rounds.json"), `${JSON.stringify(line, null, 1)}\n`);
console.log(JSON.stringify(line));
process.exit(line.same === rounds ? 0 : 1);

async function disturb(round) {
  const checkpoints = mkdtempSync(join(tmpdir(), "palate-kill-"));
  const victim = draw(round, "victim") < 0.5 ? "python" : "node";
  // One kill in five may fall into set-up, which keeps nothing; the others fall between first stage and end.
  const early = draw(round, "phase") < 0.2;
  const child = start(checkpoints);
  const ended = new Promise((resolve) => child.once("exit", resolve));
  if (!early) await Promise.race([firstStage(checkpoints), ended]);
  const after = draw(round, "moment") * (early ? undisturbed - computing : computing);
  await Promise.race([delay(after * 1000), ended]);
  const stage = currentStage(checkpoints);
  if (victim === "node") child.kill("SIGKILL");
  else killPython(checkpoints);
  await ended;
  await finish(checkpoints);
  const same = JSON.stringify(adapters(checkpoints)) === JSON.stringify(wanted);
  console.error(
    `round ${round}: ${victim} after ${after.toFixed(1)} s in ${stage}: ${same ? "same" : "DIFFERENT"}`,
  );
  return { victim, after_seconds: Number(after.toFixed(1)), stage, same };
}

function start(checkpoints) {
  const args = [join(root, "dist", "cli.js"), "run", recipe, "--checkpoints", checkpoints, "--json"];
  return spawn(process.execPath, args, { cwd: root, stdio: "ignore" });
}

async function finish(checkpoints) {
  const code = await new Promise((resolve) => start(checkpoints).once("exit", resolve));
  if (code !== 0) throw new Error(`The run in ${checkpoints} ended with ${code}.`);
}

/** The job of this folder, by the pid in its own events: never by name. */
function killPython(checkpoints) {
  const started = events(checkpoints).findLast(({ event }) => event === "job_started");
  if (started === undefined) return;
  try {
    process.kill(started.pid, "SIGKILL");
  } catch (error) {
    if (error.code !== "ESRCH") throw error;
  }
}

async function firstStage(checkpoints) {
  while (firstStageTime(checkpoints) === undefined) await delay(50);
}

function firstStageTime(checkpoints) {
  return events(checkpoints).find(({ event }) => event === "stage_started")?.t;
}

/** The stage that was running, by its folder's name. */
function currentStage(checkpoints) {
  const key = events(checkpoints).findLast(({ event }) => event === "stage_started")?.key;
  if (key === undefined) return "set-up";
  const folder = readdirSync(join(checkpoints, "stages")).find((name) => name.endsWith(key));
  return folder?.split("-")[0] ?? "set-up";
}

function events(checkpoints) {
  const jobs = join(checkpoints, "jobs");
  const names = existsSync(jobs) ? readdirSync(jobs).sort() : [];
  return names.flatMap((name) => {
    const file = join(jobs, name, "events.jsonl");
    const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1) : [];
    return lines.map((text) => JSON.parse(text));
  });
}

function adapters(checkpoints) {
  const stages = join(checkpoints, "stages");
  return readdirSync(stages)
    .filter((name) => /^(distil|calibrate)-/.test(name))
    .sort()
    .map((name) => [
      name,
      JSON.parse(readFileSync(join(stages, name, "result.json"), "utf8")).adapter_sha256,
    ]);
}

function count(victim) {
  return outcomes.filter((outcome) => outcome.victim === victim).length;
}

/** A number from 0 to 1 that depends on seed, round and purpose alone. */
function draw(round, purpose) {
  return createHash("sha256").update(`${seed}:${round}:${purpose}`).digest().readUInt32BE() / 2 ** 32;
}

function writeRecipe() {
  const file = join(mkdtempSync(join(tmpdir(), "palate-recipe-")), "kill.yaml");
  const training = "{ optimizer: { questions_per_step: 1, epochs: 10 } }";
  writeFileSync(
    file,
    [
      "model: { source: tiny:llama }",
      "questions: { source: bundled:control, max_tasks: 4, prefix: prefix_text_short }",
      "split: { folds: [0] }",
      "prompts: { teacher_template: stated-answer, reasoning: none }",
      "reply: { max_reasoning_tokens: 4, choice: letters }",
      "generate: { traces: 2, sampling: { temperature: 1 } }",
      `distil: ${training}`,
      `calibrate: ${training}`,
      "execution: { threads: 1, checkpoint_every_steps: 3 }",
      "",
    ].join("\n"),
  );
  return file;
}
