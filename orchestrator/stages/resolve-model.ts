import { join } from "node:path";
import { runJob } from "../bridge/job.ts";
import { type BridgeEvent, PROTOCOL_VERSION } from "../bridge/protocol.ts";
import { BridgeError } from "../errors.ts";
import { newJobId } from "../runs/job-id.ts";

export interface ModelRequest {
  readonly source: string;
  readonly revision: string | null;
  readonly cacheDir: string;
  readonly checkpoints: string;
  /** Fetch only what prompts need: tokenizer and chat template. */
  readonly tokenizerOnly: boolean;
  readonly stop?: AbortSignal;
  readonly kill?: AbortSignal;
}

export interface ResolvedModel {
  readonly source: string;
  /** Folder with the tokenizer files and, unless tokenizerOnly, the weights. */
  readonly path: string;
  readonly revision: string | null;
  /** sha256 over the files of a local model, `hub:<id>@<commit>` for one of the hub. */
  readonly digest: string;
  readonly architecture: string;
}

/**
 * Turns what a recipe calls the model into files on this machine: converts the embedded one, downloads from the
 * hub at a pinned commit, or takes a local folder.
 * @throws DataError when the model is gated, missing or no model.
 */
export async function resolveModel(request: ModelRequest): Promise<ResolvedModel> {
  const folder = join(request.checkpoints, "jobs", newJobId("resolve"));
  const events = await runJob({
    job: {
      protocol: PROTOCOL_VERSION,
      kind: "resolve",
      source: request.source,
      revision: request.revision,
      cache_dir: request.cacheDir,
      tokenizer_only: request.tokenizerOnly,
    },
    folder,
    ...(request.stop && { stop: request.stop }),
    ...(request.kill && { kill: request.kill }),
  });
  const resolved = events.find(isResolved);
  if (resolved === undefined) {
    throw new BridgeError(`The Python job ended without saying where ${request.source} is.`, {
      facts: { folder },
    });
  }
  const { path, revision, digest, architecture } = resolved;
  return { source: request.source, path, revision, digest, architecture };
}

function isResolved(event: BridgeEvent): event is Extract<BridgeEvent, { event: "model_resolved" }> {
  return event.event === "model_resolved";
}
