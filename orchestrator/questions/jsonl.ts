import { readLines } from "./lines.ts";
import type { RawRow } from "./raw-row.ts";

/** Streams the rows of a JSONL file (optionally gzip); blank lines are passed over but counted. */
export async function* readJsonl(file: string): AsyncGenerator<RawRow> {
  for await (const line of readLines(file)) {
    const place = { file, at: `line ${line.number}` };
    if (line.broken !== undefined) yield { ...place, value: undefined, broken: line.broken };
    else if (!/^[ \t\r]*$/.test(line.text)) yield { ...place, ...parseLine(line.text) };
  }
}

function parseLine(text: string): Pick<RawRow, "value" | "broken"> {
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return { value: undefined, broken: `is not JSON (${shorten(String(error))})` };
  }
}

function shorten(message: string): string {
  return message.length > 120 ? `${message.slice(0, 120)}...` : message;
}
