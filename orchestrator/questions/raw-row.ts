/** One row as it stands in its file, not yet validated. */
export interface RawRow {
  readonly file: string;
  /** Where in the file: `line 3` (from 1) in JSONL, `row 0` (from 0) in parquet. */
  readonly at: string;
  readonly value: unknown;
  /** Why there is no value: the line is not UTF-8 or not JSON. */
  readonly broken?: string;
}
