import type { ProjectPrincipal } from "#server/auth/principal.ts";
import { AppError } from "#server/errors.ts";
import type { Role } from "#server/schemas/primitives.ts";

const RANK: Record<Role, number> = { viewer: 0, editor: 1, admin: 2 };

/** @throws AppError PERMISSION_DENIED when the principal's role in its project is below `needed` */
export function assertRole(principal: Pick<ProjectPrincipal, "role">, needed: Role): void {
  if (RANK[principal.role] >= RANK[needed]) return;
  throw new AppError("PERMISSION_DENIED", `You are ${principal.role} in this project; this needs ${needed}. Ask an admin of the project.`);
}
