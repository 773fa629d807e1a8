import type { Role } from "#server/schemas/primitives.ts";

/** Who asks, however they proved it. */
export interface Principal {
  user: { id: string; email: string; name: string };
  auth: { type: "platform_key"; key_id: string } | { type: "session" };
}

/** Who asks, inside one project; the role is that of the membership at the time of the request. */
export interface ProjectPrincipal extends Principal {
  project: { id: string; slug: string; name: string };
  role: Role;
}
