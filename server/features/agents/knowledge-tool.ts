import type { RagHit } from "#server/features/knowledge/schema.ts";
import { searchRag } from "#server/features/knowledge/search.ts";
import { type AgentToolDefinition, cutResult, failedAnswer, toolSource } from "#server/llm/tools/tool.ts";

const DEFAULT_LIMIT = 6;
const MAX_LIMIT = 20;

/** One piece with where it comes from, so that the answer can cite it. */
const asText = ({ title, place, uri, text }: RagHit, number: number): string =>
  `[${number}] ${[title, place, uri].filter(Boolean).join(" · ")}\n${text}`;

/** Numbers that mean one piece each, however often an agent searches for its answer. */
function numbering(): (hit: RagHit) => number {
  const numbers = new Map<string, number>();
  return ({ rag_id, document_id, title, place, text }) => {
    const key = JSON.stringify([rag_id, document_id, title, place, text]);
    const number = numbers.get(key) ?? numbers.size + 1;
    numbers.set(key, number);
    return number;
  };
}

/** search_knowledge over the sources of one agent; their names tell the model what there is to find. */
export const knowledgeTool = (project_id: string, sources: readonly { id: string; name: string }[]): AgentToolDefinition => {
  const numberOf = numbering();
  return {
    name: "search_knowledge",
    description: `Searches the project's own documents (${sources.map(({ name }) => name).join(", ")}) and returns the pieces that fit best, each with its number, document and place. Search before you answer a question about them, and cite number, document and place for what you take from a piece, such as [2] Price list, Page 3.`,
    parameters: {
      type: "object",
      properties: {
        query: { type: "string", description: "What to look for: a question or a few words" },
        limit: { type: "integer", minimum: 1, maximum: MAX_LIMIT, description: `How many pieces at most; ${DEFAULT_LIMIT} when left out` },
      },
      required: ["query"],
      additionalProperties: false,
    },
    async call(args, { signal }) {
      const { query, limit } = Object(args) as { query?: unknown; limit?: unknown };
      if (typeof query !== "string" || query.trim() === "") return { result: "search_knowledge needs a `query` of text.", success: false };
      const asked = Math.trunc(Number(limit ?? DEFAULT_LIMIT));
      const most = Number.isFinite(asked) ? Math.min(Math.max(asked, 1), MAX_LIMIT) : DEFAULT_LIMIT;
      try {
        const ids = sources.map(({ id }) => id);
        const problems: string[] = [];
        const hits = await searchRag(project_id, ids, query, most, { signal, onProblem: (problem) => problems.push(problem) });
        // Or the model would take what it gets for all there is.
        const note = problems.length ? `\n\nMore might have been found, but a part of the search failed. ${problems.join(" ")}` : "";
        if (!hits.length) return { result: `Nothing was found. Try other words.${note}`, success: true };
        const numbered = hits.map((hit) => ({ hit, number: numberOf(hit) }));
        return {
          result: cutResult(numbered.map(({ hit, number }) => asText(hit, number)).join("\n\n")) + note,
          success: true,
          sources: numbered.map(({ hit: { score: _, ...hit }, number }) => toolSource({ ...hit, number })),
        };
      } catch (error) {
        return failedAnswer(error, signal);
      }
    },
  };
};
