import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { setSettings, settings } from "#server/platform/settings.ts";

const SECRETS = { BOOTSTRAP_PASSWORD: "of the first owner", AUTH_SECRET: "a".repeat(32), SMTP_URL: "smtp://user:secret@localhost" };

/** What a program prints that begins as ours does, with these settings in its environment. */
function printed(program: string, others: Record<string, string> = {}): unknown {
  const begin = `
    const { setSettings, settings, takeSettings } = await import(${JSON.stringify(join(import.meta.dirname, "settings.ts"))});
    const { spawnSync } = await import("node:child_process");
    const environment = () => JSON.parse(spawnSync(process.execPath, ["-p", "JSON.stringify(process.env)"], { encoding: "utf8" }).stdout);
    takeSettings(false);
    setSettings({ ENCRYPTION_KEY: "e".repeat(32) });
  `;
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", begin + program], {
    encoding: "utf8",
    env: { ...process.env, ...SECRETS, OF_THE_OPERATOR: "stays", ...others, WATCH_REPORT_DEPENDENCIES: "1" },
  });
  return stdout ? JSON.parse(stdout) : stderr;
}

test("whoever starts a process gives it none of our settings, while this one has them all", () => {
  expect(printed("console.log(JSON.stringify(settings()))")).toMatchObject({ ...SECRETS, ENCRYPTION_KEY: "e".repeat(32) });
  const environment = printed("console.log(JSON.stringify(environment()))");
  expect(environment).toMatchObject({ NODE_ENV: "production", OF_THE_OPERATOR: "stays" });
  for (const name of [...Object.keys(SECRETS), "ENCRYPTION_KEY", "WATCH_REPORT_DEPENDENCIES"]) expect(environment).not.toHaveProperty(name);
});

test.each([
  ["PORT", "abc", 'PORT must be a whole number from 0 to 65535. It is "abc".'],
  ["PORT", "65536", 'PORT must be a whole number from 0 to 65535. It is "65536".'],
  ["RATE_LIMIT_BURST", "-1", 'RATE_LIMIT_BURST must be a whole number, 0 or more. It is "-1".'],
  ["LOG_LEVEL", "verbose", 'LOG_LEVEL must be one of trace, debug, info, warn, error, silent. It is "verbose".'],
  ["TRUST_PROXY", "yes", 'TRUST_PROXY must be 0 or 1. It is "yes".'],
  ["APP_URL", "treadle.example.com", 'APP_URL must be an address such as https://treadle.example.com. It is "treadle.example.com".'],
  ["APP_URL", "https://example.com/treadle", "APP_URL must be an address without a path"],
  ["APP_URL", "https://example.com/?a=b", "APP_URL must be an address without a path"],
])("refuses %s=%s, saying what is accepted", (name, value, text) => {
  setSettings({ [name]: value });
  expect(() => settings()).toThrow(text);
  setSettings({ [name]: "" });
});

test.each([
  ["DATABASE_URL", "mysql://root:hunter2@db/app", "such as postgres://user:password@host:5432/database; it begins with mysql://"],
  ["DATABASE_URL", "hunter2", "such as postgres://user:password@host:5432/database."],
  ["SMTP_URL", "http://user:hunter2@mail", "such as smtp://user:password@mail.example.com:587"],
  ["ENCRYPTION_KEY", "hunter2", "ENCRYPTION_KEY must be 32 characters or more."],
  [
    "OUTGOING_PROXY",
    "proxy.company:3128",
    "OUTGOING_PROXY must be env, or the address of an HTTP proxy, such as http://user:password@proxy",
  ],
  ["OUTGOING_PROXY", "socks5://ada:hunter2@proxy:1080", "; it begins with socks5://, which is not supported."],
  ["OUTGOING_PROXY", "http://ada:hunter2%@proxy:3128", "such as http://user:password@proxy.company:3128."],
  ["OUTGOING_PROXY", "env", "or env together with HTTPS_PROXY, HTTP_PROXY or ALL_PROXY, of which none is set."],
  ["INNGEST_BASE_URL", "ftp://user:hunter2@inngest", "INNGEST_BASE_URL must be an address such as http://inngest:8288."],
])("refuses %s without showing the secret in it", (name, value, text) => {
  setSettings({ [name]: value });
  expect(() => settings()).toThrow(text);
  expect(() => settings()).not.toThrow("hunter2");
  setSettings({ [name]: "" });
});

test("hides the password of a proxy of the environment that cannot be used", () => {
  setSettings({ OUTGOING_PROXY: "env", HTTPS_PROXY: "socks5h://ada:hunter2@proxy:1080" });

  expect(() => settings()).toThrow(
    /^HTTPS_PROXY must be the address of an HTTP proxy.*socks5h:\/\/, which is not supported, since OUTGOING_PROXY is env/,
  );
  expect(() => settings()).not.toThrow("hunter2");
  setSettings({ OUTGOING_PROXY: "", HTTPS_PROXY: "" });
});

test("accepts proxies of the environment that it does not use", () => {
  setSettings({ OUTGOING_PROXY: "http://proxy:3128", HTTPS_PROXY: "socks5://proxy:1080" });

  expect(settings().OUTGOING_PROXY).toBe("http://proxy:3128");
  setSettings({ OUTGOING_PROXY: "", HTTPS_PROXY: "" });
});

const PROXIES = {
  HTTP_PROXY: "http://upper:hunter2@proxy:1",
  http_proxy: "http://lower:hunter2@proxy:2",
  no_proxy: "",
  NO_PROXY: "a.test",
};

test("reads proxies in lower case first", () => {
  const { HTTP_PROXY, NO_PROXY } = printed("console.log(JSON.stringify(settings()))", PROXIES) as Record<string, string>;

  expect([HTTP_PROXY, NO_PROXY]).toEqual([PROXIES.http_proxy, "a.test"]);
});

test("keeps the passwords of proxies out of the environment of children", () => {
  expect(JSON.stringify(printed("console.log(JSON.stringify(environment()))", PROXIES))).not.toContain("hunter2");
});

test.each(["https://treadle.example.com", "http://localhost:3000/", "https://10.0.0.1:8443"])("takes %s as APP_URL", (value) => {
  setSettings({ APP_URL: value });
  expect(settings().APP_URL).toBe(value);
  setSettings({ APP_URL: "" });
});
