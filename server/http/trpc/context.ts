import { checkAfterSlowBody } from "#server/http/messages/read-json.ts";
import type { Principal, ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { askerOf } from "#server/platform/auth/principal-of.ts";
import { projectOf } from "#server/platform/auth/project-of.ts";
import { assertSameOrigin, visitorOf } from "#server/platform/auth/request-origin.ts";
import { assertKeyMay, type KeyNeeds } from "#server/platform/auth/rights.ts";
import { AppError, isAppError } from "#server/platform/errors.ts";
import type { ApiContext } from "#server/platform/rpc/trpc.ts";

/** Whether a method only reads, so that any page may have a browser send it. */
export const isReading = (method: string): boolean => ["GET", "HEAD", "OPTIONS"].includes(method);

/** What a door asks of who comes through it. There is none without saying what a platform key must be good for. */
export type DoorOptions =
  | {
      /** Takes the browser session only: a platform key is refused. */
      sessionOnly: true;
    }
  | {
      sessionOnly?: false;
      /** What a platform key must be good for; null where none is needed. */
      keyNeeds: KeyNeeds | null;
      /** Takes a platform key from `?token=` too. */
      allowQueryToken?: boolean;
    };

/**
 * Who asks and for which project, read from the request once, at any door.
 * @throws AppError PERMISSION_DENIED for a change that comes from another site with the browser's session, for a platform key
 *   where only the session is taken, and for one that is not good for what is asked; AUTH_REQUIRED for an expired one
 */
export async function createContext(request: Request, door: DoorOptions): Promise<ApiContext> {
  const token = !door.sessionOnly && door.allowQueryToken ? new URL(request.url).searchParams.get("token") : null;
  const isOpen = !door.sessionOnly && door.keyNeeds === null;
  const ask = async () => {
    const found = await askerOf(request.headers, token).catch((error: unknown) => {
      if (isOpen && isAppError(error)) return null;
      throw error;
    });
    const who = found?.principal;
    if (who?.auth.type === "session" && !isReading(request.method)) assertSameOrigin(request.headers);
    if (who?.auth.type === "platform_key" && door.sessionOnly) {
      throw new AppError("PERMISSION_DENIED", "This part is for the web app only: API keys cannot use it. The REST API is at /api/v1.");
    }
    if (who && !door.sessionOnly && door.keyNeeds) assertKeyMay(who, door.keyNeeds);
    return found;
  };
  let asker = await ask();
  const principal = asker?.principal ?? null;
  let resolved: Promise<ProjectPrincipal> | undefined;
  const project = (who: Principal) => {
    resolved ??= projectOf(who, request.headers, asker?.memberships);
    return resolved;
  };
  const askAgain = async (who: Principal) => {
    asker = await ask();
    if (asker?.principal.user.id !== who.user.id)
      throw new AppError("AUTH_REQUIRED", "The session or key ended before all of the request had come. Sign in and send it again.");
    const before = await resolved;
    resolved = undefined;
    if (before && (await project(who)).role !== before.role)
      throw new AppError("PERMISSION_DENIED", "Your role changed before all of the request had come. Send it again.");
  };
  if (principal) checkAfterSlowBody(request, () => askAgain(principal));
  return { principal, ...visitorOf(request.headers), project };
}
