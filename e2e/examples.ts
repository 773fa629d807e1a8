import { execFile, spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "@playwright/test";

// The examples of the guide as programs: how each kind is run.

export const folder = join(import.meta.dirname, "../app/docs/examples");

export const exampleFiles = readdirSync(folder).filter((file) => !file.startsWith("__") && file !== "treadle.d.ts");
export const exampleText = (file: string): string => readFileSync(join(folder, file), "utf8");

const works = (command: string, ...args: string[]): boolean => spawnSync(command, args).status === 0;

/** Why examples with this ending cannot be run on this machine, or false. */
export function missing(ending: "sh" | "py"): string | false {
  if (ending === "py") {
    return !works("python3", "-c", "import sys; assert sys.version_info >= (3, 11)") && "python3 (3.11 or newer) is not on this machine";
  }
  const absent = ["bash", "curl", "openssl"].filter((command) => !works(command, command === "openssl" ? "version" : "--version"));
  return absent.length > 0 && `${absent.join(", ")} is not on this machine`;
}

const RUNNERS: Record<string, (file: string) => [string, string[]]> = {
  sh: (file) => ["bash", ["-eu", file]],
  ts: (file) => [process.execPath, [file]],
  py: (file) => ["python3", ["-B", file]],
};

/** Runs a program; it must end well. @returns what it printed */
export function run(command: string, args: string[], env: Record<string, string>, cwd = folder): Promise<string> {
  const { PATH = "", HOME = "" } = process.env;
  return new Promise((done) => {
    execFile(command, args, { cwd, env: { NODE_ENV: "production", PATH, HOME, ...env }, timeout: 45_000 }, (error, stdout, stderr) => {
      expect(error, `${command} ${args.join(" ")}\n${stdout}\n${stderr}`).toBeNull();
      done(stdout);
    });
  });
}

/** Runs an example with these variables; it must end well. @returns what it printed */
export function play(file: string, env: Record<string, string>): Promise<string> {
  const runner = RUNNERS[file.split(".").at(-1) ?? ""];
  if (!runner) throw new Error(`${file} is no program.`);
  return run(...runner(file), env);
}
