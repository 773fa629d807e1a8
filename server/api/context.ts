import type { ApiContext } from "#server/api/trpc.ts";
import type { Principal, ProjectPrincipal } from "#server/auth/principal.ts";
import { askerOf } from "#server/auth/principal-of.ts";
import { projectOf } from "#server/auth/project-of.ts";
import { assertSameOrigin, clientAddress } from "#server/auth/request-origin.ts";
import { AppError } from "#server/errors.ts";

/** Whether a method only reads, so that any page may have a browser send it. */
export const isReading = (method: string): boolean => ["GET", "HEAD", "OPTIONS"].includes(method);

export interface DoorOptions {
  /** Takes a platform key from `?token=` too. */
  allowQueryToken?: boolean;
  /** Takes the browser session only: a platform key is refused. */
  sessionOnly?: boolean;
}

/**
 * Who asks and for which project, read from the request once, at any door.
 * @throws AppError PERMISSION_DENIED for a change that comes from another site with the browser's session, and for a
 *   platform key where only the session is taken
 */
export async function createContext(
  request: Request,
  { allowQueryToken = false, sessionOnly = false }: DoorOptions = {},
): Promise<ApiContext> {
  const token = allowQueryToken ? new URL(request.url).searchParams.get("token") : null;
  const asker = await askerOf(request.headers, token);
  const principal = asker?.principal ?? null;
  if (principal?.auth.type === "session" && !isReading(request.method)) assertSameOrigin(request.headers);
  if (principal?.auth.type === "platform_key" && sessionOnly) {
    throw new AppError("PERMISSION_DENIED", "This part is for the web app only: API keys cannot use it. The REST API is at /api/v1.");
  }
  let resolved: Promise<ProjectPrincipal> | undefined;
  return {
    principal,
    address: clientAddress(request.headers),
    project: (who: Principal) => {
      resolved ??= projectOf(who, request.headers, asker?.memberships);
      return resolved;
    },
  };
}
