/*
 * How long a split of many questions takes, and how much memory: `npm run build`, then `node bench/folds.mjs`.
 * Each size runs in its own process, so that one peak does not hide another. Growth is taken from CPU seconds,
 * which other work on the machine disturbs less. Prints one JSON line.
 */
import { execFileSync } from "node:child_process";
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";
import { buildManifest, DEFAULT_NEAR_DUPLICATE } from "../dist/folds/build.js";
import { formatManifest } from "../dist/folds/manifest.js";

const SIZES = [25_000, 50_000, 100_000];
/** The costliest shape: every question brings a text of its own. */
const QUESTIONS_PER_TASK = 1;

const [size] = process.argv.slice(2).map(Number);
if (size === undefined) report();
else process.stdout.write(JSON.stringify(measure(size)));

function report() {
  const file = fileURLToPath(import.meta.url);
  const sizes = SIZES.map((n) => JSON.parse(execFileSync(process.execPath, [file, String(n)]).toString()));
  const [first, , last] = sizes;
  const growth = last.cpu_seconds / first.cpu_seconds / (last.questions / first.questions);
  const machine = { cpu: cpus()[0]?.model.trim(), cores: cpus().length, node: process.version };
  console.log(
    JSON.stringify({ bench: "folds", sizes, growth_against_linear: Number(growth.toFixed(2)), machine }),
  );
}

function measure(n) {
  const { questions, planted } = madeUpQuestions(n);
  const start = performance.now();
  const startCpu = process.cpuUsage();
  const manifest = buildManifest({
    digest: "0".repeat(64),
    questions,
    k: 2,
    seed: 0,
    nearDuplicate: DEFAULT_NEAR_DUPLICATE,
  });
  const bytes = formatManifest(manifest).length;
  const seconds = (performance.now() - start) / 1000;
  const { user, system } = process.cpuUsage(startCpu);
  const joins = manifest.groups.flatMap((group) => group.joins);
  const found = new Set(joins.map(({ a, b }) => `${a} ${b}`));
  return {
    questions: n,
    tasks: n / QUESTIONS_PER_TASK,
    seconds: Number(seconds.toFixed(2)),
    cpu_seconds: Number(((user + system) / 1e6).toFixed(2)),
    peak_rss_mb: Math.round(process.resourceUsage().maxRSS / 1024),
    manifest_mb: Number((bytes / 2 ** 20).toFixed(1)),
    groups: manifest.groups.length,
    planted_near_duplicates: planted.length,
    found_near_duplicates: planted.filter((pair) => found.has(pair)).length,
    fold_sizes: manifest.folds.map((fold) => fold.n),
  };
}

/**
 * Texts of 150 words: of a hundred tasks 5 are near-duplicates of the one before (three words put in front), 5
 * carry one long issue that all of them share, 30 begin with one of a few policies of 150 words.
 */
function madeUpQuestions(n) {
  const random = generator(1);
  const policies = Array.from({ length: 20 }, () => words(random, 150));
  const shared = words(random, 150);
  const planted = [];
  const questions = [];
  let before = "";
  for (let task = 0; questions.length < n; task += 1) {
    const task_id = `task-${String(task).padStart(6, "0")}`;
    const kind = task % 100;
    let query = words(random, 150);
    if (kind % 20 === 1) {
      query = `${words(random, 3)} ${before}`;
      planted.push(`task-${String(task - 1).padStart(6, "0")} ${task_id}`);
    } else if (kind % 20 === 5) query = shared;
    else if (kind >= 70) query = `${policies[Math.floor(random() * policies.length)]} ${query}`;
    before = query;
    for (let item = 0; item < QUESTIONS_PER_TASK; item += 1) {
      const cell = ["detour_engineering", "parallel_engineering", "detour_research"][(task + item) % 3];
      questions.push({ id: `${task_id}-${item}`, task_id, query, cell });
    }
  }
  return { questions, planted };
}

/** A small vocabulary used unevenly, as words are. */
function words(random, count) {
  return Array.from({ length: count }, () => `w${Math.floor(20_000 ** random())}`).join(" ");
}

function generator(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}
