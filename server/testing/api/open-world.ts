import { beforeAll } from "vitest";
import { startMcpServer } from "#e2e/fakes/mcp-server.ts";
import { startModelServer } from "#e2e/fakes/model-server.ts";
import { until } from "#e2e/until.ts";
import { startWorker } from "#server/boot/worker.ts";
import { answerApi } from "#server/http/api.ts";
import { openApiDocument } from "#server/http/openapi/document.ts";
import { setSettings, settings } from "#server/platform/settings.ts";
import { type Digest, openDigest } from "#server/testing/api/digest.ts";
import { type ApiDocument, type Operation, operationsOf, readOperations } from "#server/testing/api/operations.ts";
import { type Sample, samplerOf } from "#server/testing/api/samples.ts";
import type { Door } from "#server/testing/api/send.ts";
import { buildWorld, type World } from "#server/testing/api/world.ts";
import { testDatabase } from "#server/testing/test-database.ts";

export interface OpenWorld {
  /** To the API in this process, without a connection: requests come to it as they come from what stands in front. */
  door: Door;
  world: World;
  /** Those of the API document. */
  operations: Operation[];
  /** Those of the web app alone. */
  own: Operation[];
  /** A request of an operation that an admin of the world's project may make, for what exists there. */
  sampleOf(operation: Operation): Promise<Sample>;
  /** The sums of the world's project, once nothing in it goes on by itself. */
  sums(): ReturnType<Digest["of"]>;
}

/**
 * Gives a test file what a walk over every operation of the API needs: a database with a worker on it, one of each resource with
 * its people, and a look at the data. To be called above the file's other hooks; what it gives is there once they run.
 */
export function openWorld(): OpenWorld {
  const open = {} as OpenWorld; // cast: filled before the first test
  testDatabase();
  beforeAll(async () => {
    const url = "http://localhost:4000";
    setSettings({
      APP_URL: url,
      ALLOW_SIGNUP: "1",
      EXECUTIONS_PER_HOUR: "0",
      ACCOUNTS_PER_HOUR: "0",
      INVITATIONS_PER_HOUR: "0",
      PROJECTS_PER_USER: "0",
      ASSISTANT_MESSAGES_PER_HOUR: "0",
    });
    const door: Door = { url, fetch: (address, init) => answerApi(new Request(address, init)) };
    const [models, mcp, digest] = await Promise.all([startModelServer(), startMcpServer(), openDigest(settings().DATABASE_URL ?? "")]);
    const stopWorker = await startWorker();
    const world = await buildWorld({ door, modelUrl: models.url, mcpUrl: `${mcp.url}/mcp` });
    const { id } = world.admin.project;
    const operations = await readOperations(door);
    const own = operationsOf(openApiDocument(true) as ApiDocument, true);
    const sample = samplerOf([...operations, ...own]);
    Object.assign(open, {
      door,
      world,
      operations,
      own,
      sampleOf: (operation: Operation) => sample(operation, world),
      async sums() {
        await until(() => digest.isQuiet(id), 60_000);
        return digest.of(id);
      },
    } satisfies OpenWorld);
    return async () => {
      await stopWorker(1000);
      await Promise.all([digest.stop(), models.stop(), mcp.stop()]);
    };
  });
  return open;
}
