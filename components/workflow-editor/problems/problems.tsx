"use client";

import type { QueryKey } from "@tanstack/react-query";
import { CircleCheck, ListChecks } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { plural } from "#components/format.ts";
import { useApi } from "#components/trpc.tsx";
import { isFocusLost, MAX_FRAMES } from "#components/ui/focus.ts";
import { loadedOnUse } from "#components/ui/loaded-on-use.tsx";
import { Popover } from "#components/ui/popover.tsx";
import { useCanvasUi, useCanvasUiStore, useEditor, useEditorStore } from "#components/workflow-editor/canvas/store/canvas-context.tsx";
import { useAgentNames, useCredentialNames } from "#components/workflow-editor/nodes/project-lookups.tsx";
import { ProblemRows } from "#components/workflow-editor/problems/problem-rows.tsx";
import { SeverityIcon, severityColor } from "#components/workflow-editor/problems/severity.tsx";
import { useSession } from "#components/workflow-editor/session/session-context.tsx";
import { definitionOf } from "#server/workflow/graph.ts";
import { runAtOnce } from "#server/workflow/listing.ts";
import type { Graph } from "#server/workflow/schema.ts";
import { CHECK_LIST } from "#server/workflow/to-dos.ts";

/** Leaves the focus to the field that one goes to; when nothing has taken it, e.g. since the field is disabled, it goes back. */
function awaitFocus(back: HTMLElement | null, tries = MAX_FRAMES): void {
  if (!isFocusLost()) return;
  if (tries === 0) back?.focus();
  else requestAnimationFrame(() => awaitFocus(back, tries - 1));
}

// Loaded when the list is opened, or comes open from an import.
const ToDos = loadedOnUse(() => import("#components/workflow-editor/problems/to-dos.tsx").then((module) => module.ToDos));

const countToDos = (data: Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>): number =>
  Object.values(data).reduce((sum, { to_do } = {}) => sum + (Array.isArray(to_do) ? to_do.length : 0), 0);

/** Lists errors, warnings and what an import left to do, each with a link to its field. */
export function ProblemsPopover() {
  // Right after an import the list is what one came for.
  const [isOpen, setIsOpen] = useState(() => window.location.hash === CHECK_LIST);
  const toDos = useEditor((state) => countToDos(state.data));
  const problems = useCanvasUi((state) => state.problems);
  const warnings = useCanvasUi((state) => state.warnings);
  const total = useCanvasUi((state) => state.problemsTotal);
  const ui = useCanvasUiStore();
  const editor = useEditorStore();
  const isGoing = useRef(false);
  const button = useRef<HTMLButtonElement>(null);
  const name = nameOf(problems.length, warnings.length);
  const severity = problems.length > 0 ? "error" : "warning";
  useEffect(() => {
    if (window.location.hash === CHECK_LIST) window.history.replaceState(window.history.state, "", window.location.pathname);
  }, []);
  const go = () => {
    isGoing.current = true;
    setIsOpen(false);
  };
  return (
    <Popover
      label="Problems"
      side="top"
      align="start"
      open={isOpen}
      onOpenChange={setIsOpen}
      onCloseAutoFocus={(event) => {
        if (isGoing.current) {
          event.preventDefault();
          awaitFocus(button.current);
        }
        isGoing.current = false;
      }}
      className="max-h-[min(55dvh,30rem)] w-84 overflow-y-auto p-1.5"
      trigger={
        <button
          ref={button}
          type="button"
          aria-label={toDos ? `${name}, ${toDos} to do` : name}
          className={`ml-0.5 inline-flex h-7 items-center justify-center gap-1 rounded-md px-1.5 pointer-coarse:h-11 pointer-coarse:min-w-11 font-semibold text-12 tabular hover:bg-hover ${total ? severityColor(severity) : "text-ink-faint"}`}
        >
          {total ? <SeverityIcon severity={severity} className="size-3.5" /> : <CircleCheck aria-hidden className="size-3.5" />}
          {total > 0 && total}
          {toDos > 0 && (
            <>
              <ListChecks aria-hidden className="ml-1 size-3.5" />
              {toDos}
            </>
          )}
        </button>
      }
    >
      {total === 0 ? (
        <p className="px-2 py-1.5 text-14 text-ink-soft">No problems. The workflow can run.</p>
      ) : (
        <ProblemRows rows={[...problems, ...warnings]} onGo={go} />
      )}
      {total > problems.length + warnings.length && (
        <p className="px-2 py-1.5 text-12 text-ink-soft">
          And {plural(total - problems.length - warnings.length, "more problem")}. Fix these first.
        </p>
      )}
      {toDos > 0 && (
        <ToDos
          onGo={(id, field) => {
            go();
            editor.getState().selectOnly(id);
            ui.getState().goTo(id, field);
          }}
        />
      )}
    </Popover>
  );
}

/** Says how many errors and warnings there are: "2 problems, 1 warning". */
function nameOf(errors: number, warnings: number): string {
  const parts = [errors > 0 && plural(errors, "problem"), warnings > 0 && plural(warnings, "warning")].filter(Boolean);
  return parts.join(", ") || "No problems";
}

// Loaded at the first change: until then what the server found in the draft serves.
const loadChecks = () => import("#server/workflow/problems.ts");

/** Up to this many nodes the canvas looks for problems by itself; above, the server's answer at each autosave serves. */
const MAX_NODES = 80;
const PAUSE_MS = 200;

/** Keeps the list of problems up to date, a moment after the last change, without rendering anything for a change. */
export function useProblems(): void {
  const ui = useCanvasUiStore();
  const editor = useEditorStore();
  const session = useSession();
  const { trpc, client, cache } = useApi();
  const { agents, agentName, isPending } = useAgentNames();
  const credentialNames = useCredentialNames();
  /** What there was of both when the server looked. */
  const looked = useRef<{ agents?: typeof agents; names?: typeof credentialNames }>({});

  useEffect(() => {
    if (!isPending) looked.current.agents ??= agents;
    looked.current.names ??= credentialNames;
    const isOther = (!isPending && looked.current.agents !== agents) || looked.current.names !== credentialNames;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let checks: Awaited<ReturnType<typeof loadChecks>> | undefined;
    let isOver = false;
    /** What only the server knows: asked once, and looked at again with its answer. */
    const answerOf = <Answer,>(queryKey: QueryKey, queryFn: () => Promise<Answer>): Answer | undefined => {
      const known = cache.getQueryState<Answer>(queryKey);
      if (known?.data === undefined && known?.status !== "error" && known?.fetchStatus !== "fetching")
        void cache.fetchQuery({ queryKey, queryFn, staleTime: Number.POSITIVE_INFINITY, retry: false }).then(
          () => !isOver && look(),
          () => {}, // nobody can say now: a run would be refused with the same words
        );
      return known?.data;
    };
    const python = {
      conditionFault(condition: string) {
        const { queryKey } = trpc.checks.condition.queryOptions({ condition });
        return answerOf(queryKey, () => client.checks.condition.query({ condition }))?.fault ?? undefined;
      },
      codeFault(code: string, names: readonly string[]) {
        const input = { code, inputs: [...names] };
        return answerOf(trpc.checks.code.queryOptions(input).queryKey, () => client.checks.code.query(input))?.fault ?? undefined;
      },
    };
    /** The project's workflows, where a node runs one; of more than one page only the server can tell what is missing. */
    const workflowScope = ({ nodes }: Graph) => {
      if (!nodes.some(({ type }) => definitionOf(type)?.startsRuns)) return {};
      const every = { per_page: 200 };
      const known = answerOf(trpc.workflows.list.queryOptions(every).queryKey, () => client.workflows.list.query(every));
      const names = known && known.items.length >= known.total && new Map(known.items.map(({ id, name }) => [id, name]));
      return names ? { workflowName: (id: string) => names.get(id) } : {};
    };
    const problemsIn = (graph: Graph) =>
      checks &&
      runAtOnce(
        checks.checkGraph(graph, { agentName: (id) => agentName(id) ?? undefined, credentialNames, ...python, ...workflowScope(graph) }),
      );
    const look = () => {
      const graph = editor.getState().graph();
      const isOurs = !isPending && graph.nodes.length <= MAX_NODES;
      const { serverProblems, serverProblemsTotal } = session.store.getState();
      const { problems, total } = (isOurs && problemsIn(graph)) || { problems: serverProblems, total: serverProblemsTotal };
      ui.getState().setProblems(problems, total);
    };
    const lookAgain = async () => {
      // Where they cannot be loaded now, the server goes on to look, and the next change asks for them again.
      checks ??= await loadChecks().catch(() => undefined);
      if (!isOver) look();
    };
    const plan = () => {
      clearTimeout(timer);
      timer = setTimeout(lookAgain, PAUSE_MS);
    };
    const stopEditor = editor.subscribe((state, before) => {
      if (state.revision !== before.revision) plan();
    });
    const stopSession = session.store.subscribe((state, before) => {
      if (state.serverProblems !== before.serverProblems) plan();
    });
    if (isOther || editor.getState().revision > 0) void lookAgain();
    else look();
    ui.setState({
      async checkNow() {
        clearTimeout(timer);
        // Of a large canvas the server knows, once it has it.
        if (editor.getState().nodes.length > MAX_NODES) await session.flush();
        if (editor.getState().revision > 0) await lookAgain();
      },
    });
    return () => {
      isOver = true;
      clearTimeout(timer);
      stopEditor();
      stopSession();
    };
  }, [agents, agentName, credentialNames, isPending, editor, session, ui, trpc, client, cache]);
}
