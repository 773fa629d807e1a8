import type { IncomingHttpHeaders } from "node:http";

// Model listings as each vendor sends them. What comes back for a wrong way of asking is what the vendor would say.

interface Listing {
  status: number;
  body: unknown;
}

const openaiRow = (id: string, created: number) => ({ id, object: "model", created, owned_by: "system" });

// https://platform.openai.com/docs/api-reference/models/list
const openai = {
  object: "list",
  data: [
    openaiRow("gpt-4.1", 1_744_316_542),
    openaiRow("gpt-5.1", 1_762_800_000),
    openaiRow("text-embedding-3-small", 1_705_948_997),
    openaiRow("gpt-image-1", 1_745_517_030),
  ],
};

const CLAUDES = ["Claude Opus 4.5", "Claude Sonnet 4.5", "Claude Haiku 4.5"].map((display_name) => ({
  type: "model",
  id: display_name.toLowerCase().replaceAll(/[ .]/g, "-"),
  display_name,
  created_at: "2025-10-01T00:00:00Z",
}));
const LONGEST_PAGE = 2;

/** https://platform.claude.com/docs/en/api/models-list: cursors; the pages here are short so that there are several. */
function anthropic(query: URLSearchParams, headers: IncomingHttpHeaders): Listing {
  if (!headers["x-api-key"] || !headers["anthropic-version"])
    return { status: 401, body: { type: "error", error: { type: "authentication_error", message: "x-api-key header is required" } } };
  const from = CLAUDES.findIndex(({ id }) => id === query.get("after_id")) + 1;
  const data = CLAUDES.slice(from, from + LONGEST_PAGE);
  const has_more = from + LONGEST_PAGE < CLAUDES.length;
  return { status: 200, body: { data, has_more, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null } };
}

// https://ai.google.dev/gemini-api/docs/openai#list-models
const gemini = {
  object: "list",
  data: ["models/gemini-2.5-pro", "models/gemini-2.5-flash", "models/gemini-embedding-001", "models/imagen-4.0-generate-001"].map((id) => ({
    id,
    object: "model",
    owned_by: "google",
  })),
};

// https://docs.mistral.ai/api/endpoint/models
const mistralRow = (id: string, completion_chat: boolean) => ({
  id,
  object: "model",
  created: 1_760_000_000,
  owned_by: "mistralai",
  capabilities: { completion_chat, completion_fim: false, function_calling: completion_chat, fine_tuning: false, vision: false },
});
const mistral = { object: "list", data: [mistralRow("mistral-large-latest", true), mistralRow("mistral-embed", false)] };

// https://huggingface.co/docs/inference-providers/hub-api
const hub = ["deepseek-ai/DeepSeek-V3-0324", "Qwen/Qwen3-8B"].map((id) => ({
  _id: "67e0",
  id,
  modelId: id,
  likes: 1,
  private: false,
  pipeline_tag: "text-generation",
  tags: ["conversational"],
}));

// https://learn.microsoft.com/rest/api/cognitiveservices/azureopenaistable/deployments/: no version after 2023-03-15-preview.
const deployment = (id: string, model: string, status = "succeeded") => ({
  scale_settings: { scale_type: "standard" },
  model,
  owner: "organization-owner",
  id,
  status,
  created_at: 1_700_000_000,
  updated_at: 1_700_000_000,
  object: "deployment",
});
const deployments = {
  object: "list",
  data: [
    deployment("support-gpt", "gpt-5.1"),
    deployment("llama", "Llama-3.3-70B-Instruct"),
    deployment("vectors", "text-embedding-3-large"),
    deployment("half-made", "gpt-5.1", "running"),
  ],
};

function azure(query: URLSearchParams): Listing {
  if (query.get("api-version") !== "2023-03-15-preview")
    return { status: 404, body: { error: { code: "404", message: "Resource not found" } } };
  return { status: 200, body: deployments };
}

/** What a vendor answers to a GET of this path below the dialect's name; undefined when it is none of its listings. */
export function vendorListing(dialect: string, path: string, query: URLSearchParams, headers: IncomingHttpHeaders): Listing | undefined {
  switch (`${dialect} ${path}`) {
    case "anthropic /v1/models":
      return anthropic(query, headers);
    case "openai /v1/models":
      return { status: 200, body: openai };
    case "gemini /v1beta/openai/models":
      return { status: 200, body: gemini };
    case "mistral /v1/models":
      return { status: 200, body: mistral };
    case "huggingface /api/models":
      return { status: 200, body: hub };
    case "azure /openai/deployments":
      return azure(query);
    default:
      return undefined;
  }
}
