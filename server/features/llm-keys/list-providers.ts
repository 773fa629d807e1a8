import type { z } from "zod";
import type { ProviderList } from "#server/features/llm-keys/schema.ts";
import { providerIds, providerKind } from "#server/llm/kinds.ts";

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
