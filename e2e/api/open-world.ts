import { type Digest, openDigest } from "#e2e/api/digest.ts";
import { type Operation, readOperations } from "#e2e/api/operations.ts";
import { type Sample, samplerOf } from "#e2e/api/samples.ts";
import { buildWorld, type World } from "#e2e/api/world.ts";
import { startMcpServer } from "#e2e/fakes/mcp-server.ts";

export interface OpenWorld {
  url: string;
  world: World;
  operations: Operation[];
  digest: Digest;
  /** A request of an operation that an admin of the world's project may make, for what exists there. */
  sampleOf(operation: Operation): Promise<Sample>;
  stop(): Promise<void>;
}

/** What a walk over every operation needs: the operations, one of each resource with its people, and a look at the data. */
export async function openWorld(): Promise<OpenWorld> {
  const url = process.env.BASE_URL ?? "";
  const mcp = await startMcpServer();
  try {
    const operations = await readOperations(url);
    const world = await buildWorld({ url, modelUrl: process.env.MODEL_SERVER_URL ?? "", mcpUrl: `${mcp.url}/mcp` });
    const digest = await openDigest();
    const stop = async () => {
      await digest.stop();
      await mcp.stop();
    };
    const sample = samplerOf(operations);
    return { url, world, operations, digest, sampleOf: (operation) => sample(operation, world), stop };
  } catch (error) {
    await mcp.stop();
    throw error;
  }
}
