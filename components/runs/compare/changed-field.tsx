"use client";

import { Part } from "#components/runs/compare/part.tsx";
import { SideTexts, type Titles } from "#components/runs/compare/side-texts.tsx";
import { useWorkflowNames } from "#components/shell/use-workflows.ts";
import { fieldTitle, formatFieldValue } from "#components/workflow-editor/history/version-format.ts";
import { useAgentNames } from "#components/workflow-editor/nodes/project-lookups.tsx";

interface ChangedFieldProps {
  type: string;
  field: string;
  before: unknown;
  after: unknown;
  titles: Titles;
}

/** A field of a node that was another in the other run. */
export function ChangedField({ type, field, before, after, titles }: ChangedFieldProps) {
  const { agentName } = useAgentNames();
  const workflow = useWorkflowNames(field === "workflow_id");
  const words = (value: unknown) => formatFieldValue(type, field, value, { agent: agentName, workflow });
  return (
    <Part title={fieldTitle(type, field)}>
      <SideTexts titles={titles} a={words(before)} b={words(after)} />
    </Part>
  );
}
