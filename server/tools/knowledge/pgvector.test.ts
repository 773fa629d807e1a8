import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { afterEach, expect, test, vi } from "vitest";
import { inspectPgvector } from "#server/tools/knowledge/pgvector.ts";

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
