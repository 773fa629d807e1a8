"use client";

import { Play, Square } from "lucide-react";
import { type FormEvent, useEffect, useRef, useState } from "react";
import { AnswerView } from "#components/api-reference/answer-view.tsx";
import { useCaller } from "#components/api-reference/caller.tsx";
import { type ApiDocument, isDestructive, type ListedOperation } from "#components/api-reference/openapi.ts";
import {
  type BuiltRequest,
  bodyFields,
  buildBody,
  buildRequest,
  exampleInput,
  formBody,
  jsonBody,
  takesProject,
  WHOLE_BODY,
} from "#components/api-reference/request.ts";
import { type Answer, type StreamEvent, send } from "#components/api-reference/send.ts";
import { SnippetTabs } from "#components/api-reference/snippet-tabs.tsx";
import { BodyFields, FormFields, ParameterFields } from "#components/api-reference/try-fields.tsx";
import { Button } from "#components/ui/button.tsx";
import { ConfirmDialog } from "#components/ui/confirm-dialog.tsx";
import { Notice } from "#components/ui/notice.tsx";

type Outcome = { answer: Answer; events: StreamEvent[] } | { failure: string };

/** The request that the fields make, or why they make none. */
function attempt(make: () => BuiltRequest): BuiltRequest | { fault: string } {
  try {
    return make();
  } catch (error) {
    return { fault: error instanceof Error ? error.message : String(error) };
  }
}

/** Names in capitals for what the path needs, so that the code can be shown before anything is typed. */
const placeholders = ({ parameters = [] }: ListedOperation): Record<string, string> =>
  Object.fromEntries(parameters.filter(({ in: place }) => place === "path").map(({ name }) => [`path.${name}`, name.toUpperCase()]));

const withoutEmpty = (typed: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(typed).filter(([name, text]) => text !== "" || name === WHOLE_BODY));

/** Fields for one operation, a button that calls it, what came back, and the same call as code. */
export function TryIt({ operation, document }: { operation: ListedOperation; document: ApiDocument }) {
  const { key, project } = useCaller();
  const [typed, setTyped] = useState(() => exampleInput(operation, document));
  const [form, setForm] = useState<FormData>();
  const [isForm, setIsForm] = useState(jsonBody(operation) === undefined && formBody(operation) !== undefined);
  const [fault, setFault] = useState<string>();
  const [outcome, setOutcome] = useState<Outcome>();
  const [isAsking, setIsAsking] = useState(false);
  const aborter = useRef<AbortController>(null);
  const [isPending, setIsPending] = useState(false);
  useEffect(() => () => aborter.current?.abort(), []);

  const needsKey = (operation.security?.length ?? 0) > 0;
  const base = document.servers?.[0]?.url ?? "";
  const make = (filled = typed) => buildRequest(operation, document, isForm ? { ...filled, [WHOLE_BODY]: "" } : filled);
  const shown = attempt(() => make({ ...placeholders(operation), ...withoutEmpty(typed) }));
  const type = (name: string, text: string) => {
    setFault(undefined);
    setTyped((before) => ({ ...before, [name]: text }));
  };

  const call = async (request: BuiltRequest) => {
    aborter.current?.abort();
    const mine = new AbortController();
    aborter.current = mine;
    setIsPending(true);
    setOutcome(undefined);
    try {
      await send(request, {
        key: needsKey ? key : "",
        project: takesProject(operation) ? project : "",
        ...(isForm && { form: form ?? new FormData() }),
        signal: mine.signal,
        onAnswer: (answer) => setOutcome({ answer, events: [] }),
        onEvent: (event) =>
          setOutcome((before) => (before && "answer" in before ? { ...before, events: [...before.events, event] } : before)),
      });
    } catch {
      if (!mine.signal.aborted) setOutcome({ failure: "The server could not be reached, or the line broke. Try again." });
    } finally {
      if (aborter.current === mine) setIsPending(false);
    }
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const request = attempt(() => make());
    if ("fault" in request) setFault(request.fault);
    else if (isDestructive(operation)) setIsAsking(true);
    else void call(request);
  };

  const hasFields = bodyFields(jsonBody(operation), document).length > 0;
  const isWhole = typed[WHOLE_BODY] !== undefined;
  const switchBody = () => {
    setFault(undefined);
    try {
      if (!isWhole) {
        setTyped({ ...typed, [WHOLE_BODY]: JSON.stringify(buildBody(operation, document, typed) ?? {}, null, 2) });
        return;
      }
      const example = JSON.parse(typed[WHOLE_BODY] || "{}");
      const content = { "application/json": { ...jsonBody(operation), example } };
      const outside = Object.fromEntries(Object.entries(typed).filter(([name]) => !name.startsWith("body")));
      setTyped({ ...outside, ...exampleInput({ ...operation, method: "", requestBody: { content } }, document) });
    } catch (error) {
      setFault(
        error instanceof SyntaxError ? "The body is not JSON. Check it for stray commas and quotes." : String((error as Error).message),
      );
    }
  };

  return (
    <div className="flex min-w-0 flex-col gap-4 rounded-lg border border-line-strong bg-raised p-4">
      <form aria-label={`Try ${operation.method} ${operation.path}`} className="flex min-w-0 flex-col gap-4" onSubmit={submit} noValidate>
        <ParameterFields operation={operation} typed={typed} onType={type} />
        {isForm ? (
          <FormFields operation={operation} document={document} form={form ?? new FormData()} onChange={setForm} />
        ) : (
          <BodyFields operation={operation} document={document} typed={typed} onType={type} />
        )}
        {fault !== undefined && <Notice tone="failed">{fault}</Notice>}
        <div className="flex flex-wrap gap-2">
          <Button
            type="submit"
            variant={isDestructive(operation) ? "danger" : "primary"}
            icon={<Play aria-hidden />}
            isPending={isPending && outcome === undefined}
          >
            Send
          </Button>
          {isPending && (
            <Button icon={<Square aria-hidden />} onClick={() => aborter.current?.abort()}>
              Stop
            </Button>
          )}
          {!isForm && hasFields && (
            <Button variant="ghost" onClick={switchBody}>
              {isWhole ? "Fill in fields" : "Write JSON"}
            </Button>
          )}
          {jsonBody(operation) && formBody(operation) && (
            <Button variant="ghost" onClick={() => setIsForm(!isForm)}>
              {isForm ? "Send JSON" : "Send a file"}
            </Button>
          )}
        </div>
      </form>
      <div role="status" aria-live="polite" className="sr-only">
        {outcome && "answer" in outcome ? `Answered ${outcome.answer.status} after ${outcome.answer.ms} ms` : ""}
      </div>
      {outcome && "failure" in outcome && <Notice tone="failed">{outcome.failure}</Notice>}
      {outcome && "answer" in outcome && <AnswerView answer={outcome.answer} events={outcome.events} isOpen={isPending} />}
      {!isForm && ("fault" in shown ? null : <SnippetTabs request={shown} base={base} needsKey={needsKey} />)}
      {isAsking && (
        <ConfirmDialog
          onClose={() => setIsAsking(false)}
          title={`${operation.summary ?? operation.path}?`}
          confirmLabel="Send it"
          onConfirm={async () => {
            setIsAsking(false);
            const request = attempt(() => make());
            if (!("fault" in request)) await call(request);
          }}
        >
          This calls <code className="break-all font-mono text-12">{"path" in shown ? `${shown.method} ${shown.path}` : ""}</code> on this
          install’s real data. It cannot be taken back.
        </ConfirmDialog>
      )}
    </div>
  );
}
