import { embedTexts } from "#server/features/knowledge/documents/embed-texts.ts";
import type { Embedding } from "#server/features/knowledge/embedding-of.ts";
import { NO_ONE, recordUsage } from "#server/features/usage/record.ts";
import { costOf } from "#server/llm/cost.ts";

/**
 * Vectors of texts, in the order of the texts, as the model gave them; the call is counted in the project's usage.
 * @throws as embedTexts does
 */
export async function embed(
  project_id: string,
  { endpoint, model, prices }: Embedding,
  texts: readonly string[],
  signal?: AbortSignal,
): Promise<number[][]> {
  const { vectors, input_tokens } = await embedTexts(endpoint, model, texts, signal);
  const { provider, baseUrl } = endpoint;
  const used = { input_tokens, output_tokens: 0 };
  await recordUsage(project_id, "knowledge", {
    ...used,
    agent_id: NO_ONE,
    provider,
    model,
    cost: costOf({ provider, model, baseUrl, prices }, used),
  });
  return vectors;
}
