"use client";

import { useQuery } from "@tanstack/react-query";
import { KeyRound } from "lucide-react";
import { useRef, useState } from "react";
import { type ConcurrentChanges, type Field, fieldTitle, needsCheckCall } from "#components/agents/agent-values.ts";
import { PromptPreviewButton } from "#components/agents/prompt-preview-button.tsx";
import type { AgentEditing } from "#components/agents/use-agent-form.ts";
import { plural } from "#components/format.ts";
import { FormFailure } from "#components/forms/form.tsx";
import { MendKeyDialog } from "#components/keys/mend-key.tsx";
import { useStudio } from "#components/shell/studio-context.tsx";
import { useTRPC } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { Link } from "#components/ui/link.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { Time } from "#components/ui/time.tsx";
import { useToastsAbove } from "#components/ui/toaster.tsx";

/** The foot of an agent's form: whom a change reaches, what went wrong, and the button that makes the draft a version. */
export function PublishBar({ editing }: { editing: AgentEditing }) {
  const { form, base, meanwhile, discard } = editing;
  const bar = useRef<HTMLDivElement>(null);
  const publish = useRef<HTMLButtonElement>(null);
  useToastsAbove(bar);
  const isOff = base !== undefined && !form.isDirty;
  return (
    <div
      ref={bar}
      className="sticky bottom-(--foot,0px) -mx-1 flex flex-col gap-3 bg-linear-to-t from-85% from-(--ground,var(--paper)) to-transparent px-1 pt-5 pb-3"
    >
      <div className="max-h-48 overflow-y-auto empty:hidden">
        {meanwhile ? (
          <PublishedMeanwhile
            meanwhile={meanwhile}
            onTakeTheirs={() => {
              discard();
              publish.current?.focus(); // the button that was pressed is gone
            }}
          />
        ) : (
          <PublishFailure editing={editing} />
        )}
      </div>
      {base && form.isDirty && <UsedBy agentId={base.id} />}
      <div className="flex flex-wrap items-center justify-between gap-3">
        <Button
          ref={publish}
          type="submit"
          variant="primary"
          isPending={form.isPending}
          aria-disabled={isOff || undefined}
          onClick={(event) => isOff && event.preventDefault()}
          className="aria-disabled:cursor-not-allowed aria-disabled:opacity-55 max-md:h-11"
        >
          {!base ? "Create agent" : isOff ? "Published" : "Publish"}
        </Button>
        <DraftState editing={editing} />
        <PromptPreviewButton values={form.values} />
      </div>
    </div>
  );
}

/** How the draft stands to what is published, and what is being done about it. */
function DraftState({ editing: { form, base, changed, discard } }: { editing: AgentEditing }) {
  const words = () => {
    if (form.isPending)
      return base && !needsCheckCall(base, form.values)
        ? "Publishing…"
        : "Asking the model for a short answer, to see that key and model work…";
    if (!base) return "This makes one short call first, to check key and model.";
    if (!form.isDirty)
      return (
        <>
          Version {base.version}, published <Time value={base.updated_at} />
        </>
      );
    const titles = changed.map(fieldTitle);
    const named = titles.length > 3 ? [...titles.slice(0, 2), `${titles.length - 2} more`] : titles;
    return `Draft, not published${named.length ? `: ${named.join(", ")} changed since version ${base.version}` : ""}`;
  };
  return (
    <div className="flex min-w-0 flex-1 items-center gap-2 text-12 text-ink-soft @max-md:order-first @max-md:basis-full">
      <p role="status" className="min-w-0">
        {words()}
      </p>
      {base && form.isDirty && !form.isPending && (
        <Button variant="ghost" size="sm" onClick={discard}>
          Discard
        </Button>
      )}
    </div>
  );
}

/** What the server said, and where it is about the key, the way to mend that from here. */
function PublishFailure({ editing: { form, base } }: { editing: AgentEditing }) {
  const { canAdminister } = useStudio();
  const [isMending, setIsMending] = useState(false);
  const isUpstream = form.failure?.error_code === "UPSTREAM_ERROR";
  const not = base ? "Not published" : "Not created";
  return (
    <>
      <FormFailure
        failure={form.failure}
        title={isUpstream ? `${not}: the check call failed` : not}
        {...(isUpstream &&
          canAdminister && {
            actions: (
              <Button size="sm" icon={<KeyRound />} onClick={() => setIsMending(true)}>
                Replace the key…
              </Button>
            ),
          })}
      />
      {isMending && <MendKeyDialog keyId={form.values.llm_key_id} onClose={() => setIsMending(false)} />}
    </>
  );
}

/** So many workflows are named at once. */
const NAMED = 4;

/** The workflows whose next runs ask what is being published. */
function UsedBy({ agentId }: { agentId: string }) {
  const trpc = useTRPC();
  const [isWhole, setIsWhole] = useState(false);
  const { data } = useQuery(trpc.agents.workflows.queryOptions({ agent_id: agentId, per_page: 200 }));
  if (!data || data.total === 0) return null;
  const shown = isWhole ? data.items : data.items.slice(0, NAMED);
  const more = data.total - shown.length;
  return (
    <p className="max-h-24 overflow-y-auto text-12 text-ink-soft">
      <span className="font-semibold text-ink">Used by {plural(data.total, "workflow")}</span>, whose next runs ask what you publish:{" "}
      {shown.map(({ id, name, enabled }, index) => (
        <span key={id}>
          {index > 0 && ", "}
          <Link href={`/workflows/${id}`} className="text-thread-text hover:underline">
            {name}
          </Link>
          {!enabled && " (off)"}
        </span>
      ))}
      {more > 0 &&
        (isWhole ? (
          ` and ${more} more`
        ) : (
          <>
            {" and "}
            <button type="button" className="text-thread-text hover:underline" onClick={() => setIsWhole(true)}>
              {more} more
            </button>
          </>
        ))}
    </p>
  );
}

const titlesOf = (fields: Field[]): string => fields.map(fieldTitle).join(", ");

/** That others published, what of it stands in the form now, and what to do. */
function PublishedMeanwhile({
  meanwhile: { said, taken, clashes },
  onTakeTheirs,
}: {
  meanwhile: ConcurrentChanges;
  onTakeTheirs: () => void;
}) {
  return (
    <Notice
      tone="failed"
      title="Not published yet"
      actions={
        <Button size="sm" onClick={onTakeTheirs}>
          Discard my changes
        </Button>
      }
    >
      {[
        said,
        taken.length > 0 && `Updated in this form: ${titlesOf(taken)}.`,
        clashes.length > 0 && `Changed by you both: ${titlesOf(clashes)}. Yours stands in the form, and publishing writes over the other.`,
        "Look it over, and publish again.",
      ]
        .filter(Boolean)
        .join(" ")}
    </Notice>
  );
}
