import type { KeyScope } from "#server/platform/auth/platform-key-schema.ts";
import { AppError } from "#server/platform/errors.ts";
import type { Role } from "#server/shared/primitives-schema.ts";

const RANK: Record<Role, number> = { viewer: 0, approver: 1, editor: 2, admin: 3 };

/** @throws AppError PERMISSION_DENIED when the principal's role in its project is below `needed` */
export function assertRole(principal: Pick<ProjectPrincipal, "role">, needed: Role): void {
  if (RANK[principal.role] >= RANK[needed]) return;
  throw new AppError("PERMISSION_DENIED", `You are ${principal.role} in this project; this needs ${needed}. Ask an admin of the project.`);
}

/** A platform key by which somebody asks, and what it opens of what its owner may do. */
interface KeyAuth {
  type: "platform_key";
  key_id: string;
  scopes: readonly KeyScope[];
  /** Ids of the projects that it opens; null: every project of its owner. */
  project_ids: readonly string[] | null;
  expires_at: Date | null;
}

/** A browser's session. */
interface SessionAuth {
  type: "session";
  /** Of the password that the account had when the request was let in; see `passwordMark`. */
  password_mark?: string;
  /** Of this browser's session, where it came by one. */
  session_id?: string;
}

/** The assistant, at work for somebody who asked it to with a session. */
interface AssistantAuth {
  type: "assistant";
  /** Message that it works on; the runs that it starts spend from the message's allowance. */
  message_id?: string;
}

/** Who asks, however they proved it. */
export interface Principal {
  user: { id: string; email: string; name: string };
  auth: KeyAuth | SessionAuth | AssistantAuth;
}

/** Who asks, inside one project; the role is that of the membership at the time of the request. */
export interface ProjectPrincipal extends Principal {
  project: { id: string; slug: string; name: string };
  role: Role;
}
