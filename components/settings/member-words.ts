import type { Role } from "#server/shared/primitives-schema.ts";

/** The roles with what each may do, for choices. */
export const roleOptions: readonly { value: Role; label: string; description: string }[] = [
  { value: "viewer", label: "Viewer", description: "Sees workflows, agents and runs" },
  { value: "approver", label: "Approver", description: "Also decides reviews" },
  { value: "editor", label: "Editor", description: "Also builds, changes and runs them" },
  { value: "admin", label: "Admin", description: "Also manages members, keys and credentials" },
];

export const roleLabel = (role: Role): string => roleOptions.find(({ value }) => value === role)?.label ?? role;
