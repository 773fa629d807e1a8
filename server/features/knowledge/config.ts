import type { RagSource } from "#prisma/generated/client.ts";
import { type RagConfig, type RagConfigs, type RagType, ragConfigs, SECRET_MARK } from "#server/features/knowledge/schema.ts";
import { connectionStringFault, maskConnectionString } from "#server/features/knowledge/sources/pgvector.ts";
import type { Reaching } from "#server/features/knowledge/sources/remote-hit.ts";
import { AppError } from "#server/platform/errors.ts";
import { endpointReach } from "#server/platform/net/guard.ts";
import { maskSecret, seal, unseal } from "#server/platform/secrets.ts";
import type { FieldError } from "#server/shared/error-schema.ts";

type Loose = Record<string, unknown>;

function refused(errors: FieldError[]): AppError {
  const { path, message } = errors[0] ?? { path: "config", message: "The settings are not valid." };
  // A general rule says nothing without its field.
  return new AppError("VALIDATION_ERROR", /^This field /.test(message) ? `${path}: ${message}` : message, { errors });
}

/** Rules beyond the shape. */
function faultsOf(type: RagType, config: Loose): FieldError[] {
  const errors: FieldError[] = [];
  if (type === "documents" && (config.embedding_llm_key_id === null) !== (config.embedding_model === null)) {
    const path = config.embedding_model === null ? "embedding_model" : "embedding_llm_key_id";
    errors.push({ path: `config.${path}`, message: "Give an embedding key and an embedding model together, or neither." });
  }
  if (type === "pgvector") {
    const message = connectionStringFault(String(config.connection_string));
    if (message) errors.push({ path: "config.connection_string", message });
  }
  if (typeof config.url === "string") {
    const { username, password } = new URL(config.url);
    if (username || password)
      errors.push({
        path: "config.url",
        message: "Leave the user name and password out of the address: secrets have fields of their own.",
      });
  }
  for (const [path, value] of [
    ["api_key", config.api_key],
    ...Object.entries(Object(config.headers)).map(([name, one]) => [`headers.${name}`, one]),
  ])
    if (String(value).includes(SECRET_MARK))
      errors.push({ path: `config.${path}`, message: "This is a mask, not the secret. Give the secret itself." });
  if (String(config.connection_string).includes(SECRET_MARK))
    errors.push({
      path: "config.connection_string",
      message: "Write the password in place of the mask, or send the text unchanged.",
    });
  return errors;
}

/**
 * The settings of a source of this type, complete: what may be left out has its default.
 * @throws AppError VALIDATION_ERROR naming each field as `config.…`
 */
export function checkConfig<Type extends RagType>(type: Type, config: Loose): RagConfigs[Type] {
  const parsed = ragConfigs[type].safeParse(config);
  if (!parsed.success) {
    throw refused(
      parsed.error.issues.flatMap((issue) => {
        const at = ["config", ...issue.path];
        if (issue.code === "unrecognized_keys")
          return issue.keys.map((key) => ({ path: [...at, key].join("."), message: `A source of the type ${type} has no such setting.` }));
        return [{ path: at.join("."), message: issue.message }];
      }),
    );
  }
  const errors = faultsOf(type, parsed.data);
  if (errors.length) throw refused(errors);
  return parsed.data as RagConfigs[Type]; // cast: the schema of this type has just accepted it
}

/** The part of the settings that is secret. */
function secretsOf(config: RagConfig): Loose {
  if ("connection_string" in config) return { connection_string: config.connection_string };
  if ("api_key" in config) return config.api_key === null ? {} : { api_key: config.api_key };
  if ("headers" in config) return Object.keys(config.headers).length ? { headers: config.headers } : {};
  return {};
}

function masked(config: RagConfig): RagConfig {
  if ("connection_string" in config) return { ...config, connection_string: maskConnectionString(config.connection_string, SECRET_MARK) };
  if ("api_key" in config) return { ...config, api_key: config.api_key === null ? null : maskSecret(config.api_key) };
  if ("headers" in config)
    return { ...config, headers: Object.fromEntries(Object.keys(config.headers).map((name) => [name, SECRET_MARK])) };
  return config;
}

/** What is stored of complete settings: masked, and the secrets sealed beside them. */
export function sealConfig(config: RagConfig): { config: RagConfig; sealed_secrets: string | null } {
  const secrets = secretsOf(config);
  return { config: masked(config), sealed_secrets: Object.keys(secrets).length ? seal(JSON.stringify(secrets)) : null };
}

/**
 * The settings with their secrets, for calling. Keep the result inside the call.
 * @throws AppError INTERNAL_ERROR when they were sealed under another ENCRYPTION_KEY
 */
export function openConfig(row: Pick<RagSource, "config" | "sealed_secrets">): RagConfig {
  const secrets: Loose = row.sealed_secrets === null ? {} : JSON.parse(unseal(row.sealed_secrets));
  return { ...(row.config as RagConfig), ...secrets }; // cast: only checked settings are ever stored
}

/** The same with how far requests to the source may go. */
export const openRemote = (row: Pick<RagSource, "config" | "sealed_secrets" | "private_allowed">): Reaching<RagConfig> => ({
  ...openConfig(row),
  reach: endpointReach(row.private_allowed),
});

/** `given` with each secret that is sent as it was shown, or left out, in the clear again. */
function withKeptSecrets(stored: { shown: Loose; open: Loose }, given: Loose): { merged: Loose; kept: string[] } {
  const merged: Loose = { ...stored.open, ...given };
  const kept: string[] = [];
  for (const name of ["connection_string", "api_key"]) {
    if (stored.open[name] === undefined || stored.open[name] === null) continue;
    if (given[name] === undefined || given[name] === stored.shown[name]) {
      merged[name] = stored.open[name];
      kept.push(name);
    }
  }
  const open = Object(stored.open.headers) as Loose;
  if (typeof merged.headers === "object" && merged.headers !== null) {
    merged.headers = Object.fromEntries(
      Object.entries(merged.headers).map(([name, value]) => {
        if (open[name] === undefined || (value !== SECRET_MARK && value !== open[name])) return [name, value];
        kept.push("headers");
        return [name, open[name]];
      }),
    );
  }
  return { merged, kept };
}

/**
 * The settings after a change: what is left out keeps its value. A secret is never kept for another server than the one
 * that it was given for, or whoever may edit the source could have it sent to one of his own.
 * @throws AppError VALIDATION_ERROR
 */
export function changedConfig(type: RagType, row: Pick<RagSource, "config" | "sealed_secrets">, given: Loose): RagConfig {
  const open = openConfig(row) as Loose;
  const { merged, kept } = withKeptSecrets({ shown: row.config as Loose, open }, given);
  const config = checkConfig(type, merged);
  const origin = (value: unknown) => URL.parse(String(value))?.origin;
  const secret = kept.find((name) => name !== "connection_string");
  if (secret && origin(merged.url) !== origin(open.url))
    throw refused([{ path: `config.${secret}`, message: "The address leads to another server now, so give the secret again." }]);
  return config;
}
