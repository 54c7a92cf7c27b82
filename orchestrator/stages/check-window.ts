import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { DataError } from "../errors.ts";
import { tableLengths } from "../runs/prompts-file.ts";

const positions = z.int().min(1).optional();
const configSchema = z.looseObject({
  max_position_embeddings: positions,
  text_config: z.looseObject({ max_position_embeddings: positions }).optional(),
});

/**
 * Refuses, before any weights are loaded, prompts that leave no room for a reply in the model's window. A prompt
 * is never cut to the window in silence; the recipe's limits cut it, and only its prefix.
 * @throws DataError naming how many questions do not fit and the longest prompt.
 */
export async function checkWindow(modelFolder: string, promptsFile: string): Promise<void> {
  const config = configSchema.parse(JSON.parse(await readFile(join(modelFolder, "config.json"), "utf8")));
  const window = config.text_config?.max_position_embeddings ?? config.max_position_embeddings;
  if (window === undefined) return;
  const lengths = [...(await tableLengths(promptsFile))].map(([id, { student, teacher }]) => ({
    id,
    longest: Math.max(...student.prompts, ...teacher.prompts),
  }));
  const tooLong = lengths.filter(({ longest }) => longest >= window);
  if (tooLong.length === 0) return;
  const worst = Math.max(...tooLong.map(({ longest }) => longest));
  throw new DataError(
    `${tooLong.length} of ${lengths.length} questions have no token left for a reply: ` +
      `prompts of up to ${worst} tokens, and a window of ${window}.`,
    {
      nextStep: "Lower prompts.student_tokens and prompts.teacher_tokens, or use prefix_text_short.",
      facts: { window, longest: worst, questions: tooLong.map(({ id }) => id) },
    },
  );
}
