import { readFileSync } from "node:fs";

/** The fields of `/proc/<pid>/stat` after the name, which may hold anything itself. Undefined where there is no such file. */
function statOf(pid: number): string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  } catch {
    return undefined;
  }
}

/** When a process started, in clock ticks since boot (Linux), so that a reused process id is not taken for the old one. */
export const startOf = (pid: number): string | undefined => statOf(pid)?.[19];

/** Whether a process runs. One that has ended and was not yet asked about by its parent (a zombie) holds nothing any more. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EPERM") return false;
  }
  const [state] = statOf(pid) ?? [];
  return state !== "Z" && state !== "X";
}
