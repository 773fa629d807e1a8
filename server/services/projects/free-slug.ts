import type { Prisma } from "#prisma/generated/client.ts";

/** Holds an account for the rest of the transaction: two at once cannot find the same slug free in it. */
export async function holdAccount(within: Prisma.TransactionClient, userId: string): Promise<void> {
  await within.$queryRaw`SELECT id FROM users WHERE id = ${userId}::uuid FOR NO KEY UPDATE`;
}

/**
 * The slug itself, or the first of `slug-2`, `slug-3`, … that no other project of the account has, owned or joined.
 * @param except the project that is to be called so, if it is there already
 */
export async function freeSlug(
  within: Prisma.TransactionClient,
  userId: string,
  wanted: string,
  except: string | null = null,
): Promise<string> {
  const [found] = await within.$queryRaw<{ slug: string }[]>`SELECT free_slug(${userId}::uuid, ${wanted}, ${except}::uuid) AS slug`;
  return found?.slug ?? wanted;
}
