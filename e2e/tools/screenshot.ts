import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { parseArgs } from "node:util";
import { launchBrowser } from "#e2e/browser.ts";

// A developer's tool: takes a picture of a page of a running server, signed in when asked to, and tells what the page
// complained about.
//
//   node e2e/tools/screenshot.ts <url> <out.png> [--width 1440 --height 900] [--dark] [--full] [--login email:password]

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    width: { type: "string", default: "1440" },
    height: { type: "string", default: "900" },
    dark: { type: "boolean", default: false },
    full: { type: "boolean", default: false },
    login: { type: "string" },
  },
});
const [url, out] = positionals;
if (!url || !out) {
  process.stderr.write("Usage: node e2e/tools/screenshot.ts <url> <out.png> [--width --height --dark --full --login email:password]\n");
  process.exit(2);
}

const browser = await launchBrowser();
const page = await browser.newPage({
  viewport: { width: Number(values.width), height: Number(values.height) },
  colorScheme: values.dark ? "dark" : "light",
});
page.on("console", (message) => {
  if (message.type() === "error") process.stderr.write(`console: ${message.text()}\n`);
});
page.on("pageerror", (error) => process.stderr.write(`page: ${error.message}\n`));
if (values.login) {
  const { origin } = new URL(url);
  const [email = "", password = ""] = values.login.split(/:(.*)/s);
  const { csrfToken } = await (await page.request.get(`${origin}/api/auth/csrf`)).json();
  const answer = await page.request.post(`${origin}/api/auth/callback/credentials`, {
    form: { csrfToken, email, password, json: "true" },
    headers: { origin },
  });
  if (!answer.ok()) process.stderr.write(`Signing in was answered with ${answer.status()}.\n`);
}
// Pages hold an event stream open, so the network never goes idle: the page is ready when it has stopped loading.
await page.goto(url, { waitUntil: "load" });
await page.waitForLoadState("networkidle", { timeout: 3000 }).catch(() => undefined);
const loading = page.getByRole("status").filter({ hasText: /^Loading/ });
await loading
  .first()
  .waitFor({ state: "detached", timeout: 15_000 })
  .catch(() => process.stderr.write("The page is still loading.\n"));
await mkdir(dirname(out), { recursive: true });
await page.screenshot({ path: out, fullPage: values.full, animations: "disabled" });
await browser.close();
