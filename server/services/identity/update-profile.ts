import type { z } from "zod";
import type { Principal } from "#server/auth/principal.ts";
import { db } from "#server/db/client.ts";
import type { UpdateProfileInput, UserProfile } from "#server/schemas/identity.ts";
import { getProfile } from "#server/services/identity/get-profile.ts";

/** Changes the caller's name. */
export async function updateProfile(principal: Principal, { name }: z.infer<typeof UpdateProfileInput>): Promise<UserProfile> {
  await db().user.update({ where: { id: principal.user.id }, data: { name } });
  return getProfile(principal);
}
