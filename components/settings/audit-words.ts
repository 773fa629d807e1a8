import { type AuditEntry, type AuditResource, auditResources } from "#server/features/audit/schema.ts";

/** What an entry is about, in words. */
export const resourceLabels: Record<AuditResource, string> = {
  project: "Project",
  member: "Member",
  account: "Account",
  platform_key: "API key",
  install_admin: "Install admin",
  llm_key: "LLM key",
  credential: "Credential",
  agent: "Agent",
  workflow: "Workflow",
  execution: "Run",
  review: "Review",
  rag: "Knowledge",
  mcp_server: "MCP server",
  skill: "Skill",
  canvas: "Canvas",
};

export const isAuditResource = (text: string | null): text is AuditResource =>
  (auditResources as readonly (string | null)[]).includes(text);

export const resourceLabel = (type: string): string => (isAuditResource(type) ? resourceLabels[type] : type);

export const viaLabels: Record<AuditEntry["via"], string> = {
  session: "web app",
  platform_key: "API",
  email: "e-mail link",
  system: "service",
};

/** `workflow.update` in words: `update`; `member.change_role`: `change role`. */
export const verbOf = (action: string): string => action.slice(action.indexOf(".") + 1).replaceAll("_", " ");

/** Where the resource can be looked at, as long as it is there. */
export function placeOf({ action, resource_type, resource_id, detail }: AuditEntry): string | undefined {
  const execution = typeof detail?.execution_id === "string" ? detail.execution_id : undefined;
  if (resource_type === "review" && execution) return `/runs/${execution}`;
  if (action === `${resource_type}.delete` || !isAuditResource(resource_type)) return undefined;
  const places: Partial<Record<AuditResource, string>> = {
    project: "/settings/project",
    member: "/settings/members",
    llm_key: "/keys",
    agent: `/agents/${resource_id}`,
    workflow: `/workflows/${resource_id}`,
    execution: `/runs/${resource_id}`,
  };
  return places[resource_type];
}
