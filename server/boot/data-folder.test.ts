import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { holdDataFolder } from "#server/boot/data-folder.ts";
import { startOf } from "#server/platform/process-state.ts";

const disk = vi.hoisted(() => ({ isFull: false }));

vi.mock(import("node:fs"), async (original) => {
  const fs = await original();
  const writeFileSync: typeof fs.writeFileSync = (...args) => {
    if (disk.isFull) throw Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
    fs.writeFileSync(...args);
  };
  return { ...fs, writeFileSync };
});

const onLinux = process.platform === "linux";

function folderHeldBy(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), "treadle-hold-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "treadle.pid"), text);
  return folder;
}

function child(program: string, ...rest: string[]): ChildProcess {
  const started = spawn(program, rest, { stdio: ["ignore", "pipe", "ignore"] });
  onTestFinished(() => void started.kill("SIGKILL"));
  return started;
}

test("a living process holds its data folder, another that got its id does not", () => {
  const { pid = 0 } = child("sleep", "60");
  expect(() => holdDataFolder(folderHeldBy(`${pid} ${startOf(pid) ?? ""}`))).toThrow(`in use by process ${pid}`);
  if (onLinux) holdDataFolder(folderHeldBy(`${pid} 1`))();
});

test.runIf(onLinux)("a killed process that nobody has asked about yet does not hold it", async () => {
  // The shell goes on as `sleep`, which never asks how the child that it has inherited ended.
  const parent = child("sh", "-c", "sleep 60 & echo $!; exec sleep 60");
  const pid = await new Promise<number>((resolve) => parent.stdout?.once("data", (text) => resolve(Number(text))));
  await expect.poll(() => readFileSync(`/proc/${parent.pid}/comm`, "utf8")).toBe("sleep\n");
  const folder = folderHeldBy(`${pid} ${startOf(pid)}`);
  expect(() => holdDataFolder(folder)).toThrow("in use");
  process.kill(pid, "SIGKILL");
  await expect.poll(() => readFileSync(`/proc/${pid}/stat`, "utf8")).toMatch(/\) Z /);
  holdDataFolder(folder)();
});

test("a full disk is named as the reason that a start is refused", () => {
  const folder = folderHeldBy("");
  rmSync(join(folder, "treadle.pid"));
  disk.isFull = true;
  onTestFinished(() => {
    disk.isFull = false;
  });

  expect(() => holdDataFolder(folder)).toThrow(`The disk of the data folder ${folder} is full (ENOSPC`);
});
