"use client";

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { ArrowRight } from "lucide-react";
import { useTRPC } from "#components/trpc.tsx";
import { Badge } from "#components/ui/badge.tsx";
import { useDebounced } from "#components/ui/use-debounced.ts";
import {
  conditionTrialInput,
  hasPredecessorValues,
  type LastRun,
  lastFrame,
  lastUpstream,
  type ReadableScope,
  secondName,
} from "#components/workflow-editor/fields/last-values.ts";
import { usePanelReads } from "#components/workflow-editor/fields/panel-reads.tsx";
import { insertCode, pythonTokens, type TokenKind, unfinishedName } from "#components/workflow-editor/fields/python-text.ts";
import { ValueField } from "#components/workflow-editor/fields/value-field.tsx";
import { isFinal } from "#server/shared/execution-status.ts";
import { outputOf } from "#server/workflow/expression-scope.ts";
import { hasEnded } from "#server/workflow/node-progress.ts";
import { pythonString } from "#server/workflow/python-string.ts";

/** Colours of what a piece of Python is. */
export const COLOURS: Record<TokenKind, string> = {
  text: "text-ink",
  string: "text-role-output",
  comment: "text-ink-faint",
  keyword: "text-role-logic",
  number: "text-role-interface",
  known: "text-thread-text",
};

export interface PythonFieldProps {
  value: string;
  maxLength: number | undefined;
  isReadOnly: boolean;
  onChange: (value: string) => void;
}

/** A Python condition: coloured, with the variables and the nodes upstream to choose from. */
export function PythonField({ value, maxLength, isReadOnly, onChange }: PythonFieldProps) {
  const { readable, run } = usePanelReads();
  return (
    <ValueField
      {...{ value, onChange, isReadOnly, maxLength }}
      rows={4}
      isCode
      takes="python"
      placeholder={'"yes" in output.lower()'}
      all={() => pythonOptions(readable, run)}
      openPart={unfinishedName}
      insert={insertCode}
      colours={pythonTokens(value).map((token, index) => (
        <span key={`${index.toString()}`} className={COLOURS[token.kind]}>
          {token.text}
        </span>
      ))}
    />
  );
}

/** Something that a condition can read. */
export interface PythonOption {
  code: string;
  /** Type of the node that it comes from; empty for none in particular. */
  nodeType: string;
  /** By which other name it can be read. */
  kind?: string | null;
  /** What it is, or what it was in the last run. */
  hint: string;
}

/** The three variables, then one entry of node_outputs for each node upstream: by its label; an agent's name reads the same. */
export function pythonOptions(readable: ReadableScope, run: LastRun | null): PythonOption[] {
  const { nodes, names, around } = readable;
  const frame = run && lastFrame(readable, run);
  const outputs = nodes.flatMap((node): PythonOption[] => {
    const own = names.filter((entry) => entry.node === node);
    const label = own.find((entry) => !entry.isAlias)?.name;
    if (label === undefined || around.includes(node.id)) return [];
    const result = frame?.lookup(node.id);
    return [
      {
        code: `node_outputs[${pythonString(label)}]`,
        nodeType: node.type,
        kind: secondName(own),
        hint: (result && hasEnded(result) && outputOf(result)) || "Its output, once it has run",
      },
    ];
  });
  const before = run && hasPredecessorValues(readable, run) ? lastUpstream(readable, run, true) : "";
  return [
    { code: "output", nodeType: "", hint: before || "Output of the node before" },
    { code: "trigger_output", nodeType: "triggerNode", hint: run?.input || "What started the run" },
    ...outputs,
    ...(outputs.length ? [] : [{ code: "node_outputs", nodeType: "", hint: "Outputs of other nodes, by name" }]),
  ];
}

const PAUSE_MS = 350;

/** True when a condition reads what came before its node, and not only the trigger or nodes by name. */
const readsOutput = (condition: string) => /(?<![\w.])output\b/.test(condition);

/** What a condition comes to on the last run's data, as the server's sandbox says. */
export function ConditionTrialChip({ condition }: { condition: string }) {
  const { readable, run } = usePanelReads();
  const trpc = useTRPC();
  const settled = useDebounced(condition, PAUSE_MS);
  const isOver = run !== null && isFinal(run.snapshot.status);
  const canTry = isOver && (hasPredecessorValues(readable, run) || !readsOutput(settled));
  const trial = useQuery(
    trpc.checks.conditionTrial.queryOptions(
      { condition: settled, ...(run ? conditionTrialInput(readable, run) : { execution_id: "", before: [], outputs: {} }) },
      { enabled: canTry, placeholderData: keepPreviousData, staleTime: Number.POSITIVE_INFINITY, retry: false },
    ),
  );
  if (!run) return <p className="text-12 text-ink-faint">Run the workflow once to see here what the condition comes to.</p>;
  if (!isOver) return null;
  if (!canTry) return <p className="text-12 text-ink-faint">The last run did not come here, so there is nothing to try it on.</p>;
  if (trial.isError) return <p className="text-12 text-ink-faint">The service does not answer, so it cannot be tried now.</p>;
  if (!trial.data) return <p className="text-12 text-ink-faint">Trying it on the last run…</p>;
  const { holds, failure } = trial.data;
  return (
    <p role="status" aria-label="Trial" className="flex flex-wrap items-center gap-1.5 text-12 text-ink-soft">
      With last run <ArrowRight aria-hidden className="size-3.5 text-ink-faint" />
      {holds === null ? (
        <Badge tone="failed">Fails</Badge>
      ) : (
        <Badge tone={holds ? "complete" : "neutral"}>{holds ? "True" : "False"}</Badge>
      )}
      {failure !== null && " "}
      {failure !== null && <span className="w-full text-failed">{failure}</span>}
    </p>
  );
}
