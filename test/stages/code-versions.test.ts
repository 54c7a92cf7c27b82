import { expect, it } from "vitest";
import { canonicalJson, sha256Hex } from "../../orchestrator/canonical.ts";
import { TEACHER_TEMPLATE_NAMES } from "../../orchestrator/prompts/index.ts";
import { buildPresentations } from "../../orchestrator/prompts/presentations.ts";
import { CODE_VERSIONS } from "../../orchestrator/stages/code-versions.ts";
import { presentationInput } from "../prompts/questions.ts";

/** Raise CODE_VERSIONS.prompts when this changes, or runs would go on with prompts of other words. */
const GOLDEN = { version: 2, sha256: "b12185402467a2bab34ea9b083309884c3b467017db27f6f2a864890758d96f8" };

it("prompts have the words of their code version", () => {
  const texts = TEACHER_TEMPLATE_NAMES.flatMap((teacherTemplate) =>
    (["brief", "none"] as const).flatMap((reasoning) =>
      buildPresentations(presentationInput({ teacherTemplate, reasoning })).map(({ student, teacher }) => [
        student.text,
        teacher.text,
      ]),
    ),
  );
  expect({ version: CODE_VERSIONS.prompts, sha256: sha256Hex(canonicalJson(texts)) }).toEqual(GOLDEN);
});
