import { type Credential as CredentialRow, Prisma } from "#prisma/generated/client.ts";
import type { CreateCredentialInput, Credential, ReplaceCredentialInput } from "#server/features/credentials/schema.ts";
import { checkSearchAddress } from "#server/features/credentials/values.ts";
import { deleteResource, namesInUse, saveResource } from "#server/platform/audit/resources.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { findPage } from "#server/platform/db/find-page.ts";
import { notFound } from "#server/platform/errors.ts";
import { isUuid } from "#server/platform/new-id.ts";
import { paged } from "#server/platform/paging.ts";
import { seal } from "#server/platform/secrets.ts";
import type { ListInput, Page } from "#server/shared/primitives-schema.ts";
import { credentialOf, referencesOf } from "#server/workflow/expressions.ts";
import { definitionOf } from "#server/workflow/graph.ts";
import { textsOf } from "#server/workflow/node-texts.ts";
import { Graph, type GraphNode } from "#server/workflow/schema.ts";

/** What a query must select for `toCredential`: the value stays in the database. */
const shownFields = { id: true, name: true, created_at: true } as const;

/** What the API shows of a credential: never its value. */
const toCredential = ({ id, name, created_at }: Pick<CredentialRow, keyof typeof shownFields>): Credential => ({
  id,
  name,
  created_at: created_at.toISOString(),
});

/**
 * The stored credential, without its value.
 * @throws AppError NOT_FOUND, also for one of another project
 */
async function findCredential({ project }: ProjectPrincipal, id: string) {
  const row = isUuid(id) ? await db().credential.findFirst({ where: { id, project_id: project.id }, select: shownFields }) : null;
  if (!row) throw notFound("credential");
  return row;
}

/** The names of the project's credentials, newest first. */
export async function listCredentials({ project }: ProjectPrincipal, input: ListInput): Promise<Page<Credential>> {
  const from = Prisma.sql`credentials x WHERE x.project_id = ${project.id}::uuid`;
  const { total, ids } = await findPage(input, from, Prisma.sql`x.name`);
  const rows = await db().credential.findMany({ where: { id: { in: ids } }, orderBy: { id: "desc" }, select: shownFields });
  return paged(input, [total, rows], toCredential);
}

/**
 * Stores a credential, encrypted.
 * @throws AppError CONFLICT for a name that is taken; VALIDATION_ERROR for an address of a search service that is out of reach
 */
export async function createCredential(principal: ProjectPrincipal, { name, value }: CreateCredentialInput): Promise<Credential> {
  const private_allowed = await checkSearchAddress(principal, name, value);
  const record = { what: "a credential", name, action: "credential.create", resource_type: "credential" } as const;
  const data = { project_id: principal.project.id, name, sealed_value: seal(value), private_allowed, created_by_id: principal.user.id };
  return toCredential(await saveResource(principal, record, (tx) => tx.credential.create({ data, select: shownFields })));
}

/**
 * Replaces the value of a credential, also while workflows read it. Without `value` nothing changes.
 * @throws AppError NOT_FOUND; VALIDATION_ERROR for an address of a search service that is out of reach
 */
export async function replaceCredential(principal: ProjectPrincipal, { cred_id, value }: ReplaceCredentialInput): Promise<Credential> {
  const credential = await findCredential(principal, cred_id);
  if (value === undefined) return toCredential(credential);

  const private_allowed = await checkSearchAddress(principal, credential.name, value);
  const record = { what: "a credential", name: credential.name, action: "credential.update", resource_type: "credential" } as const;
  await saveResource(principal, record, async (tx) => {
    const { count } = await tx.credential.updateMany({
      where: { id: credential.id },
      data: { sealed_value: seal(value), private_allowed },
    });
    if (count === 0) throw notFound("credential");
    return credential;
  });
  return toCredential(credential);
}

async function credentialInUse(project_id: string, name: string): Promise<string | undefined> {
  const workflows = await workflowsReading(project_id, name);
  if (!workflows.length) return undefined;
  return `The credential is read in ${namesInUse("workflow", workflows)}. Take it out there first, or give it a new value in the settings.`;
}

/**
 * Deletes a credential of the project.
 * @throws AppError NOT_FOUND; CONFLICT that names the workflows which read it, saved or in a draft
 */
export async function deleteCredential(principal: ProjectPrincipal, { cred_id }: { cred_id: string }): Promise<void> {
  const { id, name } = await findCredential(principal, cred_id);
  const record = { action: "credential.delete", resource_type: "credential", resource_id: id, resource_name: name } as const;
  await deleteResource(
    principal,
    "credential",
    record,
    (tx) => tx.credential.deleteMany({ where: { id } }),
    () => credentialInUse(principal.project.id, name),
  );
}

/** True when the node reads a credential: by an expression, `{{credentials.<name>}}`, or as its type does. */
function names(node: GraphNode, name: string): boolean {
  const definition = definitionOf(node.type);
  const templates = textsOf(definition, node.data, "template");
  const config = definition?.credentials && definition.config.safeParse(node.data);
  if (config?.success && definition?.credentials?.(config.data).includes(name)) return true;
  return templates.flatMap(({ text }) => referencesOf(text)).some((reference) => credentialOf(reference) === name);
}

/**
 * The project's workflows whose saved version or draft reads a credential, by name of the workflow. The database leaves
 * out the graphs that cannot; what is left is read by the parser of the run. Takes time in proportion to the project's
 * graphs, which the deletion of a credential is rare enough for.
 * @param name letters, digits and underscores
 */
export async function workflowsReading(project_id: string, name: string): Promise<{ name: string }[]> {
  const pattern = `\\{\\{[^{}]*credentials[^{}]*${name}|"credential": *"${name}"`;
  const rows = await db().$queryRaw<{ id: string; name: string; graph: unknown }[]>`
    SELECT w.id, w.name, g.graph
    FROM workflows w
    CROSS JOIN LATERAL (
      SELECT graph FROM workflow_snapshots WHERE id = w.snapshot_id
      UNION ALL
      SELECT graph FROM workflow_drafts WHERE workflow_id = w.id
    ) g
    WHERE w.project_id = ${project_id}::uuid AND w.deleted_at IS NULL AND g.graph::text ~* ${pattern}
    ORDER BY w.name, w.id`;
  const readers = rows.filter(({ graph }) => Graph.parse(graph).nodes.some((node) => names(node, name)));
  return [...new Map(readers.map((row) => [row.id, { name: row.name }])).values()];
}
