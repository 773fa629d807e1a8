import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { connect, createServer, type Server, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { graphOf } from "#e2e/api/graphs.ts";
import {
  type Attack,
  type Case,
  create,
  type Install,
  LONG,
  LONG_TEXT,
  largeGraph,
  outputOf,
  run,
  waitForEnd,
} from "#e2e/bench/bounds/attack.ts";

/** Opens a TCP server on a port of the loopback interface, whose end cuts all its connections. */
async function listenRaw(onConnection: (socket: Socket) => void): Promise<{ url: string; stop(): void }> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined).once("close", () => sockets.delete(socket));
    onConnection(socket);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server has no port.");

  return {
    url: `http://127.0.0.1:${address.port}`,
    stop() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** An attack of 60 requests whose responses are never read. */
function unreadAnswers({ api, url }: Install, path: string): Attack {
  const sockets: Socket[] = [];
  const answers: string[] = [];
  return {
    warmUp: async () => void (await api.get(path)),
    async attack() {
      for (let index = 0; index < 60; index++) {
        const socket = connect(Number(new URL(url).port), "127.0.0.1");
        socket.pause();
        socket.write(`GET /api/v1${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${api.key}\r\n\r\n`);
        sockets.push(socket);
      }
      // The kernel takes some megabytes of each answer, and then it may be without progress for 30 s.
      await pause(75_000);
      // Reading the socket reveals the received bytes and whether the connection was closed.
      for (const socket of sockets) {
        let status = "no answer";
        socket.once("data", (bytes) => {
          status = bytes.toString("latin1", 9, 12);
        });
        socket.on("error", () => undefined).once("close", () => answers.push(`${status} closed`));
        socket.resume();
      }
      await pause(2000);
    },
    result: () =>
      [...Map.groupBy([...answers, ...Array(60 - answers.length).fill("still open")], (answer) => answer)]
        .map(([answer, all]) => `${all.length} ${answer}`)
        .join(", "),
    async stop() {
      for (const socket of sockets) socket.destroy();
    },
  };
}

export const connectionCases: Case[] = [
  {
    name: "1 server answers 101",
    async prepare({ api }) {
      const server = await listenRaw((socket) =>
        socket.once("data", () => socket.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n")),
      );
      const call = await create(api, graphOf({ t: ["trigger"], h: ["http", { url: server.url, timeout: 2, retries: 0 }] }, ["t>h"]));
      const hello = await create(api, outputOf("hello"));
      let ended = 0;
      let last = "never";
      return {
        warmUp: async () => void (await run(api, hello, "")),
        async attack() {
          for (let index = 0; index < 60; index++) await api.post(`/workflows/${call}/execute`, { input: "" });
          last = await run(api, hello, "").catch(() => "never");
          await pause(10_000);
          ended = (await api.get(`/executions?workflow_id=${call}&status=failed`)).body.total;
        },
        result: () => `${ended} of 60 calls ended; another run ${last}`,
        stop: async () => server.stop(),
      };
    },
  },
  {
    name: "10 60 clients that never read 15 MB",
    async prepare(install) {
      const { api } = install;
      const workflow = await create(api, graphOf({ t: ["trigger"], a: LONG_TEXT }, ["t>a"]));
      const started = await api.post(`/workflows/${workflow}/execute`, { input: LONG }, { status: 202 });
      const id = started.body.execution_id as string;
      await waitForEnd(api, id);
      return unreadAnswers(install, `/executions/${id}`);
    },
  },
  {
    name: "10 60 clients that never read a workflow of 3.6 MB",
    prepare: async (install) => unreadAnswers(install, `/workflows/${await create(install.api, largeGraph())}`),
  },
  {
    name: "11 1,000 event streams of one account",
    async prepare({ api, url }) {
      const workflow = await create(api, graphOf({ t: ["trigger"], w: ["wait", { mode: "for", seconds: 3600 }] }, ["t>w"]));
      const id = (await api.post(`/workflows/${workflow}/execute`, { input: "" }, { status: 202 })).body.execution_id as string;
      const statuses: Record<number, number> = {};
      const requests: ReturnType<typeof httpRequest>[] = [];
      return {
        async attack() {
          for (let index = 0; index < 1000; index++) {
            const answered = new Promise<void>((resolve) => {
              const request = httpRequest(
                `${url}/api/v1/executions/${id}/stream`,
                { agent: false, headers: { authorization: `Bearer ${api.key}` } },
                (response) => {
                  statuses[response.statusCode ?? 0] = (statuses[response.statusCode ?? 0] ?? 0) + 1;
                  response.resume();
                  resolve();
                },
              );
              request.on("error", () => resolve()).end();
              requests.push(request);
            });
            await answered;
          }
        },
        result: () => `answers ${JSON.stringify(statuses)}`,
        async stop() {
          for (const request of requests) request.destroy();
        },
      };
    },
  },
  {
    name: "15 address with 7,900 parameters",
    async prepare({ url }) {
      let status = 0;
      const ask = async (count: number) => {
        status = (await fetch(`${url}/api/health?${"a&".repeat(count)}`)).status;
      };
      return { warmUp: () => ask(3), attack: () => ask(7900), result: () => `answer ${status}` };
    },
  },
  {
    name: "16 body of 3.9 million chunks, anonymous",
    async prepare({ url }) {
      let answer = "";
      const send = async (count: number) => {
        const socket = connect(Number(new URL(url).port), "127.0.0.1");
        socket.on("error", () => undefined);
        const head = "POST /api/v1/auth/sign-up HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n";
        socket.write(`${head}${"1\r\n \r\n".repeat(count)}0\r\n\r\n`);
        const [first] = await once(socket, "data");
        answer = String(first).split("\r\n")[0] ?? "";
        socket.destroy();
      };
      return { warmUp: () => send(3), attack: () => send(3_900_000), result: () => answer };
    },
  },
  {
    name: "17 server answers in chunks of one byte",
    async prepare(install) {
      const chunks = "1\r\na\r\n".repeat(20_000);
      const server = await listenRaw((socket) => {
        const send = () => {
          while (!socket.destroyed && socket.write(chunks));
        };
        socket.once("data", () => {
          socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
          socket.on("drain", send);
          send();
        });
      });
      const call = await create(
        install.api,
        graphOf({ t: ["trigger"], h: ["http", { url: server.url, timeout: 60, retries: 0 }] }, ["t>h"]),
      );
      let end = "";
      return {
        async attack() {
          end = await run(install.api, call, "");
        },
        result: () => `run ${end}`,
        stop: async () => server.stop(),
      };
    },
  },
];
