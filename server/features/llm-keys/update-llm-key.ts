import type { LlmKey as LlmKeyRow } from "#prisma/generated/client.ts";
import { toAgent, withLinks } from "#server/features/agents/agent-dto.ts";
import { hasTools } from "#server/features/agents/check-abilities.ts";
import { validateModel } from "#server/features/agents/validate-model.ts";
import { apiKeyProblem, priceProblems } from "#server/features/llm-keys/check-llm-key.ts";
import { keyNameTaken } from "#server/features/llm-keys/create-llm-key.ts";
import { endpointOf } from "#server/features/llm-keys/endpoint-of.ts";
import { findLlmKey } from "#server/features/llm-keys/find-llm-key.ts";
import { toLlmKey } from "#server/features/llm-keys/llm-key-dto.ts";
import type { LlmKey, UpdateLlmKeyInput } from "#server/features/llm-keys/schema.ts";
import { ProviderError } from "#server/llm/errors.ts";
import type { Refusal } from "#server/llm/refusals.ts";
import { recordAudit } from "#server/platform/audit.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { judgeAddress } from "#server/platform/chosen-address.ts";
import { db } from "#server/platform/db/client.ts";
import { AppError, isUniqueViolation, notFound } from "#server/platform/errors.ts";
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
  const user = await db().agent.findFirst({ where: { llm_key_id: row.id }, orderBy: { updated_at: "desc" }, include: withLinks });
  if (!user) return;
  const agent = toAgent(user);
  const choice = { model: agent.model, temperature: agent.temperature, hasTools: hasTools(agent) };
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
  try {
    return await db().$transaction(async (tx) => {
      const { count } = await tx.llmKey.updateMany({ where: { id: before.id }, data });
      if (count === 0) throw notFound("LLM key");
      await recordAudit(
        principal,
        {
          action: "llm_key.update",
          resource_type: "llm_key",
          resource_id: before.id,
          resource_name: name ?? before.name,
          detail: { changed, ...(prices && { prices }) },
        },
        tx,
      );
      return toLlmKey(await tx.llmKey.findUniqueOrThrow({ where: { id: before.id } }));
    });
  } catch (error) {
    if (isUniqueViolation(error)) throw keyNameTaken(name ?? before.name);
    throw error;
  }
}
