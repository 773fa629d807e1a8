import type { InvitedAccount } from "#server/features/projects/schema.ts";

const WAYS: Record<NonNullable<InvitedAccount["made_through"]>, string> = {
  setup: "the set-up of this install",
  bootstrap: "the settings of this install",
  sign_up: "sign-up",
  invitation: "an invitation",
  provider: "a sign-in service",
};

/** Through what an account was made, in words; empty when nobody knows. */
export function madeThrough({ made_through, invited_by }: InvitedAccount): string {
  if (made_through === null) return "";
  return ` through ${WAYS[made_through]}${invited_by ? ` by ${invited_by}` : ""}`;
}
