import { readFileSync, writeFileSync } from "node:fs";

const statusOf = (pid: number, field: "VmRSS" | "VmHWM"): number =>
  Number(new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? Number.NaN) / 1024;

// Source: proc(5). Linux only, as the CPU is.

/** Memory that a process holds, in MiB. */
export const memoryOf = (pid: number): number => statusOf(pid, "VmRSS");

/** Forgets how much a process has held at most; `peakOf` counts from now on. */
export const beginPeak = (pid: number): void => writeFileSync(`/proc/${pid}/clear_refs`, "5");

/** The most that a process has held since `beginPeak`, in MiB. */
export const peakOf = (pid: number): number => statusOf(pid, "VmHWM");
