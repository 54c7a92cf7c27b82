import { readFile } from "node:fs/promises";
import {
  Bool,
  Field,
  Int32,
  List,
  Table,
  tableFromIPC,
  tableToIPC,
  Utf8,
  vectorFromArray,
} from "apache-arrow";
import { writeFileAtomic } from "./atomic-file.ts";

/** One row of the prompts file; the Python twin is palate_bridge/prompts_file.py. */
export interface PromptRow {
  readonly question_id: string;
  readonly order: "published" | "reversed";
  readonly supported: "A" | "B";
  readonly student_ids: readonly number[];
  readonly teacher_ids: readonly number[];
  readonly demonstration_ids: readonly number[];
  readonly student_text: string;
  readonly teacher_text: string;
  readonly opens_thinking: boolean;
}

const TEXT_COLUMNS = ["question_id", "order", "supported", "student_text", "teacher_text"] as const;
const ID_COLUMNS = ["student_ids", "teacher_ids", "demonstration_ids"] as const;

/** Writes an uncompressed Arrow IPC stream: compressed ones written from JavaScript are unreadable elsewhere. */
export async function writePrompts(file: string, rows: readonly PromptRow[]): Promise<void> {
  const idList = new List(new Field("item", new Int32(), true));
  const columns = {
    ...Object.fromEntries(
      TEXT_COLUMNS.map((name) => [
        name,
        vectorFromArray(
          rows.map((row) => row[name]),
          new Utf8(),
        ),
      ]),
    ),
    ...Object.fromEntries(
      ID_COLUMNS.map((name) => [
        name,
        vectorFromArray(
          rows.map((row) => row[name]),
          idList,
        ),
      ]),
    ),
    opens_thinking: vectorFromArray(
      rows.map((row) => row.opens_thinking),
      new Bool(),
    ),
  };
  await writeFileAtomic(file, tableToIPC(new Table(columns), "stream"));
}

export interface PromptLengths {
  /** Tokens of both presentations together, by side. */
  readonly student: number;
  readonly teacher: number;
  /** Tokens of the longest prompt of either side. */
  readonly longest: number;
}

/** Lengths by question id. */
export async function tableLengths(file: string): Promise<ReadonlyMap<string, PromptLengths>> {
  const lengths = new Map<string, PromptLengths>();
  for (const row of tableFromIPC(await readFile(file))) {
    const before = lengths.get(row["question_id"]) ?? { student: 0, teacher: 0, longest: 0 };
    const [student, teacher] = [row["student_ids"].length, row["teacher_ids"].length];
    lengths.set(row["question_id"], {
      student: before.student + student,
      teacher: before.teacher + teacher,
      longest: Math.max(before.longest, student, teacher),
    });
  }
  return lengths;
}
