import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { afterEach, expect, test, vi } from "vitest";
import { inspectPgvector, searchPgvector } from "#server/features/knowledge/sources/pgvector.ts";

afterEach(() => vi.unstubAllEnvs());

const columns = { id_column: "id", text_column: "content", embedding_column: "embedding", title_column: null, uri_column: null };
const config = { table: "pieces", ...columns, distance: "cosine", embedding_llm_key_id: "x", embedding_model: "m", reach: "any" } as const;

/** Connects to a server that wants the password in clear. @returns everything that it was told */
async function toldTo(connection: (port: number) => string): Promise<string> {
  const said: Buffer[] = [];
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.on("data", (data) => {
      said.push(data);
      if (said.length === 1) socket.write(Buffer.from([82, 0, 0, 0, 8, 0, 0, 0, 3]));
      else socket.end();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await expect(inspectPgvector({ ...config, connection_string: connection(port) })).rejects.toMatchObject({ code: "UPSTREAM_ERROR" });
  server.close();
  return Buffer.concat(said).toString("latin1");
}

test("a server that a project configured gets nothing of the operator's own settings", async () => {
  vi.stubEnv("PGPASSWORD", "operators-password");
  vi.stubEnv("PGUSER", "operator");
  expect(await toldTo((port) => `postgresql://reader:theirs@127.0.0.1:${port}/house`)).toMatch(/user\0reader\0.*theirs/s);
  expect(await toldTo((port) => `postgresql://reader@127.0.0.1:${port}/house`)).not.toContain("operator");
  expect(await toldTo((port) => `postgresql://127.0.0.1:${port}/house`)).not.toContain("operator");
});

/** A message of PostgreSQL's protocol. */
function message(type: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.write(type, "latin1");
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}
const int32 = (...numbers: number[]) => {
  const buffer = Buffer.alloc(4 * numbers.length);
  for (const [at, number] of numbers.entries()) buffer.writeInt32BE(number, 4 * at);
  return buffer;
};
const ready = message("Z", Buffer.from("I"));
const welcome = Buffer.concat([message("R", int32(0)), ready]);
const columnNames = ["id", "text", "title", "uri"];
const description = Buffer.concat([
  Buffer.from([0, columnNames.length]),
  ...columnNames.map((name) => Buffer.concat([Buffer.from(`${name}\0`), Buffer.alloc(6), int32(25), Buffer.alloc(8)])),
]);
const dataRow = (text: string) =>
  message("D", Buffer.concat([Buffer.from([0, 4]), ...columnNames.map(() => Buffer.concat([int32(text.length), Buffer.from(text)]))]));

test.each<[string, Buffer, Buffer]>([
  ["rows", Buffer.concat([message("T", description)]), dataRow("x".repeat(16_000))],
  ["a message", Buffer.concat([Buffer.from("D"), int32(2 ** 31 - 1)]), Buffer.alloc(64 * 1024)],
  ["notices before it is asked", Buffer.alloc(0), message("N", Buffer.concat([Buffer.from(`M${"x".repeat(60_000)}\0\0`)]))],
])("a server that sends %s without end is cut off", async (what, first, endless) => {
  let sent = 0;
  const closed = Promise.withResolvers<void>();
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.on("close", () => closed.resolve());
    const pour = () => {
      while (!socket.destroyed && socket.write(endless)) sent += endless.length;
    };
    let isAsked = what.startsWith("notices");
    socket.on("data", () => {
      if (!isAsked) {
        isAsked = true;
        socket.write(welcome);
        return;
      }
      socket.removeAllListeners("data");
      socket.write(first);
      socket.on("drain", pour);
      pour();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const search = searchPgvector({ ...config, connection_string: `postgresql://reader@127.0.0.1:${port}/house` }, [1, 2, 3], 5);
  await expect(search).rejects.toMatchObject({
    code: "UPSTREAM_ERROR",
    message: expect.stringMatching(/^PostgreSQL at 127\.0\.0\.1:\d+ sent more than 4 MiB for one search\./),
  });
  await closed.promise;
  // What the two sockets hold on the way is beside it.
  expect(sent).toBeLessThan(64 * 1024 * 1024);
  server.close();
});

test("a server that never closes what has ended is not waited for", async () => {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on("error", () => undefined);
    let isAsked = false;
    socket.on("data", () => {
      socket.write(isAsked ? Buffer.concat([message("T", description), message("C", Buffer.from("SELECT 0\0")), ready]) : welcome);
      isAsked = true;
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const search = searchPgvector({ ...config, connection_string: `postgresql://reader@127.0.0.1:${port}/house` }, [1, 2, 3], 5);
  await expect(search).resolves.toEqual([]);
  server.close();
});
