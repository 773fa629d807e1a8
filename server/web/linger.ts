import type { ServerResponse } from "node:http";

/** For how long the rest of a request is read and dropped, in milliseconds. */
const LINGER_MS = 5000;

/**
 * Lets an answer reach a client that is still sending. The connection ends with the answer, but closing one with bytes
 * unread resets it, and a reset may take away what the client has not read yet (RFC 9112, section 9.6). So only our half
 * ends at first, and the rest of the request is read and dropped until it ends, for five seconds at most.
 */
export function lingerAfter(response: ServerResponse): void {
  response.setHeader("connection", "close");
  const { req, socket } = response;
  if (!socket || req.complete) return;
  // What Node calls once the answer has been written.
  socket.destroySoon = () => {
    const close = () => socket.destroy();
    const timer = setTimeout(close, LINGER_MS).unref();
    socket.once("close", () => clearTimeout(timer));
    req.once("close", close);
    req.resume();
    socket.end();
  };
}
