import { LRUCache } from "lru-cache";
import { NIL } from "uuid";
import type { Canvas as CanvasRow } from "#prisma/generated/client.ts";
import { readCanvasData } from "#server/features/canvases/data.ts";
import type { ShareCanvasInput, SharedCanvas, SharedLink, Widget, WidgetData } from "#server/features/canvases/schema.ts";
import { findCanvas, toCanvas } from "#server/features/canvases/service.ts";
import { endShareLinks } from "#server/features/canvases/share-links.ts";
import { recordAudit } from "#server/platform/audit/audit.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { AppError, notFound } from "#server/platform/errors.ts";
import { randomToken, sha256 } from "#server/platform/secrets.ts";
import { appUrl } from "#server/platform/settings.ts";
import { TimeSlice } from "#server/platform/time-slice.ts";

// A link shows a canvas to whoever has it. There is one at a time, it ends by itself, and only the hash of its token is kept.

const DAY_MS = 24 * 60 * 60 * 1000;
const audited = { resource_type: "canvas" } as const;

/**
 * Makes the link that shows a canvas; the one that it had before ends.
 * @throws AppError NOT_FOUND
 */
export async function shareCanvas(principal: ProjectPrincipal, { canvas_id, expires_in_days }: ShareCanvasInput): Promise<SharedLink> {
  const { id, name } = await findCanvas(principal.project.id, canvas_id);
  const [token, shared_at] = [randomToken(), new Date()];
  const share_expires_at = new Date(shared_at.getTime() + expires_in_days * DAY_MS);
  const expires_at = share_expires_at.toISOString();
  await db().$transaction(async (tx) => {
    const data = { share_token_hash: sha256(token), shared_at, share_expires_at, shared_by_id: principal.user.id };
    const { count } = await tx.canvas.updateMany({ where: { id }, data });
    if (count === 0) throw notFound("canvas");
    const record = { ...audited, action: "canvas.share", resource_id: id, resource_name: name, detail: { expires_at } } as const;
    await recordAudit(tx, principal, record);
  });
  return { url: `${appUrl()}/shared/${token}`, expires_at };
}

/**
 * Ends the link of a canvas.
 * @throws AppError NOT_FOUND, also when it has none
 */
export async function unshareCanvas(principal: ProjectPrincipal, { canvas_id }: { canvas_id: string }): Promise<void> {
  const { id, name } = await findCanvas(principal.project.id, canvas_id);
  await db().$transaction(async (tx) => {
    if ((await endShareLinks(tx, { id })) === 0) throw new AppError("NOT_FOUND", "This canvas is not shared.");
    await recordAudit(tx, principal, { ...audited, action: "canvas.unshare", resource_id: id, resource_name: name });
  });
}

/** A widget as it is drawn, without what it reads. */
function withoutSource(widget: Widget): Widget {
  const place = { workflow_id: NIL, output_label: null };
  if (widget.type === "chart") return { ...widget, ...place, options: { ...widget.options, x: widget.options.x && "$", y: "$" } };
  if (widget.type === "table") return { ...widget, ...place, options: { ...widget.options, path: undefined, columns: undefined } };
  return { ...widget, ...place, options: { ...widget.options, path: undefined } };
}

/** Why there is nothing to show is told to members: it names what the workflow has. */
function withoutReasons({ suggestion, ...data }: WidgetData): WidgetData {
  return data.status === "problem" ? { ...data, problem: "This cannot be shown at the moment." } : data;
}

/** How long what a link shows is handed to others who ask, in milliseconds. Whether the link is still good is asked each time. */
const SHARED_MS = 2000;
const shown = new LRUCache<string, SharedCanvas, CanvasRow>({
  max: 50,
  ttl: SHARED_MS,
  ttlAutopurge: true,
  async fetchMethod(_key, _stale, { context: row }) {
    const { id, name, widgets } = toCanvas(row);
    const { canvas_id, ...data } = await readCanvasData({ id, project_id: row.project_id, widgets }, { isShared: true });
    return { name, widgets: widgets.map(withoutSource), data: { ...data, widgets: data.widgets.map(withoutReasons) } };
  },
});

/**
 * What a link shows now.
 * @throws AppError NOT_FOUND for a link that never was, has ended or was replaced, and when the canvas is gone
 */
export async function readSharedCanvas({ token }: { token: string }): Promise<SharedCanvas> {
  const row = await db().canvas.findFirst({
    where: { share_token_hash: sha256(token), share_expires_at: { gt: new Date() }, project: { deleted_at: null } },
  });
  const found = row && (await shown.fetch(`${row.id} ${row.updated_at.getTime()}`, { context: row }));
  // As in getCanvasData.
  await new TimeSlice().next();
  if (!found) throw new AppError("NOT_FOUND", "This link has expired or was revoked. Ask the person who shared it for a new one.");
  return found;
}
