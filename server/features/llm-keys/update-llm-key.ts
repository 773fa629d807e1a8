import type { LlmKey as LlmKeyRow } from "#prisma/generated/client.ts";
import { apiKeyProblem, priceProblems } from "#server/features/llm-keys/check-llm-key.ts";
import { endpointOf } from "#server/features/llm-keys/endpoint-of.ts";
import { findLlmKey } from "#server/features/llm-keys/find-llm-key.ts";
import { toLlmKey } from "#server/features/llm-keys/llm-key-dto.ts";
import type { LlmKey, UpdateLlmKeyInput } from "#server/features/llm-keys/schema.ts";
import { ProviderError } from "#server/llm/errors.ts";
import type { Refusal } from "#server/llm/refusals.ts";
import { validateModel } from "#server/llm/validate-model.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { judgeAddress } from "#server/platform/chosen-address.ts";
import { db } from "#server/platform/db/client.ts";
import { AppError, notFound } from "#server/platform/errors.ts";
import { saveResource } from "#server/platform/names-in-use.ts";
import { maskSecret, seal } from "#server/platform/secrets.ts";
import type { FieldError } from "#server/shared/error-schema.ts";

function problemsOf(row: LlmKeyRow, { api_key, prices }: UpdateLlmKeyInput): FieldError[] {
  const { provider, baseUrl } = endpointOf(row);
  const message = api_key && apiKeyProblem({ provider, api_key, ...(baseUrl !== null && { base_url: baseUrl }) });
  return [...(message ? [{ path: "api_key", message }] : []), ...priceProblems(prices)];
}

/** Refusals that say that the key was taken, and that the agent asks for what it cannot have. */
const OF_THE_AGENT: ReadonlySet<Refusal> = new Set(["unknown_model", "no_tools", "temperature", "context_overflow", "filtered"]);

/**
 * Makes one tiny call with a new key, as the agent that was changed last and uses it would: a wrong one would stop all of them.
 * @throws AppError UPSTREAM_ERROR with the provider's words
 */
async function tryWithAgent(row: LlmKeyRow, apiKey: string): Promise<void> {
  const agent = await db().agent.findFirst({
    where: { llm_key_id: row.id },
    orderBy: { updated_at: "desc" },
    select: { model: true, temperature: true, tools: true, _count: { select: { mcp_servers: true, rag_sources: true } } },
  });
  if (!agent) return;
  const { model, temperature, tools, _count } = agent;
  const choice = { model, temperature, hasTools: tools.length + _count.mcp_servers + _count.rag_sources > 0 };
  await validateModel({ ...endpointOf(row), apiKey }, choice).catch((error: unknown) => {
    if (!(error instanceof ProviderError && error.reason && OF_THE_AGENT.has(error.reason))) throw error;
  });
}

/** Whether calls may go to a private network: what was allowed stays so, and an install admin who saves the key allows it. */
async function isPrivateAllowed(principal: ProjectPrincipal, { private_allowed, base_url }: LlmKeyRow): Promise<boolean> {
  if (private_allowed || base_url === null) return private_allowed;
  const verdict = await judgeAddress(principal, new URL(base_url));
  return verdict.refusal === undefined && verdict.private_allowed;
}

/**
 * Changes a key's name or prices, or gives it a new value; fields left out keep theirs. Where it leads is never changed:
 * whoever could do that would send the stored key elsewhere.
 * @throws AppError NOT_FOUND; VALIDATION_ERROR for a key that cannot be right or two prices of one model; CONFLICT for a name
 *   that is taken; UPSTREAM_ERROR when an agent that uses it could not be called with the new key; nothing is changed then
 */
export async function updateLlmKey(principal: ProjectPrincipal, input: UpdateLlmKeyInput): Promise<LlmKey> {
  const { key_id, name, api_key, prices } = input;
  const before = await findLlmKey(principal.project.id, key_id);
  if (!before) throw notFound("LLM key");
  const errors = problemsOf(before, input);
  if (errors[0]) throw new AppError("VALIDATION_ERROR", errors[0].message, { errors });
  const private_allowed = await isPrivateAllowed(principal, before);
  if (api_key !== undefined) await tryWithAgent({ ...before, private_allowed }, api_key);
  const data = {
    private_allowed,
    ...(name !== undefined && { name }),
    ...(api_key !== undefined && { sealed_key: seal(api_key), masked_key: maskSecret(api_key) }),
    ...(prices && { prices }),
  };
  const changed = (["name", "api_key", "prices"] as const).filter((field) => input[field] !== undefined);
  const record = {
    what: "an LLM key",
    name: name ?? before.name,
    action: "llm_key.update",
    resource_type: "llm_key",
    detail: { changed, ...(prices && { prices }) },
  };
  const row = await saveResource(principal, record, async (tx) => {
    const [saved] = await tx.llmKey.updateManyAndReturn({ where: { id: before.id }, data });
    if (!saved) throw notFound("LLM key");
    return saved;
  });
  return toLlmKey(row);
}
