"use client";

import { ConditionTrialChip } from "#components/workflow-editor/fields/condition-trial.tsx";
import { usePanelReads } from "#components/workflow-editor/fields/panel-reads.tsx";
import { pythonOptions } from "#components/workflow-editor/fields/python-options.ts";
import { insertCode, openName, pythonTokens, type TokenKind } from "#components/workflow-editor/fields/python-text.ts";
import { ValueField } from "#components/workflow-editor/fields/value-field.tsx";

const COLOURS: Record<TokenKind, string> = {
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
  /** True while something keeps the condition from running. */
  hasProblem: boolean;
  onChange: (value: string) => void;
}

/** A Python condition: coloured, with the variables and the nodes upstream to choose from, and what it comes to on the last run. */
export function PythonField({ value, maxLength, isReadOnly, hasProblem, onChange }: PythonFieldProps) {
  const { readable, run } = usePanelReads();
  return (
    <div className="flex flex-col gap-1.5">
      <ValueField
        {...{ value, onChange, isReadOnly, maxLength }}
        rows={4}
        isCode
        takes="python"
        placeholder={'"yes" in output.lower()'}
        all={() => pythonOptions(readable, run)}
        openPart={openName}
        insert={insertCode}
        colours={pythonTokens(value).map((token, index) => (
          <span key={`${index.toString()}`} className={COLOURS[token.kind]}>
            {token.text}
          </span>
        ))}
      />
      {!hasProblem && value.trim() !== "" && <ConditionTrialChip condition={value} />}
    </div>
  );
}
