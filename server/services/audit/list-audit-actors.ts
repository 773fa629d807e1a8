import type { ProjectPrincipal } from "#server/auth/principal.ts";
import { pool } from "#server/db/client.ts";
import type { AuditActors } from "#server/schemas/audit.ts";

/** More than this cannot be chosen from in a list. */
const MOST = 500;

// From one actor to the next along the index, so that a long log is not read.
const ACTORS = `
  WITH RECURSIVE actors AS (
    (SELECT actor_id FROM audit_log WHERE project_id = $1 AND actor_id IS NOT NULL ORDER BY actor_id LIMIT 1)
    UNION ALL
    SELECT (SELECT l.actor_id FROM audit_log l WHERE l.project_id = $1 AND l.actor_id > a.actor_id ORDER BY l.actor_id LIMIT 1)
    FROM actors a WHERE a.actor_id IS NOT NULL
  )
  SELECT a.actor_id AS id, latest.actor_email AS email FROM actors a
  CROSS JOIN LATERAL (
    SELECT actor_email FROM audit_log WHERE project_id = $1 AND actor_id = a.actor_id ORDER BY id DESC LIMIT 1
  ) AS latest
  WHERE a.actor_id IS NOT NULL ORDER BY latest.actor_email LIMIT ${MOST}`;

/** Everybody who did something in the project, with the address that they had last, also when they are no member any more. */
export async function listAuditActors({ project }: ProjectPrincipal): Promise<AuditActors> {
  return (await pool().query<AuditActors[number]>({ name: "audit-actors", text: ACTORS, values: [project.id] })).rows;
}
