import { once } from "node:events";
import { createWriteStream } from "node:fs";
import type { Readable } from "node:stream";
import { execa } from "execa";
import { BridgeError } from "../errors.ts";

export interface ProcessRequest {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** stdout and stderr go straight to this file: no amount of noise passes through Node. */
  readonly logFile: string;
  /** Bytes of file descriptor 3, the event channel. */
  readonly onBytes: (chunk: Uint8Array) => void;
  /** First request to stop: SIGTERM, so that the job saves. */
  readonly stop?: AbortSignal;
  /** Second request: SIGKILL to the whole process group. */
  readonly kill?: AbortSignal;
  /** Seconds between SIGTERM and SIGKILL. */
  readonly graceSeconds?: number;
  /** Ends the job like `stop` after this time. */
  readonly limitSeconds?: number;
}

export interface ProcessEnd {
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly stopped: boolean;
}

/**
 * Runs one child in a process group of its own, with its stdin as a life line (it ends when this process does,
 * however that ends) and fd 3 as its event channel. Whatever is left of the group when the child has gone is
 * killed by group id, never by name.
 * @throws BridgeError when the command cannot be started.
 */
export async function runProcess(request: ProcessRequest): Promise<ProcessEnd> {
  const log = createWriteStream(request.logFile, { flags: "a" });
  await once(log, "open");
  try {
    const child = execa(request.command, request.args, {
      cwd: request.cwd,
      env: { PYTHONUTF8: "1", PYTHONUNBUFFERED: "1", ...request.env },
      stdio: ["pipe", log, log, "pipe"],
      detached: true,
      cleanup: false,
      buffer: false,
      reject: false,
    });
    const group = child.pid;
    const guard = guardGroup(request, group);
    const [, result] = await Promise.all([
      drain(child.stdio[3], request.onBytes),
      child,
      endGroup(child, group),
    ]).finally(() => {
      guard.dispose();
      if (group !== undefined) signalGroup(group, "SIGKILL");
    });
    if (group === undefined) throw notStarted(request.command, result.cause);
    return { exitCode: result.exitCode ?? null, signal: result.signal ?? null, stopped: guard.stopped() };
  } finally {
    log.close();
  }
}

async function drain(channel: unknown, onBytes: (chunk: Uint8Array) => void): Promise<void> {
  if (channel === undefined) return;
  for await (const chunk of channel as Readable) onBytes(chunk as Uint8Array);
}

/** A grandchild that survives its parent would hold the event channel open, and the accelerator with it. */
function endGroup(
  child: { once(event: "exit", listener: () => void): unknown },
  group?: number,
): Promise<void> {
  if (group === undefined) return Promise.resolve();
  return new Promise((resolve) => {
    child.once("exit", () => {
      signalGroup(group, "SIGKILL");
      resolve();
    });
  });
}

/** The stop flag is read between sequences: the longest one of a large model takes about two minutes. */
const GRACE_SECONDS = 180;

function guardGroup(request: ProcessRequest, group: number | undefined) {
  let stopped = false;
  const timers: NodeJS.Timeout[] = [];
  function stop(): void {
    if (stopped || group === undefined) return;
    stopped = true;
    signalProcess(group, "SIGTERM");
    timers.push(setTimeout(kill, (request.graceSeconds ?? GRACE_SECONDS) * 1000));
  }
  function kill(): void {
    stopped = true;
    if (group !== undefined) signalGroup(group, "SIGKILL");
  }
  request.stop?.addEventListener("abort", stop);
  request.kill?.addEventListener("abort", kill);
  if (request.stop?.aborted === true) stop();
  if (request.kill?.aborted === true) kill();
  if (request.limitSeconds !== undefined) timers.push(setTimeout(stop, request.limitSeconds * 1000));
  return {
    stopped: () => stopped,
    dispose() {
      for (const timer of timers) clearTimeout(timer);
      request.stop?.removeEventListener("abort", stop);
      request.kill?.removeEventListener("abort", kill);
    },
  };
}

function signalGroup(group: number, signal: NodeJS.Signals): void {
  signalProcess(-group, signal);
}

function signalProcess(target: number, signal: NodeJS.Signals): void {
  try {
    process.kill(target, signal);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "ESRCH") throw cause;
  }
}

function notStarted(command: string, cause: unknown): BridgeError {
  return new BridgeError(`Could not start ${command}.`, {
    nextStep: "Run the set-up again (npm start), or name an interpreter in PALATE_PYTHON.",
    facts: { command },
    cause,
  });
}
