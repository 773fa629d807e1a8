/** Resources that an audit entry can be about. */
export const auditResources = [
  "project",
  "member",
  "account",
  "platform_key",
  "service_account",
  "install_admin",
  "llm_key",
  "credential",
  "agent",
  "workflow",
  "execution",
  "review",
  "rag",
  "mcp_server",
  "skill",
  "canvas",
  "assistant",
] as const;
export type AuditResource = (typeof auditResources)[number];

/** Actions of the audit log, as verbs by the first part of their names. They are stored: one may be added, none renamed. */
type AuditVerbs = {
  account:
    | "change_password"
    | "connect_service"
    | "end_session"
    | "end_sessions"
    | "make_password_link"
    | "prove_address"
    | "remove_second_factor"
    | "renew_recovery_codes"
    | "reset_password"
    | "turn_off_second_factor"
    | "turn_on_second_factor"
    | "update"
    | "use_recovery_code";
  agent: "create" | "delete" | "restore" | "update";
  assistant: "update";
  budget: "update";
  canvas: "create" | "delete" | "share" | "unshare" | "update";
  credential: "create" | "delete" | "update";
  execution: "bulk_cancel" | "bulk_delete" | "bulk_rerun" | "cancel" | "fork" | "rerun" | "start" | "stop_bulk";
  install_admin: "add" | "remove";
  llm_key: "create" | "delete" | "update";
  mcp_server: "create" | "delete" | "update";
  member: "decline" | "invite" | "join" | "leave" | "remove" | "uninvite" | "update";
  platform_key: "create" | "delete";
  price: "update";
  project: "confirm_emails" | "create" | "resume_emails" | "stop_emails" | "take_over" | "update";
  rag: "add_document" | "create" | "delete" | "delete_document" | "index_document" | "update";
  review: "approve" | "reject";
  service_account: "create" | "create_key" | "delete" | "delete_key" | "update";
  skill: "create" | "delete" | "update";
  webhook: "listen" | "setup";
  workflow: "accept_proposal" | "create" | "delete" | "move_folder" | "name_version" | "update";
};
export type AuditAction = { [Subject in keyof AuditVerbs]: `${Subject}.${AuditVerbs[Subject]}` }[keyof AuditVerbs];
