import { afterEach, beforeAll } from "vitest";
import { type ModelServer, startModelServer } from "#e2e/fakes/model-server.ts";
import { setSettings } from "#server/platform/settings.ts";

/** Gives a test file a model server of its own, which forgets after each test what it was asked. */
export function testModelServer(): Omit<ModelServer, "stop"> {
  let server: ModelServer;
  beforeAll(async () => {
    setSettings({ ALLOW_PRIVATE_NETWORK: "1" });
    server = await startModelServer();
    return () => server.stop();
  });
  afterEach(() => server.reset());
  return {
    get url() {
      return server.url;
    },
    get port() {
      return server.port;
    },
    calls: (filter) => server.calls(filter),
    release: (id) => server.release(id),
    script: (id, steps) => server.script(id, steps),
    reset: () => server.reset(),
  };
}
