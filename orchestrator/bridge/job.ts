import { existsSync } from "node:fs";
import { mkdir, open, rename, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { BridgeError, DataError, RunError, StoppedError } from "../errors.ts";
import { packageRoot } from "../package-root.ts";
import { type ChannelItem, createEventLines } from "./event-lines.ts";
import { type ProcessEnd, runProcess } from "./process.ts";
import { type BridgeEvent, eventSchema, JOB_EXIT, type Job } from "./protocol.ts";

export interface JobRequest {
  readonly job: Job;
  /** Folder of this attempt: job.json, events.jsonl, stderr.log, exit.json. */
  readonly folder: string;
  readonly onEvent?: (event: BridgeEvent) => void;
  readonly stop?: AbortSignal;
  readonly kill?: AbortSignal;
  readonly graceSeconds?: number;
  readonly limitSeconds?: number;
}

/**
 * Runs one Python job to its end and gives its events other than heartbeats.
 * @throws StoppedError when the job saved a checkpoint on request, RunError when it was fenced, DataError when
 * it refused its input, BridgeError for everything else; the message names what was said last.
 */
export async function runJob(request: JobRequest): Promise<BridgeEvent[]> {
  await mkdir(request.folder, { recursive: true });
  const jobFile = join(request.folder, "job.json");
  await writeFile(jobFile, `${JSON.stringify(request.job, null, 1)}\n`);
  const events: BridgeEvent[] = [];
  const channel = eventChannel(request, events);
  const end = await runProcess({
    command: pythonCommand(),
    args: ["-m", "palate_bridge", jobFile],
    cwd: join(packageRoot(), "python-bridge"),
    logFile: join(request.folder, "stderr.log"),
    onBytes: channel.push,
    ...(request.stop && { stop: request.stop }),
    ...(request.kill && { kill: request.kill }),
    ...(request.graceSeconds !== undefined && { graceSeconds: request.graceSeconds }),
    ...(request.limitSeconds !== undefined && { limitSeconds: request.limitSeconds }),
  });
  channel.end();
  await writeExit(request.folder, end);
  await refuseUnlessDone({ end, events, folder: request.folder, fault: channel.fault() });
  return events;
}

/** The interpreter: PALATE_PYTHON, or the environment that set-up made. */
export function pythonCommand(): string {
  return process.env["PALATE_PYTHON"] ?? join(packageRoot(), ".venv", "bin", "python");
}

function eventChannel(request: JobRequest, events: BridgeEvent[]) {
  const lines = createEventLines();
  let fault: string | undefined;
  function take(item: ChannelItem): void {
    const parsed = eventSchema.safeParse(item.kind === "event" ? item.value : undefined);
    if (!parsed.success) {
      fault ??= JSON.stringify(item).slice(0, 300);
      return;
    }
    if (parsed.data.event !== "heartbeat") events.push(parsed.data);
    request.onEvent?.(parsed.data);
  }
  return {
    push: (chunk: Uint8Array) => lines.push(chunk).forEach(take),
    end: () => lines.end().forEach(take),
    fault: () => fault,
  };
}

async function writeExit(folder: string, end: ProcessEnd): Promise<void> {
  const file = join(folder, "exit.json");
  const record = { exit_code: end.exitCode, signal: end.signal, stopped: end.stopped };
  await writeFile(`${file}.tmp`, `${JSON.stringify(record)}\n`);
  await rename(`${file}.tmp`, file);
}

interface Ended {
  readonly end: ProcessEnd;
  readonly events: readonly BridgeEvent[];
  readonly folder: string;
  readonly fault: string | undefined;
}

async function refuseUnlessDone({ end, events, folder, fault }: Ended): Promise<void> {
  if (fault !== undefined) {
    throw new BridgeError(`The Python job sent something that is not in the protocol: ${fault}`, {
      nextStep: "Run the set-up again so that both sides are of one version.",
      facts: { folder },
    });
  }
  if (end.exitCode === JOB_EXIT.done) return;
  const failed = events.findLast((event) => event.event === "failed");
  const said = failed?.message ?? (await lastLines(join(folder, "stderr.log")));
  throw endError(end, said, failed?.next_step ?? undefined, folder);
}

function endError(end: ProcessEnd, said: string, nextStep: string | undefined, folder: string): Error {
  const facts = { exit_code: end.exitCode, signal: end.signal, folder };
  const log = `The whole log is ${join(folder, "stderr.log")}.`;
  // A job that has not come so far as to listen dies of SIGTERM itself, and has nothing to save.
  if (end.exitCode === JOB_EXIT.checkpointed || (end.stopped && end.signal === "SIGTERM")) {
    return new StoppedError("Stopped; what was done is saved.", {
      nextStep: "Run the same command again to go on from there.",
      facts,
    });
  }
  if (end.stopped && end.signal === "SIGKILL") {
    return new BridgeError("Killed before it could save.", {
      nextStep: "Run the same command again to go on from the last checkpoint.",
      facts,
    });
  }
  if (end.exitCode === JOB_EXIT.fenced) {
    return new RunError(`Another run has taken over this stage. ${said}`, {
      nextStep: nextStep ?? log,
      facts,
    });
  }
  if (end.exitCode === JOB_EXIT.badInput) return new DataError(said, { nextStep: nextStep ?? log, facts });
  if (end.signal === "SIGKILL") {
    return new BridgeError(`The Python job was killed (SIGKILL, 137). ${said}`.trim(), {
      nextStep: `Out of memory is the usual cause: use a smaller batch, shorter prompts or more memory. ${log}`,
      facts,
    });
  }
  const verdict = end.signal === null ? `exit code ${end.exitCode}` : `signal ${end.signal}`;
  return new BridgeError(`The Python job failed with ${verdict}. ${said}`, {
    nextStep: nextStep ?? log,
    facts,
  });
}

/** The end of a log that may be of any size. */
async function lastLines(file: string): Promise<string> {
  if (!existsSync(file)) return "";
  const length = Math.min((await stat(file)).size, 4000);
  const handle = await open(file);
  try {
    const { buffer } = await handle.read(
      Buffer.alloc(length),
      0,
      length,
      (await handle.stat()).size - length,
    );
    return buffer.toString("utf8").trimEnd().split("\n").slice(-12).join("\n");
  } finally {
    await handle.close();
  }
}
