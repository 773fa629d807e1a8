import { type ProviderId, providerKind } from "#server/providers/kinds.ts";
import type { CreateAgentInput } from "#server/schemas/agent.ts";
import type { FieldError } from "#server/schemas/error.ts";

type Abilities = Partial<Pick<CreateAgentInput, "tools" | "mcp_server_ids" | "rag_ids" | "skill_ids" | "output_schema">>;

const unknownIds = (path: string, what: string, ids: readonly string[] = []): FieldError[] =>
  ids.map((_, index) => ({ path: `${path}.${index}`, message: `There is no such ${what} in this project.` }));

/** What an agent asks for beyond plain answers and cannot have: what is not done is not accepted. */
export function checkAbilities(input: Abilities, provider: ProviderId): FieldError[] {
  const { label, supportsTools } = providerKind(provider);
  const errors = [
    ...unknownIds("mcp_server_ids", "MCP server", input.mcp_server_ids),
    ...unknownIds("rag_ids", "RAG source", input.rag_ids),
    ...unknownIds("skill_ids", "skill", input.skill_ids),
  ];
  if (input.tools?.length) {
    const message = supportsTools
      ? "Tools are not available in this version. Send an empty list."
      : `Models of ${label} cannot call tools. Send an empty list, or choose a key of another provider.`;
    errors.push({ path: "tools", message });
  }
  if (input.output_schema) {
    errors.push({
      path: "output_schema",
      message: "Output schemas are not available in this version. Send null, and describe the format in the system prompt.",
    });
  }
  return errors;
}
