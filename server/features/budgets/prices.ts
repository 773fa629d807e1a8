import type { Price, PriceList, PricesInput } from "#server/features/budgets/schema.ts";
import { forgetSpending, type ProjectPrice, spendingOf } from "#server/features/budgets/spending.ts";
import { type ModelPrice, ModelPrices } from "#server/features/llm-keys/schema.ts";
import type { ProviderId } from "#server/llm/kinds.ts";
import { priceList } from "#server/llm/prices.ts";
import { recordAudit } from "#server/platform/audit/audit.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { AppError } from "#server/platform/errors.ts";

const builtIn: PriceList["built_in"] = {
  as_of: priceList.as_of,
  items: priceList.models.map(
    ({ provider, host = null, match, input_per_million, cached_input_per_million, output_per_million, input_up_to = null }) => ({
      ...{ provider, host, model: match, input_per_million, output_per_million, input_up_to },
      ...(cached_input_per_million !== undefined && { cached_input_per_million }),
    }),
  ),
};

/** Every price that the project has set, and the built-in list. */
export async function getPrices({ project }: ProjectPrincipal): Promise<PriceList> {
  const keys = await db().llmKey.findMany({
    where: { project_id: project.id },
    orderBy: { name: "asc" },
    select: { id: true, provider: true, prices: true },
  });
  const { prices } = await spendingOf(project.id);
  const ofKeys = keys.flatMap(({ id, provider, prices }) =>
    // cast: only rows of the provider table are ever stored
    ModelPrices.parse(prices).map((price): Price => ({ ...price, provider: provider as ProviderId, llm_key_id: id })),
  );
  return { items: [...prices.map((price): Price => ({ ...price, llm_key_id: null })), ...ofKeys], built_in: builtIn };
}

const withoutPlace = ({ provider: _, llm_key_id: __, ...price }: Price): ModelPrice => price;

/**
 * Puts these prices in the place of all that the project has set, those of its LLM keys included. They count for calls from now on.
 * @throws AppError VALIDATION_ERROR for an LLM key that the project does not have, or of another provider, and for too many prices of one
 */
export async function setPrices(principal: ProjectPrincipal, { items }: PricesInput): Promise<PriceList> {
  const { project } = principal;
  const project_id = project.id;
  const keys = await db().llmKey.findMany({ where: { project_id }, select: { id: true, provider: true, prices: true } });
  const errors = items.flatMap(({ llm_key_id, provider }, index) => {
    if (llm_key_id === null) return [];
    const key = keys.find(({ id }) => id === llm_key_id);
    if (!key) return [{ path: `items.${index}.llm_key_id`, message: "There is no such LLM key in this project." }];
    return key.provider === provider ? [] : [{ path: `items.${index}.provider`, message: "The LLM key is of another provider." }];
  });
  if (errors[0]) throw new AppError("VALIDATION_ERROR", `${errors[0].path}: ${errors[0].message}`, { errors });
  const own: ProjectPrice[] = items
    .filter((item) => item.llm_key_id === null)
    .map((item) => ({ ...withoutPlace(item), provider: item.provider }));
  const ofKeys = keys.map(({ id }) => ({ id, prices: items.filter((item) => item.llm_key_id === id).map(withoutPlace) }));
  const most = ModelPrices.safeParse(ofKeys.toSorted((a, b) => b.prices.length - a.prices.length)[0]?.prices ?? []);
  if (!most.success) throw new AppError("VALIDATION_ERROR", "items: An LLM key has at most 100 prices of its own.");
  await db().$transaction(async (tx) => {
    await tx.project.update({ where: { id: project_id }, data: { prices: own } });
    for (const { id, prices } of ofKeys) await tx.llmKey.updateMany({ where: { id, project_id }, data: { prices } });
    const resource = { resource_type: "project", resource_id: project_id, resource_name: project.name } as const;
    await recordAudit(tx, principal, { action: "price.update", ...resource, detail: { count: items.length } });
  });
  forgetSpending(project_id);
  return getPrices(principal);
}
