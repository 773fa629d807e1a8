"use client";

import { useState } from "react";
import { errorBodyOf, useApi } from "#components/trpc.tsx";
import { cn } from "#components/ui/cn.ts";
import { Switch } from "#components/ui/switch.tsx";
import { toast } from "#components/ui/toaster.tsx";
import { Tooltip } from "#components/ui/tooltip.tsx";
import { useSession, useSessionState } from "#components/workflow-editor/session/session-context.tsx";

/** What is silenced while the workflow is off, by the kind of the published version's trigger. */
const SILENCED: Record<string, string> = {
  schedule: "its schedule",
  webhook: "its webhook",
  http: "its HTTP trigger",
};

/** The workflow's own switch: whether its trigger starts runs by itself. It counts at once, published or not. */
export function EnabledSwitch({ isReadOnly }: { isReadOnly: boolean }) {
  const session = useSession();
  const { trpc, cache } = useApi();
  const enabled = useSessionState((state) => state.enabled);
  const trigger = useSessionState((state) => state.savedTrigger);
  const [wanted, setWanted] = useState<boolean | null>(null);
  const isOn = wanted ?? enabled;
  const turn = async (next: boolean) => {
    setWanted(next);
    try {
      await session.change({ enabled: next });
      void cache.invalidateQueries(trpc.workflows.list.pathFilter());
    } catch (error) {
      toast.error(next ? "Not switched on" : "Not switched off", { description: errorBodyOf(error).detail });
    } finally {
      setWanted(null);
    }
  };
  const silenced = SILENCED[trigger];
  const hint = silenced
    ? isOn
      ? `On: ${silenced} starts runs. Off silences it.`
      : `Off: ${silenced} starts nothing. Run, REST and other workflows still do.`
    : `${isOn ? "On" : "Off"}: counts once a schedule, a webhook or an HTTP trigger is published. Off silences those; Run, REST and other workflows still start it.`;
  return (
    <Tooltip content={hint} side="bottom">
      <span className="flex h-8 items-center gap-1.5">
        <span aria-hidden className={cn("w-5 text-right font-semibold text-12", isOn ? "text-ink-soft" : "text-waiting")}>
          {isOn ? "On" : "Off"}
        </span>
        <Switch label="Workflow on" checked={isOn} disabled={isReadOnly || wanted !== null} onCheckedChange={(next) => void turn(next)} />
      </span>
    </Tooltip>
  );
}
