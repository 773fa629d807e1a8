import { z } from "zod";
import { parametersOf } from "#server/features/assistant/define-tool.ts";
import { QuestionForm } from "#server/features/assistant/schema.ts";

/** Most questions about one message. */
export const MOST_QUESTIONS = 3;

export const AskUserInput = z.strictObject({
  question: z.string().trim().min(1).max(2000).meta({ description: "One question, in the language of the person" }),
  options: z
    .array(z.string().trim().min(1).max(200))
    .max(6)
    .default([])
    .meta({ description: "Two to six likely answers to choose from; empty when any text may be the answer" }),
  form: QuestionForm.optional().meta({
    description: "Where something secret is missing, the form that the person fills in; never ask for a secret itself",
  }),
});

/** The tool by which the model asks the person. It is no procedure: the message waits for the answer, which is its result. */
export const askUser = {
  name: "ask_user",
  description: `Asks the person a question and waits for the answer. Use it when the request is too vague to act on, at most ${MOST_QUESTIONS} times for one message, and never for a secret: for a missing key, credential or MCP server, name its form.`,
  parameters: parametersOf(AskUserInput),
  isReading: true,
} as const;
