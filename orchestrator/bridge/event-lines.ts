/** What a channel of JSON lines holds: an object with an `event` key, or noise. */
export type ChannelItem =
  | { readonly kind: "event"; readonly value: Readonly<Record<string, unknown>> }
  | { readonly kind: "noise"; readonly text: string };

export interface EventLines {
  /** Bytes as they arrive, however they are cut; returns the items completed by them. */
  push(chunk: Uint8Array): ChannelItem[];
  /** The last line counts even when no line end follows it. */
  end(): ChannelItem[];
}

const LINE_END = 0x0a;

/**
 * Splits a byte stream on 0x0A and tells events from noise: warnings, progress bars that end in a carriage
 * return, stray bytes. Bare NaN and Infinity, which Python writes and JSON forbids, become the texts "NaN",
 * "Infinity" and "-Infinity", so that a schema which wants a number refuses them by name.
 */
export function createEventLines(): EventLines {
  let rest: Uint8Array[] = [];
  function line(bytes: Uint8Array[]): ChannelItem[] {
    const text = new TextDecoder().decode(Buffer.concat(bytes));
    return text.trim() === "" ? [] : [readLine(text)];
  }
  return {
    push(chunk) {
      const items: ChannelItem[] = [];
      let from = 0;
      for (let end = chunk.indexOf(LINE_END); end !== -1; end = chunk.indexOf(LINE_END, from)) {
        items.push(...line([...rest, chunk.subarray(from, end)]));
        rest = [];
        from = end + 1;
      }
      if (from < chunk.length) rest.push(chunk.slice(from));
      return items;
    },
    end() {
      const items = line(rest);
      rest = [];
      return items;
    },
  };
}

function readLine(text: string): ChannelItem {
  const start = text.lastIndexOf("\r", text.trimEnd().length - 1) + 1;
  const value = parseLenient(text.slice(start));
  return isEvent(value) ? { kind: "event", value } : { kind: "noise", text };
}

function parseLenient(text: string): unknown {
  try {
    return JSON.parse(text.replace(/"(?:[^"\\]|\\.)*"|-?\b(?:NaN|Infinity)\b/g, quoteBareNumber));
  } catch {
    return undefined;
  }
}

function quoteBareNumber(token: string): string {
  return token.startsWith('"') ? token : `"${token}"`;
}

function isEvent(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && "event" in value && typeof value.event === "string";
}
