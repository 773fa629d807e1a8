import type { Server } from "node:http";
import type { AddressInfo } from "node:net";

export interface Listening {
  /** `http://127.0.0.1:<port>`, without a trailing slash. */
  url: string;
  port: number;
  /** Cuts every connection. */
  stop(): Promise<void>;
}

/** Opens a server on a port of the loopback interface; 0 is one of the system's choice. */
export async function listen(server: Server, wanted = 0): Promise<Listening> {
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(wanted, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    async stop() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
