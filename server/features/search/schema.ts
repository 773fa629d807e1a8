import { z } from "zod";
import { Id } from "#server/shared/primitives-schema.ts";

/** What is searched, in the order in which it is answered. */
export const searchKinds = [
  "workflow",
  "agent",
  "canvas",
  "knowledge",
  "document",
  "skill",
  "mcp_server",
  "credential",
  "llm_key",
  "run",
  "guide",
] as const;
export const SearchKind = z.enum(searchKinds);
export type SearchKind = z.infer<typeof SearchKind>;

const oneKind = `(${searchKinds.join("|")})`;

export const SearchInput = z.strictObject({
  q: z
    .string()
    .trim()
    .min(1, "Say what to look for.")
    .max(200)
    .meta({ description: "Words that must all be in what is found, in any order and either case; or the id of a run", example: "digest" }),
  kinds: z
    .string()
    .max(200)
    .regex(new RegExp(`^${oneKind}(,${oneKind})*$`), `Name kinds with commas between them: ${searchKinds.join(", ")}.`)
    .optional()
    .meta({ description: `Only these, by comma: ${searchKinds.join(", ")}`, example: "workflow,agent" }),
  limit: z.number().int().min(1).max(20).default(5).meta({ description: "At most this many of each kind" }),
});
export type SearchInput = z.infer<typeof SearchInput>;

export const SearchHit = z
  .object({
    kind: SearchKind,
    id: Id.meta({ description: "Its id; of a page of the guide its address" }),
    title: z.string().meta({ example: "Daily digest" }),
    detail: z
      .string()
      .nullable()
      .meta({ description: "Where it was found, or what more there is to say of it", example: "Summarise · in five lines" }),
    path: z.string().meta({ description: "Where the web app shows it", example: "/workflows/019a8f3e-5b7a-7c55-9d1f-0b6c2f6f9a10" }),
  })
  .meta({ id: "SearchHit" });
export type SearchHit = z.infer<typeof SearchHit>;

export const SearchResult = z
  .object({ items: z.array(SearchHit).meta({ description: "By kind, of each the best first" }) })
  .meta({ id: "SearchResult" });
export type SearchResult = z.infer<typeof SearchResult>;
