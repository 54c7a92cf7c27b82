import { DataError } from "../errors.ts";

/** One broken rule: where, in which columns (none: the row as a whole), and what is wrong, as the end of a sentence. */
export interface Fault {
  readonly file: string;
  readonly at: string;
  readonly columns: readonly string[];
  readonly id?: string | undefined;
  readonly message: string;
}

/** Takes one fault of a row or manifest whose place is known. */
export type Report = (columns: readonly string[], message: string) => void;

const SHOWN = 10;

/** One DataError for all faults (at least one): the first ten in words, every id and column in `facts`. */
export function faultsError(faults: readonly Fault[], nextStep: string): DataError {
  const [first] = faults;
  const shown = faults.slice(0, SHOWN).map(sentence);
  const more = faults.length > SHOWN ? [`and ${faults.length - SHOWN} more faults`] : [];
  const message =
    shown.length === 1 ? `${shown[0]}.` : `${faults.length} faults:\n  ${[...shown, ...more].join("\n  ")}`;
  return new DataError(message, {
    nextStep,
    facts: {
      file: first?.file ?? null,
      row: first?.at ?? null,
      column: first?.columns[0] ?? null,
      ids: distinct(faults.flatMap((fault) => fault.id ?? [])),
      columns: distinct(faults.flatMap((fault) => fault.columns)),
      faults: faults.length,
    },
  });
}

function sentence({ file, at, columns, id, message }: Fault): string {
  const place = [`${file} ${at}`, ...columns].join(", ");
  return `${id === undefined ? place : `${place} (id ${shownValue(id)})`}: ${message}`;
}

function distinct(values: readonly string[]): string[] {
  return [...new Set(values)];
}

/** A value for a message: quoted where it is text, escaped, cut where it is long. */
export function shownValue(value: unknown): string {
  if (typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value)) {
    return "a number beyond 2^53, whose last digits are lost";
  }
  if (typeof value === "bigint") return `${value}, which no number holds exactly`;
  const text = typeof value === "string" ? JSON.stringify(value) : printed(value);
  // Not cut through a pair of surrogates.
  return text.length > 80 ? `${text.slice(0, 80).replace(/\p{Surrogate}$/u, "")}...` : text;
}

function printed(value: unknown): string {
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (value instanceof Uint8Array) return "bytes that are not UTF-8";
  if (typeof value === "number") return `the number ${value}`;
  return typeof value === "object" && value !== null ? "an object" : String(value);
}
