import { type IncomingMessage, Server, type ServerResponse } from "node:http";

// Loaded into a server before it starts, with `--import`: what a browser asks of it is taken up late, or answered late, by any time up
// to LATE_ANSWERS_MS; a part at once. So answers come in another order than on one machine, as on a real network, and what somebody
// does before an answer has come is tried by every journey. Everybody but browsers is answered at once, and sees what has happened
// before the browser does.

const longest = Number(process.env.LATE_ANSWERS_MS);
const AT_ONCE = 1 / 3;
const anyTime = () => (Math.random() < AT_ONCE ? 0 : Math.random() * longest);

const isLate = ({ headers, url = "" }: IncomingMessage): boolean =>
  headers["user-agent"]?.includes("Mozilla") === true && /^\/(api|_next\/static\/chunks)\//.test(url);

const emit: (this: Server, event: string, ...args: unknown[]) => boolean = Server.prototype.emit;
Server.prototype.emit = function (this: Server, event: string, ...args: unknown[]): boolean {
  const [request, response] = args as [IncomingMessage, ServerResponse];
  if (event !== "request" || !isLate(request)) return emit.call(this, event, ...args);
  const end = response.end.bind(response) as (...last: unknown[]) => ServerResponse;
  response.end = (...last: unknown[]) => {
    setTimeout(end, anyTime(), ...last);
    return response;
  };
  setTimeout(() => emit.call(this, event, request, response), anyTime());
  return true;
};
