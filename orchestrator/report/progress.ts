import type { BridgeEvent } from "../bridge/protocol.ts";

export interface ProgressTarget {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
}

export interface Progress {
  /** One line of its own. */
  say(line: string): void;
  plan(chain: {
    readonly labels: ReadonlyMap<string, string>;
    readonly total: number;
    readonly done: number;
  }): void;
  event(event: BridgeEvent): void;
  end(): void;
}

/** Without a terminal, a line of a running stage is printed this often. */
const PLAIN_SECONDS = 10;

/** Progress of a run on stderr: one line redrawn in a terminal, plain lines elsewhere. */
export function createProgress(target: ProgressTarget, now: () => number = Date.now): Progress {
  const live = target.isTTY === true;
  let labels: ReadonlyMap<string, string> = new Map();
  let total = 0;
  let position = 0;
  let printedAt = 0;
  let drawn = false;
  function say(line: string): void {
    target.write(`${drawn ? "\r\x1b[2K" : ""}${line}\n`);
    drawn = false;
  }
  function redraw(line: string): void {
    if (live) {
      target.write(`\r\x1b[2K${line.slice(0, (target.columns ?? 100) - 1)}`);
      drawn = true;
    } else if (now() - printedAt >= PLAIN_SECONDS * 1000) {
      printedAt = now();
      say(line);
    }
  }
  return {
    say,
    plan(chain) {
      labels = chain.labels;
      total = chain.total;
      position = chain.done;
    },
    event(event) {
      if (event.event === "stage_started") {
        position += 1;
        printedAt = now();
      }
      const label = "key" in event && event.key !== null ? (labels.get(event.key) ?? "") : "";
      const line = eventLine(event, `[${position}/${total}] ${label}`.trim());
      if (line === undefined) return;
      if (event.event === "progress" || event.event === "step") redraw(line);
      else say(line);
    },
    end() {
      if (drawn) target.write("\n");
      drawn = false;
    },
  };
}

function eventLine(event: BridgeEvent, head: string): string | undefined {
  switch (event.event) {
    case "job_started":
      return `job: ${event.device}, ${event.threads} threads, torch ${event.versions["torch"] ?? "?"}`;
    case "model_loaded":
      return `model loaded in ${event.seconds.toFixed(1)} s, ${(event.parameters / 1e6).toFixed(0)} M parameters`;
    case "stage_started":
      return `${head}${event.done > 0 ? `: going on at ${event.done} of ${event.total}` : ""}`;
    case "progress":
      return `${head}: ${event.done}/${event.total}${pace(event)}`;
    case "step":
      return `${head}: step ${event.step}/${event.total}, loss ${fixed(event.loss, 4)}${pace(event)}`;
    case "stage_done":
      return `${head}: done in ${event.seconds.toFixed(0)} s`;
    case "warning":
      return `${head}: warning: ${event.message}`;
    case "failed":
    case "checkpointed":
    case "heartbeat":
    case "model_resolved":
    case "job_done":
      return undefined;
  }
}

function pace(event: { tokens_per_second: number | null; eta_seconds: number | null }): string {
  const speed = event.tokens_per_second === null ? "" : `, ${event.tokens_per_second.toFixed(0)} tokens/s`;
  return event.eta_seconds === null ? speed : `${speed}, ${duration(event.eta_seconds)} left`;
}

function fixed(value: number | null, digits: number): string {
  return value === null ? "not finite" : value.toFixed(digits);
}

/** Seconds for people: `45 s`, `3 min 20 s`, `2 h 05 min`. */
export function duration(seconds: number): string {
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${String(whole % 60).padStart(2, "0")} s`;
  return `${Math.floor(whole / 3600)} h ${String(Math.floor((whole % 3600) / 60)).padStart(2, "0")} min`;
}
