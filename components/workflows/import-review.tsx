"use client";

import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { plural } from "#components/format.ts";
import { FormFailure } from "#components/forms/form.tsx";
import { useTRPC } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { DialogFooter } from "#components/ui/dialog.tsx";
import { Field, FieldError } from "#components/ui/field.tsx";
import { Input } from "#components/ui/input.tsx";
import { Link } from "#components/ui/link.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { Skeleton } from "#components/ui/skeleton.tsx";
import { ImportCheckList } from "#components/workflows/import-check-list.tsx";
import {
  agentsToCreate,
  countOpenItems,
  defaultChoices,
  type ImportChoices,
  linksOf,
  missingChoice,
} from "#components/workflows/import-choices.ts";
import type { CheckedFile, useImport } from "#components/workflows/use-import.ts";
import type { LlmKey } from "#server/features/llm-keys/schema.ts";
import type { ImportReport } from "#server/features/workflow-files/schema.ts";

const STARTS: Record<string, string> = {
  manual: "started by hand",
  params: "started by a form",
  webhook: "started by a webhook; set up a new secret in the editor",
  schedule: "started by a schedule; off until you switch it on",
  http: "started by an HTTP call",
};

export interface ImportReviewProps {
  checked: CheckedFile;
  importing: ReturnType<typeof useImport>;
  /** A button left of the one that imports. */
  back?: ReactNode;
  /** What the button that imports says. */
  action: string;
  /** Of an import into a workflow that is open: told when the nodes are there. Such an import makes no workflow to be named. */
  onInserted?: () => void;
}

/** What becomes of another program's file; what is to be done then is told in the editor, at each node. */
function ForeignFile({ report: { nodes, to_do } }: { report: ImportReport }) {
  const notes = nodes.filter(({ type, became }) => became === "noteNode" && !type.endsWith(".stickyNote"));
  const steps = nodes.filter(({ became }) => became !== null && became !== "noteNode");
  const names = notes.slice(0, MOST_NAMES).map(({ name }) => `“${name}”`);
  const more = notes.length - names.length;
  return (
    <Notice
      title={`A workflow of n8n: ${plural(steps.length, "node")} come over${notes.length ? `, ${plural(notes.length, "node")} as a note` : ""}`}
    >
      {notes.length > 0 && (
        <p>{`Not known here: ${names.join(", ")}${more > 0 ? ` and ${more} more` : ""}. Their JSON is kept in the notes.`}</p>
      )}
      {to_do.length > 0 && <p>{`${plural(to_do.length, "thing")} to do then: the editor lists them, each with its node.`}</p>}
      <Link href="/docs/from-n8n" target="_blank" className="text-thread-text hover:underline">
        What is different here<span className="sr-only"> (opens a new tab)</span>
      </Link>
    </Notice>
  );
}
const MOST_NAMES = 8;

/** The second step of an import: what the file needs, what stands for it here, and the button that makes the workflow. */
export function ImportReview(props: ImportReviewProps) {
  const trpc = useTRPC();
  const keys = useQuery(trpc.llmKeys.list.queryOptions({ per_page: 200 }));
  if (keys.isPending) return <Skeleton className="h-40" />;
  return <ReviewForm {...props} keys={keys.data?.items ?? []} />;
}

function ReviewForm({ checked, importing, back, action, keys, onInserted }: ImportReviewProps & { keys: readonly LlmKey[] }) {
  const { file, check } = checked;
  const [choices, setChoices] = useState<ImportChoices>(() => defaultChoices(check, keys));
  const [fault, setFault] = useState<string | null>(null);
  const open = countOpenItems(check, choices);
  const made = agentsToCreate(check, choices);
  const submit = async () => {
    const found = missingChoice(check, choices);
    setFault(found);
    if (found !== null) return;
    if (await importing.send({ file, name: choices.name.trim(), links: linksOf(check, choices) })) onInserted?.();
  };
  return (
    <form
      noValidate
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        // Forms of dialogs that open from here bubble up to this one.
        if (event.target === event.currentTarget) void submit();
      }}
    >
      {onInserted ? (
        <p className="text-14 text-ink-soft">
          “{check.name}” has {check.node_count} nodes. Its trigger stays out, since this workflow has one; names that are taken get a
          number, and what reads them follows.
        </p>
      ) : (
        <Field label="Name" hint={`${check.node_count} nodes, ${STARTS[check.trigger] ?? `started by ${check.trigger}`}.`}>
          <Input
            value={choices.name}
            maxLength={120}
            autoComplete="off"
            onChange={(event) => setChoices({ ...choices, name: event.target.value })}
          />
        </Field>
      )}
      {check.import_report && <ForeignFile report={check.import_report} />}
      <ImportCheckList
        check={check}
        choices={choices}
        onChange={(next) => {
          setChoices(next);
          setFault(null);
          importing.clear();
        }}
      />
      <FieldError>{fault}</FieldError>
      <FormFailure failure={importing.failure} title="Nothing was created" />
      <DialogFooter className="justify-between">
        <p role="status" className="min-w-0 flex-1 text-12 text-ink-soft">
          {importing.isPending && made.length > 0
            ? "Asking the model for a short answer, to see that key and model work…"
            : open > 0
              ? `${open} left open; nothing of it is lost.`
              : "Everything is linked."}
        </p>
        {back}
        <Button type="submit" variant="primary" isPending={importing.isPending}>
          {action}
        </Button>
      </DialogFooter>
    </form>
  );
}
