import { subscribe } from "#server/platform/db/notify.ts";
import type { RunStore } from "#server/runs/ports.ts";
import { closeOpen, commit, deltas } from "#server/runs/store/commit.ts";
import { spent } from "#server/runs/store/late-usage.ts";
import { claim, release, renew } from "#server/runs/store/leases.ts";
import { bodyOutputs, items } from "#server/runs/store/past.ts";
import { waitsOf } from "#server/runs/store/waits.ts";

/** The database side of the executor. */
export const runStore: RunStore = {
  claim,
  commit,
  spent,
  deltas,
  renew,
  release,
  waits: waitsOf,
  items,
  bodyOutputs,
  closeOpen,
  onControl: (execution_id, callback) => subscribe("treadle_control", execution_id, callback),
};
