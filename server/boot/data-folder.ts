import { accessSync, constants, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "#server/platform/errors.ts";
import { isRunning, startOf } from "#server/platform/process-state.ts";

const firstLine = (error: unknown) => messageOf(error).split("\n")[0];

function unwritable(folder: string, error: unknown): Error {
  const { code = "" } = error as NodeJS.ErrnoException;
  if (code === "ENOSPC" || code === "EDQUOT")
    return new Error(`The disk of the data folder ${folder} is full (${firstLine(error)}). Free space, then start again.`);
  return new Error(`The data folder ${folder} cannot be written to (${firstLine(error)}). Set DATA_DIR to a folder that can.`);
}

/**
 * Makes the data folder and takes it for this process alone.
 * @param folder absolute path
 * @returns how to give it back
 * @throws Error with one sentence when it cannot be written to, or when a living process holds it
 */
export function holdDataFolder(folder: string): () => void {
  const lock = join(folder, "treadle.pid");
  try {
    mkdirSync(folder, { recursive: true, mode: 0o755 });
    accessSync(folder, constants.W_OK);
  } catch (error) {
    throw unwritable(folder, error);
  }
  for (let tries = 0; tries < 3; tries++) {
    try {
      writeFileSync(lock, `${process.pid} ${startOf(process.pid) ?? ""}`, { flag: "wx", mode: 0o600 });
      return () => rmSync(lock, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw unwritable(folder, error);
    }
    const [pid, start] = readFileSync(lock, "utf8").split(" ");
    const holder = Number(pid);
    const isHolder =
      holder > 0 && holder !== process.pid && isRunning(holder) && (!start || startOf(holder) === undefined || startOf(holder) === start);
    if (isHolder) throw new Error(`The data folder ${folder} is in use by process ${holder}. Stop it, or set DATA_DIR to another folder.`);
    rmSync(lock, { force: true }); // left by a process that was killed
  }
  throw new Error(`The data folder ${folder} is being taken by another start at this moment. Try again.`);
}
