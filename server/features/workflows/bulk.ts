import { filteredWorkflows } from "#server/features/workflows/list.ts";
import {
  type BulkResult,
  type BulkWorkflowsInput,
  Folder,
  MAX_BULK,
  MAX_TAGS,
  type MoveFolderInput,
} from "#server/features/workflows/schema.ts";
import { deleteWorkflow, distinctTags, updateWorkflow } from "#server/features/workflows/service.ts";
import { recordAudit } from "#server/platform/audit/audit.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { AppError, invalidField, isAppError, notFound } from "#server/platform/errors.ts";
import { isUuid } from "#server/platform/new-id.ts";
import { escapeLike } from "#server/platform/search-words.ts";
import { nameKey } from "#server/shared/fold-text.ts";

/** How long one request may go on before it begins no further workflow. */
const MOST_MS = 60_000;

interface Target {
  id: string;
  /** null for one that is not there. */
  name: string | null;
}

/** What a request is about. @throws AppError VALIDATION_ERROR for neither or both of ids and filter, and for too many */
async function targetsOf(principal: ProjectPrincipal, { ids, filter }: BulkWorkflowsInput): Promise<Target[]> {
  if ((ids === undefined) === (filter === undefined)) throw invalidField("ids", "Give either ids or a filter.");
  if (filter) {
    const found = await filteredWorkflows(principal, filter, MAX_BULK + 1);
    if (found.length > MAX_BULK)
      throw invalidField("filter", `More than ${MAX_BULK} workflows match. Narrow the filter, and do it in parts.`);
    return found;
  }
  const wanted = [...new Set(ids?.map((id) => id.toLowerCase()))];
  const where = { project_id: principal.project.id, deleted_at: null, id: { in: wanted.filter(isUuid) } };
  const names = new Map((await db().workflow.findMany({ where, select: { id: true, name: true } })).map(({ id, name }) => [id, name]));
  return wanted.map((id) => ({ id, name: names.get(id) ?? null }));
}

/** What is done with one workflow. @throws AppError VALIDATION_ERROR where something is missing for it */
function changeOf(principal: ProjectPrincipal, { action, tags, folder }: BulkWorkflowsInput): (workflow_id: string) => Promise<unknown> {
  const current = async (workflow_id: string) => {
    const where = { id: workflow_id, project_id: principal.project.id, deleted_at: null };
    const row = await db().workflow.findFirst({ where, select: { enabled: true, tags: true, folder: true } });
    if (!row) throw notFound("workflow");
    return row;
  };
  if (action === "delete") return (workflow_id) => deleteWorkflow(principal, { workflow_id });
  // What is so already gets no version and no entry in the log for nothing.
  if (action === "enable" || action === "disable") {
    const enabled = action === "enable";
    return async (workflow_id) => (await current(workflow_id)).enabled === enabled || updateWorkflow(principal, { workflow_id, enabled });
  }
  if (action === "move") {
    if (folder === undefined) throw invalidField("folder", "Say where to: a folder, or null for none.");
    return async (workflow_id) => (await current(workflow_id)).folder === folder || updateWorkflow(principal, { workflow_id, folder });
  }
  if (!tags) throw invalidField("tags", "Say which tags.");
  const named = new Set(tags.map(nameKey));
  return async (workflow_id) => {
    const { tags: before } = await current(workflow_id);
    const next = action === "tag" ? distinctTags([...before, ...tags]) : before.filter((tag) => !named.has(nameKey(tag)));
    if (next.length > MAX_TAGS) throw new AppError("VALIDATION_ERROR", `It would have more than ${MAX_TAGS} tags. Take some off first.`);
    if (next.length !== before.length) await updateWorkflow(principal, { workflow_id, tags: next });
  };
}

/**
 * Does the same with many workflows, one after another, each by the rules and with the audit entry of the operation for one. Those with
 * which it cannot be done stay as they are, and are told with the reason. Workflows that run each other can be deleted together.
 * @throws AppError VALIDATION_ERROR when the request does not say what, or names too many
 */
export async function bulkWorkflows(principal: ProjectPrincipal, input: BulkWorkflowsInput): Promise<BulkResult> {
  const change = changeOf(principal, input);
  const until = Date.now() + MOST_MS;
  let left = await targetsOf(principal, input);
  let count = 0;
  for (;;) {
    const failed: BulkResult["failed"] = [];
    for (const target of left) {
      if (Date.now() > until) failed.push({ ...target, message: "There was no time left for it. Send it again." });
      else
        try {
          if (target.name === null) throw notFound("workflow");
          await change(target.id);
          count++;
        } catch (error) {
          if (!isAppError(error)) throw error;
          failed.push({ id: target.id, name: target.name, message: error.message });
        }
    }
    // What one of them stood in the way of may go now that it is gone.
    const isWorthAgain = input.action === "delete" && failed.length > 0 && failed.length < left.length && Date.now() < until;
    if (!isWorthAgain) return { count, failed };
    left = failed;
  }
}

/**
 * Renames or moves a folder with all that is in it.
 * @returns how many workflows have moved
 * @throws AppError VALIDATION_ERROR into itself, and where a path would become too long; NOT_FOUND for a folder that is not there
 */
export async function moveFolder(principal: ProjectPrincipal, { folder, to }: MoveFolderInput): Promise<{ count: number }> {
  if (to?.startsWith(`${folder}/`)) throw invalidField("to", "A folder cannot be moved into itself.");
  const project_id = principal.project.id;
  const where = { project_id, deleted_at: null, OR: [{ folder }, { folder: { startsWith: escapeLike(`${folder}/`) } }] };
  const within = await db().workflow.findMany({ where, select: { folder: true }, distinct: ["folder"] });
  for (const { folder: path } of within) {
    const moved = [to, path?.slice(folder.length + 1)].filter(Boolean).join("/");
    if (moved !== "" && !Folder.safeParse(moved).success) throw invalidField("to", `“${moved}” would be too long for a path, or too deep.`);
  }
  return db().$transaction(async (tx) => {
    const count = await tx.$executeRaw`
      UPDATE workflows SET folder = nullif(concat_ws('/', ${to}::text, nullif(substr(folder, char_length(${folder}::text) + 2), '')), '')
      WHERE project_id = ${project_id}::uuid AND deleted_at IS NULL AND (folder = ${folder} OR folder LIKE ${`${escapeLike(folder)}/%`})`;
    if (count === 0) throw notFound("folder");
    const record = { action: "workflow.move_folder", resource_type: "workflow", resource_id: folder, resource_name: folder } as const;
    await recordAudit(tx, principal, { ...record, detail: { to, count } });
    return { count };
  });
}
