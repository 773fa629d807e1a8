"use client";

import { useState } from "react";
import { plural } from "#components/format.ts";
import { useTRPCClient } from "#components/trpc.tsx";
import { ConfirmDialog } from "#components/ui/confirm-dialog.tsx";
import { Select } from "#components/ui/select.tsx";
import { type BulkKind, MOST_MATCHING, MOST_RERUNS } from "#server/features/executions/schema.ts";
import type { ExecutionFilter } from "#server/runs/schema.ts";

const TITLES: Record<BulkKind, (runs: string) => string> = {
  cancel: (runs) => `Cancel ${runs}?`,
  rerun: (runs) => `Run ${runs} again?`,
  delete: (runs) => `Delete ${runs}?`,
};
const VERBS: Record<BulkKind, string> = { cancel: "Cancel", rerun: "Run again", delete: "Delete" };
const TEXTS: Record<BulkKind, string> = {
  cancel: "Calls that are under way are stopped. What has ended already is left as it is.",
  rerun: "Each starts from its beginning with its own input, and counts against the project's hour.",
  delete: "They go with their logs and results, and cannot be brought back. What has not ended is left.",
};

interface BulkDialogProps {
  action: BulkKind;
  count: number;
  ids?: string[];
  filter?: ExecutionFilter;
  onClose: () => void;
  onStarted: (bulkId: string) => void;
}

/** Asks before something is done with many runs, with how many those are. */
export function BulkDialog({ action, count, ids, filter, onClose, onStarted }: BulkDialogProps) {
  const client = useTRPCClient();
  const [version, setVersion] = useState<"same" | "current">("same");
  const most = action === "rerun" ? MOST_RERUNS : MOST_MATCHING;
  const runs = plural(count, "run");
  return (
    <ConfirmDialog
      title={TITLES[action](runs)}
      confirmLabel={`${VERBS[action]}${action === "rerun" ? "" : ` ${runs}`}`}
      cancelLabel="Back"
      tone={action === "rerun" ? "normal" : "danger"}
      isReady={count <= most}
      onClose={onClose}
      onConfirm={async () => {
        const started = await client.executions.bulk.mutate({
          action,
          ...(filter ? { filter } : { ids }),
          ...(action === "rerun" && { use_current: version === "current" }),
        });
        onStarted(started.id);
      }}
    >
      <p>{TEXTS[action]}</p>
      {count > most && <p className="mt-2 text-failed">No more than {plural(most, "run")} at once: narrow the filter.</p>}
      {action === "rerun" && (
        <div className="mt-3">
          <Select
            aria-label="Version"
            value={version}
            onValueChange={setVersion}
            options={[
              { value: "same", label: "The version that each ran" },
              { value: "current", label: "The current version of each workflow" },
            ]}
          />
        </div>
      )}
    </ConfirmDialog>
  );
}
