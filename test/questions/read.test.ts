import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { canonicalJson, sha256Hex } from "../../orchestrator/canonical.ts";
import { DataError } from "../../orchestrator/errors.ts";
import { readQuestions } from "../../orchestrator/questions/read.ts";
import { caseFile, jsonl, localFile, question, read, refusal, temporaryFolder } from "./cases.ts";

async function canonicalHash(source: string): Promise<string> {
  return sha256Hex(canonicalJson((await read(source)).questions));
}

test("U+2028, U+2029 and U+0085 inside a string do not cut the row", async () => {
  const file = caseFile("01-jsonl-line-separators/questions.jsonl");
  const { questions } = await read(file);
  expect(questions.map(({ id }) => id)).toEqual(["q-01", "q-02", "q-03"]);
  expect(questions[0]?.prefix_text.split("\u2028")).toHaveLength(2);
  expect(questions[1]?.choices[1].split("\u2029")).toHaveLength(2);
  expect(questions[2]?.query.split("\u0085")).toHaveLength(2);
  expect(await canonicalHash(file)).toBe("66bfe7ffa98a803f578e0a10f8bdb51f488e473f5ff280c90c6cfcfdf853dfe3");
});

test.each(["windows", "clean"])(
  "a byte-order mark, CR LF and blank lines change no row (%s)",
  async (name) => {
    const file = caseFile(`02-bom-crlf-blank/${name}.jsonl`);
    const { questions } = await read(file);
    expect(questions[0]?.id).toBe("q-01");
    const texts = questions.map((row) => Object.values(row).flat().join("\u0000"));
    expect(texts[0]).toContain("\r\n");
    expect(texts[1]).toContain("\uFEFF");
    expect(questions[2]?.choices.some((choice) => choice.endsWith("\r"))).toBe(true);
    expect(await canonicalHash(file)).toBe(
      "ffb40a659ff3c9a61d681d8a3d1e113d77aefcea6426e9b0dec63f3b64574904",
    );
  },
);

test.each(["int32", "int64"])("the width of integers in parquet changes no row (%s)", async (width) => {
  const file = caseFile(`03-int64-and-big-ids/${width}.parquet`);
  const { questions } = await read(file);
  expect(questions[1]).toMatchObject({ id: "q-02", answer: "B", answer_index: 1 });
  expect(await canonicalHash(file)).toBe("bdd204215c42730271d86f7beabdec319535f62cd1854e50abc7952865f1c80e");
});

test("a task_id that is a bare number is refused with its line and column", async () => {
  const error = await refusal(read(caseFile("03-int64-and-big-ids/numeric-ids.jsonl")));
  expect(error).toBeInstanceOf(DataError);
  expect(error.message).toContain("numeric-ids.jsonl line 1, task_id");
  expect(error.facts).toMatchObject({ row: "line 1", column: "task_id" });
});

test("an integer in parquet that no number holds exactly is refused with its row and digits", async () => {
  const error = await refusal(read(localFile("unsafe-integer.parquet")));
  expect(error.message).toContain("unsafe-integer.parquet row 3, prefix_steps");
  expect(error.message).toContain("9007199254740993");
});

test("a text in parquet that begins with U+FEFF keeps it, in every row group", async () => {
  const { questions } = await read(localFile("byte-order-marks.parquet"));
  expect(questions.map((row) => row.prefix_text.startsWith("\uFEFF"))).toEqual([
    true,
    false,
    false,
    false,
    true,
  ]);
});

test("bytes in parquet that are not UTF-8 are refused, not replaced", async () => {
  const error = await refusal(read(localFile("latin1.parquet")));
  expect(error.message).toContain("latin1.parquet row 2, query");
});

test("a file that is no parquet is refused by name", async () => {
  const file = join(await temporaryFolder(), "cut.parquet");
  const bytes = await readFile(caseFile("03-int64-and-big-ids/int32.parquet"));
  await writeFile(file, bytes.subarray(0, bytes.length - 100));
  expect((await refusal(read(file))).message).toContain(`${file}: not readable as parquet`);
});

test("lone surrogates are refused with every id and column", async () => {
  const error = await refusal(read(caseFile("04-lone-surrogates/questions.jsonl")));
  expect(error.facts).toMatchObject({
    ids: ["q-01", "q-02", "q-04"],
    columns: ["prefix_text", "prefix_text_short"],
  });
  for (const id of ["q-01", "q-02", "q-04"]) expect(error.message).toContain(id);
  expect(error.message).not.toContain("q-03");
});

test("all members of a gzip file are read", async () => {
  expect((await read(caseFile("leads/two-members.jsonl.gz"))).questions).toHaveLength(4);
});

test("a cut gzip file is an error", async () => {
  expect((await refusal(read(caseFile("leads/cut.jsonl.gz")))).message).toContain("is cut");
});

test("a gzip member with a broken head is an error, not the end of the rows", async () => {
  const file = join(await temporaryFolder(), "questions.jsonl.gz");
  const second = gzipSync(jsonl([question({ id: "q-02" })]));
  second[0] = 0;
  await writeFile(file, Buffer.concat([gzipSync(jsonl([question()])), second]));
  expect((await refusal(read(file))).message).toContain("after the gzip data");
});

test("None, N/A, null, nan and undefined stay text", async () => {
  const { questions } = await read(caseFile("leads/choice-none.jsonl"));
  expect(questions.map(({ id }) => id)).toEqual(["NA", "nan"]);
  expect(questions[0]).toMatchObject({ task_id: "null", choices: ["None", "N/A"] });
  expect(questions[1]).toMatchObject({ query: "null", choices: ["null", "undefined"] });
});

test("ids that look like numbers keep their spelling", async () => {
  const { questions } = await read(caseFile("leads/ids-like-numbers.jsonl"));
  expect(questions.map(({ id }) => id)).toEqual(["002e1234", "0047", "1e5", "0x10"]);
  expect(new Set(questions.map(({ task_id }) => task_id))).toEqual(new Set(["61e9540", "0007", "7", "07"]));
});

test("candidates of the same text and empty ones are refused by id", async () => {
  const error = await refusal(read(caseFile("leads/identical-choices.jsonl")));
  expect(error.facts["ids"]).toEqual(["q-01", "q-03"]);
});

test("candidates that differ only in case and white space give a warning that names the id", async () => {
  const folder = await temporaryFolder();
  const lines = (await readFile(caseFile("leads/identical-choices.jsonl"), "utf8")).split("\n");
  await writeFile(join(folder, "near.jsonl"), `${lines[1]}\n`);
  const warnings: string[] = [];
  await readQuestions(join(folder, "near.jsonl"), { cacheDir: folder, warn: (text) => warnings.push(text) });
  expect(warnings).toEqual([expect.stringContaining('"q-02"')]);
});

test("a row that is longer than many chunks is read whole, and so is the row after it", async () => {
  const file = join(await temporaryFolder(), "long.jsonl");
  const prefix = "step \u{1F44D}\n".repeat(100_000);
  await writeFile(file, jsonl([question({ prefix_text: prefix }), question({ id: "q-02" })]));
  const { questions } = await read(file);
  expect(questions[0]?.prefix_text).toBe(prefix);
  expect(questions).toHaveLength(2);
});

test("lines that are not UTF-8 or not JSON are refused with their numbers, blank lines counted", async () => {
  const file = join(await temporaryFolder(), "broken.jsonl");
  const good = Buffer.from(jsonl([question()]));
  await writeFile(
    file,
    Buffer.concat([good, Buffer.from("\n"), Buffer.from([0xe9, 0x0a]), Buffer.from('{"id":')]),
  );
  const { message } = await refusal(read(file));
  expect(message).toContain("line 3: is not UTF-8");
  expect(message).toContain("line 4: is not JSON");
});

test("a UTF-16 file is refused with the remedy", async () => {
  const file = join(await temporaryFolder(), "utf16.jsonl");
  await writeFile(file, `\uFEFF${jsonl([question()])}`, "utf16le");
  expect((await refusal(read(file))).nextStep).toContain("UTF-8");
});

test("the digest does not depend on the order of rows or keys", async () => {
  const folder = await temporaryFolder();
  const rows = ["b", "a", "C"].map((id) => question({ id }));
  const turned = rows.map((row) => Object.fromEntries(Object.entries(row).reverse())).reverse();
  await writeFile(join(folder, "one.jsonl"), jsonl(rows));
  await writeFile(join(folder, "two.jsonl"), jsonl(turned));
  expect((await read(join(folder, "one.jsonl"))).digest).toBe((await read(join(folder, "two.jsonl"))).digest);
});

test("reasons beside the data come with the set", async () => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, "questions.jsonl"), jsonl([question()]));
  await writeFile(join(folder, "reasons.jsonl"), jsonl([{ id: "q-01", reason: "The row says why." }]));
  const set = await read(folder);
  expect(set.source).toBe(folder);
  expect(set.reasons).toEqual(new Map([["q-01", "The row says why."]]));
});

test("a reason for another set, a second reason and an unknown key are refused", async () => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, "questions.jsonl"), jsonl([question()]));
  const reason = { id: "q-01", reason: "So." };
  await writeFile(
    join(folder, "reasons.jsonl"),
    jsonl([reason, reason, { id: "q-9", reason: "No." }, { ...reason, by: 1 }]),
  );
  const { message } = await refusal(read(folder));
  expect(message).toContain("line 2, id");
  expect(message).toContain('"q-9" is not a question of the set');
  expect(message).toContain("line 4, by");
});

test("a path that is not there, a folder without data and an unknown form say what is read", async () => {
  const folder = await temporaryFolder();
  expect((await refusal(read(join(folder, "no")))).message).toContain("no such file");
  expect((await refusal(read("acme/forks"))).nextStep).toContain("hub:acme/forks");
  expect((await refusal(read(folder))).message).toContain("questions.jsonl");
  await writeFile(join(folder, "table.csv"), "id\n");
  expect((await refusal(read(join(folder, "table.csv")))).nextStep).toContain(".parquet");
  expect((await refusal(read("bundled:nothing"))).nextStep).toContain("bundled:control");
});
