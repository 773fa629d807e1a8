import { z } from "zod";
import { Id, Timestamp } from "#server/shared/primitives-schema.ts";

// Apart from agents and from runs: each is read without the other.

/** A tool that a model called, and with what. */
export const ToolCall = z
  .object({
    name: z.string().meta({ example: "web_search" }),
    args: z.record(z.string(), z.unknown()).meta({ example: { query: "looms" } }),
  })
  .meta({ id: "ToolCall" });

/** Longest result of a tool that a run keeps, in characters. The model was given more. */
export const KEPT_RESULT_CHARACTERS = 4000;

/** What a tool read for an answer: a piece of the project's knowledge, or a page of the web. */
export const ToolSource = z
  .object({
    number: z.number().int().nullable().meta({ description: "As the model was given it, and cites it: [2]; null of a page of the web" }),
    rag_id: Id.nullable().meta({ description: "The knowledge source; null of a page of the web" }),
    document_id: z.string().nullable().meta({ description: "Document here, or the row or point in a store of yours" }),
    title: z.string(),
    uri: z.string().nullable(),
    place: z.string().meta({ description: "Heading path or page; empty when the text has neither" }),
    excerpt: z.string().meta({ description: "How it begins, at most 200 characters" }),
    read_at: Timestamp.nullable().meta({
      description:
        "When the service read it where it stands, so how old it is at least: of a document its latest indexing. null of a store of yours, which is searched as it is",
    }),
  })
  .meta({ id: "ToolSource" });
export type ToolSource = z.infer<typeof ToolSource>;

export const RunToolCall = ToolCall.extend({
  result: z
    .string()
    .optional()
    .meta({
      description: `What the tool answered, cut to about ${KEPT_RESULT_CHARACTERS} characters; left out of calls that were not answered`,
    }),
  success: z.boolean().optional().meta({ description: "false: the result says what went wrong", example: true }),
  sources: z
    .array(ToolSource)
    .optional()
    .meta({ description: "What search_knowledge, web_search and web_scraper gave the model to read; left out when that is nothing" }),
}).meta({ id: "RunToolCall" });
export type RunToolCall = z.infer<typeof RunToolCall>;
