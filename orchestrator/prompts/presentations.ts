import { DataError } from "../errors.ts";
import { type Letter, ORDERS, type Order, type Question, supportedLetter } from "../questions/schema.ts";
import type { ChatMessage, ChatTokenizer, Encoded, RenderOptions } from "../tokenizer/chat-tokenizer.ts";
import { promptOpensThinking } from "../tokenizer/thinking.ts";
import { assertBlind } from "./blindness.ts";
import { buildDemonstration } from "./demonstration.ts";
import { type Fitted, fitQuestion } from "./fit.ts";
import { TEACHER_TEMPLATES, type TeacherTemplateName } from "./index.ts";
import { contentSpans, type Span } from "./locate.ts";
import { type PrefixColumn, type QuestionView, type Reasoning, viewQuestion } from "./question-view.ts";
import { questionText, studentMessages } from "./student.ts";
import type { TeacherPrompt } from "./teacher/insert.ts";

/** One question in one order, as both sides read it. */
export interface Presentation {
  readonly question_id: string;
  readonly order: Order;
  readonly supported: Letter;
  readonly student: Encoded;
  readonly teacher: Encoded;
  /** The privileged text, for the copy gate. */
  readonly demonstration_text: string;
  readonly demonstration_ids: readonly number[];
  /** Where it stands in `teacher.text`, in code units. */
  readonly demonstration_spans: readonly Span[];
  readonly prefix_cut: boolean;
  /** The header leaves a thinking block open: a reply holds the closing tag only. */
  readonly opens_thinking: boolean;
}

export interface PresentationInput {
  readonly question: Question;
  readonly reason: string | undefined;
  readonly prefixColumn: PrefixColumn;
  readonly teacherTemplate: TeacherTemplateName;
  readonly reasoning: Reasoning;
  readonly tokenizer: ChatTokenizer;
  readonly limits: { readonly studentTokens: number; readonly teacherTokens: number };
  readonly templateArgs: Readonly<Record<string, unknown>>;
}

/**
 * The presentations of a question in both orders, published first, with one cut of the prefix for all four
 * prompts. DataError when they cannot fit, or when the chat template changes the question or the header.
 */
export function buildPresentations(input: PresentationInput): Presentation[] {
  const drafts = ORDERS.map((order) => draft(input, order));
  const fitted = fitQuestion({
    questionId: input.question.id,
    prefix: input.question[input.prefixColumn],
    prompts: drafts.flatMap(({ order, student, teacher }) => [
      { name: `student prompt (${order})`, budget: input.limits.studentTokens, count: lengthOf(student) },
      { name: `teacher prompt (${order})`, budget: input.limits.teacherTokens, count: lengthOf(teacher) },
    ]),
  });
  return drafts.map((it) => present(input, it, fitted));
}

interface Draft {
  readonly order: Order;
  readonly view: (prefix: string) => QuestionView;
  readonly teacherPrompt: (prefix: string) => TeacherPrompt;
  readonly student: (prefix: string) => Encoded;
  readonly teacher: (prefix: string) => Encoded;
}

function draft(input: PresentationInput, order: Order): Draft {
  const { question, tokenizer, reasoning } = input;
  const demonstration = buildDemonstration(question, order, input.reason);
  const options: RenderOptions = { addGenerationPrompt: true, templateArgs: input.templateArgs };
  const view = (prefix: string) => viewQuestion(question, { prefix, order, reasoning });
  const teacherPrompt = (prefix: string) =>
    TEACHER_TEMPLATES[input.teacherTemplate](view(prefix), demonstration);
  const encode = (messages: readonly ChatMessage[]) => tokenizer.encodePrompt(messages, options);
  return {
    order,
    view,
    teacherPrompt,
    student: lastOf((prefix) => encode(studentMessages(view(prefix)))),
    teacher: lastOf((prefix) => encode(teacherPrompt(prefix).messages)),
  };
}

function present(input: PresentationInput, it: Draft, fitted: Fitted): Presentation {
  const { question, tokenizer } = input;
  const student = it.student(fitted.prefix);
  const teacher = it.teacher(fitted.prefix);
  const { messages, demonstration } = it.teacherPrompt(fitted.prefix);
  const view = it.view(fitted.prefix);
  const spans = contentSpans(teacher.text, messages, question.id);
  requireSameHeader(question.id, {
    student: headerAfter(student.text, contentSpans(student.text, studentMessages(view), question.id)),
    teacher: headerAfter(teacher.text, spans),
  });
  const shown = messages[demonstration.message]?.content.slice(demonstration.start, demonstration.end) ?? "";
  const from = spans[demonstration.message]?.start ?? 0;
  const demonstrationIds = tokenizer.encodeText(shown);
  const questionIds = tokenizer.encodeText(questionText(view));
  assertBlind({ questionId: question.id, studentIds: student.ids, demonstrationIds, questionIds });
  return {
    question_id: question.id,
    order: it.order,
    supported: supportedLetter(question, it.order),
    student,
    teacher,
    demonstration_text: shown,
    demonstration_ids: demonstrationIds,
    demonstration_spans: [{ start: from + demonstration.start, end: from + demonstration.end }],
    prefix_cut: fitted.cut,
    opens_thinking: promptOpensThinking(student.text),
  };
}

function headerAfter(text: string, spans: readonly Span[]): string {
  return text.slice(spans.at(-1)?.end ?? 0);
}

function requireSameHeader(questionId: string, header: { student: string; teacher: string }): void {
  if (header.student === header.teacher) return;
  throw new DataError(
    `The chat template ends the two prompts of question ${questionId} differently: ` +
      `${JSON.stringify(header.student)} for the student, ${JSON.stringify(header.teacher)} for the teacher.`,
    {
      nextStep: "Choose a teacher template with one user turn, or other chat_template_args.",
      facts: { question: questionId, ...header },
    },
  );
}

function lengthOf(encode: (prefix: string) => Encoded): (prefix: string) => number {
  return (prefix) => encode(prefix).ids.length;
}

/** Keeps the last result: the prefix that fits is encoded once, for the count and for the prompt. */
function lastOf(encode: (prefix: string) => Encoded): (prefix: string) => Encoded {
  let last: { prefix: string; encoded: Encoded } | undefined;
  return (prefix) => {
    if (last?.prefix !== prefix) last = { prefix, encoded: encode(prefix) };
    return last.encoded;
  };
}
