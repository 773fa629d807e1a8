import { isIP } from "node:net";
import type pg from "pg";
import type { RagConfigs } from "#server/features/knowledge/schema.ts";
import {
  connectionFault,
  MOST_TEXT,
  REMOTE_TIMEOUT_MS,
  type Reaching,
  type RemoteHit,
  textOf,
  upstream,
} from "#server/features/knowledge/sources/remote-hit.ts";
import { DatabaseError, escapeIdentifier, newClient } from "#server/platform/db/connections.ts";
import { masked } from "#server/platform/mask-scope.ts";
import { BoundedConnection } from "#server/platform/net/bounded-connection.ts";
import { AddressRefused, guardedLookup, isReachable, type Reach } from "#server/platform/net/guard.ts";
import { AnswerTooLong } from "#server/platform/net/read-up-to.ts";

type Config = Reaching<RagConfigs["pgvector"]>;

const OPERATORS = { cosine: "<=>", l2: "<->", inner_product: "<#>" } as const;
const SSL_MODES = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"];
/** Most that a server may send in one connection, in bytes: the texts of a search are far less. */
const MAX_BYTES = 4 * 1024 * 1024;
/** How long a server may take to close a connection that we have ended, in milliseconds. */
const GOODBYE_MS = 1000;
/** Rows are counted up to here. */
const MOST_COUNTED = 100_000;

const hostOf = (url: URL) => url.hostname.replace(/^\[|\]$/g, "");

/** What is wrong with a connection string, in a sentence; undefined when it can be used. */
export function connectionStringFault(text: string): string | undefined {
  const url = URL.parse(text);
  if (!url?.hostname) return "A connection string looks like postgresql://user:password@host:5432/database.";
  if (url.pathname.length < 2) return "Name the database at the end: postgresql://user:password@host:5432/database.";
  const other = [...url.searchParams.keys()].find((name) => name !== "sslmode");
  if (other) return `Only sslmode may follow the question mark, not ${other}.`;
  const mode = url.searchParams.get("sslmode");
  if (mode !== null && !SSL_MODES.includes(mode)) return `sslmode is one of ${SSL_MODES.join(", ")}.`;
  try {
    decodeURIComponent(url.username + url.password + url.pathname);
  } catch {
    return "Write a % in the password as %25.";
  }
  return undefined;
}

/** The connection string as answers show it. */
export function maskConnectionString(text: string, mark: string): string {
  const url = new URL(text);
  const user = url.username === "" && url.password === "" ? "" : `${url.username}${url.password ? `:${mark}` : ""}@`;
  return `${url.protocol}//${user}${url.host}${url.pathname}${url.search}`;
}

/** The address that is connected to, checked; TLS still asks for the name. */
async function addressOf(host: string, reach: Reach): Promise<string> {
  if (isIP(host)) {
    if (!isReachable(host, reach)) throw new AddressRefused(host);
    return host;
  }
  return new Promise((resolve, reject) =>
    guardedLookup(reach)(host, { all: false }, (error, address) => (error ? reject(error) : resolve(String(address)))),
  );
}

async function connect({ connection_string, reach }: Config, connection: BoundedConnection): Promise<pg.Client> {
  const url = new URL(connection_string);
  const host = hostOf(url);
  const mode = url.searchParams.get("sslmode") ?? "disable";
  const isEncrypted = !["disable", "allow", "prefer"].includes(mode);
  const client = newClient({
    host: await addressOf(host, reach),
    port: Number(url.port || 5432),
    // What is left out must not come from PGUSER, PGPASSWORD or a .pgpass file: those are the operator's, not the project's.
    user: decodeURIComponent(url.username) || "postgres",
    password: () => decodeURIComponent(url.password),
    database: decodeURIComponent(url.pathname.slice(1)),
    // As libpq does: require encrypts, the two verify modes also check the certificate.
    ssl: isEncrypted ? { rejectUnauthorized: mode.startsWith("verify"), ...(!isIP(host) && { servername: host }) } : false,
    stream: () => connection,
    application_name: "knowledge search",
    connectionTimeoutMillis: REMOTE_TIMEOUT_MS,
    query_timeout: REMOTE_TIMEOUT_MS,
    statement_timeout: REMOTE_TIMEOUT_MS,
    options: "-c default_transaction_read_only=on",
  });
  await client.connect();
  return client;
}

/** Runs `work` on a connection of its own that only reads. */
async function withConnection<Result>(config: Config, work: (client: pg.Client) => Promise<Result>): Promise<Result> {
  const { host } = new URL(config.connection_string);
  const connection = new BoundedConnection(MAX_BYTES);
  let client: pg.Client | undefined;
  // The driver tells only that the connection has ended.
  let tooLong: AnswerTooLong | undefined;
  connection.on("error", (error) => {
    if (error instanceof AnswerTooLong) tooLong = error;
  });
  try {
    client = await connect(config, connection);
    return await work(client);
  } catch (error) {
    if (tooLong)
      throw upstream(
        `PostgreSQL at ${host} sent more than ${MAX_BYTES / 1024 / 1024} MiB for one search. Check what the table holds.`,
        tooLong,
      );
    if (error instanceof DatabaseError) throw upstream(databaseSentence(error), error);
    // The driver says so in words only.
    if (error instanceof Error && /timeout/i.test(error.message))
      throw connectionFault("PostgreSQL", host, Object.assign(error, { code: "ETIMEDOUT" }));
    if (error instanceof Error && /does not support SSL/.test(error.message))
      throw upstream("The database does not encrypt connections. Leave out sslmode, or let the server use TLS.");
    throw connectionFault("PostgreSQL", host, error);
  } finally {
    // Nobody waits for a server that does not close what has ended.
    void client?.end().catch(() => undefined);
    setTimeout(() => connection.destroy(), client ? GOODBYE_MS : 0).unref();
  }
}

function databaseSentence({ code, message }: pg.DatabaseError): string {
  const said = masked(message).slice(0, 300);
  if (code === "28P01" || code === "28000")
    return `The database refused the sign-in: ${said}. Check the connection string, and whether it needs ?sslmode=require.`;
  if (code === "3D000") return `The database refused the connection: ${said}.`;
  if (code === "42P01") return `The table was not found: ${said}.`;
  if (code === "42703") return `A column was not found: ${said}.`;
  if (code === "42704" || code === "42883")
    return `The database cannot compare vectors: ${said}. Is the extension "vector" installed there, and the column of that type?`;
  if (code === "42501") return `The user of the connection string may not read it: ${said}.`;
  return `The database answered: ${said}.`;
}

const quoted = (name: string) =>
  name
    .split(".")
    .map((part) => escapeIdentifier(part))
    .join(".");
const column = (name: string | null) => (name === null ? "NULL" : escapeIdentifier(name));

/**
 * The rows nearest to a vector, best first.
 * @throws AppError UPSTREAM_ERROR
 */
export async function searchPgvector(config: Config, vector: number[], limit: number): Promise<RemoteHit[]> {
  const sql = `SELECT ${column(config.id_column)}::text AS id, left(${column(config.text_column)}::text, ${MOST_TEXT}) AS text,
    left(${column(config.title_column)}::text, ${MOST_TEXT}) AS title, left(${column(config.uri_column)}::text, ${MOST_TEXT}) AS uri
    FROM ${quoted(config.table)} WHERE ${column(config.embedding_column)} IS NOT NULL
    ORDER BY ${column(config.embedding_column)} ${OPERATORS[config.distance]} $1::vector LIMIT ${limit}`;
  const { rows } = await withConnection(config, (client) =>
    client.query<Record<"id" | "text" | "title" | "uri", string | null>>(sql, [`[${vector.join(",")}]`]),
  );
  return rows
    .slice(0, limit)
    .flatMap(({ id, text, title, uri }) =>
      text ? [{ document_id: id, title: textOf(title || uri || `${config.table} ${id}`, 300), uri: uri || null, text: textOf(text) }] : [],
    );
}

/**
 * What the table holds.
 * @throws AppError UPSTREAM_ERROR that says what is wrong with it
 */
export async function inspectPgvector(config: Config): Promise<{ rows: number; isMore: boolean; dimensions: number | null }> {
  const table = quoted(config.table);
  const embedding = column(config.embedding_column);
  return withConnection(config, async (client) => {
    const counted = await client.query<{ rows: number }>(
      `SELECT count(*)::int AS rows FROM (SELECT FROM ${table} WHERE ${embedding} IS NOT NULL LIMIT ${MOST_COUNTED + 1}) counted`,
    );
    const first = await client.query<{ dimensions: number }>(
      `SELECT vector_dims(${embedding})::int AS dimensions FROM ${table} WHERE ${embedding} IS NOT NULL LIMIT 1`,
    );
    const rows = counted.rows[0]?.rows ?? 0;
    return { rows: Math.min(rows, MOST_COUNTED), isMore: rows > MOST_COUNTED, dimensions: first.rows[0]?.dimensions ?? null };
  });
}
