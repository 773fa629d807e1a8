import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { connect as connectTcp, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { AbortError } from "#server/platform/abort.ts";
import type { OutgoingProxy } from "#server/platform/net/outgoing-proxy.ts";

/** Longest time until a proxy has connected to a target, in ms. The time limit of the caller may end it earlier. */
const MAX_CONNECT_MS = 30_000;

/** A request that the proxy did not pass on. Its text is for people and has no password. */
export class ProxyFailed extends Error {
  /** Code of the socket, or PROXY_ and the status that the proxy answered. */
  readonly code: string;
  /** True when the same request may succeed later. */
  readonly isRetryable: boolean;

  constructor(message: string, { code, isRetryable, cause }: { code: string; isRetryable: boolean; cause?: unknown }) {
    super(message, { cause });
    this.name = "ProxyFailed";
    this.code = code;
    this.isRetryable = isRetryable;
  }
}

const IS_CERTIFICATE = /^(CERT_|ERR_TLS|ERR_SSL|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|EPROTO|HOSTNAME_MISMATCH)/;

const codeOf = (error: unknown): string => (error instanceof Error && "code" in error ? String(error.code) : "");

/** The proxy could not be reached. */
function unreachable({ shown, setting }: OutgoingProxy, cause: unknown): ProxyFailed {
  const code = codeOf(cause) || "ECONNRESET";
  const isCertificate = IS_CERTIFICATE.test(code);
  const reasons: Record<string, string> = {
    ENOTFOUND: "cannot be found: there is no server of this name",
    ECONNREFUSED: "does not accept connections",
    ETIMEDOUT: "did not connect in time",
  };
  const reason = isCertificate ? `has no certificate that can be trusted (${code})` : (reasons[code] ?? `could not be reached (${code})`);
  const message = `The proxy at ${shown} ${reason}. Check ${setting}, and that the proxy runs.`;
  return new ProxyFailed(message, { code, isRetryable: code !== "ENOTFOUND" && !isCertificate, cause });
}

/** The proxy wants another user or password. */
export const refusedCredentials = ({ shown, setting }: OutgoingProxy): ProxyFailed =>
  new ProxyFailed(`The proxy at ${shown} refused its credentials (407). Check ${setting}.`, { code: "PROXY_407", isRetryable: false });

/** The proxy answered a CONNECT with another status than 2xx. */
function refusedTunnel(proxy: OutgoingProxy, status: number, authority: string): ProxyFailed {
  if (status === 407) return refusedCredentials(proxy);
  const isRetryable = status >= 500 || status === 408 || status === 429;
  const message = isRetryable
    ? `The proxy at ${proxy.shown} could not connect to ${authority} (${status}). Try again later, or ask its operator.`
    : `The proxy at ${proxy.shown} does not connect to ${authority} (${status}). Ask its operator to allow it.`;
  return new ProxyFailed(message, { code: `PROXY_${status}`, isRetryable });
}

function dial({ isTls, host, port }: OutgoingProxy): Socket {
  if (!isTls) return connectTcp({ host, port });
  return connectTls({ host, port, ...(!isIP(host) && { servername: host }), ALPNProtocols: ["http/1.1"] });
}

/** Asks for a connection to `authority` (host and port). Node bounds the headers of the response. @throws ProxyFailed */
async function openTunnel(socket: Socket, proxy: OutgoingProxy, authority: string): Promise<void> {
  const { authorization } = proxy;
  const request = httpRequest({
    method: "CONNECT",
    path: authority,
    headers: {
      host: authority,
      "user-agent": "Treadle/1.0",
      "proxy-connection": "keep-alive",
      connection: "keep-alive",
      ...(authorization !== undefined && { "proxy-authorization": authorization }),
    },
    createConnection: () => socket,
  });
  request.on("error", () => undefined).end();
  // cast: the arguments of Node's "connect" event
  const [{ statusCode = 0 }, , head] = (await once(request, "connect")) as [IncomingMessage, Socket, Buffer];
  if (statusCode < 200 || statusCode > 299) throw refusedTunnel(proxy, statusCode, authority);
  // A server speaks only after the client, so these bytes are the proxy's own.
  if (head.length > 0) throw Object.assign(new Error("The proxy sent a body with its response to CONNECT."), { code: "PROXY_BODY" });
}

/**
 * Connects to a proxy, and through it to a target.
 * @param authority host and port of the target; undefined where the proxy gets the request itself
 * @throws ProxyFailed; AbortError
 */
export async function connectThrough(proxy: OutgoingProxy, authority: string | undefined, abort?: AbortSignal): Promise<Socket> {
  const socket = dial(proxy);
  socket.on("error", () => undefined);
  const late = Object.assign(new Error("The proxy did not connect in time."), { code: "ETIMEDOUT" });
  const timer = setTimeout(() => socket.destroy(late), MAX_CONNECT_MS);
  const cut = () => socket.destroy(new AbortError(abort?.reason));
  abort?.addEventListener("abort", cut, { once: true });
  try {
    await once(socket, proxy.isTls ? "secureConnect" : "connect");
    if (authority !== undefined) await openTunnel(socket, proxy, authority);
    return socket;
  } catch (error) {
    socket.destroy();
    throw error instanceof ProxyFailed || error instanceof AbortError ? error : unreachable(proxy, error);
  } finally {
    clearTimeout(timer);
    abort?.removeEventListener("abort", cut);
  }
}
