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

/** Tokens of a question's prompts on one side, presentation by presentation, and how many all begin with. */
export interface SideLengths {
  readonly prompts: readonly number[];
  readonly shared: number;
}

/** How long each question's prompts are, by side. */
export async function tableLengths(
  file: string,
): Promise<ReadonlyMap<string, { readonly student: SideLengths; readonly teacher: SideLengths }>> {
  const table = tableFromIPC(await readFile(file));
  const sides = new Map<string, { student: Int32Array[]; teacher: Int32Array[] }>();
  for (const row of table) {
    const before = sides.get(row["question_id"]) ?? { student: [], teacher: [] };
    before.student.push(row["student_ids"].toArray());
    before.teacher.push(row["teacher_ids"].toArray());
    sides.set(row["question_id"], before);
  }
  return new Map(
    Array.from(sides, ([id, { student, teacher }]) => [
      id,
      { student: lengthsOf(student), teacher: lengthsOf(teacher) },
    ]),
  );
}

function lengthsOf(prompts: readonly Int32Array[]): SideLengths {
  const first = prompts[0] ?? new Int32Array();
  let shared = 0;
  while (shared < first.length && prompts.every((ids) => ids[shared] === first[shared])) shared += 1;
  return { prompts: prompts.map((ids) => ids.length), shared };
}
