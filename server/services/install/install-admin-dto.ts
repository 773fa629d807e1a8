import type { User } from "#prisma/generated/client.ts";
import type { InstallAdmin } from "#server/schemas/install.ts";

/** What a query must select for `toInstallAdmin`. */
export const shownFields = { id: true, email: true, name: true, created_at: true } as const;

export const toInstallAdmin = ({ id, email, name, created_at }: Pick<User, keyof typeof shownFields>): InstallAdmin => ({
  user_id: id,
  email,
  name,
  created_at: created_at.toISOString(),
});
