import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

export interface HubServer {
  readonly url: string;
  /** `METHOD path` of every request so far. */
  readonly requests: string[];
  /** What the data set acme/forks holds now; may be changed between requests. */
  readonly dataset: {
    commit: string;
    files: ReadonlyMap<string, string>;
    /** Send only this many bytes of data files, then end the connection. */
    cutAfter?: number;
  };
  readonly close: () => Promise<void>;
}

/** A hub on the loopback address with the open data set acme/forks, whose `v1.0` and `main` are one commit. */
export async function startHub(files: ReadonlyMap<string, string>): Promise<HubServer> {
  const requests: string[] = [];
  const dataset: HubServer["dataset"] = { commit: "a".repeat(40), files };
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    answer(dataset, request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () =>
    new Promise<void>((resolve) => {
      server.closeAllConnections();
      server.close(() => resolve());
    });
  onTestFinished(close);
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests, dataset, close };
}

function answer(dataset: HubServer["dataset"], request: IncomingMessage, response: ServerResponse): void {
  const { pathname } = new URL(request.url ?? "/", "http://hub");
  const revision = /^\/api\/datasets\/acme\/forks\/revision\/(.+)$/.exec(pathname)?.[1];
  if (revision !== undefined) {
    const known = ["main", "v1.0", dataset.commit].includes(decodeURIComponent(revision));
    if (!known) return void refuse(response, "RevisionNotFound");
    response.writeHead(200, { "content-type": "application/json" });
    return void response.end(JSON.stringify({ id: "acme/forks", sha: dataset.commit, gated: false }));
  }
  const path = /^\/datasets\/acme\/forks\/resolve\/[^/]+\/(.+)$/.exec(pathname)?.[1];
  const text = path === undefined ? undefined : dataset.files.get(decodeURIComponent(path));
  if (text === undefined) return void refuse(response, "EntryNotFound");
  sendFile(dataset, { request, response, text });
}

function refuse(response: ServerResponse, code: string): void {
  response.writeHead(404, { "x-error-code": code }).end();
}

interface Sending {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly text: string;
}

function sendFile({ cutAfter }: HubServer["dataset"], { request, response, text }: Sending): void {
  const bytes = Buffer.from(text);
  if (request.headers.range === "bytes=0-0") {
    response.writeHead(206, {
      etag: '"1"',
      "content-range": `bytes 0-0/${bytes.length}`,
      "content-length": 1,
    });
    return void response.end(bytes.subarray(0, 1));
  }
  response.writeHead(200, { etag: '"1"', "content-length": bytes.length });
  if (cutAfter === undefined) return void response.end(bytes);
  response.write(bytes.subarray(0, cutAfter), () => response.destroy());
}
