import { composeQuestion } from "#server/features/agents/compose-question.ts";
import { prepareAgent } from "#server/features/agents/create-agent.ts";
import { type Agent, type PromptPreview, type PromptPreviewInput, PromptPreviewMessage } from "#server/features/agents/schema.ts";
import { firstBody } from "#server/llm/chat.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { pool } from "#server/platform/db/client.ts";

/** The schema as it would be stored: the database keeps the keys of an object in an order of its own. */
async function asStored(schema: Agent["output_schema"]): Promise<Agent["output_schema"]> {
  if (!schema) return null;
  const { rows } = await pool().query<{ schema: Agent["output_schema"] }>("SELECT $1::jsonb AS schema", [JSON.stringify(schema)]);
  return rows[0]?.schema ?? null;
}

/**
 * What the model of an agent would be sent, as the fields of its form stand. Calls nobody and writes nothing; the key itself
 * goes in a header and is no part of it.
 * @throws AppError VALIDATION_ERROR as when the agent is saved
 */
export async function previewPrompt({ project }: ProjectPrincipal, input: PromptPreviewInput): Promise<PromptPreview> {
  const { data, abilities, trial } = await prepareAgent(project.id, input);
  const { system_prompt = "", temperature = null, max_tokens = null } = data;
  const agent = {
    ...abilities,
    output_schema: await asStored(abilities.output_schema),
    project_id: project.id,
    endpoint: trial.endpoint,
    model: data.model,
    system_prompt,
    temperature,
    max_tokens,
  };
  const { question, close } = await composeQuestion(agent, { message: PromptPreviewMessage });
  try {
    // As in a run and in a chat, where the answer comes in pieces.
    const body = firstBody(question, true);
    const [first] = body.messages;
    return {
      system: first?.role === "system" && typeof first.content === "string" ? first.content : null,
      tools: question.tools.map(({ name, description, parameters }) => ({ name, description, parameters })),
      response_format: body.response_format ? { ...body.response_format } : null,
      body: { ...body },
    };
  } finally {
    close();
  }
}
