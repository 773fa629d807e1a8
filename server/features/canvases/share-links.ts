import type { Prisma } from "#prisma/generated/client.ts";

/** Ends the share links of canvases. @returns how many there were */
export async function endShareLinks(tx: Prisma.TransactionClient, where: Prisma.CanvasWhereInput): Promise<number> {
  const data = { share_token_hash: null, shared_at: null, share_expires_at: null, shared_by_id: null };
  return (await tx.canvas.updateMany({ where: { ...where, share_token_hash: { not: null } }, data })).count;
}
