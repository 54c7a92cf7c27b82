import { DataError } from "../errors.ts";
import type { HubToken } from "./hub-token.ts";

/** The hub as one data set sees it. */
export interface HubSession {
  readonly hubUrl: string;
  /** owner/name */
  readonly name: string;
  readonly token: HubToken | undefined;
  /** Throws a DataError in place of every refusal, except for a file that is not there. */
  readonly fetch: typeof globalThis.fetch;
  /** The DataError thrown last; the client's streams turn it into bare text. */
  readonly lastFailure: () => DataError | undefined;
}

type SessionOptions = Pick<HubSession, "hubUrl" | "name" | "token" | "fetch">;

/**
 * Wraps `fetch` for one data set, because @huggingface/hub drops the X-Error-Code header, without which a
 * gated data set and a missing one look the same (huggingface/datasets#5953), and because it takes the size
 * of a file from Content-Range, which servers that ignore Range do not send.
 */
export function openSession(options: SessionOptions): HubSession {
  let failure: DataError | undefined;
  const explainingFetch: typeof globalThis.fetch = async (input, init) => {
    try {
      const response = await options.fetch(input, init);
      if (response.ok) return withContentRange(response);
      // The client itself makes "no such file" of this one.
      if (errorCode(response) === "EntryNotFound") return response;
      await response.body?.cancel();
      failure = refusal(response, options);
    } catch (error) {
      failure = unreachable(error, options);
    }
    throw failure;
  };
  return { ...options, fetch: explainingFetch, lastFailure: () => failure };
}

/** Page of the data set, where access is asked for. */
function datasetPage({ hubUrl, name }: Pick<HubSession, "hubUrl" | "name">): string {
  return `${hubUrl}/datasets/${name}`;
}

function withContentRange(response: Response): Response {
  const length = response.headers.get("content-length");
  const encoded = response.headers.has("content-encoding");
  if (response.status !== 200 || length === null || encoded) return response;
  const headers = new Headers(response.headers);
  headers.set("content-range", `bytes 0-${Number(length) - 1}/${length}`);
  return new Response(response.body, { status: response.status, headers });
}

function refusal(response: Response, session: SessionOptions): DataError {
  const { status } = response;
  const code = errorCode(response);
  const { message, nextStep } = explain(status, code, session);
  const facts = { dataset: session.name, page: datasetPage(session), status, error_code: code };
  return new DataError(message, { nextStep, facts });
}

function errorCode(response: Response): string {
  return response.headers.get("x-error-code") ?? "";
}

interface Explanation {
  readonly message: string;
  readonly nextStep: string;
}

function explain(status: number, code: string, session: SessionOptions): Explanation {
  if (code === "GatedRepo") return explainGate(session);
  if (status === 401 && session.token !== undefined) {
    return {
      message: `The hub says that the token in ${session.token.origin} is not valid.`,
      nextStep: "Copy the token again from the settings of your account, or remove it for open data sets.",
    };
  }
  if (status === 403) {
    return {
      message: `The hub forbids this account to read the data set ${session.name}: ${datasetPage(session)}`,
      nextStep: "Give the token the permission to read this data set.",
    };
  }
  if (status === 401 || status === 404) return explainMissing(code, session);
  return {
    message: `The hub at ${session.hubUrl} answered ${status} for the data set ${session.name}.`,
    nextStep: "Try again later.",
  };
}

function explainGate(session: SessionOptions): Explanation {
  const page = datasetPage(session);
  if (session.token === undefined) {
    return {
      message: `The data set ${session.name} is gated: it is there, but only for accounts with access. ${page}`,
      nextStep: `Ask for access on ${page}, then set HF_TOKEN to a token of that account.`,
    };
  }
  return {
    message: `The data set ${session.name} is gated, and this account has not been granted access. ${page}`,
    nextStep: `Ask for access on ${page} with the account that you use, and wait until it is granted.`,
  };
}

function explainMissing(code: string, { hubUrl, name, token }: SessionOptions): Explanation {
  if (code === "RevisionNotFound") {
    return {
      message: `The data set ${name} has no such revision at ${hubUrl}.`,
      nextStep: "Give a branch, a tag or a commit that the data set has.",
    };
  }
  if (token === undefined) {
    return {
      message: `The data set ${name} was not found at ${hubUrl}, or it is not visible without a token.`,
      nextStep: "Check the name; for a private data set set HF_TOKEN.",
    };
  }
  return { message: `The data set ${name} was not found at ${hubUrl}.`, nextStep: "Check owner and name." };
}

/** A failure without an answer; `unreachable` in its facts tells it from a refusal. */
function unreachable(error: unknown, { hubUrl, name }: SessionOptions): DataError {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "no answer";
  return new DataError(`The hub at ${hubUrl} could not be reached for ${name} (${code}).`, {
    nextStep: "Check the network and HF_ENDPOINT, then run the same command again.",
    facts: { dataset: name, unreachable: true },
  });
}
