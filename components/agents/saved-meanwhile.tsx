import { AgentForm } from "#components/agents/agent-form-schema.ts";
import type { Field, Meanwhile } from "#components/agents/merged-form.ts";
import { describeField } from "#components/forms/describe-field.ts";
import { Button } from "#components/ui/button.tsx";
import { Notice } from "#components/ui/notice.tsx";

const LINKS: Partial<Record<Field, string>> = { mcp_server_ids: "MCP servers", rag_ids: "Knowledge", skill_ids: "Skills" };

const titlesOf = (fields: Field[]): string =>
  fields.map((field) => LINKS[field] ?? describeField(AgentForm.shape[field]).title ?? field).join(", ");

/** That others saved, what of it stands in the form now, and what to do. */
export function SavedMeanwhile({ meanwhile: { said, taken, clashes }, onTakeTheirs }: { meanwhile: Meanwhile; onTakeTheirs: () => void }) {
  return (
    <Notice
      tone="failed"
      title="Not saved yet"
      actions={
        <Button size="sm" onClick={onTakeTheirs}>
          Discard my changes
        </Button>
      }
    >
      {[
        said,
        taken.length > 0 && `Now in this form as it was saved: ${titlesOf(taken)}.`,
        clashes.length > 0 && `Changed by you both: ${titlesOf(clashes)}. Yours stands in the form, and saving writes over the other.`,
        "Look it over, and save again.",
      ]
        .filter(Boolean)
        .join(" ")}
    </Notice>
  );
}
