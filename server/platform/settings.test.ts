import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { setSettings, settings } from "#server/platform/settings.ts";

const SECRETS = { BOOTSTRAP_PASSWORD: "of the first owner", AUTH_SECRET: "a".repeat(32), SMTP_URL: "smtp://user:secret@localhost" };

/** What a program prints that begins as ours does, with these settings in its environment. */
function printed(program: string): unknown {
  const begin = `
    const { setSettings, settings, takeSettings } = await import(${JSON.stringify(join(import.meta.dirname, "settings.ts"))});
    const { spawnSync } = await import("node:child_process");
    const environment = () => JSON.parse(spawnSync(process.execPath, ["-p", "JSON.stringify(process.env)"], { encoding: "utf8" }).stdout);
    takeSettings(false);
    setSettings({ ENCRYPTION_KEY: "e".repeat(32) });
  `;
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", begin + program], {
    encoding: "utf8",
    env: { ...process.env, ...SECRETS, OF_THE_OPERATOR: "stays", WATCH_REPORT_DEPENDENCIES: "1" },
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
  ["INNGEST_BASE_URL", "ftp://user:hunter2@inngest", "INNGEST_BASE_URL must be an address such as http://inngest:8288."],
])("refuses %s without showing the secret in it", (name, value, text) => {
  setSettings({ [name]: value });
  expect(() => settings()).toThrow(text);
  expect(() => settings()).not.toThrow("hunter2");
  setSettings({ [name]: "" });
});

test.each(["https://treadle.example.com", "http://localhost:3000/", "https://10.0.0.1:8443"])("takes %s as APP_URL", (value) => {
  setSettings({ APP_URL: value });
  expect(settings().APP_URL).toBe(value);
  setSettings({ APP_URL: "" });
});
