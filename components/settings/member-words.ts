import type { InvitedAccount } from "#server/features/projects/schema.ts";
import type { Role } from "#server/shared/primitives-schema.ts";

const WAYS: Record<NonNullable<InvitedAccount["made_through"]>, string> = {
  setup: "the set-up of this install",
  bootstrap: "the settings of this install",
  sign_up: "sign-up",
  invitation: "an invitation",
  provider: "a sign-in service",
};

/** Through what an account was made, in words; empty when nobody knows. */
export function formatAccountOrigin({ made_through, invited_by }: InvitedAccount): string {
  if (made_through === null) return "";
  return ` through ${WAYS[made_through]}${invited_by ? ` by ${invited_by}` : ""}`;
}

/** The roles with what each may do, for choices. */
export const roleOptions: readonly { value: Role; label: string; description: string }[] = [
  { value: "viewer", label: "Viewer", description: "Sees workflows, agents and runs" },
  { value: "approver", label: "Approver", description: "Also decides reviews" },
  { value: "editor", label: "Editor", description: "Also builds, changes and runs them" },
  { value: "admin", label: "Admin", description: "Also manages members, keys and credentials" },
];

export const roleLabel = (role: Role): string => roleOptions.find(({ value }) => value === role)?.label ?? role;
