"use client";

import { Eye } from "lucide-react";
import { useState } from "react";
import { Button } from "#components/ui/button.tsx";
import { Dialog } from "#components/ui/dialog.tsx";
import { loadedOnUse } from "#components/ui/loaded-on-use.tsx";
import { lastScope, lastUpstream, previewOf } from "#components/workflow-editor/fields/last-values.ts";
import { usePanelReads } from "#components/workflow-editor/fields/panel-reads.tsx";
import { useSessionState } from "#components/workflow-editor/session/session-context.tsx";
import type { LinkedReview } from "#server/features/reviews/schema.ts";
import { choicesIn } from "#server/workflow/nodes/review-terms.ts";

// Loaded when it is first looked at: it brings Markdown along.
const ReviewByLink = loadedOnUse(() => import("#components/approvals/review-by-link.tsx").then((module) => module.ReviewByLink));

const HOUR_MS = 3_600_000;

/** The page on which a review is decided, as it would be with the last run's values. */
export function ReviewPreview({ config, label }: { config: Record<string, unknown>; label: string }) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <Button size="sm" icon={<Eye />} className="self-start" onClick={() => setIsOpen(true)}>
        Preview the approval page
      </Button>
      {isOpen && (
        <Dialog onClose={() => setIsOpen(false)} title="Preview of the approval page" size="lg">
          <Preview config={config} label={label} />
        </Dialog>
      )}
    </>
  );
}

function Preview({ config, label }: { config: Record<string, unknown>; label: string }) {
  const { readable, run } = usePanelReads();
  const workflow_name = useSessionState((state) => state.name);
  const scope = run && lastScope(readable, run);
  const text = (field: string): string => {
    const template = typeof config[field] === "string" ? config[field] : "";
    return scope
      ? previewOf(template, scope)
          .map((part) => part.text)
          .join("")
      : template;
  };
  const [now] = useState(() => Date.now());
  const hours = typeof config.timeout_hours === "number" ? config.timeout_hours : 0;
  const content = text("display_value");
  const display_value = content.trim() === "" ? (run ? lastUpstream(readable, run) : "What came before this node") : content;
  const initial: LinkedReview = {
    ...{ label, title: text("title").trim(), description: text("description"), display_value, workflow_name },
    ...{ status: "waiting", choice: null, comment: null, reviewer: null, via: null, decided_at: null, own_choice: null },
    text: config.editable === true || text("text").trim() !== "" ? text("text") || display_value : null,
    ...{ editable: config.editable === true, quorum: typeof config.quorum === "number" ? config.quorum : 1, votes: [] },
    choices: choicesIn(config).map((choice) => ({ ...choice, ends_run: false })),
    due_at: hours > 0 ? new Date(now + hours * HOUR_MS).toISOString() : null,
  };
  return (
    <>
      <p className="text-12 text-ink-soft">
        {run ? "Filled in from the last run." : "The workflow has not run yet, so expressions stand as they are."} The buttons decide
        nothing here.
      </p>
      <div className="mx-auto w-full max-w-140 rounded-lg border bg-paper p-5">
        {/* Made anew when the last run arrives. */}
        <ReviewByLink key={JSON.stringify(initial)} isPreview token="" initial={initial} />
      </div>
    </>
  );
}
