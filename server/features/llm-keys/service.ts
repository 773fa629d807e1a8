import type { z } from "zod";
import { type LlmKey as LlmKeyRow, Prisma } from "#prisma/generated/client.ts";
import { apiKeyProblem, checkLlmKey, priceProblems } from "#server/features/llm-keys/check-llm-key.ts";
import {
  type CreateLlmKeyInput,
  type LlmKey,
  type ModelList,
  ModelPrices,
  type ProviderList,
  type UpdateLlmKeyInput,
} from "#server/features/llm-keys/schema.ts";
import { endpointOf, findLlmKey } from "#server/features/llm-keys/stored-key.ts";
import { ProviderError, type Refusal } from "#server/llm/errors.ts";
import { type ProviderId, providerIds, providerKind } from "#server/llm/kinds.ts";
import { checkKey, listProviderModels } from "#server/llm/models.ts";
import { validateModel } from "#server/llm/validate-model.ts";
import { deleteResource, namesInUse, saveResource } from "#server/platform/audit/resources.ts";
import { judgeAddress } from "#server/platform/auth/chosen-address.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { findPage } from "#server/platform/db/find-page.ts";
import { AppError, notFound } from "#server/platform/errors.ts";
import { endpointReach } from "#server/platform/net/guard.ts";
import { paged } from "#server/platform/paging.ts";
import { maskSecret, seal } from "#server/platform/secrets.ts";
import type { FieldError } from "#server/shared/error-schema.ts";
import type { ListInput, Page } from "#server/shared/primitives-schema.ts";

/** What the API shows of a stored key: masked, never the key itself. */
const toLlmKey = (row: Omit<LlmKeyRow, "sealed_key">): LlmKey => ({
  id: row.id,
  name: row.name,
  provider: row.provider as ProviderId, // cast: only rows of the provider table are ever stored
  masked_key: row.masked_key,
  base_url: row.base_url,
  api_version: row.api_version,
  prices: ModelPrices.parse(row.prices),
  created_at: row.created_at.toISOString(),
});

/** The project's LLM keys, masked, newest first. */
export async function listLlmKeys(principal: ProjectPrincipal, input: ListInput): Promise<Page<LlmKey>> {
  const from = Prisma.sql`llm_keys x WHERE x.project_id = ${principal.project.id}::uuid`;
  const { total, ids } = await findPage(input, from, Prisma.sql`concat_ws(' ', x.name, x.provider)`);
  const rows = await db().llmKey.findMany({ where: { id: { in: ids } }, orderBy: { id: "desc" }, omit: { sealed_key: true } });
  return paged(input, [total, rows], toLlmKey);
}

/**
 * Stores an LLM key, encrypted. Whether it works shows at once with `verify`, else when an agent is saved with it.
 * @throws AppError VALIDATION_ERROR for a key or address that cannot be right, CONFLICT for a name that is taken,
 *   UPSTREAM_ERROR with the provider's words when it was to be verified; nothing is stored then
 */
export async function createLlmKey(principal: ProjectPrincipal, input: CreateLlmKeyInput): Promise<LlmKey> {
  const errors = checkLlmKey(input);
  const isOwnAddress = input.base_url !== undefined && !errors.some(({ path }) => path === "base_url");
  const verdict = isOwnAddress ? await judgeAddress(principal, new URL(input.base_url ?? "")) : { private_allowed: false };
  if (verdict.refusal !== undefined) errors.push({ path: "base_url", message: verdict.refusal });
  if (errors[0]) throw new AppError("VALIDATION_ERROR", errors[0].message, { errors });
  const { name, provider, api_key, base_url, api_version, prices = [], verify } = input;
  const private_allowed = verdict.refusal === undefined && verdict.private_allowed;
  if (verify)
    await checkKey({
      provider,
      apiKey: api_key,
      baseUrl: base_url ?? null,
      apiVersion: api_version || null,
      keyName: name,
      reach: endpointReach(private_allowed),
    });
  const record = { what: "an LLM key", name, action: "llm_key.create", resource_type: "llm_key", detail: { provider } } as const;
  const row = await saveResource(principal, record, (tx) =>
    tx.llmKey.create({
      data: {
        project_id: principal.project.id,
        name,
        provider,
        sealed_key: seal(api_key),
        masked_key: maskSecret(api_key),
        base_url: base_url ?? null,
        private_allowed,
        api_version: api_version || null,
        prices,
        created_by_id: principal.user.id,
      },
    }),
  );
  return toLlmKey(row);
}

function problemsOf(row: LlmKeyRow, { api_key, prices }: UpdateLlmKeyInput): FieldError[] {
  const { provider, baseUrl } = endpointOf(row);
  const message = api_key && apiKeyProblem({ provider, api_key, ...(baseUrl !== null && { base_url: baseUrl }) });
  return [...(message ? [{ path: "api_key", message }] : []), ...priceProblems(prices)];
}

/** Refusals that say that the key was taken, and that the agent asks for what it cannot have. */
const OF_THE_AGENT: ReadonlySet<Refusal> = new Set(["unknown_model", "no_tools", "temperature", "context_overflow", "filtered"]);

/**
 * Makes one tiny call with a new key, as the agent that was changed last and uses it would: a wrong one would stop all of them.
 * @param isAlways where no agent uses it, the provider is asked for its models
 * @throws AppError UPSTREAM_ERROR with the provider's words
 */
async function tryNewValue(row: LlmKeyRow, apiKey: string, isAlways: boolean): Promise<void> {
  const agent = await db().agent.findFirst({
    where: { llm_key_id: row.id },
    orderBy: { updated_at: "desc" },
    select: { model: true, temperature: true, tools: true, _count: { select: { mcp_servers: true, rag_sources: true } } },
  });
  if (!agent) return isAlways ? checkKey({ ...endpointOf(row), apiKey }) : undefined;
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
 *   that is taken; UPSTREAM_ERROR when the new key was tried and failed; nothing is changed then
 */
export async function updateLlmKey(principal: ProjectPrincipal, input: UpdateLlmKeyInput): Promise<LlmKey> {
  const { key_id, name, api_key, prices, verify } = input;
  const before = await findLlmKey(principal.project.id, key_id);
  if (!before) throw notFound("LLM key");
  const errors = problemsOf(before, input);
  if (errors[0]) throw new AppError("VALIDATION_ERROR", errors[0].message, { errors });
  const private_allowed = await isPrivateAllowed(principal, before);
  if (api_key !== undefined && verify !== false) await tryNewValue({ ...before, private_allowed }, api_key, verify === true);
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
    action: "llm_key.update" as const,
    resource_type: "llm_key" as const,
    detail: { changed, ...(prices && { prices }) },
  };
  const row = await saveResource(principal, record, async (tx) => {
    const [saved] = await tx.llmKey.updateManyAndReturn({ where: { id: before.id }, data });
    if (!saved) throw notFound("LLM key");
    return saved;
  });
  return toLlmKey(row);
}

async function keyInUse(keyId: string): Promise<string | undefined> {
  const agents = await db().agent.findMany({ where: { llm_key_id: keyId }, select: { name: true }, orderBy: { name: "asc" } });
  if (agents.length) return `The key is used by ${namesInUse("agent", agents)}. Choose another key there first.`;
  const where = { config: { path: ["embedding_llm_key_id"], equals: keyId } };
  const sources = await db().ragSource.findMany({ where, select: { name: true }, orderBy: { name: "asc" } });
  if (sources.length) return `The key makes the vectors of ${namesInUse("RAG source", sources)}. Choose another key there first.`;
  const assistant = await db().assistantSettings.findFirst({ where: { llm_key_id: keyId }, select: { model: true } });
  return assistant ? "The key is the assistant's. Choose another key for the assistant first, in Settings, Project." : undefined;
}

/**
 * Deletes an LLM key of the project.
 * @throws AppError NOT_FOUND; CONFLICT that names the agents or RAG sources that use it, or the assistant
 */
export async function deleteLlmKey(principal: ProjectPrincipal, { key_id }: { key_id: string }): Promise<void> {
  const key = await findLlmKey(principal.project.id, key_id);
  if (!key) throw notFound("LLM key");
  const { id, name } = key;
  const record = { action: "llm_key.delete", resource_type: "llm_key", resource_id: id, resource_name: name } as const;
  await deleteResource(
    principal,
    "LLM key",
    record,
    (tx) => tx.llmKey.deleteMany({ where: { id } }),
    () => keyInUse(id),
  );
}

/**
 * The models that a key can call, live from the vendor or, when that fails, a short curated list.
 * @throws AppError NOT_FOUND
 */
export async function listModels(principal: ProjectPrincipal, { key_id }: { key_id: string }): Promise<ModelList> {
  const key = await findLlmKey(principal.project.id, key_id);
  if (!key) throw notFound("LLM key");
  let problem: ModelList["problem"] = null;
  const list = await listProviderModels(endpointOf(key), {
    onProblem: ({ text, isRefused }) => {
      problem = { detail: text, is_key_refused: isRefused };
    },
  });
  return { ...list, problem };
}

/** The provider registry, from which every form and check is drawn. */
export function listProviders(): z.infer<typeof ProviderList> {
  return {
    items: providerIds.map((id) => {
      const kind = providerKind(id);
      return {
        id,
        label: kind.label,
        requires_base_url: kind.requiresBaseUrl,
        supports_tools: kind.supportsTools,
        key_prefix: kind.keyPrefix,
        key_hint: kind.keyHint,
        routing_prefix: kind.routingPrefix,
        model_listing: kind.modelListing,
        docs_url: kind.docsUrl,
      };
    }),
  };
}
