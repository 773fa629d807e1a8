import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { listen } from "#e2e/fakes/listen.ts";
import { TEST_AUTHORITY, TEST_SERVER } from "#server/testing/certificates.ts";
import { serveProxy } from "#server/testing/proxy-server.ts";

/** Has another process call an HTTPS server with a private authority. Returns its output: the response, or the code of the error. */
async function callFromProcess(env: Record<string, string>): Promise<string> {
  const server = createServer(TEST_SERVER, (_, response) => response.end("over TLS"));
  const { port, stop } = await listen(server);
  onTestFinished(stop);
  const module = (path: string) => JSON.stringify(join(import.meta.dirname, path));
  const program = `
    const { takeSettings } = await import(${module("../settings.ts")});
    takeSettings(false);
    const { guardedFetch } = await import(${module("guarded-fetch.ts")});
    const answer = guardedFetch("any")("https://localhost:${port}/").then((response) => response.text());
    process.stdout.write(await answer.catch((error) => error.code));
    process.exit();
  `;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", program], {
    env: { PATH: process.env.PATH, ...env } as Record<string, string> as NodeJS.ProcessEnv,
    stdio: ["ignore", "pipe", "inherit"],
  });
  return text(child.stdout);
}

/** A file with the private authority. */
function authorityFile(): string {
  const folder = mkdtempSync(join(tmpdir(), "treadle-authority-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "company-ca.pem");
  writeFileSync(file, TEST_AUTHORITY);
  return file;
}

test("trusts the authorities of NODE_EXTRA_CA_CERTS", async () => {
  expect(await callFromProcess({ NODE_EXTRA_CA_CERTS: authorityFile() })).toBe("over TLS");
});

test("refuses a private authority without NODE_EXTRA_CA_CERTS", async () => {
  expect(await callFromProcess({})).toBe("UNABLE_TO_VERIFY_LEAF_SIGNATURE");
});

test("trusts the authorities of NODE_EXTRA_CA_CERTS for a proxy and its target", async () => {
  const proxy = await serveProxy({ isTls: true, credentials: "ada:p@ss" });

  const output = await callFromProcess({
    NODE_EXTRA_CA_CERTS: authorityFile(),
    OUTGOING_PROXY: "env",
    https_proxy: `https://ada:p%40ss@127.0.0.1:${proxy.port}`,
  });

  expect(output).toBe("over TLS");
  expect(proxy.requests).toMatchObject([{ method: "CONNECT" }]);
});
