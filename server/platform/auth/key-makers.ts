import type { Prisma } from "#prisma/generated/client.ts";
import { db } from "#server/platform/db/client.ts";

// Creators of the keys of service accounts. Where people are counted, an action with such a key counts as its creator's.

/** A person who counts as a voter. */
interface Maker {
  id: string;
  email: string;
}

/** Returns the creator of a key of a service account; null when it is not recorded. */
export async function makerOfKey(key_id: string): Promise<Maker | null> {
  const found = await db().serviceKeyMaker.findUnique({
    where: { key_id },
    select: { made_by: { select: { id: true, email: true } } },
  });
  return found?.made_by ?? null;
}

/** The people who have ever made a key of each of these accounts. Accounts of people have none. */
export async function makersOf(
  account_ids: readonly string[],
  within: Pick<Prisma.TransactionClient, "serviceKeyMaker"> = db(),
): Promise<Map<string, string[]>> {
  const rows = account_ids.length
    ? await within.serviceKeyMaker.findMany({
        where: { account_id: { in: [...account_ids] } },
        select: { account_id: true, made_by_id: true },
        distinct: ["account_id", "made_by_id"],
      })
    : [];
  return new Map(
    Object.entries(Object.groupBy(rows, ({ account_id }) => account_id)).map(([id, made = []]) => [id, made.map((row) => row.made_by_id)]),
  );
}

/** The service accounts of which a person has ever made a key. */
export async function accountsOfMaker(user_id: string): Promise<string[]> {
  const rows = await db().serviceKeyMaker.findMany({
    where: { made_by_id: user_id },
    select: { account_id: true },
    distinct: ["account_id"],
  });
  return rows.map(({ account_id }) => account_id);
}
