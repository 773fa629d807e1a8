import { existsSync, readdirSync, readFileSync } from "node:fs";

const TICK_MS = 10; // USER_HZ is 100 on every Linux that Node runs on

const statOf = (pid: number): string[] => {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
};

/** Whether CPU time can be read here. */
export const canMeasureCpu = (): boolean => existsSync("/proc/self/stat");

/** CPU time of a process and of its ended children, in milliseconds. */
function cpuOf(pid: number): number {
  try {
    const fields = statOf(pid);
    return [11, 12, 13, 14].reduce((sum, index) => sum + Number(fields[index]), 0) * TICK_MS;
  } catch {
    return 0; // it has ended; its time is with its parent
  }
}

function childrenOf(pid: number): number[] {
  return readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      return Number(statOf(Number(name))[1]) === pid ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
}

/** CPU time of a process and all below it, in milliseconds; `without` leaves out one tree. */
export function treeCpu(pid: number, without?: number): number {
  if (pid === without) return 0;
  return cpuOf(pid) + childrenOf(pid).reduce((sum, child) => sum + treeCpu(child, without), 0);
}
