import type { Principal } from "#server/platform/auth/principal.ts";

type KeyAuth = Extract<Principal["auth"], { type: "platform_key" }>;

/** How somebody with a platform key is known; it has no limits but those given. */
export const testKeyAuth = (limits: Partial<KeyAuth> = {}): KeyAuth => ({
  type: "platform_key",
  key_id: "k",
  scopes: ["read", "run", "write"],
  project_ids: null,
  expires_at: null,
  ...limits,
});
