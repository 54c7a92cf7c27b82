import type { ExplainedPlan, ExplainedStage } from "../stages/explain-plan.ts";

const WIDTH = 100;
const GIB = 1024 ** 3;

/** A plan for people, no line over 100 columns. */
export function planLines(plan: ExplainedPlan): string[] {
  return [
    ...wrapped(
      `${plan.model.source}: ${(plan.model.parameters / 1e9).toFixed(2)} G parameters (${plan.model.sizes_from})`,
    ),
    row(["stage", "state", "tokens", "unique", "PFLOP", "h at 30 %", "40 %", "50 %", "GiB"]),
    ...plan.stages.map(stageRow),
    totalRow(plan),
    `reading the weights for each written token, whatever the utilisation: ${amount(plan.decode_hours_to_compute)} h`,
    ...memoryLines(plan),
    ...whyLines(plan),
  ];
}

function stageRow(stage: ExplainedStage): string {
  const { tokens, unique_tokens, flops, hours, memory, fits } = stage;
  return row([
    stage.label,
    stage.state,
    short(tokens),
    short(unique_tokens),
    amount(flops / 1e15),
    ...hourCells(hours),
    `${amount(memory.total / GIB)}${fits ? " " : "!"}`,
  ]);
}

function totalRow(plan: ExplainedPlan): string {
  const { tokens_to_compute, unique_tokens_to_compute, flops_to_compute, hours_to_compute } = plan;
  const tokens = [short(tokens_to_compute), short(unique_tokens_to_compute)];
  return row([
    "to compute",
    "",
    ...tokens,
    amount(flops_to_compute / 1e15),
    ...hourCells(hours_to_compute),
    "",
  ]);
}

function hourCells({ at_30_percent, at_40_percent, at_50_percent }: ExplainedStage["hours"]): string[] {
  return [at_30_percent, at_40_percent, at_50_percent].map(amount);
}

/** Of the stage that needs most: what its memory goes to, and how long a prompt may be. */
function memoryLines({ stages, accelerator, ...plan }: ExplainedPlan): string[] {
  const most = stages.reduce((largest, next) => (next.memory.total > largest.memory.total ? next : largest));
  const { memory } = most;
  const rate = accelerator.flops_per_second;
  const parts: readonly (readonly [string, number])[] = [
    [`weights, ${plan.model.dtype}`, memory.weights],
    [most.stage === "distil" || most.stage === "calibrate" ? "LoRA + optimizer" : "LoRA", memory.adapter],
    ["stored activations", memory.stored],
    ["peak of a layer", memory.layer],
    ["embeddings and last states", memory.edges],
    ["loss chunk or logits", memory.head],
    ["KV cache and states", memory.cache],
    ["runtime", memory.runtime],
  ];
  const verdict = most.fits ? "fits" : "does not fit";
  const rule = most.longest_that_fits > 0 ? `${most.longest_that_fits} tokens at most` : "at no length";
  return [
    "",
    `${accelerator.name}: ${amount(rate / 1e12)} TFLOP/s at peak, ${gib(accelerator.usable_bytes).trim()} GiB usable (${accelerator.source})`,
    `memory at its peak, ${most.label}, GiB:`,
    ...parts.map(([name, bytes]) => `  ${name.padEnd(28)}${gib(bytes)}`),
    `  ${"total".padEnd(28)}${gib(memory.total)}  ${verdict}; a prompt with its reply: ${rule}`,
    ...(memory.host > 0 ? [`  ${"in host memory".padEnd(28)}${gib(memory.host)}`] : []),
  ].flatMap(wrapped);
}

/** One line for all stages that have the same reason. */
function whyLines({ stages }: ExplainedPlan): string[] {
  const byReason = new Map<string, string[]>();
  for (const { why, label } of stages) byReason.set(why, [...(byReason.get(why) ?? []), label]);
  const lines = Array.from(byReason, ([why, labels]) => {
    return `${labels.length === stages.length ? "all stages" : labels.join("; ")}: ${why}`;
  });
  return ["", ...lines.flatMap(wrapped)];
}

function row(cells: readonly string[]): string {
  const [label = "", state = "", ...figures] = cells;
  const widths = [8, 8, 9, 10, 8, 8, 9];
  const right = figures.map((figure, index) => figure.padStart(widths[index] ?? 8));
  return `${label.slice(0, 29).padEnd(30)}${state.padEnd(8)}${right.join("")}`.trimEnd();
}

function short(tokens: number): string {
  if (tokens >= 1e10) return `${amount(tokens / 1e9)} G`;
  return tokens >= 1e6 ? `${(tokens / 1e6).toFixed(1)} M` : `${(tokens / 1000).toFixed(1)} k`;
}

/** Three figures, whatever the size. */
function amount(value: number): string {
  if (value >= 1e5) return value.toExponential(1);
  if (value >= 100 || value === 0) return value.toFixed(0);
  return value >= 0.01 ? value.toPrecision(3) : value.toExponential(0);
}

function gib(bytes: number): string {
  const text = bytes > 0 && bytes < 0.005 * GIB ? "<0.01" : (bytes / GIB).toFixed(2);
  return text.padStart(7);
}

function wrapped(line: string): string[] {
  if (line.length <= WIDTH) return [line];
  const cut = line.lastIndexOf(" ", WIDTH);
  if (cut <= 4) return [line.slice(0, WIDTH), ...wrapped(`    ${line.slice(WIDTH)}`)];
  return [line.slice(0, cut), ...wrapped(`    ${line.slice(cut + 1)}`)];
}
