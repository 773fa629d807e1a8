import type { KeyScope } from "#server/platform/auth/platform-key-schema.ts";
import type { Principal, ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { AppError } from "#server/platform/errors.ts";

/**
 * Whether the caller may decide for the whole install: its first owner and whom install admins name. A key for some projects
 * never speaks for the install, nor does the assistant.
 */
export async function isInstallAdmin(principal: Principal): Promise<boolean> {
  if (projectLimit(principal) || principal.auth.type === "assistant") return false;
  const where = { id: principal.user.id, is_install_admin: true, deleted_at: null };
  return (await db().user.findFirst({ where, select: { id: true } })) !== null;
}

/** @throws AppError PERMISSION_DENIED for everybody else */
export async function assertInstallAdmin(principal: Principal): Promise<void> {
  if (await isInstallAdmin(principal)) return;
  throw new AppError("PERMISSION_DENIED", "This is for install admins: the first owner of this install, and whom they name.");
}

/** What an operation asks of a platform key. Each scope stands for itself: `write` does not read lists, nor start runs. */
export interface KeyNeeds {
  scope: KeyScope;
  /** It changes the account or the install and not one project, so a key for some projects does not open it. */
  isAccountWide?: boolean;
  /** A key with the scope `run` is let in too. For executions, the service confines it to `keyOfOwnRuns`. */
  isOpenToRun?: boolean;
}

/**
 * Holds a platform key to its limits; a session has none, nor has the assistant. Every door calls this by `createContext`.
 * @throws AppError PERMISSION_DENIED that says what the key lacks
 */
export function assertKeyMay({ auth }: Principal, { scope, isAccountWide = false, isOpenToRun = false }: KeyNeeds): void {
  if (auth.type !== "platform_key") return;
  if (!auth.scopes.includes(scope) && !(isOpenToRun && auth.scopes.includes("run")))
    throw new AppError(
      "PERMISSION_DENIED",
      `This needs an API key with the scope ${scope}; this one has ${auth.scopes.join(" and ") || "none"}. Make another key in Settings, API keys.`,
    );
  if (isAccountWide && auth.project_ids)
    throw new AppError("PERMISSION_DENIED", "This API key is for some of your projects only. This needs one for all of them.");
}

/**
 * Returns true when the caller may have secrets that steer a run, such as the URL that ends a wait: not a viewer, nor a key that only
 * reads.
 */
export const maySteerRuns = ({ role, auth }: ProjectPrincipal): boolean =>
  role !== "viewer" && (auth.type !== "platform_key" || auth.scopes.some((scope) => scope !== "read"));

/** Returns the id of a key without the scope `read`, which sees only the executions that it started; null for all other callers. */
export const keyOfOwnRuns = ({ auth }: Principal): string | null =>
  auth.type === "platform_key" && !auth.scopes.includes("read") ? auth.key_id : null;

/**
 * Rejects a key without the scope `read` where an operation concerns what others started.
 * @throws AppError PERMISSION_DENIED
 */
export function assertSeesRuns(principal: Principal): void {
  if (keyOfOwnRuns(principal) === null) return;
  throw new AppError(
    "PERMISSION_DENIED",
    "This needs an API key that also has the scope read: it concerns executions that this key did not start. Make another key in Settings, API keys.",
  );
}

/** The projects that a caller is confined to; null: no limit beyond the memberships. */
export const projectLimit = ({ auth }: Principal): readonly string[] | null => (auth.type === "platform_key" ? auth.project_ids : null);

/** Whether the caller's key, if there is one, opens this project. */
export const opensProject = (principal: Principal, projectId: string): boolean => projectLimit(principal)?.includes(projectId) ?? true;

/** What tells two keys of different rights apart, as text; empty for a session and for a key without limits. */
export function limitsOf({ auth }: Principal): string {
  if (auth.type !== "platform_key") return "";
  const { scopes, project_ids, expires_at } = auth;
  const isWhole = scopes.length === 3 && !project_ids && !expires_at;
  return isWhole ? "" : JSON.stringify([[...scopes].sort(), project_ids && [...project_ids].sort(), expires_at]);
}
