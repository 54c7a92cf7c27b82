import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate as nextTick } from "node:timers/promises";
import { z } from "zod";
import { canonicalJson, sha256Hex } from "../canonical.ts";
import { buildPresentations, type Presentation } from "../prompts/presentations.ts";
import type { Question, QuestionSet } from "../questions/schema.ts";
import type { Recipe } from "../recipe.ts";
import { writeJsonAtomic } from "../runs/atomic-file.ts";
import { type PromptRow, writePrompts } from "../runs/prompts-file.ts";
import { sha256File } from "../runs/sha256-file.ts";
import { type StageSpec, stageFolder, stageKey, writeSpec } from "../runs/stage-store.ts";
import type { ChatTokenizer } from "../tokenizer/chat-tokenizer.ts";
import { CODE_VERSIONS } from "./code-versions.ts";
import type { PromptDigests } from "./plan.ts";

export interface BuiltPrompts {
  readonly file: string;
  readonly key: string;
  /** By question id, of both its presentations. */
  readonly digests: ReadonlyMap<string, PromptDigests>;
  readonly cut: number;
  readonly reused: boolean;
}

const indexSchema = z.strictObject({
  prompts_sha256: z.string(),
  questions: z.array(z.strictObject({ id: z.string(), student: z.string(), teacher: z.string() })),
  cut: z.int(),
});

export interface PromptsRequest {
  readonly recipe: Recipe;
  readonly set: QuestionSet;
  readonly tokenizer: ChatTokenizer;
  readonly checkpoints: string;
  /** Called before each question; throwing ends the work. */
  readonly onQuestion?: () => void;
}

/** Renders and tokenises both sides of every presentation once, and keeps them by content. */
export async function buildPrompts(request: PromptsRequest): Promise<BuiltPrompts> {
  const spec = promptsSpec(request);
  const key = stageKey(spec);
  const folder = stageFolder(request.checkpoints, "prompts", key);
  const file = join(folder, "prompts.arrow");
  const indexFile = join(folder, "index.json");
  const reused = await isWhole(indexFile, file);
  if (!reused) {
    await writeSpec(folder, spec);
    const presentations = await renderAll(request);
    await writePrompts(file, presentations.map(promptRow));
    await writeJsonAtomic(indexFile, { prompts_sha256: await sha256File(file), ...indexOf(presentations) });
  }
  const index = indexSchema.parse(JSON.parse(await readFile(indexFile, "utf8")));
  const digests = new Map(index.questions.map(({ id, student, teacher }) => [id, { student, teacher }]));
  return { file, key, digests, cut: index.cut, reused };
}

/** Prompts are the one input of everything; a file that has changed since is made again. */
async function isWhole(indexFile: string, file: string): Promise<boolean> {
  if (!existsSync(indexFile) || !existsSync(file)) return false;
  const index = indexSchema.safeParse(JSON.parse(await readFile(indexFile, "utf8")));
  return index.success && index.data.prompts_sha256 === (await sha256File(file));
}

function promptsSpec({ recipe, set, tokenizer }: PromptsRequest): StageSpec {
  const reasons = set.questions.map(({ id }) => [id, set.reasons.get(id) ?? null]);
  return {
    stage: "prompts",
    code_version: CODE_VERSIONS.prompts,
    parameters: { ...recipe.prompts, prefix: recipe.questions.prefix },
    inputs: { questions: set.digest, reasons: sha256Hex(canonicalJson(reasons)) },
    base: "",
    tokenizer: tokenizer.digest,
    seed: 0,
  };
}

async function renderAll(request: PromptsRequest): Promise<Presentation[]> {
  const presentations: Presentation[] = [];
  for (const question of request.set.questions) {
    request.onQuestion?.();
    presentations.push(...renderQuestion(request, question));
    await nextTick();
  }
  return presentations;
}

/** Both presentations of one question as this recipe words them. */
export function renderQuestion(request: PromptsRequest, question: Question): Presentation[] {
  const { prompts, questions } = request.recipe;
  return buildPresentations({
    question,
    reason: request.set.reasons.get(question.id),
    prefixColumn: questions.prefix,
    teacherTemplate: prompts.teacher_template,
    reasoning: prompts.reasoning,
    tokenizer: request.tokenizer,
    limits: { studentTokens: prompts.student_tokens, teacherTokens: prompts.teacher_tokens },
    templateArgs: prompts.chat_template_args,
  });
}

function promptRow(presentation: Presentation): PromptRow {
  return {
    question_id: presentation.question_id,
    order: presentation.order,
    supported: presentation.supported,
    student_ids: presentation.student.ids,
    teacher_ids: presentation.teacher.ids,
    demonstration_ids: presentation.demonstration_ids,
    student_text: presentation.student.text,
    teacher_text: presentation.teacher.text,
    opens_thinking: presentation.opens_thinking,
  };
}

function indexOf(
  presentations: readonly Presentation[],
): Omit<z.infer<typeof indexSchema>, "prompts_sha256"> {
  const byQuestion = new Map<string, Presentation[]>();
  for (const item of presentations) {
    byQuestion.set(item.question_id, [...(byQuestion.get(item.question_id) ?? []), item]);
  }
  const questions = Array.from(byQuestion, ([id, items]) => ({
    id,
    student: sha256Hex(
      canonicalJson(items.map((item) => [item.order, item.supported, item.student.text, item.student.ids])),
    ),
    teacher: sha256Hex(
      canonicalJson(
        items.map((item) => [item.order, item.teacher.text, item.teacher.ids, item.demonstration_ids]),
      ),
    ),
  }));
  return { questions, cut: presentations.filter((item) => item.prefix_cut).length };
}
