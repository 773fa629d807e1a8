import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";

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
