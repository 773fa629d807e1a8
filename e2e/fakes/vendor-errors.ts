// Error answers as each vendor's chat-completions endpoint sends them: from its documentation, or as its users quote them.

export const troubles = ["wrong-key", "unknown-model", "rate-limit", "overload", "no-credit", "overflow", "no-tools"] as const;
export type Trouble = (typeof troubles)[number];

export interface VendorError {
  status: number;
  body: unknown;
  headers?: Record<string, string>;
}

type Errors = Record<Trouble, (model: string) => VendorError>;

/** OpenAI's shape, which others share. */
const plain = (status: number, message: string, code: string | null, headers?: Record<string, string>): VendorError => ({
  status,
  body: { error: { message, type: status === 429 ? "requests" : "invalid_request_error", param: null, code } },
  ...(headers && { headers }),
});

// https://platform.openai.com/docs/guides/error-codes
const openai: Errors = {
  "wrong-key": () =>
    plain(
      401,
      "Incorrect API key provided: sk-12****89. You can find your API key at https://platform.openai.com/account/api-keys.",
      "invalid_api_key",
    ),
  "unknown-model": (model) => plain(404, `The model \`${model}\` does not exist or you do not have access to it.`, "model_not_found"),
  "rate-limit": (model) =>
    plain(429, `Rate limit reached for ${model} on tokens per min (TPM): Limit 30000. Please try again in 6s.`, "rate_limit_exceeded", {
      "retry-after": "6",
      "retry-after-ms": "5500",
    }),
  overload: () => plain(503, "The engine is currently overloaded, please try again later.", null),
  "no-credit": () => plain(429, "You exceeded your current quota, please check your plan and billing details.", "insufficient_quota"),
  overflow: () =>
    plain(
      400,
      "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.",
      "context_length_exceeded",
    ),
  "no-tools": () => plain(400, "Unsupported parameter: 'tools' is not supported with this model.", "unsupported_parameter"),
};

/** https://platform.claude.com/docs/en/api/errors: types and statuses; in OpenAI's shape at this endpoint. */
const claude = (status: number, type: string, message: string, headers?: Record<string, string>): VendorError => ({
  status,
  body: { error: { code: null, message, type, param: null } },
  ...(headers && { headers }),
});

const anthropic: Errors = {
  "wrong-key": () => claude(401, "authentication_error", "invalid x-api-key"),
  "unknown-model": (model) => claude(404, "not_found_error", `model: ${model}`),
  "rate-limit": () =>
    claude(429, "rate_limit_error", "This request would exceed your organization's rate limit of 50 requests per minute.", {
      "retry-after": "12",
    }),
  overload: () => claude(529, "overloaded_error", "Overloaded"),
  "no-credit": () =>
    claude(
      400,
      "invalid_request_error",
      "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.",
    ),
  overflow: () => claude(400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"),
  "no-tools": (model) => claude(400, "invalid_request_error", `'${model}' does not support tool use.`),
};

/** A list with one error of Google's in it. https://ai.google.dev/gemini-api/docs/troubleshooting tells the statuses. */
const google = (code: number, status: string, message: string, details: object[] = []): VendorError => ({
  status: code,
  body: [{ error: { code, message, status, details } }],
});

const gemini: Errors = {
  // Google tells a wrong key with a 400.
  "wrong-key": () =>
    google(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", [
      { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "API_KEY_INVALID", domain: "googleapis.com" },
    ]),
  "unknown-model": (model) =>
    google(404, "NOT_FOUND", `models/${model} is not found for API version v1main, or is not supported for generateContent.`),
  "rate-limit": () =>
    google(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota, please check your plan and billing details.", [
      {
        "@type": "type.googleapis.com/google.rpc.QuotaFailure",
        violations: [{ quotaId: "GenerateRequestsPerMinutePerProjectPerModel-FreeTier", quotaValue: "10" }],
      },
      { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "22s" },
    ]),
  overload: () => google(503, "UNAVAILABLE", "The model is overloaded. Please try again later."),
  // The day's quota: RetryInfo comes all the same.
  "no-credit": () =>
    google(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota, please check your plan and billing details.", [
      {
        "@type": "type.googleapis.com/google.rpc.QuotaFailure",
        violations: [{ quotaId: "GenerateRequestsPerDayPerProjectPerModel-FreeTier", quotaValue: "250" }],
      },
      { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "22s" },
    ]),
  overflow: () =>
    google(400, "INVALID_ARGUMENT", "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."),
  "no-tools": (model) => google(400, "INVALID_ARGUMENT", `Function calling is not enabled for models/${model}`),
};

/** The error itself is the body. https://docs.mistral.ai/api/ shows the fields. */
const mistralError = (status: number, type: string, message: string, code: string): VendorError => ({
  status,
  body: { object: "error", message, type, param: null, code },
});

const mistral: Errors = {
  "wrong-key": () => ({ status: 401, body: { detail: "Unauthorized" } }),
  "unknown-model": (model) => mistralError(400, "invalid_model", `Invalid model: ${model}`, "1500"),
  "rate-limit": () => mistralError(429, "rate_limited", "Rate limit exceeded", "1300"),
  overload: () => mistralError(503, "service_unavailable", "Service unavailable.", "3000"),
  "no-credit": () => ({ status: 402, body: { detail: "Check your payment method." } }),
  overflow: () =>
    mistralError(
      400,
      "invalid_request_message_order",
      "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
      "3051",
    ),
  "no-tools": () => mistralError(400, "invalid_request_error", "Function calling is not enabled for this model", "3000"),
};

// The router's own errors are a bare text, those about the model are in OpenAI's shape.
const huggingface: Errors = {
  "wrong-key": () => ({ status: 401, body: { error: "Invalid username or password." } }),
  "unknown-model": (model) =>
    plain(400, `The requested model '${model}' is not supported by any provider you have enabled.`, "model_not_supported"),
  "rate-limit": () => ({ status: 429, body: { error: "Too many requests" }, headers: { "retry-after": "30" } }),
  overload: () => ({ status: 503, body: "<html><head><title>503 Service Unavailable</title></head></html>" }),
  "no-credit": () => ({
    status: 402,
    body: { error: "You have exceeded your monthly included credits for Inference Providers. Subscribe to PRO to get 20x more." },
  }),
  // https://huggingface.co/docs/text-generation-inference
  overflow: () => ({
    status: 422,
    body: {
      error: "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8192. Given: 9000 `inputs` tokens",
      error_type: "validation",
    },
  }),
  "no-tools": () => plain(422, "This provider does not support tools.", null),
};

// https://learn.microsoft.com/azure/ai-foundry/openai/reference: errorResponse
const azure: Errors = {
  ...openai,
  "wrong-key": () =>
    plain(
      401,
      "Access denied due to invalid subscription key or wrong API endpoint. Make sure to provide a valid key for an active subscription and use a correct regional API endpoint for your resource.",
      "401",
    ),
  "unknown-model": () =>
    plain(
      404,
      "The API deployment for this resource does not exist. If you created the deployment within the last 5 minutes, please wait a moment and try again.",
      "DeploymentNotFound",
    ),
  "rate-limit": () =>
    plain(
      429,
      "Requests to the ChatCompletions_Create Operation under Azure OpenAI API version 2024-10-21 have exceeded token rate limit. Please retry after 6 seconds.",
      "429",
      { "retry-after": "6" },
    ),
};

/** By dialect; others speak as OpenAI does. */
const byDialect: Record<string, Errors> = { anthropic, gemini, mistral, huggingface, azure };

export const vendorError = (dialect: string, trouble: Trouble, model: string): VendorError =>
  (byDialect[dialect] ?? openai)[trouble](model);
