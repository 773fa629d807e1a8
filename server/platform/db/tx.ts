import type pg from "pg";
import type { PrismaClient } from "#prisma/generated/client.ts";

/** A transaction of Prisma or of pg; or either client, on which each statement is a transaction of its own. */
export type Tx = Pick<pg.ClientBase, "query"> | Pick<PrismaClient, "$queryRawUnsafe">;

/** Runs a statement within a transaction of either client, and returns its rows. */
export const queryIn = async <Row extends pg.QueryResultRow>(tx: Tx, text: string, values: readonly unknown[]): Promise<Row[]> =>
  "query" in tx ? (await tx.query<Row>(text, [...values])).rows : tx.$queryRawUnsafe<Row[]>(text, ...values);
