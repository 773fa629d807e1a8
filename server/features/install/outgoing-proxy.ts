import type { OutgoingProxyState } from "#server/features/install/schema.ts";
import type { Principal } from "#server/platform/auth/principal.ts";
import { assertInstallAdmin } from "#server/platform/auth/rights.ts";
import { shownProxy } from "#server/platform/net/outgoing-proxy.ts";
import { settings } from "#server/platform/settings.ts";

/** Returns the proxies of outgoing requests. @throws AppError PERMISSION_DENIED unless the caller is an install admin */
export async function readOutgoingProxy(principal: Principal): Promise<OutgoingProxyState> {
  await assertInstallAdmin(principal);
  const proxy = shownProxy();
  const entries = proxy ? (settings().NO_PROXY ?? "").split(/[\s,]+/).filter((entry) => entry !== "") : [];
  return { is_on: proxy !== undefined, http: proxy?.http ?? null, https: proxy?.https ?? null, no_proxy: entries };
}
