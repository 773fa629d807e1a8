import { type ClientRequestArgs, Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent, type RequestOptions } from "node:https";
import { isIPv6, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { proxyFor } from "#server/platform/net/outgoing-proxy.ts";
import { connectThrough } from "#server/platform/net/proxy-connection.ts";

// Agents that connect through the proxy of the settings. A connection serves requests to one target only, as without a proxy.

/** Options of a request that an agent reads when it connects. */
export interface OutgoingRequestOptions extends RequestOptions {
  /** Ends the attempt to connect. */
  abort?: AbortSignal | undefined;
  /** The request names the whole URL, so a proxy passes it on without a tunnel. */
  isForwarded?: boolean;
}

type OnConnection = (error: Error | null, socket: Duplex) => void;

/** Connects through the proxy, if the target has one. Returns false when it has none. */
function connectsThroughProxy(
  protocol: string,
  options: OutgoingRequestOptions,
  connected: (socket: Socket) => void,
  failed: OnConnection,
) {
  const host = options.host ?? "localhost";
  const proxy = proxyFor({ protocol, hostname: host });
  if (!proxy) return false;
  const authority = `${isIPv6(host) ? `[${host}]` : host}:${options.port}`;
  connectThrough(proxy, options.isForwarded ? undefined : authority, options.abort)
    .then(connected)
    // cast: Node wants no socket beside an error, its types do
    .catch((error: Error) => failed(error, undefined as never));
  return true;
}

const ignored = () => undefined;

/** For targets of http://. */
export class OutgoingHttpAgent extends HttpAgent {
  override createConnection(options: ClientRequestArgs, callback: OnConnection = ignored) {
    const isProxied = connectsThroughProxy("http:", options, (socket) => callback(null, socket), callback);
    return isProxied ? undefined : super.createConnection(options, callback);
  }
}

/** For targets of https://: TLS to the target, whose certificate is checked, inside the tunnel of the proxy. */
export class OutgoingHttpsAgent extends HttpsAgent {
  override createConnection(options: RequestOptions, callback: OnConnection = ignored) {
    const encrypt = (socket: Socket) => {
      // cast: the options of tls.connect, to which Node passes these on
      const encrypted = super.createConnection({ ...options, socket } as RequestOptions, ignored);
      if (encrypted) callback(null, encrypted);
    };
    return connectsThroughProxy("https:", options, encrypt, callback) ? undefined : super.createConnection(options, callback);
  }
}
