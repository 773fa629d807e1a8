import { checkLlmKey } from "#server/features/llm-keys/check-llm-key.ts";
import { toLlmKey } from "#server/features/llm-keys/llm-key-dto.ts";
import type { CreateLlmKeyInput, LlmKey } from "#server/features/llm-keys/schema.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { judgeAddress } from "#server/platform/chosen-address.ts";
import { AppError } from "#server/platform/errors.ts";
import { saveResource } from "#server/platform/names-in-use.ts";
import { maskSecret, seal } from "#server/platform/secrets.ts";

/**
 * Stores an LLM key, encrypted. Whether it works shows when an agent is saved with it.
 * @throws AppError VALIDATION_ERROR for a key or address that cannot be right, CONFLICT for a name that is taken
 */
export async function createLlmKey(principal: ProjectPrincipal, input: CreateLlmKeyInput): Promise<LlmKey> {
  const errors = checkLlmKey(input);
  const isOwnAddress = input.base_url !== undefined && !errors.some(({ path }) => path === "base_url");
  const verdict = isOwnAddress ? await judgeAddress(principal, new URL(input.base_url ?? "")) : { private_allowed: false };
  if (verdict.refusal !== undefined) errors.push({ path: "base_url", message: verdict.refusal });
  if (errors[0]) throw new AppError("VALIDATION_ERROR", errors[0].message, { errors });
  const { name, provider, api_key, base_url, api_version, prices = [] } = input;
  const record = { what: "an LLM key", name, action: "llm_key.create", resource_type: "llm_key", detail: { provider } };
  const row = await saveResource(principal, record, (tx) =>
    tx.llmKey.create({
      data: {
        project_id: principal.project.id,
        name,
        provider,
        sealed_key: seal(api_key),
        masked_key: maskSecret(api_key),
        base_url: base_url ?? null,
        private_allowed: verdict.refusal === undefined && verdict.private_allowed,
        api_version: api_version || null,
        prices,
        created_by_id: principal.user.id,
      },
    }),
  );
  return toLlmKey(row);
}
