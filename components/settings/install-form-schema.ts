import { NameInstallAdminInput } from "#server/features/install/schema.ts";

export const NameAdminForm = NameInstallAdminInput;
