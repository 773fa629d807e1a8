import { db } from "#server/platform/db/client.ts";

/** Whether the database answers. */
export async function isDatabaseUp(): Promise<boolean> {
  return db().$queryRaw`SELECT 1`.then(
    () => true,
    () => false,
  );
}
