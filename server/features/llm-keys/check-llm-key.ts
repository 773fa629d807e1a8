import type { CreateLlmKeyInput, ModelPrice } from "#server/features/llm-keys/schema.ts";
import { hasDeployments, providerKind } from "#server/llm/kinds.ts";
import type { FieldError } from "#server/shared/error-schema.ts";

/** A path as a server reads it: percent-encoding undone, letters small, no empty parts. */
function readPath(pathname: string): string {
  let path = pathname;
  try {
    // An address that was encoded twice is read twice by some gateways.
    for (let times = 0; times < 3 && path.includes("%"); times++) path = decodeURIComponent(path);
  } catch {
    // What cannot be decoded is looked at as it stands.
  }
  return path
    .toLowerCase()
    .split(/[/\\]+/)
    .map((part) => part.trim())
    .filter(Boolean)
    .join("/");
}

const COMPLETIONS = "/chat/completions";

/** True for the address of one deployment of an Azure resource, or what is left of one when its end is cut off. */
const isDeployment = ({ pathname, searchParams }: URL): boolean =>
  `/${readPath(pathname)}/`.includes("/deployments/") || [...searchParams.keys()].some((name) => name.toLowerCase() === "api-version");

function baseUrlProblem({ provider, base_url }: CreateLlmKeyInput): string | undefined {
  const { label, requiresBaseUrl } = providerKind(provider);
  if (base_url === undefined) return requiresBaseUrl ? `${label} needs the base URL of the service.` : undefined;
  const url = new URL(base_url);
  const path = url.pathname.replace(/(?<!\/)\/+$/, "");
  if (hasDeployments(provider) && isDeployment(url))
    return `This is the address of a single deployment. Give the endpoint of the resource, such as ${url.origin}, and name the deployment as the agent's model.`;
  if (path.toLowerCase().endsWith(COMPLETIONS)) {
    return `Leave out ${COMPLETIONS}: the base URL here is ${url.origin}${path.slice(0, -COMPLETIONS.length)}.`;
  }
  if (url.username || url.password) return "Leave the user name and password out of the address; the key has a field of its own.";
  if (url.search || url.hash) return "Give the address without what follows ? or #.";
  return undefined;
}

/** What is wrong with the value of a key, as far as it can be seen. */
export function apiKeyProblem({
  provider,
  api_key,
  base_url,
}: Pick<CreateLlmKeyInput, "provider" | "api_key" | "base_url">): string | undefined {
  const { label, keyPrefix, olderKeyPrefix } = providerKind(provider);
  // Anything else cannot travel in a header.
  if (!/^[\x21-\x7e]+$/.test(api_key)) return "The key holds a blank, a line break or a letter that no key has. Copy it again.";
  const prefixes = [keyPrefix, olderKeyPrefix].filter((prefix) => typeof prefix === "string");
  if (prefixes.length === 0 || base_url !== undefined || prefixes.some((prefix) => api_key.startsWith(prefix))) return undefined;
  return `A key of ${label} starts with ${prefixes.join(" or ")}. Check that key and provider belong together.`;
}

function apiVersionProblem({ provider, api_version }: CreateLlmKeyInput): string | undefined {
  if (!api_version) return undefined;
  if (!hasDeployments(provider)) return `Only ${providerKind("azure").label} has an API version.`;
  return /^[\w.-]+$/.test(api_version) ? undefined : "An API version looks like 2024-10-21.";
}

/** Prices of which two are for the same model, whichever then counted. */
export function priceProblems(prices: readonly ModelPrice[] = []): FieldError[] {
  const seen = new Set<string>();
  return prices.flatMap(({ model }, index) => {
    const id = model.toLowerCase();
    if (!seen.has(id)) {
      seen.add(id);
      return [];
    }
    return [{ path: `prices.${index}.model`, message: `${model} has a price already. Give each model one.` }];
  });
}

/** What is wrong with a new key as it was written, before anything is called or stored. */
export function checkLlmKey(input: CreateLlmKeyInput): FieldError[] {
  const found = { base_url: baseUrlProblem(input), api_key: apiKeyProblem(input), api_version: apiVersionProblem(input) };
  const errors = Object.entries(found).flatMap(([path, message]) => (message ? [{ path, message }] : []));
  return [...errors, ...priceProblems(input.prices)];
}
