// THE provider table. Browser-safe: it imports nothing. Forms, REST, the client and the documentation read its rows.

interface ProviderKind {
  label: string;
  /** Where chat completions are served; null when the key's own base URL says it. */
  baseUrl: string | null;
  requiresBaseUrl: boolean;
  supportsTools: boolean;
  /** What a key of this vendor starts with, when that is fixed. */
  keyPrefix: string | null;
  /** What older keys begin with, that still work. */
  olderKeyPrefix?: string;
  keyHint: string;
  /** Prefix that routing puts before the plain model id (specification, Model listing, 7). */
  routingPrefix: string | null;
  /** Whether an id that begins with that prefix is sent as it was typed, because ids there may begin so themselves. */
  keepsRoutingPrefix?: true;
  /** Whether ids are `owner/name`: what is left without the prefix must still be one. */
  hasOwnersInIds?: true;
  /**
   * Where models are listed: by the vendor for a key, in a catalogue for everybody, or as the deployments of a resource of
   * Azure's, which also has versions of its API, a path of its own and a header `api-key`.
   */
  modelListing: "live" | "catalogue" | "deployments";
  /** How the vendor itself lists models, where that is not GET /models with the key as bearer; without a header the key stays at home. */
  ownListing?: { url: string; keyHeader?: string; headers?: Readonly<Record<string, string>> };
  /** Whether the vendor's own list has models that take no chat messages, and does not say which. */
  listsOtherModels?: true;
  /** What the vendor answers to a key as bearer only where it is right, if its list does not tell. */
  keyCheckUrl?: string;
  /** The field that bounds the answer's length. A server that refuses it is asked again with the other one. */
  tokenLimitField: "max_tokens" | "max_completion_tokens";
  /** Whether `stream_options` is known there; where it is not, token counts come without being asked for. */
  hasStreamOptions: boolean;
  /**
   * Whether an answer can be bound to a JSON Schema by the vendor itself (`response_format`): also while tools are offered,
   * only without them, or not at all, so that the schema is asked for in words.
   */
  structuredOutput: "always" | "without_tools" | "never";
  /** Longest description of a tool that is taken, in characters; left out where no limit is known. */
  mostToolDescription?: number;
  docsUrl: string;
  /** Offered when the live list cannot be had; any other id may be typed. */
  curatedModels: readonly string[];
}

export const providerKinds = {
  anthropic: {
    label: "Anthropic",
    baseUrl: "https://api.anthropic.com/v1/",
    requiresBaseUrl: false,
    supportsTools: true,
    keyPrefix: "sk-ant-",
    keyHint: "Starts with sk-ant-",
    routingPrefix: null,
    modelListing: "live",
    ownListing: {
      url: "https://api.anthropic.com/v1/models?limit=1000",
      keyHeader: "x-api-key",
      headers: { "anthropic-version": "2023-06-01" },
    },
    tokenLimitField: "max_tokens",
    hasStreamOptions: true,
    structuredOutput: "never",
    docsUrl: "https://docs.anthropic.com/en/api/openai-sdk",
    curatedModels: ["claude-opus-4-5", "claude-sonnet-4-5", "claude-haiku-4-5"],
  },
  openai: {
    label: "OpenAI",
    baseUrl: "https://api.openai.com/v1",
    requiresBaseUrl: false,
    supportsTools: true,
    keyPrefix: "sk-",
    keyHint: "Starts with sk-",
    routingPrefix: null,
    modelListing: "live",
    listsOtherModels: true,
    tokenLimitField: "max_completion_tokens",
    hasStreamOptions: true,
    structuredOutput: "always",
    mostToolDescription: 1024,
    docsUrl: "https://platform.openai.com/docs/api-reference/chat",
    curatedModels: ["gpt-5.1", "gpt-5-mini", "gpt-5-nano", "gpt-4.1", "gpt-4.1-mini"],
  },
  gemini: {
    label: "Google Gemini",
    baseUrl: "https://generativelanguage.googleapis.com/v1beta/openai/",
    requiresBaseUrl: false,
    supportsTools: true,
    // Since May 2026 (https://ai.google.dev/gemini-api/docs/api-key).
    keyPrefix: "AQ.",
    olderKeyPrefix: "AIza",
    keyHint: "Starts with AQ., older ones with AIza",
    routingPrefix: "gemini/",
    modelListing: "live",
    listsOtherModels: true,
    tokenLimitField: "max_tokens",
    hasStreamOptions: true,
    structuredOutput: "without_tools",
    docsUrl: "https://ai.google.dev/gemini-api/docs/openai",
    curatedModels: ["gemini-2.5-pro", "gemini-2.5-flash", "gemini-2.5-flash-lite"],
  },
  mistral: {
    label: "Mistral",
    baseUrl: "https://api.mistral.ai/v1",
    requiresBaseUrl: false,
    supportsTools: true,
    keyPrefix: null,
    keyHint: "A plain API key",
    routingPrefix: "mistral/",
    modelListing: "live",
    tokenLimitField: "max_tokens",
    hasStreamOptions: false,
    structuredOutput: "without_tools",
    docsUrl: "https://docs.mistral.ai/api/",
    curatedModels: ["mistral-large-latest", "mistral-medium-latest", "mistral-small-latest"],
  },
  huggingface: {
    label: "Hugging Face",
    baseUrl: "https://router.huggingface.co/v1",
    requiresBaseUrl: false,
    supportsTools: false,
    keyPrefix: "hf_",
    keyHint: "Starts with hf_",
    routingPrefix: "huggingface/",
    // One owner bears the hub's own name.
    hasOwnersInIds: true,
    modelListing: "catalogue",
    // The most popular models that some inference provider keeps warm and that hold conversations.
    ownListing: {
      url: "https://huggingface.co/api/models?inference=warm&pipeline_tag=text-generation&filter=conversational&sort=trendingScore&limit=100",
    },
    keyCheckUrl: "https://huggingface.co/api/whoami-v2",
    tokenLimitField: "max_tokens",
    hasStreamOptions: true,
    structuredOutput: "without_tools",
    docsUrl: "https://huggingface.co/docs/inference-providers/index",
    curatedModels: ["meta-llama/Llama-3.3-70B-Instruct", "Qwen/Qwen2.5-72B-Instruct", "mistralai/Mistral-7B-Instruct-v0.3"],
  },
  azure: {
    label: "Azure AI",
    baseUrl: null,
    requiresBaseUrl: true,
    supportsTools: true,
    keyPrefix: null,
    keyHint: "Key of the Azure resource",
    routingPrefix: "azure/",
    modelListing: "deployments",
    tokenLimitField: "max_tokens",
    hasStreamOptions: true,
    structuredOutput: "always",
    mostToolDescription: 1024,
    docsUrl: "https://learn.microsoft.com/azure/ai-foundry/openai/reference",
    curatedModels: [],
  },
  openai_compatible: {
    label: "OpenAI-compatible",
    baseUrl: null,
    requiresBaseUrl: true,
    supportsTools: true,
    keyPrefix: null,
    keyHint: "What the service behind the base URL expects; any word where it asks for no key",
    routingPrefix: "openai/",
    keepsRoutingPrefix: true,
    modelListing: "live",
    tokenLimitField: "max_tokens",
    hasStreamOptions: true,
    structuredOutput: "without_tools",
    docsUrl: "https://platform.openai.com/docs/api-reference/chat",
    curatedModels: [],
  },
} as const satisfies Record<string, ProviderKind>;

export type ProviderId = keyof typeof providerKinds;
export const providerIds = Object.keys(providerKinds) as [ProviderId, ...ProviderId[]];

/** The row of a kind, with the wide type that code over all kinds needs. */
export const providerKind = (id: ProviderId): ProviderKind => providerKinds[id];

/** Whether models of a kind are deployments in a resource, which is asked in another way (see `modelListing`). */
export const hasDeployments = (id: ProviderId): boolean => providerKind(id).modelListing === "deployments";
