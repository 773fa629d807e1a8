import { newPool } from "#server/platform/db/connections.ts";

// What is kept of one project, summed up, so that a spec can tell that nothing of it changed. It looks into the database:
// what no list shows counts too.

/**
 * Columns that change by themselves: when a key was last used, how a server was last reached, whether a version of an agent has run, when
 * people are told next, and the engine's own leases.
 */
const VOLATILE = [
  "last_used_at",
  "last_used_ip",
  "last_seen_at",
  "last_error",
  "has_run",
  "mail_asked_at",
  "remind_at",
  "lease_owner",
  "lease_epoch",
  "lease_until",
  "run_at",
  "wake",
  "is_asleep",
  "crashes",
  "dispatch",
  "woken_at",
];
/**
 * What a webhook keeps of deliveries, refused ones too: that is what it is for. And what calls used, how much a project
 * holds and what widgets read, which are added up and forgotten by themselves. And where people are signed in, which is noted as they come.
 */
const LEFT_OUT = [
  ...["webhook_deliveries", "usage_calls", "usage_days", "project_storage"],
  ...["readings", "reading_values", "reading_hours", "sessions"],
];

/** Foreign keys of one column between tables of ours. */
const LINKS = `
  SELECT child.relname AS child, a.attname AS column, parent.relname AS parent, b.attname AS key
  FROM pg_constraint c
  JOIN pg_class child ON child.oid = c.conrelid JOIN pg_class parent ON parent.oid = c.confrelid
  JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1]
  JOIN pg_attribute b ON b.attrelid = c.confrelid AND b.attnum = c.confkey[1]
  WHERE c.contype = 'f' AND array_length(c.conkey, 1) = 1 AND c.connamespace = 'public'::regnamespace
  ORDER BY child.relname, (a.attname = 'project_id') DESC, a.attname`;

/** Which rows no foreign key ties to their run; see decision 37. */
const UNCHECKED: Link[] = [
  { child: "execution_events", column: "execution_id", parent: "executions", key: "id" },
  { child: "node_run_values", column: "node_run_id", parent: "node_runs", key: "id" },
  { child: "node_runs", column: "execution_id", parent: "executions", key: "id" },
];

interface Link {
  child: string;
  column: string;
  parent: string;
  key: string;
}

/** Which rows of each table belong to the project $1: reached from the project and its members along foreign keys. */
function conditions(links: Link[]): Map<string, string> {
  const found = new Map([
    ["projects", "id = $1"],
    ["users", "id IN (SELECT user_id FROM memberships WHERE project_id = $1)"],
  ]);
  for (let size = 0; size < found.size; ) {
    size = found.size;
    for (const { child, column, parent, key } of links) {
      const outer = found.get(parent);
      const isDirect = parent !== "users" || !links.some((other) => other.child === child && other.parent === "projects");
      if (outer && isDirect && !found.has(child)) found.set(child, `"${column}" IN (SELECT "${key}" FROM "${parent}" WHERE ${outer})`);
    }
  }
  for (const table of LEFT_OUT) found.delete(table);
  // A key that was given back, since trying again may end otherwise, is as free as one that was never sent.
  const keys = found.get("idempotency_keys");
  if (keys) found.set("idempotency_keys", `${keys} AND (status IS NOT NULL OR held_by IS NOT NULL)`);
  return found;
}

export interface Digest {
  /** A sum for each table. */
  of(projectId: string): Promise<Record<string, string>>;
  /** True when nothing of the project goes on by itself: no run, no indexing, nobody still to be told. */
  isQuiet(projectId: string): Promise<boolean>;
  stop(): Promise<void>;
}

/** @param connectionString of the database that is looked at */
export async function openDigest(connectionString: string): Promise<Digest> {
  // One plan for every project, made once on each connection: to plan the sums takes longer than to work them out.
  const pool = newPool({ connectionString, max: 2, options: "-c plan_cache_mode=force_generic_plan" });
  const { rows: links } = await pool.query<Link>(LINKS);
  // All at once: each that is dropped by itself copies the whole row.
  const dropped = ` - '{${VOLATILE.join()}}'::text[]`;
  const sums = [...conditions([...links, ...UNCHECKED])].map(
    ([table, condition]) =>
      `SELECT '${table}' AS name, count(*) || ' rows, ' || coalesce(md5(string_agg(row, '' ORDER BY row)), '') AS sum
       FROM (SELECT md5((to_jsonb(t)${dropped})::text) AS row FROM "${table}" t WHERE ${condition}) AS of_${table}`,
  );
  return {
    async of(projectId) {
      const { rows } = await pool.query<{ name: string; sum: string }>({
        name: "digest",
        text: sums.join(" UNION ALL "),
        values: [projectId],
      });
      return Object.fromEntries(rows.map(({ name, sum }) => [name, sum]));
    },
    async isQuiet(projectId) {
      const { rows } = await pool.query<{ busy: boolean }>(
        `SELECT EXISTS (SELECT FROM executions WHERE project_id = $1 AND status IN ('pending', 'queued', 'running') AND NOT is_asleep)
             OR EXISTS (SELECT FROM waits WHERE project_id = $1 AND reason = 'review' AND status = 'waiting' AND notified_at IS NULL)
             OR EXISTS (SELECT FROM waits w JOIN executions e ON e.id = w.execution_id WHERE w.project_id = $1
                        AND w.status IN ('resolved', 'expired') AND w.taken_at IS NULL AND e.is_asleep)
             OR EXISTS (SELECT FROM bulk_actions WHERE project_id = $1 AND completed_at IS NULL)
             OR EXISTS (SELECT FROM rag_documents d JOIN rag_sources s ON s.id = d.rag_source_id
                        WHERE s.project_id = $1 AND d.status = 'indexing')
             OR EXISTS (SELECT FROM assistant_messages m JOIN assistant_threads t ON t.id = m.thread_id
                        WHERE t.project_id = $1 AND m.status IN ('queued', 'working')) AS busy`,
        [projectId],
      );
      return rows[0]?.busy === false;
    },
    stop: () => pool.end(),
  };
}
