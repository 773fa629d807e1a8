import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "@playwright/test";
import type { CanvasEvent } from "#server/features/canvases/schema.ts";

/** A canvas's stream as a test has it: what it tells, the page hears. */
export interface CanvasLine {
  tell(event: CanvasEvent): void;
  /** Ends it; the page tries to come back, in vain. */
  close(): Promise<void>;
}

/**
 * Puts a server of its own in the place of the stream of a canvas, before the page is opened: the service reads a canvas at most once
 * in 800 ms, and shows no state that its runs are not in.
 * @returns the line, once the page has opened it
 */
export async function canvasLine(page: Page, open: () => Promise<unknown>): Promise<CanvasLine> {
  const opened = Promise.withResolvers<ServerResponse>();
  const server = createServer((_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
    response.write(": hello\n\n");
    opened.resolve(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo; // cast: it listens on a port
  await page.route("**/api/v1/bridge/canvases/*/stream*", (route) => route.continue({ url: `http://127.0.0.1:${port}/` }));
  await open();
  const line = await opened.promise;
  let told = 0;
  return {
    tell(event) {
      told += 1;
      line.write(`id: told-${told}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
